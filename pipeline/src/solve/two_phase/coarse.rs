//! Checks of the verdict of cells and steps that are too coarse, by measured laws of the error (decision 049).

use super::{heat::CaseHeat, layers::HeatLayers};
use cutlink_flow::Check;
use cutlink_vof::{BoxFace, PhaseIntegrals, TwoPhaseFlow};
use serde_json::{Value, json};
use std::f64::consts::PI;

/// Error over [`Coarseness::waves`](cutlink_vof::Coarseness): of the period of standing waves; of the pressure in a channel of one
/// fluid; of the period with surface tension.
const OF_WAVES: [f64; 3] = [0.15, 0.5, 0.3];
/// Error over the square of the width of cells over the radius of curvature: without surface tension of the way of drops, with it of their
/// period.
const OF_CURVATURE: [f64; 2] = [0.06, 1.7];
/// Error over the square of the width of cells over the thickness of thermal layers: of the heat through walls.
const OF_LAYERS: f64 = 1.5;
/// Damping of waves of one fluid by each cell that they pass, over the root of [`Coarseness::waves`](cutlink_vof::Coarseness).
const OF_WAY: f64 = 0.01;
/// Cells that the fluid has to move for its waves to count.
const LEAST_WAY: f64 = 0.1;
/// Bars of what is doubtful.
const BARS: [f64; 2] = [0.03, f64::INFINITY];
/// The same of steps.
const OF_STEPS: [f64; 2] = [0.02, f64::INFINITY];

/// How coarse the cells and steps of a run were.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CoarseRecord {
    /// [`OF_WAVES`].
    of_waves: f64,
    /// [`OF_CURVATURE`].
    of_curvature: f64,
    /// Whether walls alone drive the flow, so that its friction is all there is.
    is_sheared: bool,
    /// Samples, and the sums of their waves, curvatures, friction and its power.
    samples: [f64; 5],
    /// The time of the last line, the largest kinetic energy, and the way of the fastest and of the mean fluid in finest cells.
    way: [f64; 4],
    /// Of one fluid in a periodic box, which nothing drives.
    decay: Option<Decay>,
    /// Of a flow with heat.
    heat: Option<HeatLayers>,
}

/// A flow that only viscosity slows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Decay {
    /// Kinematic viscosity, m²/s.
    viscosity: f64,
    /// Kinetic energy at the last line, J.
    kinetic: f64,
    /// The error of the energy by steps and cells.
    error: f64,
}

impl CoarseRecord {
    /// Of a flow at its start. Heat comes with the time in which conduction evens out the box, s.
    pub(super) fn new<const D: usize>(
        flow: &TwoPhaseFlow<D>,
        heat: Option<(&CaseHeat<D>, f64)>,
    ) -> Self {
        let phases = &flow.params().phases;
        let ([rho, other], [mu, as_viscous]) = (phases.density, phases.viscosity);
        let is_one = (rho - other).abs() < 1e-9 * rho && (mu - as_viscous).abs() < 1e-9 * mu;
        let is_free = flow.mesh().blocks().periodic().iter().all(|is| *is) && heat.is_none();
        let faces = flow.params().faces.iter().flatten();
        let mut walls = faces.filter(|face| matches!(face, BoxFace::NoSlip));
        let has_walls = is_one && mu > 0.0 && heat.is_none() && walls.next().is_some();
        let decay = Decay {
            viscosity: mu / rho,
            kinetic: flow.coarseness().kinetic,
            error: 0.0,
        };
        Self {
            of_waves: OF_WAVES[match phases.surface_tension > 0.0 {
                true => 2,
                false => usize::from(has_walls),
            }],
            of_curvature: OF_CURVATURE[usize::from(phases.surface_tension > 0.0)],
            is_sheared: phases.surface_tension == 0.0 && flow.params().gravity == [0.0; D],
            samples: [0.0; 5],
            way: [0.0; 4],
            decay: (is_one && is_free && mu > 0.0).then_some(decay),
            heat: heat.map(|(of, slowest)| HeatLayers::new(flow, of, slowest)),
        }
    }

    /// Adds a sample of the cells.
    pub(super) fn sample<const D: usize>(&mut self, flow: &TwoPhaseFlow<D>) {
        let now = flow.coarseness();
        let of = [1.0, now.waves, now.curvature, now.friction, now.power];
        for (sum, of) in self.samples.iter_mut().zip(of) {
            *sum += of;
        }
    }

