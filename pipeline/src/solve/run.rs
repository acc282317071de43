//! A run: from a case to forces, fields, checkpoints and a summary.
//!
//! Writes into the case's folder: the resolved `case.toml`; `integrals.csv`, `forces.csv`, or `energy.csv` of a
//! box without a body that is to settle, as the run goes; fields ([`crate::fields`]); checkpoints; and at the end
//! `forces.png` and `summary.json`. All files except these tables are written atomically.

use crate::{
    error::{Error, ErrorKind},
    fields::{FieldWriter, Moment},
    mesh::report,
    observer::Observer,
    output,
    solve::{
        adapt::Looks,
        bulk::Bulk,
        checkpoint::{self, Header},
        energy::Energy,
        hints,
        history::{Growing, History},
        integrals::Integrals,
        laws::Laws,
        lock::FolderLock,
        resolve::{Resolved, Until},
        shares::Shares,
        sheet::Sheet,
        verdict::openings::{FacesLook, Openings},
        watch::{self, Growth},
    },
};
use cutlink_mesher::snap::Snapped;
use cutlink_solver::{Flow, ForceSample, Snapshot, SolverError, fields::Integrals as Means};
use set_up::SetUp;
use std::time::{Duration, Instant};

mod api;
mod end;
mod follow;
mod judge;
pub(in crate::solve) mod look;
mod mesh_file;
mod set_up;

pub use api::{Coefficient, RunOptions, RunPlan, RunSummary};

/// Root steps between two checks of the flow, at multiples of it, so that a resumed run checks at the same steps.
const CHUNK: u64 = 64;

/// Default wall time between checkpoints if the case gives no number of steps, and at least [`SAVE_SHARE`] times the
/// duration of the last checkpoint.
const SAVE_INTERVAL: Duration = Duration::from_secs(600);
const SAVE_SHARE: u32 = 20;

/// Wall time after which a request to stop is seen, unless a root step takes longer.
const PATIENCE: Duration = Duration::from_millis(200);

/// Minimum number of root steps between two checks of bulk quantities, which cost as much as several steps.
const WHOLE: u64 = 256;

/// A run and its outputs.
struct Run<'a, const D: usize> {
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    resolved: Resolved<D>,
    header: Header,
    history: History<D>,
    /// The forces of the last root step.
    last: Option<ForceSample>,
    /// The body, if there is one.
    surface: Option<&'a Snapped<D>>,
    /// `forces.csv`.
    forces: Option<Growing>,
    energy: Option<Energy>,
    /// `energy.csv`.
    energies: Option<Growing>,
    integrals: Integrals<D>,
    /// `integrals.csv`.
    integral_lines: Option<Growing>,
    fields: FieldWriter<D>,
    /// Ids of the blocks whose values `integrals` takes.
    open: Vec<u32>,
    /// [`Flow::epoch`] of the mesh that these and the body of `fields` are of.
    epoch: u64,
    /// How the mesh has followed the flow, and `adapt.csv`.
    adapted: Option<(Looks, Growing)>,
    /// Updates of leaf cells in a root step on that mesh, and in all so far.
    each: u64,
    updates: f64,
    /// Bulk quantities of the flow at each check so far.
    looks: Vec<Bulk>,
    /// Its open faces then.
    faces: Vec<FacesLook>,
    openings: Openings<D>,
    /// The finest level of the mesh at the start.
    finest: usize,
    /// The earliest root step at which it can have settled, or be judged.
    earliest: u64,
    /// Duration of a root step, of the last ones.
    step_time: Option<Duration>,
    /// Root step of the last checkpoint.
    saved: Option<u64>,
    sheet: Sheet,
    laws: Laws,
    device: report::DeviceReport,
    /// How ranks share the flow, if there are several.
    shares: Option<Shares>,
    began: Instant,
    begun_at: u64,
    /// Wall time of outputs and checkpoints so far.
    aside: Duration,
    set_up: SetUp,
    /// Time of the last checkpoint, and its duration.
    last_save: Instant,
    save_time: Duration,
    /// The blocks around probes, and all blocks or those that integrals need, each at the last time that they were needed.
    probed: Snapshot<D>,
    now: Snapshot<D>,
    _lock: FolderLock,
}

