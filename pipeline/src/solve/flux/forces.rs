//! Forces on walls as coefficients: `forces.csv` during the run, statistics at its end.

use super::{run::FluxResolved, walls::Reference};
use crate::{
    error::Error,
    output,
    solve::{
        history::{Growing, History},
        means::Statistics,
    },
};
use cutlink_fr::{
    EulerFlow,
    kernels::{EulerKernels, Kernels},
};
use cutlink_solver::ForceSample;
use std::path::Path;

/// Steps between two samples, by default.
pub(super) const FORCES_EVERY: u64 = 16;

/// The forces so far, and their file.
pub(super) struct FluxForces<const D: usize> {
    every: u64,
    /// Numbers of the patches that are walls.
    patches: Vec<usize>,
    reference: Reference<D>,
    history: History<D>,
    file: Option<Growing>,
}

impl<const D: usize> FluxForces<D> {
    /// Those of a case; `None` where there are no walls, no reference or no samples.
    pub(super) fn new(resolved: &FluxResolved<D>) -> Option<Self> {
        let (setting, every) = (&resolved.setting, resolved.forces_every);
        let reference = setting.reference.clone().filter(|_| every > 0)?;
        let (patches, names): (Vec<usize>, Vec<String>) = setting.patches.iter().cloned().unzip();
        let scale = [
            1.0 / reference.force,
            1.0 / (reference.force * reference.length),
        ];
        let convective_time = reference.length / reference.velocity;
        let history = History::of_patches(&names, every, resolved.dt, convective_time, scale);
        Some(Self {
            every,
            patches,
            reference,
            history,
            file: None,
        })
    }

    /// Reads the samples of an earlier run up to a step.
    ///
    /// # Errors
    /// A file of another case.
    pub(super) fn read(&mut self, folder: &Path, step: u64) -> Result<(), Error> {
        self.history.read(&folder.join("forces.csv"), step)
    }

    /// Begins the file with the samples so far.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn begin(&mut self, folder: &Path) -> Result<(), Error> {
        let text = self.history.whole_csv();
        self.file = Some(Growing::new(folder.join("forces.csv"), &text)?);
        Ok(())
    }

    /// Steps to the next sample.
    pub(super) fn to_next(&self, step: u64) -> u64 {
        self.every - step % self.every
    }

    /// Takes a sample where one is due.
    ///
    /// # Errors
    /// Where the device fails.
    pub(super) fn sample<T: Kernels<D>, B: EulerKernels<D>>(
        &mut self,
        flow: &mut EulerFlow<D, T, B>,
    ) -> Result<(), Error> {
        let step = flow.steps();
        let has_it = self.history.steps.last().is_some_and(|&last| last >= step);
        if !step.is_multiple_of(self.every) || has_it {
            return Ok(());
        }
        let loads = flow.wall_loads(self.reference.center)?;
        let six = |&patch: &usize| {
            let (force, moment) = (loads[patch].force(), loads[patch].moment);
            [
                force[0], force[1], force[2], moment[0], moment[1], moment[2],
            ]
        };
        self.history.add(&[ForceSample {
            step,
            patches: self.patches.iter().map(six).collect(),
            ..ForceSample::default()
        }]);
        Ok(())
    }

    /// Writes the samples that are not in the file yet.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        match &mut self.file {
            Some(file) => file.append(&self.history.fresh()),
            None => Ok(()),
        }
    }

    /// Flushes the file to the disk.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.as_ref().map_or(Ok(()), Growing::sync)
    }

    /// The share of the samples in which all forces are exactly 0.
    pub(super) fn rest(&self) -> f64 {
        self.history.rest()
    }

    /// The last drag.
    pub(super) fn drag(&self) -> Option<f64> {
        self.history.last_drag()
    }

    /// The last drag, lift and side force.
    pub(super) fn last(&self) -> Option<[f64; 3]> {
        self.history.last_forces()
    }

    /// Means, shedding and their plot.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn statistics(&self, folder: &Path) -> Result<Statistics<'_, D>, Error> {
        let statistics = Statistics::new(&self.history);
        if let Some(plot) = statistics.plot() {
            let path = folder.join("forces.png");
            output::write(&path, true, |out| {
                plot.write_png(out).map_err(|e| output::failed(&path, &e))
            })?;
        }
        Ok(statistics)
    }
}
