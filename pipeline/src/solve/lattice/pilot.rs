//! The pilot of a run: whether the time step that was chosen before the flow is right by what the flow has shown.
//!
//! The run itself is the pilot. Once its conditions have stopped changing, the pressure variation and the largest speed take
//! the place of what was expected of them in the laws of the error. If these ask for a time step that is well off, another
//! flow with that one goes on from the state, its viscous stress included, and the output folder begins anew. A run whose
//! time step is right has lost nothing.

use crate::solve::{
    case::{Case, FaceTable},
    flux::parse,
    laws::{BARS, Bound, Choice, Given, Laws, Piloted},
    resolve::Resolved,
};
use cutlink_device::larger_or_nan;
use cutlink_flow::{RunOptions, bulk::Bulk, checkpoint, setting::FOLDER};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Ratios of a time step to the one before that are not worth a change. A pressure of half of what was expected, whose ratio is √2,
/// is common.
const KEPT: [f64; 2] = [0.7, 1.5];
/// The largest change of the kinetic energy between the looks of a judgement.
const DEVELOPED: f64 = 0.1;
/// A pressure variation over ρ c² that is beyond all bounds while the flow still starts: with a ramp, and with the sound of a sudden
/// start.
const BEYOND: [f64; 2] = [0.05, 0.2];
/// The same of a speed in lattice units.
const TOO_FAST: f64 = 0.2;
/// Changes of a run.
const MOST: usize = 3;
/// Looks at the flow before a judgement, evenly spaced, and those of them that count: in the last quarter.
const LOOKS: u64 = 32;
const LATE: usize = 8;
/// What the time before a judgement is a multiple of, in root steps.
const ROUND: u64 = 2 * LOOKS;

/// A change of the time step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PilotChange {
    /// The root step at which it was made, and as what the next flow counts it.
    pub(super) steps: [u64; 2],
    /// Simulated time, s.
    time: f64,
    /// The reference velocity in lattice units before and after.
    lattice_velocity: [f64; 2],
    /// The collision after.
    collision: String,
    /// What limits the new lattice velocity.
    bound: String,
    /// (Largest - smallest pressure) / (ρ c²) before: measured, and as expected.
    pressure_variation: f64,
    expected: f64,
    /// The largest speed, m/s.
    fastest: f64,
}

impl PilotChange {
    /// The pressure variation over ρ c² after the change.
    fn expected(&self) -> f64 {
        let [before, after] = self.lattice_velocity;
        self.pressure_variation * (after / before).powi(2)
    }

    /// A note for the user.
    pub(super) fn note(&self) -> String {
        let ([step, _], [before, after]) = (self.steps, self.lattice_velocity);
        format!(
            "pilot: after {step} root steps the pressure variation is {:.2} % of rho c^2 ({:.2} % was expected) and the largest \
             speed {:.3} m/s; the run goes on from this state with lattice velocity {after:.4} instead of {before:.4} ({}, {}): \
             {:.2} times the steps in a second. [physics] lattice_velocity = {before:.4} would keep it",
            100.0 * self.pressure_variation,
            100.0 * self.expected,
            self.fastest,
            self.bound,
            self.collision,
            before / after,
        )
    }
}

/// The laws of a case that gives no time step, before one was chosen.
#[derive(Debug, Clone)]
pub(super) struct OpenLaws {
    pub(super) laws: Laws,
    pub(super) given: Given,
}

/// What goes on while the pilot may change the time step.
#[derive(Debug)]
struct Watch {
    open: OpenLaws,
    terms: PilotTerms,
    /// The root step at which the flow began, and steps from there to the judgement.
    begun: u64,
    span: u64,
    looks: Vec<Bulk>,
}

/// The pilot of a run.
#[derive(Debug)]
pub(super) struct Pilot {
    /// Changes that have led to this flow.
    pub(super) changes: Vec<PilotChange>,
    watch: Option<Watch>,
    /// What another flow is to go on with.
    next: Option<Choice>,
}

