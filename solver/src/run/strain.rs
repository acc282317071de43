//! Rates of strain of all cells: from the stress of their populations, or from the gradient of the velocity.

use super::{
    Run,
    saved::pieces,
    snapshot::{Blocks, fill_rows},
};
use crate::{
    Snapshot, SolverError, StrainRates,
    fields::gradients,
    kernels::{
        Departure, FlowKernels,
        cpu::{by_block, moments_of},
        pairs,
    },
    lattice::Lattice,
    storage::Storage,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Real, memory};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::ops::Range;

/// What the populations of a level are.
pub(crate) struct OfLevel {
    departure: Departure<f64>,
    /// Block ids by slot.
    blocks: Vec<u32>,
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// How values leave each level, and its blocks.
    pub(super) fn departures(&self) -> Result<Vec<OfLevel>, SolverError> {
        let blocks = self
            .levels
            .iter()
            .map(|of| self.backend.download(&of.blocks));
        let blocks: Vec<_> = blocks.collect::<Result<_, _>>()?;
        Ok(self.departures_with(&blocks))
    }

    /// How values leave each level, with blocks of more ranks than this one.
    pub(crate) fn departures_with(&self, blocks: &[Vec<u32>]) -> Vec<OfLevel> {
        let levels = self.levels.iter().zip(blocks);
        let of_level = |(state, blocks): (&super::State<D, S, B>, &Vec<u32>)| OfLevel {
            departure: state.departure(),
            blocks: blocks.clone(),
        };
        levels.map(of_level).collect()
    }
}

/// Rates of strain of a mesh, whose populations by level and slots are given by velocity and cell.
pub(crate) fn rates<const D: usize, L: Lattice, S: Storage>(
    mesh: &Mesh<D>,
    now: &Snapshot<D>,
    levels: &[OfLevel],
    populations: impl Fn(usize, Range<usize>) -> Result<Vec<S>, SolverError>,
) -> Result<StrainRates<D>, SolverError> {
    let len = mesh.forest.capacity() * dims::cells(D);
    let row = |_| -> Result<Vec<f32>, SolverError> {
        let mut row = memory::with_capacity("rates of strain", len)?;
        row.resize(len, 0.0);
        Ok(row)
    };
    let mut all = pairs::<D>().map(row).collect::<Result<Vec<_>, _>>()?;
    let mut rows: Vec<&mut [f32]> = all.iter_mut().map(Vec::as_mut_slice).collect();
    let write = |level: usize, rows: &mut [&mut [f32]]| {
        let of: &OfLevel = &levels[level];
        for slots in pieces(0..of.blocks.len()) {
            let blocks = &of.blocks[slots.clone()];
            let values = match of.departure.keep == 0.0 {
                true => by_gradient(mesh, now, blocks),
                false => {
                    let found = populations(level, slots)?;
                    by_stress::<D, L, S>(mesh, &found, &of.departure, blocks)
                }
            };
            by_block::put_by_block::<D>(&values, blocks, rows);
        }
        Ok(())
    };
    fill_rows(mesh, levels.len(), Blocks::All, &mut rows, 0.0, write)?;
    Ok(StrainRates { pairs: all })
}

/// Values of blocks by pair and cell, of each fluid cell by block and cell there; refined blocks are left at 0.
fn of_blocks<const D: usize>(
    mesh: &Mesh<D>,
    blocks: &[u32],
    of: impl Fn(usize, u32, &mut dyn FnMut(usize, [[f64; D]; D])) + Sync,
) -> Vec<f32> {
    let (cells, row) = (dims::cells(D), pairs::<D>().count() * dims::cells(D));
    let mut values = vec![0.0; blocks.len() * row];
    let each = values.par_chunks_mut(row).zip(blocks).enumerate();
    each.for_each(|(n, (values, &block))| {
        if mesh.forest.first_child[block as usize] != NONE {
            return;
        }
        of(n, block, &mut |cell, strain| {
            if mesh.classes.solid[block as usize] >> cell & 1 == 1 {
                return;
            }
            for (pair, (_, a, b)) in pairs::<D>().enumerate() {
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "f32 is what snapshots hold"
                )]
                let value = strain[a][b] as f32;
                values[pair * cells + cell] = value;
            }
        });
    });
    values
}

fn by_gradient<const D: usize>(mesh: &Mesh<D>, now: &Snapshot<D>, blocks: &[u32]) -> Vec<f32> {
    of_blocks(mesh, blocks, |_, block, put| {
        let mut slopes = [[[0.0; D]; D]; 64];
        let slopes = &mut slopes[..dims::cells(D)];
        gradients(mesh, &now.velocity, block, slopes);
        for (cell, slope) in slopes.iter().enumerate() {
            let half = |a: usize, b: usize| 0.5 * (slope[a][b] + slope[b][a]);
            put(
                cell,
                std::array::from_fn(|a| std::array::from_fn(|b| half(a, b))),
            );
        }
    })
}

/// Of populations by block, velocity and cell.
fn by_stress<const D: usize, L: Lattice, S: Storage>(
    mesh: &Mesh<D>,
    populations: &[S],
    from: &Departure<f64>,
    blocks: &[u32],
) -> Vec<f32> {
    let cells = dims::cells(D);
    of_blocks(mesh, blocks, |n, block, put| {
        let f = &populations[n * L::Q * cells..][..L::Q * cells];
        // Steps of the root are so many of the level.
        let steps = f64::from(1u32 << mesh.forest.level[block as usize]);
        for cell in 0..cells {
            let values = moments_of::<D, L, f64>(|q| f[q * cells + cell].load().wide(), from);
            let scale = -1.5 * steps / (from.tau * (1.0 + values[0]));
            let mut strain = [[0.0; D]; D];
            for (pair, a, b) in pairs::<D>() {
                (strain[a][b], strain[b][a]) = (scale * values[pair], scale * values[pair]);
            }
            put(cell, strain);
        }
    })
}
