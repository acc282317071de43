//! Means over time, and how far the flow swings about them.
//!
//! In: snapshots, one every so many root steps. Out: the mean of density and each velocity
//! component of every cell, and the root of the mean square about it, as snapshots. Running means
//! and squares about them (Welford, Technometrics 4 (1962) 419), in double precision. Determinism: the
//! same bits for the same snapshots; they go into a checkpoint, so that a resumed run has them.
//! Memory: 16 (D + 1) bytes a cell.

use crate::error::{Error, ErrorKind};
use cutlink_amr::dims;
use cutlink_solver::Snapshot;
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::io::{self, Read, Write};

/// Sums of a flow over time.
#[derive(Debug, Clone)]
pub struct Averages<const D: usize> {
    from: u64,
    every: u64,
    samples: u64,
    last: Option<u64>,
    /// Density, then each velocity component: mean and sum of squares about it, by block and cell.
    values: Vec<Vec<[f64; 2]>>,
}

impl<const D: usize> Averages<D> {
    /// Nothing yet; samples are taken at the root step `from` and every so many from then on.
    pub fn new(mesh: &Mesh<D>, from: u64, every: u64) -> Self {
        let count = mesh.forest.capacity() * dims::cells(D);
        Self {
            from,
            every: every.max(1),
            samples: 0,
            last: None,
            values: vec![vec![[0.0; 2]; count]; D + 1],
        }
    }

    /// Samples so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether a sample is to be taken at a root step.
    pub fn is_due(&self, step: u64) -> bool {
        step >= self.from
            && (step - self.from).is_multiple_of(self.every)
            && self.last.is_none_or(|last| last < step)
    }

    /// The first root step after `step` with a sample.
    pub fn next_due(&self, step: u64) -> u64 {
        match step.checked_sub(self.from) {
            None => self.from,
            Some(past) => self.from + (past / self.every + 1).saturating_mul(self.every),
        }
    }

    /// Takes a sample.
    pub fn add(&mut self, snapshot: &Snapshot<D>) {
        self.samples += 1;
        self.last = Some(snapshot.step);
        let share = 1.0 / self.samples as f64;
        let fields = std::iter::once(&snapshot.density).chain(&snapshot.velocity);
        for (values, field) in self.values.iter_mut().zip(fields) {
            values
                .par_iter_mut()
                .zip(field)
                .with_min_len(1024)
                .for_each(|([mean, squares], &now)| {
                    let off = f64::from(now) - *mean;
                    *mean += off * share;
                    *squares += off * (f64::from(now) - *mean);
                });
        }
    }

    fn snapshot(&self, step: u64, of: impl Fn(&[f64; 2]) -> f64 + Sync) -> Snapshot<D> {
        let field = |i: usize| -> Vec<f32> {
            let values = self.values[i].par_iter().with_min_len(1024);
            values.map(|value| of(value) as f32).collect()
        };
        Snapshot {
            step,
            density: field(0),
            velocity: std::array::from_fn(|a| field(1 + a)),
        }
    }

    /// Means so far, as the snapshot of a step.
    pub fn mean(&self, step: u64) -> Snapshot<D> {
        self.snapshot(step, |[mean, _]| *mean)
    }

    /// Roots of the mean squares about the means.
    pub fn rms(&self, step: u64) -> Snapshot<D> {
        let samples = self.samples.max(1) as f64;
        self.snapshot(step, |[_, squares]| (squares / samples).sqrt())
    }

    /// Writes all that [`restore`](Self::restore) needs.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.samples.to_le_bytes())?;
        out.write_all(&self.last.unwrap_or(u64::MAX).to_le_bytes())?;
        for values in &self.values {
            out.write_all(bytemuck::cast_slice(values))?;
        }
        Ok(())
    }

    /// Takes up what was saved, of the same mesh.
    ///
    /// # Errors
    /// A state that ends too early.
    pub fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let broken =
            |e: io::Error| Error::new(ErrorKind::Runtime, "cannot read the averages").because(&e);
        let mut words = [[0; 8]; 2];
        for word in &mut words {
            from.read_exact(word).map_err(broken)?;
        }
        let [samples, last] = words.map(u64::from_le_bytes);
        self.samples = samples;
        self.last = (last != u64::MAX).then_some(last);
        for values in &mut self.values {
            from.read_exact(bytemuck::cast_slice_mut(values))
                .map_err(broken)?;
        }
        Ok(())
    }
}