/// The pilot in checkpoints.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PilotNotes {
    changes: Vec<PilotChange>,
    /// Steps from the begin of the flow to the judgement; none where there is none to come.
    span: Option<u64>,
    looks: Vec<Bulk>,
}

/// Whether a case may have a pilot, in a run with these options: it gives no time step, its flow has one mesh on one rank, and nothing
/// but a ramp changes in time.
pub(super) fn may_have(case: &Case, options: &RunOptions) -> bool {
    let is_alone = options.world.is_none()
        && options.gpus <= 1
        && options.ranks.iter().all(|&ranks| ranks == 1);
    is_alone
        && !Given::of(case).lattice_velocity
        && case.motion.is_empty()
        && case.adapt.is_none()
        && case.heat.is_none()
        && case.particles.is_empty()
}

/// What of a run a pilot needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct PilotTerms {
    /// The earliest root step at which the flow can be judged.
    pub(super) earliest: u64,
    /// The pressure variation over ρ c² that is expected.
    pub(super) expected: f64,
    /// Root steps of the run, and whether they are those of a given time.
    pub(super) most: u64,
    pub(super) is_in_time: bool,
    /// Whether the flow starts from rest with a ramp.
    pub(super) has_ramp: bool,
}

/// Whether the duration of a case is a time.
pub(super) fn is_in_time(case: &Case) -> bool {
    case.run.seconds.is_some() || case.run.flow_through.is_some()
}

/// The root step at which the flow after some changes begins.
pub(super) fn counted(changes: &[PilotChange]) -> u64 {
    changes.last().map_or(0, |change| change.steps[1])
}

impl Pilot {
    /// Of a flow after some changes, with the laws of its case before its time step was chosen.
    pub(super) fn new(
        changes: Vec<PilotChange>,
        open: Option<OpenLaws>,
        terms: PilotTerms,
        is_unsteady: bool,
    ) -> Self {
        let begun = counted(&changes);
        let is_open = changes.len() < MOST && !is_unsteady;
        let open = open.filter(|open| is_open && open.laws.drive.passes());
        let watch = open.map(|open| Watch {
            open,
            begun,
            span: terms
                .earliest
                .saturating_sub(begun)
                .max(1)
                .next_multiple_of(ROUND),
            looks: Vec::new(),
            terms: PilotTerms {
                // After a change the pressure is known.
                expected: changes.last().map_or(terms.expected, PilotChange::expected),
                ..terms
            },
        });
        Self {
            changes,
            watch: watch.filter(Watch::has_time),
            next: None,
        }
    }

    /// The root step at which the flow begins.
    pub(super) fn begun(&self) -> u64 {
        counted(&self.changes)
    }

    /// The root step of the next judgement.
    pub(super) fn at(&self) -> Option<u64> {
        self.watch.as_ref().map(Watch::at)
    }

    /// The first root step after this one at which it looks at the flow.
    pub(super) fn next_due(&self, step: u64) -> Option<u64> {
        let watch = self.watch.as_ref()?;
        watch.dues().find(|&due| due > step)
    }

    /// Whether it looks at the flow at a root step.
    pub(super) fn is_due(&self, step: u64) -> bool {
        let watch = self.watch.as_ref();
        watch.is_some_and(|watch| watch.dues().any(|due| due == step))
    }

    /// Looks at the flow.
    pub(super) fn add<const D: usize>(&mut self, bulk: Bulk, resolved: &Resolved<D>) {
        let Some(watch) = &mut self.watch else {
            return;
        };
        watch.looks.push(bulk);
        let judged = match bulk.step < watch.at() {
            true => watch.judge_early(resolved),
            false => watch.judge(resolved),
        };
        match judged {
            Judged::Right => self.watch = None,
            Judged::TooEarly => {}
            Judged::Unclear => {
                watch.looks.clear();
                watch.span *= 2;
                if !watch.has_time() {
                    self.watch = None;
                }
            }
            Judged::Off(choice, change) => {
                self.next = Some(choice);
                self.changes.push(change);
                self.watch = None;
            }
        }
    }

