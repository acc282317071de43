//! Distances from cell centres to the surface, up to a limit.
//!
//! The surface is known by the points where it cuts links. Every cell keeps the vector to the nearest one that it has
//! heard of from the cells beside it (Danielsson, *Euclidean distance mapping*, Comput. Graph. Image Process. 14 (1980)
//! 227). Points lie at most about 0.7 cells apart, so a distance is too large by at most that, and never too small.
//!
//! A pass computes each block from the values of the pass before, so the result is the same for any number of threads.

use super::beside::{for_each_beside, size, square};
use crate::{Mesh, VoxelError};
use cutlink_amr::{CellRef, NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host, memory};
use rayon::prelude::*;

/// A shorter vector replaces one of which it has less than this part of the square: rounding is no reason.
const SHORTER: f32 = 0.9999;

pub(super) struct Clearance<const D: usize> {
    /// Number of each near block; [`NONE`] for the others.
    slot: Vec<u32>,
    /// The near blocks.
    blocks: Vec<u32>,
    /// By number and cell: from the centre to the nearest point, in finest cells; infinite where none is near.
    nearest: Vec<[f32; D]>,
}

impl<const D: usize> Clearance<D> {
    /// Distances up to `reach`, in finest cells, and a cell of the level beyond. Memory: 12 (2D: 8) bytes for each
    /// cell of a near block, four for each block.
    pub(super) fn new(mesh: &Mesh<D>, reach: f32) -> Result<Self, VoxelError> {
        let mut all = Self {
            slot: Host.alloc("distances to the surface", mesh.forest.capacity(), NONE)?,
            blocks: Vec::new(),
            nearest: Vec::new(),
        };
        let at_walls: Vec<(u32, Vec<[f32; D]>)> = mesh
            .links
            .blocks
            .par_iter()
            .map(|&block| (block, at_wall(mesh, block)))
            .collect();
        all.store(&at_walls)?;
        let mut active = beside(mesh, &at_walls);
        active.extend(&mesh.links.blocks);
        while !active.is_empty() {
            active.par_sort_unstable();
            active.dedup();
            let changed: Vec<(u32, Vec<[f32; D]>)> = active
                .par_iter()
                .filter_map(|&block| Some((block, all.relaxed(mesh, block, reach)?)))
                .collect();
            all.store(&changed)?;
            active = beside(mesh, &changed);
        }
        Ok(all)
    }

    fn store(&mut self, changed: &[(u32, Vec<[f32; D]>)]) -> Result<(), VoxelError> {
        let cells = dims::cells(D);
        let is_new = |(block, _): &&(u32, Vec<_>)| self.slot[*block as usize] == NONE;
        let len = self.nearest.len() + cells * changed.iter().filter(is_new).count();
        let far = [f32::INFINITY; D];
        if self.nearest.capacity() < len {
            // Half as much again, since there are many passes.
            let room = (len + len / 2).saturating_sub(self.nearest.len());
            Host.reserve(
                "distances to the surface",
                (room * size_of::<[f32; D]>()) as u64,
            )?;
            let mut grown = memory::with_capacity("distances to the surface", len + len / 2)?;
            grown.extend_from_slice(&self.nearest);
            self.nearest = grown;
        }
        self.nearest.resize(len, far);
        for (block, values) in changed {
            let slot = &mut self.slot[*block as usize];
            if *slot == NONE {
                *slot = self.blocks.len() as u32;
                self.blocks.push(*block);
            }
            let first = *slot as usize * cells;
            self.nearest[first..first + cells].copy_from_slice(values);
        }
        Ok(())
    }

