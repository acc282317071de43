//! Time averages: means and rms fluctuations of a flow.
//!
//! In: samples of a flow at a fixed interval of root steps. Out: the mean and the rms fluctuation of density and each velocity
//! component of every cell, as snapshots. The sums are [`RunningMeans`], in double precision and in the memory of the device
//! that steps the flow. Determinism: bit-identical for the same samples. Averages are part of a checkpoint, so a resumed run
//! continues them. Memory: [`RunningMeans::BYTES`] per cell where the flow is; while they are taken to another mesh,
//! [`Averages::CARRIED`] on the host.
//!
//! On a mesh that follows the flow, each cell has the whole history of its place: cells that are refined pass their
//! values on, and a cell that replaces finer ones takes the means of theirs. The fluctuations of its mean over them, which
//! are smaller, are not known.

use crate::Flow;
use cutlink_amr::{CellRef, Forest, dims};
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Host, memory};
use cutlink_solver::{RunningMeans, Snapshot, SolverError};
use cutlink_voxelizer::{Mesh, VoxelError};
use rayon::prelude::*;
use std::{
    io::{self, Read, Write},
    mem,
};

/// Sums of a flow over time.
#[derive(Debug)]
pub struct Averages<const D: usize> {
    from: u64,
    every: u64,
    last: Option<u64>,
    /// The blocks that the means are of.
    forest: Forest<D>,
    means: RunningMeans<D>,
}

impl<const D: usize> Averages<D> {
    /// Bytes of a cell on the host while the averages are taken to another mesh.
    pub const CARRIED: u64 = 2 * RunningMeans::<D>::VALUE_BYTES;

    /// Empty averages; samples are taken at root step `from` and every `every` steps from there on. They take no memory until the
    /// first one.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(mesh: &Mesh<D>, from: u64, every: u64) -> Result<Self, Error> {
        Ok(Self {
            from,
            every: every.max(1),
            last: None,
            means: RunningMeans::new(cells_of(&mesh.forest)),
            forest: copy_of(&mesh.forest)?,
        })
    }

    /// Takes the averages to a mesh that has the same root blocks, through the host.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub fn follow(&mut self, mesh: &Mesh<D>) -> Result<(), Error> {
        if mesh.forest.first_child == self.forest.first_child {
            return Ok(());
        }
        let cells = cells_of(&mesh.forest);
        let old = mem::replace(&mut self.means, RunningMeans::new(cells));
        let samples = old.samples();
        if let Some(old) = old.into_values()? {
            let values = carried(&self.forest, &old, &mesh.forest)?;
            self.means = RunningMeans::of_values(samples, values);
        }
        self.forest = copy_of(&mesh.forest)?;
        Ok(())
    }

    /// Number of samples so far.
    pub fn samples(&self) -> u64 {
        self.means.samples()
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

    /// Adds the flow now as a sample, where it is; on a mesh that has changed they are taken to that first.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub fn sample(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        self.follow(flow.mesh()?)?;
        flow.average(&mut self.means)?;
        self.last = Some(flow.steps());
        Ok(())
    }

    /// Adds a sample that is on the host, where the averages move.
    ///
    /// # Errors
    /// Too little memory, a device that fails, a snapshot of another mesh.
    pub fn add(&mut self, snapshot: &Snapshot<D>) -> Result<(), Error> {
        self.means.add(snapshot)?;
        self.last = Some(snapshot.step);
        Ok(())
    }

    /// The means so far, as a snapshot of a step.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub fn mean(&mut self, step: u64) -> Result<Snapshot<D>, Error> {
        Ok(self.means.mean(step)?)
    }

    /// The rms fluctuations about the means.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub fn rms(&mut self, step: u64) -> Result<Snapshot<D>, Error> {
        Ok(self.means.rms(step)?)
    }

    /// Writes the state for [`restore`](Self::restore).
    ///
    /// # Errors
    /// I/O errors, too little memory, a device that fails.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), SolverError> {
        out.write_all(&self.samples().to_le_bytes())?;
        out.write_all(&self.last.unwrap_or(u64::MAX).to_le_bytes())?;
        self.means
            .each_piece(|values| Ok(out.write_all(bytemuck::cast_slice(values))?))
    }

    /// Restores a state that was saved on this mesh.
    ///
    /// # Errors
    /// A truncated state, too little memory.
    pub fn restore(&mut self, mesh: &Mesh<D>, from: &mut dyn Read) -> Result<(), Error> {
        self.forest = copy_of(&mesh.forest)?;
        let broken =
            |e: io::Error| Error::new(ErrorKind::Runtime, "cannot read the averages").because(&e);
        let mut words = [[0; 8]; 2];
        for word in &mut words {
            from.read_exact(word).map_err(broken)?;
        }
        let [samples, last] = words.map(u64::from_le_bytes);
        self.last = (last != u64::MAX).then_some(last);
        let mut values = nothing(&mesh.forest)?;
        from.read_exact(bytemuck::cast_slice_mut(&mut values))
            .map_err(broken)?;
        self.means = RunningMeans::of_values(samples, values);
        Ok(())
    }
}

/// Cells of all blocks.
fn cells_of<const D: usize>(forest: &Forest<D>) -> usize {
    forest.capacity() * dims::cells(D)
}

/// Values of all cells before the first sample.
fn nothing<const D: usize>(forest: &Forest<D>) -> Result<Vec<[f64; 2]>, Error> {
    let count = (1 + D) * cells_of(forest);
    let mut values = memory::with_capacity("averages", count)?;
    values.resize(count, [0.0; 2]);
    Ok(values)
}

/// Values of the leaves of a forest, from those of another one.
fn carried<const D: usize>(
    old: &Forest<D>,
    values: &[[f64; 2]],
    new: &Forest<D>,
) -> Result<Vec<[f64; 2]>, Error> {
    let mut carried = nothing(new)?;
    let rows = carried.chunks_mut(cells_of(new));
    for (to, from) in rows.zip(values.chunks(cells_of(old))) {
        to.par_chunks_mut(dims::cells(D))
            .enumerate()
            .filter(|(block, _)| new.is_leaf(*block as u32))
            .for_each(|(block, to)| {
                for (cell, to) in to.iter_mut().enumerate() {
                    let at = CellRef {
                        block: block as u32,
                        cell: cell as u32,
                    };
                    let level = usize::from(new.level[block]);
                    *to = value_at(old, from, level, new.cell_coord(at));
                }
            });
    }
    Ok(carried)
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