    /// The numerics that another flow is to go on with from now.
    pub(super) fn next(&self) -> Option<Choice> {
        self.next
    }

    pub(super) fn notes(&self) -> PilotNotes {
        let looks = self.watch.as_ref().map(|watch| watch.looks.clone());
        PilotNotes {
            changes: self.changes.clone(),
            span: self.watch.as_ref().map(|watch| watch.span),
            looks: looks.unwrap_or_default(),
        }
    }

    /// Goes on with what a checkpoint has.
    pub(super) fn take_notes(&mut self, notes: PilotNotes) {
        self.watch = match (self.watch.take(), notes.span) {
            (Some(watch), Some(span)) => Some(Watch {
                span,
                looks: notes.looks,
                ..watch
            }),
            _ => None,
        };
    }
}

/// What a pilot finds.
enum Judged {
    Right,
    /// Before its time, with nothing that is out of bounds.
    TooEarly,
    /// The pressure still swings about what would be right.
    Unclear,
    Off(Choice, PilotChange),
}

impl Watch {
    fn at(&self) -> u64 {
        self.begun + self.span
    }

    /// Whether the judgement is in the first half of the run.
    fn has_time(&self) -> bool {
        2 * self.at() <= self.terms.most
    }

    /// The root steps of its looks.
    fn dues(&self) -> impl Iterator<Item = u64> {
        let (begun, spacing) = (self.begun, self.span / LOOKS);
        (1..=LOOKS).map(move |n| begun + n * spacing)
    }

    /// Whether the kinetic energy has stopped changing.
    fn is_developed(looks: &[Bulk]) -> bool {
        let energies = || looks.iter().map(|look| look.energy);
        let least = energies().min_by(f64::total_cmp);
        let most = energies().max_by(f64::total_cmp);
        least
            .zip(most)
            .is_some_and(|(least, most)| most - least < DEVELOPED * most)
    }

    /// The numerics by the laws with a pressure variation over ρ c² and a speed in lattice units.
    fn choice<const D: usize>(&self, resolved: &Resolved<D>, delta: f64, fastest: f64) -> Choice {
        let speed = resolved.units.velocity();
        let laws = self.open.laws.piloted(Piloted {
            head: delta / 3.0 * speed * speed,
            fastest: fastest * speed,
        });
        laws.choice(self.open.given)
    }

    /// While the flow starts, only what is beyond all bounds changes the time step: the flow might not live until it has started.
    fn judge_early<const D: usize>(&self, resolved: &Resolved<D>) -> Judged {
        let Some(look) = self.looks.last() else {
            return Judged::TooEarly;
        };
        let (delta, fastest) = (look.compression(), look.fastest);
        let next = self.choice(resolved, delta, fastest);
        let is_beyond = delta > BEYOND[usize::from(!self.terms.has_ramp)] || fastest > TOO_FAST;
        let is_slower = next.lattice_velocity < KEPT[0] * resolved.physics.lattice_velocity;
        let off = (is_beyond && is_slower).then(|| self.off(resolved, next, delta));
        off.flatten().unwrap_or(Judged::TooEarly)
    }

    /// Compares the time step with the one by the laws with what was measured. All late looks have to agree on it.
    fn judge<const D: usize>(&self, resolved: &Resolved<D>) -> Judged {
        let late = &self.looks[self.looks.len().saturating_sub(LATE)..];
        if !Self::is_developed(late) {
            return Judged::Unclear;
        }
        let deltas = || late.iter().map(Bulk::compression);
        let least = deltas().min_by(f64::total_cmp).unwrap_or(f64::NAN);
        let most = deltas().max_by(f64::total_cmp).unwrap_or(f64::NAN);
        let mean = deltas().sum::<f64>() / late.len() as f64;
        let fastest = late
            .iter()
            .map(|look| look.fastest)
            .fold(0.0, larger_or_nan);
        let choice = |delta: f64| self.choice(resolved, delta, fastest);
        let ratio = |of: &Choice| of.lattice_velocity / resolved.physics.lattice_velocity;
        let (fast, slow) = (choice(least), choice(most));
        let error = self.open.laws.error_of_compression(least);
        let is_slight = fast.bound == Bound::Head && error < BARS[0];
        let off = match (ratio(&slow), ratio(&fast)) {
            (_, high) if high < KEPT[0] && is_slight => return Judged::Right,
            (_, high) if high < KEPT[0] => self.off(resolved, choice(mean), mean),
            (low, _) if low > KEPT[1] => self.off(resolved, slow, most),
            (low, high) if low >= KEPT[0] && high <= KEPT[1] => return Judged::Right,
            _ => None,
        };
        off.unwrap_or(Judged::Unclear)
    }

