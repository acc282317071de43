//! Forces on walls: samples for the histories of the run loop.

use super::run::FluxResolved;
use cutlink_common::Error;
use cutlink_flow::history::History;
use cutlink_fr::{
    EulerFlow,
    kernels::{EulerKernels, Kernels},
};
use cutlink_solver::ForceSample;

/// Steps between two samples, by default.
pub(super) const FORCES_EVERY: u64 = 16;

/// What is sampled, and when.
pub(super) struct FluxForces<const D: usize> {
    every: u64,
    /// Numbers of the patches that are walls.
    patches: Vec<usize>,
    /// The point that moments are about.
    center: [f64; D],
    axes: [[f64; 3]; 3],
}

impl<const D: usize> FluxForces<D> {
    /// Those of a case; `None` where there are no walls, no reference or no samples.
    pub(super) fn new(resolved: &FluxResolved<D>) -> Option<Self> {
        let every = resolved.forces_every;
        let reference = resolved.setting.reference.as_ref().filter(|_| every > 0)?;
        let patches = &resolved.setting.patches;
        Some(Self {
            every,
            patches: patches.iter().map(|(patch, _)| *patch).collect(),
            center: reference.center,
            axes: reference.axes,
        })
    }

    /// Directions of drag, lift and side force, for `summary.json`.
    pub(super) fn axes(&self) -> serde_json::Value {
        let [drag, lift, side] = self.axes;
        serde_json::json!({ "drag": drag, "lift": lift, "side": side })
    }

    /// Steps to the next sample.
    pub(super) fn to_next(&self, step: u64) -> u64 {
        self.every - step % self.every
    }

    /// A sample, if one is due.
    ///
    /// # Errors
    /// A device that fails.
    pub(super) fn sample<T: Kernels<D>, B: EulerKernels<D>>(
        &self,
        flow: &mut EulerFlow<D, T, B>,
    ) -> Result<Option<ForceSample>, Error> {
        let step = flow.steps();
        if !step.is_multiple_of(self.every) {
            return Ok(None);
        }
        let loads = flow.wall_loads(self.center)?;
        let six = |&patch: &usize| {
            let ([x, y, z], [mx, my, mz]) = (loads[patch].force(), loads[patch].moment);
            [x, y, z, mx, my, mz]
        };
        Ok(Some(ForceSample {
            step,
            patches: self.patches.iter().map(six).collect(),
            ..ForceSample::default()
        }))
    }
}

/// The empty history of the forces of a case: without patches where there are no samples.
pub(super) fn history<const D: usize>(resolved: &FluxResolved<D>) -> History<D> {
    let (setting, every) = (&resolved.setting, resolved.forces_every);
    let Some(reference) = setting.reference.as_ref().filter(|_| every > 0) else {
        return History::without_patches(resolved.dt);
    };
    let names: Vec<String> = setting
        .patches
        .iter()
        .map(|(_, name)| name.clone())
        .collect();
    let mut history = History::of_patches(&names, &setting.groups);
    history.every = every.max(1);
    history.time = resolved.dt;
    history.convective_time = reference.length / reference.velocity;
    history.scale = [
        1.0 / reference.force,
        1.0 / (reference.force * reference.length),
    ];
    history.axes = reference.axes;
    history
}