    /// The vectors of a block where those of the cells beside it, or of its own, make one shorter.
    fn relaxed(&self, mesh: &Mesh<D>, block: u32, reach: f32) -> Option<Vec<[f32; D]>> {
        let (h, cells) = (size(mesh, block), dims::cells(D));
        let most = (reach + h) * (reach + h);
        let mut values = match self.near(block) {
            Some(slot) => self.nearest[slot * cells..][..cells].to_vec(),
            None => vec![[f32::INFINITY; D]; cells],
        };
        let mut changed = false;
        let better = |value: &mut [f32; D], way: [f32; D], there: [f32; D]| {
            let found = std::array::from_fn(|a| way[a] + there[a]);
            let (new, old) = (square(found), square(*value));
            let shorter = new <= most && new < SHORTER * old;
            if shorter {
                *value = found;
            }
            shorter
        };
        let within = |cell: usize, axis: usize, up: bool| {
            let stride = 1 << (2 * axis);
            let at = (cell / stride) & 3;
            match up {
                true => (at < 3).then(|| cell + stride),
                false => (at > 0).then(|| cell - stride),
            }
        };
        let steps = (0..D).flat_map(|axis| [(axis, false), (axis, true)]);
        for cell in 0..cells {
            for (axis, up) in steps.clone() {
                if within(cell, axis, up).is_none() {
                    let at = CellRef {
                        block,
                        cell: cell as u32,
                    };
                    for_each_beside(mesh, at, along::<D>(axis, up), |n, way| {
                        let there = self.vector(n).unwrap_or([f32::INFINITY; D]);
                        changed |= better(&mut values[cell], way, there);
                    });
                }
            }
        }
        // Inside the block, to the end.
        let mut moves = true;
        while moves {
            moves = false;
            for cell in (0..cells).chain((0..cells).rev()) {
                for (axis, up) in steps.clone() {
                    if let Some(n) = within(cell, axis, up) {
                        let mut way = [0.0; D];
                        way[axis] = if up { h } else { -h };
                        let there = values[n];
                        moves |= better(&mut values[cell], way, there);
                    }
                }
            }
            changed |= moves;
        }
        changed.then_some(values)
    }

    /// The near blocks, in order of their numbers.
    pub(super) fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// The number of a near block.
    pub(super) fn near(&self, block: u32) -> Option<usize> {
        let slot = self.slot[block as usize];
        (slot != NONE).then_some(slot as usize)
    }

    /// From a cell's centre to the nearest point of the surface, in finest cells; `None` where it is farther than the
    /// reach.
    pub(super) fn vector(&self, at: CellRef) -> Option<[f32; D]> {
        let slot = self.near(at.block)?;
        let value = self.nearest[slot * dims::cells(D) + at.cell as usize];
        value[0].is_finite().then_some(value)
    }

    /// The length of that vector.
    pub(super) fn distance(&self, at: CellRef) -> Option<f32> {
        self.vector(at).map(super::beside::length)
    }
}

/// The direction along an axis.
fn along<const D: usize>(axis: usize, up: bool) -> usize {
    let mut step = [0; D];
    step[axis] = if up { 1 } else { -1 };
    dims::direction(step)
}

/// From each cell to the nearest of its own cuts.
fn at_wall<const D: usize>(mesh: &Mesh<D>, block: u32) -> Vec<[f32; D]> {
    let h = size(mesh, block);
    (0..dims::cells(D) as u32)
        .map(|cell| {
            let cut = mesh.nearest_cut(CellRef { block, cell });
            cut.map_or([f32::INFINITY; D], |link| {
                link.step.map(|s| link.q * h * s as f32)
            })
        })
        .collect()
}

/// The leaves beside blocks, through their faces.
fn beside<const D: usize>(mesh: &Mesh<D>, changed: &[(u32, Vec<[f32; D]>)]) -> Vec<u32> {
    let forest = &mesh.forest;
    let of = |block: u32| {
        let mut leaves = Vec::new();
        for (axis, up) in (0..D).flat_map(|axis| [(axis, false), (axis, true)]) {
            let direction = along::<D>(axis, up);
            match forest.neighbor(block, direction) {
                OUTSIDE => {}
                NONE => leaves.push(forest.coarser_neighbor(block, direction)),
                n if forest.is_leaf(n) => leaves.push(n),
                n => {
                    let first = forest.first_child[n as usize];
                    let children = (0..dims::children(D) as u32).map(|i| first + i);
                    leaves.extend(children.filter(|&child| forest.is_leaf(child)));
                }
            }
        }
        leaves
    };
    changed
        .par_iter()
        .flat_map_iter(|(block, _)| of(*block))
        .collect()
}