    /// Adds a line, at this time, after so many substeps since the last one.
    pub(super) fn line<const D: usize>(
        &mut self,
        flow: &TwoPhaseFlow<D>,
        now: &PhaseIntegrals<D>,
        time: f64,
        substeps: u64,
    ) {
        let h = flow.mesh().width(flow.mesh().blocks().finest());
        let [then, kinetic, most, mean] = self.way;
        let (over, [liquid, gas]) = (time - then, flow.params().phases.density);
        let mass = liquid * now.volume[0] + gas * now.volume[1];
        let speed = (2.0 * now.kinetic / mass).sqrt();
        self.way = [
            time,
            kinetic.max(now.kinetic),
            most + over * now.largest_velocity / h,
            mean + over * speed / h,
        ];
        if let Some(decay) = &mut self.decay {
            let kinetic = flow.coarseness().kinetic;
            if over > 0.0 && kinetic > 0.0 {
                let rate = 0.5 * (decay.kinetic / kinetic).ln().abs() / over;
                // (1 + r dt)^(-t/dt) is off by r² dt t / 2 of it, and differences of a wave by (k h)² / 12 with r = ν k².
                let step = over / substeps.max(1) as f64;
                decay.error += rate * rate * over * (step + h * h / (6.0 * decay.viscosity));
            }
            decay.kinetic = kinetic;
        }
        if let Some(heat) = &mut self.heat {
            heat.line(flow, time, substeps);
        }
    }

    /// Its numbers that change.
    fn words(&mut self) -> Vec<&mut f64> {
        let mut words: Vec<&mut f64> = self.samples.iter_mut().chain(&mut self.way).collect();
        let decay = self.decay.iter_mut();
        words.extend(decay.flat_map(|of| [&mut of.kinetic, &mut of.error]));
        words.extend(self.heat.iter_mut().flat_map(HeatLayers::words));
        words
    }

    /// For the header of a checkpoint, by bits.
    pub(super) fn to_json(&self) -> Value {
        let mut copy = self.clone();
        let words = copy.words().into_iter().map(|word| word.to_bits());
        json!(words.collect::<Vec<_>>())
    }

    /// Takes what [`to_json`](Self::to_json) gave.
    pub(super) fn restore(&mut self, kept: &Value) {
        let kept = kept.as_array().into_iter().flatten();
        let kept = kept.filter_map(Value::as_u64).map(f64::from_bits);
        for (word, value) in self.words().into_iter().zip(kept) {
            *word = value;
        }
    }

    /// The checks.
    pub(super) fn judge(&self) -> Vec<Check> {
        let steps = [
            self.decay.map(|of| (of.error, "velocities")),
            self.heat.as_ref().map(|of| (of.of_steps(), "temperatures")),
        ];
        let of_steps = steps.into_iter().flatten().map(|(value, of)| Check {
            name: "time step",
            value,
            bars: OF_STEPS,
            what: format!("error of {of} that change, by steps, of first order, and cells"),
            remedy: Some("a smaller [numerics] dt, or finer cells".into()),
        });
        self.of_cells().into_iter().chain(of_steps).collect()
    }

    /// The worst of what few cells do.
    fn of_cells(&self) -> Option<Check> {
        let [count, sums @ ..] = self.samples;
        let [waves, curvature, friction, power] = sums.map(|sum| sum / count.max(1.0));
        let [time, kinetic, most, mean] = self.way;
        let cells = |square: f64| square.recip().sqrt();
        let moves = if most > LEAST_WAY { waves } else { 0.0 };
        let damped = if self.decay.is_some() {
            OF_WAY * mean * moves.sqrt()
        } else {
            0.0
        };
        // What friction takes on the way, of all energy there was.
        let share = if self.is_sheared {
            power * time / (power * time + kinetic).max(f64::MIN_POSITIVE)
        } else {
            0.0
        };
        let layer = self.heat.as_ref().map_or(0.0, HeatLayers::layer);
        let all = [
            (
                (self.of_waves * moves).max(damped),
                format!("waves of {:.1} cells", 2.0 * PI * cells(0.5 * moves)),
            ),
            (
                self.of_curvature * curvature,
                format!("a radius of the interface of {:.1} cells", cells(curvature)),
            ),
            (
                OF_LAYERS * layer * layer,
                format!("thermal layers of {:.1} cells", layer.recip()),
            ),
            (
                friction * share,
                "viscosities of cells at the interface".to_owned(),
            ),
        ];
        let worst = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        worst.map(|(value, what)| Check {
            name: "resolution",
            value,
            bars: BARS,
            what: format!("error by few cells: {what}"),
            remedy: Some("more [domain] root cells, or levels".into()),
        })
    }
}
