//! Density and velocity by block id and cell.

use crate::run::snapshot::RefinedBlocks;
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

/// Densities, and velocities by axis.
pub(crate) fn rows<'a>(density: &'a mut [f32], velocity: &'a mut [f32]) -> Vec<&'a mut [f32]> {
    let velocities = velocity.chunks_mut(density.len().max(1));
    std::iter::once(density).chain(velocities).collect()
}

/// Writes values of slots, by slot, row and cell, to rows of density and of each velocity, or others.
pub(crate) fn put_by_block<const D: usize>(
    values: &[f32],
    blocks: &[u32],
    rows: &mut [&mut [f32]],
) {
    let (cells, size) = (dims::cells(D), rows.len() * dims::cells(D));
    rows.par_iter_mut().enumerate().for_each(|(n, row)| {
        for (values, &id) in values.chunks_exact(size).zip(blocks) {
            row[id as usize * cells..][..cells].copy_from_slice(&values[n * cells..][..cells]);
        }
    });
}

/// Gives refined blocks the means of the children's cells that are fluid; where there are none, `empty` in the first row and 0 in
/// the others.
pub(crate) fn fill_refined<const D: usize>(
    refined: &RefinedBlocks<Host>,
    rows: &mut [&mut [f32]],
    empty: f32,
) {
    let (cells, family) = (dims::cells(D), dims::children(D));
    let mean = |row: &[f32], first: usize, solid: &[u64], cell: usize| {
        let local = dims::unravel::<D>(cell, 4);
        let (mut sum, mut count) = (0.0f64, 0u32);
        for corner in 0..family {
            let (child, below) = dims::below(local, dims::unravel::<D>(corner, 2));
            let below = dims::ravel::<D>(below, 4);
            // A refined child's own solid mask says nothing of what it holds.
            if solid[child] >> below & 1 == 0 {
                sum += f64::from(row[(first + child) * cells + below]);
                count += 1;
            }
        }
        #[allow(clippy::cast_possible_truncation, reason = "a mean of f32")]
        (count > 0).then(|| (sum / f64::from(count)) as f32)
    };
    rows.par_iter_mut().enumerate().for_each(|(n, row)| {
        let empty = if n == 0 { empty } else { 0.0 };
        let families = refined.first_child.iter().zip(refined.solid.chunks(family));
        for (&id, (&first, solid)) in refined.ids.iter().zip(families) {
            for cell in 0..cells {
                let mean = mean(row, first as usize, solid, cell);
                row[id as usize * cells + cell] = mean.unwrap_or(empty);
            }
        }
    });
}