    /// The change to other numerics at the last look, if the run has time for it.
    fn off<const D: usize>(
        &self,
        resolved: &Resolved<D>,
        next: Choice,
        delta: f64,
    ) -> Option<Judged> {
        let look = self.looks.last()?;
        let (units, now) = (&resolved.units, resolved.physics.lattice_velocity);
        let ratio = next.lattice_velocity / now;
        let counts = (look.step as f64 / ratio).round() as u64;
        let end = match self.terms.is_in_time {
            true => (self.terms.most as f64 / ratio) as u64,
            false => self.terms.most,
        };
        if 2 * counts > end {
            return None;
        }
        let change = PilotChange {
            steps: [look.step, counts],
            time: look.step as f64 * units.time,
            lattice_velocity: [now, next.lattice_velocity],
            collision: next.collision.to_string(),
            bound: next.bound.to_string(),
            pressure_variation: delta,
            expected: self.terms.expected,
            fastest: look.fastest * units.velocity(),
        };
        Some(Judged::Off(next, change))
    }
}

/// A case with the numerics that a pilot has chosen. The ramps stay those of the flow that goes on: defaults depend on the time step.
pub(super) fn changed(
    case: &Case,
    open: &OpenLaws,
    next: &Choice,
    from: &Case,
    has_links: bool,
) -> Case {
    with_ramps(next.given_to(case, &open.laws, has_links), from)
}

/// A case with the ramps of the same one resolved.
fn with_ramps(mut case: Case, resolved: &Case) -> Case {
    let ramp = |face: &Option<FaceTable>| face.as_ref().and_then(|face| face.ramp);
    let faces = case.boundary.faces_mut().into_iter().flatten();
    for (to, from) in faces.zip(resolved.boundary.faces().into_iter().flatten()) {
        if let Some(face) = to {
            face.ramp = ramp(from);
        }
    }
    for (name, patch) in &mut case.patches {
        patch.ramp = resolved.patches.get(name).and_then(|of| of.ramp);
    }
    case
}

/// The case of a run that is resumed, with the changes of its pilot, if its last checkpoint has any.
pub(super) fn resumed(case: &Case) -> Option<(Case, Vec<PilotChange>)> {
    let folder = case.output.folder.as_deref().unwrap_or(Path::new(FOLDER));
    let mut headers = checkpoint::list(folder).into_iter();
    let header = headers.find_map(|path| checkpoint::header(&path).ok())?;
    let notes = header.notes.get("pilot")?.clone();
    let notes: PilotNotes = serde_json::from_value(notes).ok()?;
    let from: Case = parse("checkpoint", &header.case).ok()?;
    let mut changed = with_ramps(case.clone(), &from);
    changed.physics.lattice_velocity = from.physics.lattice_velocity;
    let (numerics, of) = (&mut changed.numerics, &from.numerics);
    (numerics.collision, numerics.magic, numerics.wall) = (of.collision, of.magic, of.wall);
    (!notes.changes.is_empty()).then_some((changed, notes.changes))
}

/// What a pilot is, for a forecast.
pub(super) fn forecast(at: u64) -> String {
    format!(
        "pilot: at root step {at} measured pressures and speeds may change the time step (not a given lattice_velocity)\n"
    )
}
