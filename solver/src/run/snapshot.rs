//! Density and velocity of all cells.

use super::Run;
use crate::{Snapshot, SolverError, kernels::FlowKernels, lattice::Lattice, storage::Storage};
use cutlink_amr::{NONE, dims};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::ops::Range;

/// Slots whose density and velocity a snapshot copies at once: 64 MiB in 3D.
pub(crate) const SLOTS_AT_ONCE: usize = 1 << 16;

/// A snapshot of a mesh with so many levels. `write` puts the values of a level's slots into rows of density and of each velocity,
/// by block id and cell.
pub(crate) fn of_levels<const D: usize>(
    mesh: &Mesh<D>,
    step: u64,
    levels: usize,
    write: impl Fn(usize, &mut [&mut Vec<f32>]) -> Result<(), SolverError>,
) -> Result<Snapshot<D>, SolverError> {
    let len = mesh.forest.capacity() * dims::cells(D);
    let mut density = vec![1.0f32; len];
    let mut velocity: [Vec<f32>; D] = std::array::from_fn(|_| vec![0.0; len]);
    let mut rows: Vec<&mut Vec<f32>> = std::iter::once(&mut density).collect();
    rows.extend(&mut velocity);
    for level in (0..levels).rev() {
        write(level, &mut rows)?;
        rows.par_iter_mut().enumerate().for_each(|(n, row)| {
            fill_refined(mesh, level, row, if n == 0 { 1.0 } else { 0.0 });
        });
    }
    Ok(Snapshot {
        step,
        density,
        velocity,
    })
}

/// Means of the children that are fluid, finest level first.
fn fill_refined<const D: usize>(mesh: &Mesh<D>, level: usize, values: &mut [f32], empty: f32) {
    let (cells, family) = (dims::cells(D), dims::children(D));
    for &id in &mesh.forest.levels[level] {
        let first = mesh.forest.first_child[id as usize];
        if first == NONE {
            continue;
        }
        for cell in 0..cells {
            let local = dims::unravel::<D>(cell, 4);
            let (mut sum, mut count) = (0.0f64, 0u32);
            for corner in 0..family {
                let (child, below) = dims::below(local, dims::unravel::<D>(corner, 2));
                let (child, below) = (first as usize + child, dims::ravel::<D>(below, 4));
                // A refined child's own solid mask says nothing of what it holds.
                if mesh.classes.solid[child] >> below & 1 == 0 {
                    sum += f64::from(values[child * cells + below]);
                    count += 1;
                }
            }
            #[allow(clippy::cast_possible_truncation, reason = "a mean of f32")]
            let mean = if count > 0 {
                (sum / f64::from(count)) as f32
            } else {
                empty
            };
            values[id as usize * cells + cell] = mean;
        }
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Density and velocity of some slots of a level, on the host.
    pub(super) fn macroscopic(
        &self,
        level: usize,
        slots: Range<usize>,
    ) -> Result<Vec<f32>, SolverError> {
        let state = &self.levels[level];
        let values =
            self.backend
                .macroscopic::<L, S>(&state.level, slots, state.half_step, &state.now)?;
        Ok(self.backend.download(&values)?)
    }

    /// Writes density and velocity of a level's own slots to rows by block id and cell.
    pub(crate) fn write_fields(
        &self,
        level: usize,
        rows: &mut [&mut Vec<f32>],
    ) -> Result<(), SolverError> {
        let blocks = self.backend.download(&self.levels[level].blocks)?;
        for slots in self.own_pieces(level) {
            let values = self.macroscopic(level, slots.clone())?;
            write_rows::<D>(&values, &blocks[slots], rows);
        }
        Ok(())
    }

    /// Density and velocity of a level's own slots, in their order.
    pub(crate) fn own_fields(&self, level: usize) -> Result<Vec<f32>, SolverError> {
        let mut values = Vec::new();
        for slots in self.own_pieces(level) {
            values.extend(self.macroscopic(level, slots)?);
        }
        Ok(values)
    }

    /// A level's own slots, some at a time.
    fn own_pieces(&self, level: usize) -> impl Iterator<Item = Range<usize>> {
        let ranges = self.levels[level].level.halo.own().into_iter();
        ranges.flat_map(|range| {
            let end = range.end;
            range
                .step_by(SLOTS_AT_ONCE)
                .map(move |first| first..end.min(first + SLOTS_AT_ONCE))
        })
    }
}

/// Writes values of slots to rows by block id and cell.
pub(crate) fn write_rows<const D: usize>(values: &[f32], ids: &[u32], rows: &mut [&mut Vec<f32>]) {
    let cells = dims::cells(D);
    rows.par_iter_mut().enumerate().for_each(|(n, row)| {
        for (values, &id) in values.chunks_exact((1 + D) * cells).zip(ids) {
            row[id as usize * cells..][..cells].copy_from_slice(&values[n * cells..][..cells]);
        }
    });
}