impl<const D: usize> Run<'_, D> {
    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        output::write_text(&self.resolved.folder.join(name), true, text)
    }

    /// Maximum number of root steps.
    fn most(&self) -> u64 {
        let most = match self.resolved.until {
            Until::Steps(steps) => steps,
            Until::Settled { most, .. } => most,
        };
        self.options.steps.unwrap_or(most)
    }

    /// Root steps to the next check of the flow.
    fn to_next_look(&self, step: u64) -> u64 {
        let to_multiple = |of: u64| of - step % of;
        let mut steps = to_multiple(CHUNK);
        for every in [
            self.resolved.checkpoint_every.unwrap_or(0),
            self.integrals.every,
        ] {
            if every > 0 {
                steps = steps.min(to_multiple(every));
            }
        }
        let due = self.fields.next_due(step);
        due.map_or(steps, |due| steps.min(due - step))
    }

    fn go(&mut self, flow: &mut dyn Flow<D>) -> Result<RunSummary, Error> {
        let most = self.most();
        self.observer.begin(most.saturating_sub(self.begun_at));
        if self.integrals.is_due(flow.steps()) {
            self.add_integrals(flow)?;
        }
        self.write_fields(flow, Moment::Running)?;
        let every = self.resolved.checkpoint_every;
        let mut settled = false;
        while flow.steps() < most && !settled {
            let steps = self.to_next_look(flow.steps()).min(most - flow.steps());
            let steps = self.advance(flow, steps)?;
            let sound = flow.check();
            let mut samples = flow.take_forces()?;
            self.history.add(&samples);
            self.last = samples.pop().or(self.last.take());
            if let Err(error) = sound {
                self.write_histories()?;
                return Err(self.diverged(error));
            }
            let growth = self.look(flow)?;
            self.write_histories()?;
            if let Some(growth) = growth {
                return self.finish(flow, false, Some(growth));
            }
            self.write_fields(flow, Moment::Running)?;
            match every {
                Some(0) => {}
                Some(every) if flow.steps().is_multiple_of(every) => self.save(flow)?,
                Some(_) => {}
                None => self.save_by_time(flow),
            }
            self.look_by_observer(flow)?;
            let status = self.progress(flow.steps());
            self.observer.advance(steps, &status);
            if self.options.stop.is_stopped() {
                self.save(flow)?;
                return Err(Error::new(
                    ErrorKind::Stopped,
                    format!("stopped at root step {}, with a checkpoint", flow.steps()),
                )
                .hint("continue with --resume"));
            }
            if let Until::Settled { change, .. } = self.resolved.until {
                settled = self.is_settled(flow.steps(), change);
            }
        }
        let growth = self.watch();
        self.finish(flow, settled, growth)
    }

    /// Advances by so many root steps, or to a request to stop, which is looked for every [`PATIENCE`]; returns the steps done.
    fn advance(&mut self, flow: &mut dyn Flow<D>, steps: u64) -> Result<u64, Error> {
        let from = flow.steps();
        while flow.steps() < from + steps && !self.options.stop.is_stopped() {
            let (at, began) = (flow.steps(), Instant::now());
            let left = from + steps - at;
            let slice = self.step_time.map_or(1, |each| {
                let fits = PATIENCE.as_nanos() / each.as_nanos().max(1);
                u64::try_from(fits).unwrap_or(u64::MAX).max(1)
            });
            flow.advance(slice.min(left))?;
            if self.step_time.is_none() || slice < left {
                // Waits for a device; what is wrong shows at the end of all steps.
                flow.wait()?;
            }
            let each = began.elapsed() / u32::try_from(flow.steps() - at).unwrap_or(u32::MAX);
            self.step_time = Some(each);
        }
        let done = flow.steps() - from;
        self.follow(flow, done)?;
        Ok(done)
    }

    /// Checks the bulk quantities when due; returns what grows without bound, if anything.
    fn look(&mut self, flow: &dyn Flow<D>) -> Result<Option<Growth>, Error> {
        let step = flow.steps();
        let watched = step.is_multiple_of(WHOLE.max(sparse(step, 16)));
        let of_energy = self.energy.is_some() && step.is_multiple_of(CHUNK);
        let of_integrals = self.integrals.is_due(step);
        if !(watched || of_energy || of_integrals) {
            return Ok(None);
        }
        let means = match (of_integrals, watched) {
            (true, _) => self.add_integrals(flow)?,
            (_, true) => flow.integrals(&self.open, &mut self.now)?,
            _ => flow.integrals(&[], &mut self.now)?,
        };
        let bulk = Bulk::new(step, &means);
        if let Some(energy) = self.energy.as_mut().filter(|_| step.is_multiple_of(CHUNK)) {
            energy.add(&bulk);
        }
        if !watched {
            return Ok(None);
        }
        self.looks.push(bulk);
        let faces = self.openings.look(flow.mesh()?, &self.now, step);
        self.faces.push(faces);
        Ok(self.watch())
    }

    /// Adds a line of integrals, and returns the means of the fluid.
    fn add_integrals(&mut self, flow: &dyn Flow<D>) -> Result<Means, Error> {
        let means = flow.integrals(&self.open, &mut self.now)?;
        let last = self.last.as_ref();
        self.integrals.add(flow.mesh()?, &means, &self.now, last);
        Ok(means)
    }

    /// What grows without bound, unless the case asks not to look.
    fn watch(&self) -> Option<Growth> {
        if self.resolved.case.run.watch == Some(false) {
            return None;
        }
        let [drag, lift, side, ..] = &self.history.total;
        let convective = self.history.convective_time / self.history.time;
        let of_forces = || watch::forces(&self.history.steps, [drag, lift, side], convective);
        watch::bulk(&self.looks).or_else(of_forces)
    }

    /// The error for a diverged flow.
    fn diverged(&self, error: SolverError) -> Error {
        let advice = matches!(error, SolverError::Diverged { .. }).then(|| self.advice());
        let failure = Error::from(error);
        match advice {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    fn advice(&self) -> String {
        let viscous = self.laws.too_viscous();
        hints::diverged(
            &self.resolved.params,
            &self.resolved.physics,
            viscous,
            self.saved,
        )
    }

    /// Whether the run has settled; checked at sparse steps only, and not before what changes the flow could reach all of it.
    fn is_settled(&self, step: u64, change: f64) -> bool {
        step >= self.earliest
            && step.is_multiple_of(CHUNK.max(sparse(step, 32)))
            && match &self.energy {
                Some(energy) => energy.is_settled(change),
                None => self.history.is_settled(change),
            }
    }

    fn write_fields(&mut self, flow: &dyn Flow<D>, moment: Moment) -> Result<(), Error> {
        let (step, begin) = (flow.steps(), Instant::now());
        self.fields.sample(flow)?;
        if self.fields.is_due(step, moment) {
            let mesh = flow.mesh()?;
            match self.fields.blocks_due(mesh, step, moment) {
                Some(blocks) => {
                    self.probed.step = step;
                    if !blocks.is_empty() {
                        flow.update(Some(&blocks), &mut self.probed)?;
                    }
                    self.fields.write(mesh, &self.probed, moment)?;
                }
                None => {
                    flow.update(None, &mut self.now)?;
                    self.fields.write(mesh, &self.now, moment)?;
                }
            }
        }
        self.aside += begin.elapsed();
        Ok(())
    }

    /// Million cell updates a second, without the time of outputs and checkpoints.
    fn mlups(&self, steps: u64) -> f64 {
        let done = match self.adapted {
            Some(_) => self.updates,
            None => (steps - self.begun_at) as f64 * self.sheet.updates as f64,
        };
        let stepped = self.began.elapsed().saturating_sub(self.aside);
        done / stepped.as_secs_f64().max(1e-9) / 1e6
    }

    fn progress(&self, steps: u64) -> String {
        // On a mesh that changes, the steps to come are taken to be like those so far.
        let each = match self.adapted {
            Some(_) => self.updates / (steps - self.begun_at).max(1) as f64,
            None => self.sheet.updates as f64,
        };
        let left = (self.most() - steps) as f64 * each / 1e6 / self.mlups(steps).max(1e-9);
        let drag = self
            .history
            .last_drag()
            .map_or(String::new(), |c| format!(", C_D {c:.4}"));
        let cells = self.adapted.as_ref().map(|(looks, _)| looks.progress());
        format!(
            "{:.1} MLUPS, {left:.0} s left{drag}{}",
            self.mlups(steps),
            cells.unwrap_or_default()
        )
    }

    /// Writes the histories so far to their files.
    fn begin_histories(&mut self) -> Result<(), Error> {
        let folder = self.resolved.folder.clone();
        if self.resolved.params.forces {
            let text = self.history.whole_csv();
            self.forces = Some(Growing::new(folder.join("forces.csv"), &text)?);
        }
        if let Some(energy) = &mut self.energy {
            self.energies = Some(Growing::new(
                folder.join("energy.csv"),
                &energy.whole_csv(),
            )?);
        }
        if self.integrals.every > 0 {
            let text = self.integrals.whole_csv();
            self.integral_lines = Some(Growing::new(folder.join("integrals.csv"), &text)?);
        }
        Ok(())
    }

    /// Appends new samples of the histories to their files.
    fn write_histories(&mut self) -> Result<(), Error> {
        if let Some(file) = &mut self.forces {
            file.append(&self.history.fresh())?;
        }
        if let (Some(file), Some(energy)) = (&mut self.energies, &mut self.energy) {
            file.append(&energy.fresh())?;
        }
        if let Some(file) = &mut self.integral_lines {
            file.append(&self.integrals.fresh())?;
        }
        Ok(())
    }

    /// Writes a checkpoint by wall time if the last one is old. A failure is noted and does not end the run.
    fn save_by_time(&mut self, flow: &dyn Flow<D>) {
        if self.last_save.elapsed() < SAVE_INTERVAL.max(SAVE_SHARE * self.save_time) {
            return;
        }
        if let Err(error) = self.save(flow) {
            self.last_save = Instant::now();
            self.observer.note(&format!(
                "cannot write a checkpoint at root step {}, the run continues: {error}",
                flow.steps()
            ));
        }
    }

    fn save(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        let begin = Instant::now();
        let header = Header {
            step: flow.steps(),
            looks: self.looks.clone(),
            faces: self.faces.clone(),
            ..self.header.clone()
        };
        if let Some(averages) = self.fields.averages_mut() {
            averages.follow(flow.mesh()?)?;
        }
        let folder = &self.resolved.folder;
        let files = [&self.forces, &self.energies, &self.integral_lines];
        for file in files.into_iter().flatten() {
            file.sync()?;
        }
        checkpoint::write(folder, &header, |out| {
            flow.save(out)?;
            match self.fields.averages() {
                Some(averages) => averages.save(out).map_err(|e| output::failed(folder, &e)),
                None => Ok(()),
            }
        })?;
        self.saved = Some(header.step);
        (self.last_save, self.save_time) = (Instant::now(), begin.elapsed());
        self.aside += self.save_time;
        Ok(())
    }
}

/// Each check scans the whole history, so checks are spaced in proportion to the steps so far (O(n) in total). They are
/// at multiples of a power of two, so that a resumed run checks at the same steps.
fn sparse(step: u64, share: u64) -> u64 {
    (step / share).checked_ilog2().map_or(1, |power| 1 << power)
}
