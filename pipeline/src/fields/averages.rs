//! Time averages: means and rms fluctuations of a flow.
//!
//! In: snapshots at a fixed interval of root steps. Out: the mean and the rms fluctuation of density and each velocity
//! component of every cell, as snapshots. Running means and variances (Welford, Technometrics 4 (1962) 419), in double
//! precision. Determinism: bit-identical for the same snapshots. Averages are part of a checkpoint, so a resumed run
//! continues them. Memory: 16 (D + 1) bytes per cell, twice that while they are taken to another mesh.
//!
//! On a mesh that follows the flow, each cell has the whole history of its place: cells that are refined pass their
//! values on, and a cell that replaces finer ones takes the means of theirs. The fluctuations of its mean over them, which
//! are smaller, are not known.

use crate::error::{Error, ErrorKind};
use cutlink_amr::{CellRef, Forest, dims};
use cutlink_device::{Host, memory};
use cutlink_solver::Snapshot;
use cutlink_voxelizer::{Mesh, VoxelError};
use rayon::prelude::*;
use std::io::{self, Read, Write};

/// Sums of a flow over time.
#[derive(Debug)]
pub struct Averages<const D: usize> {
    from: u64,
    every: u64,
    samples: u64,
    last: Option<u64>,
    /// The blocks that the values are of.
    forest: Forest<D>,
    /// Density, then each velocity component: mean and sum of squared deviations, by block and cell.
    values: Vec<Vec<[f64; 2]>>,
}

impl<const D: usize> Averages<D> {
    /// Bytes of a cell while the averages are taken to another mesh.
    pub const CARRIED: u64 = 2 * 16 * (D as u64 + 1);

    /// Empty averages; samples are taken at root step `from` and every `every` steps from there on.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(mesh: &Mesh<D>, from: u64, every: u64) -> Result<Self, Error> {
        Ok(Self {
            from,
            every: every.max(1),
            samples: 0,
            last: None,
            values: nothing(&mesh.forest)?,
            forest: copy_of(&mesh.forest)?,
        })
    }

    /// Takes the averages to a mesh that has the same root blocks.
    ///
    /// # Errors
    /// Too little memory.
    pub fn follow(&mut self, mesh: &Mesh<D>) -> Result<(), Error> {
        if mesh.forest.first_child == self.forest.first_child {
            return Ok(());
        }
        let mut values = nothing(&mesh.forest)?;
        for (to, from) in values.iter_mut().zip(&self.values) {
            to.par_chunks_mut(dims::cells(D))
                .enumerate()
                .filter(|(block, _)| mesh.forest.is_leaf(*block as u32))
                .for_each(|(block, to)| {
                    for (cell, to) in to.iter_mut().enumerate() {
                        let at = CellRef {
                            block: block as u32,
                            cell: cell as u32,
                        };
                        let level = usize::from(mesh.forest.level[block]);
                        *to = value_at(&self.forest, from, level, mesh.forest.cell_coord(at));
                    }
                });
        }
        self.values = values;
        self.forest = copy_of(&mesh.forest)?;
        Ok(())
    }

    /// Number of samples so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether a sample is due at a root step.
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

    /// Adds a sample.
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

    /// The means so far, as a snapshot of a step.
    pub fn mean(&self, step: u64) -> Snapshot<D> {
        self.snapshot(step, |[mean, _]| *mean)
    }

    /// The rms fluctuations about the means.
    pub fn rms(&self, step: u64) -> Snapshot<D> {
        let samples = self.samples.max(1) as f64;
        self.snapshot(step, |[_, squares]| (squares / samples).sqrt())
    }

    /// Writes the state for [`restore`](Self::restore).
    ///
    /// # Errors
    /// I/O errors.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.samples.to_le_bytes())?;
        out.write_all(&self.last.unwrap_or(u64::MAX).to_le_bytes())?;
        for values in &self.values {
            out.write_all(bytemuck::cast_slice(values))?;
        }
        Ok(())
    }

    /// Restores a state that was saved on this mesh.
    ///
    /// # Errors
    /// A truncated state, too little memory.
    pub fn restore(&mut self, mesh: &Mesh<D>, from: &mut dyn Read) -> Result<(), Error> {
        self.follow(mesh)?;
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

/// Values of all cells before the first sample.
fn nothing<const D: usize>(forest: &Forest<D>) -> Result<Vec<Vec<[f64; 2]>>, Error> {
    let count = forest.capacity() * dims::cells(D);
    let field = |_| {
        let mut values = memory::with_capacity("averages", count)?;
        values.resize(count, [0.0; 2]);
        Ok(values)
    };
    (0..=D).map(field).collect()
}

fn copy_of<const D: usize>(forest: &Forest<D>) -> Result<Forest<D>, Error> {
    Ok(forest.upload(&Host).map_err(VoxelError::from)?)
}

/// The value at a cell of a level: that of the leaf cell which covers it, or the mean over those in it.
fn value_at<const D: usize>(
    forest: &Forest<D>,
    values: &[[f64; 2]],
    level: usize,
    cell: [i32; D],
) -> [f64; 2] {
    let block = forest.find(level, cell.map(|x| x >> 2));
    let block = block.expect("both meshes have the same root blocks");
    let up = level - usize::from(forest.level[block as usize]);
    if forest.is_leaf(block) {
        let inner = dims::ravel::<D>(cell.map(|x| x >> up & 3), 4);
        return values[block as usize * dims::cells(D) + inner];
    }
    let finer = (0..dims::children(D)).map(|child| {
        let corner = std::array::from_fn(|a| 2 * cell[a] + (child >> a & 1) as i32);
        value_at(forest, values, level + 1, corner)
    });
    let sum = finer.fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
    sum.map(|x| x / dims::children(D) as f64)
}
