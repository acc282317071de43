//! Distances from cell centres to the surface, up to a limit.
//!
//! The surface is known by the points where it cuts links. Every cell keeps the vector to the nearest one that it has
//! heard of from the cells beside it (Danielsson, *Euclidean distance mapping*, Comput. Graph. Image Process. 14 (1980)
//! 227). Points lie at most about 0.7 cells apart, so a distance is too large by at most that, and never too small.
//!
//! A pass computes each block from the values of the pass before, so the result is the same for any number of threads.

use super::beside::{for_each_beside, size, square};
use crate::{Mesh, VoxelError, cuts::ones};
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
        let mut changed: Vec<Changed<D>> = mesh
            .links
            .blocks
            .par_iter()
            .map(|&block| at_wall(mesh, block))
            .collect();
        all.store(&changed)?;
        // By slot: the cells that the pass before has changed.
        let mut fresh: Vec<u64> = changed.iter().map(|c| c.cells).collect();
        let mut active = beside(mesh, &changed);
        active.extend(&mesh.links.blocks);
        let mut is_first = true;
        while !active.is_empty() {
            active.par_sort_unstable();
            active.dedup();
            let before = changed;
            changed = active
                .par_iter()
                .filter_map(|&block| all.relaxed(mesh, block, reach, &fresh, is_first))
                .collect();
            all.store(&changed)?;
            fresh.resize(all.blocks.len(), 0);
            for (list, clear) in [(&before, true), (&changed, false)] {
                for c in list {
                    fresh[all.slot[c.block as usize] as usize] = if clear { 0 } else { c.cells };
                }
            }
            active = beside(mesh, &changed);
            is_first = false;
        }
        Ok(all)
    }

    fn store(&mut self, changed: &[Changed<D>]) -> Result<(), VoxelError> {
        let cells = dims::cells(D);
        let is_new = |c: &&Changed<D>| self.slot[c.block as usize] == NONE;
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
        for c in changed {
            let slot = &mut self.slot[c.block as usize];
            if *slot == NONE {
                *slot = self.blocks.len() as u32;
                self.blocks.push(c.block);
            }
            let first = *slot as usize * cells;
            self.nearest[first..first + cells].copy_from_slice(&c.values);
        }
        Ok(())
    }

    /// The vectors of a block where those of the cells beside it make one shorter, in the first pass also those of its
    /// own cells. Cells beside which nothing is `fresh` are passed over: they stay as they are.
    fn relaxed(
        &self,
        mesh: &Mesh<D>,
        block: u32,
        reach: f32,
        fresh: &[u64],
        is_first: bool,
    ) -> Option<Changed<D>> {
        let (h, slot) = (size(mesh, block), self.near(block));
        let mut own = Relaxing {
            values: [[f32::INFINITY; D]; 64],
            cells: 0,
            most: (reach + h) * (reach + h),
        };
        if let Some(slot) = slot {
            let cells = dims::cells(D);
            own.values[..cells].copy_from_slice(&self.nearest[slot * cells..][..cells]);
        }
        for (axis, up) in steps::<D>() {
            let direction = along::<D>(axis, up);
            let (face, opposite) = (face::<D>(axis, up), face::<D>(axis, !up));
            match mesh.forest.neighbor(block, direction) {
                OUTSIDE => {}
                n if n != NONE && mesh.forest.is_leaf(n) => {
                    let Some(slot) = self.near(n) else { continue };
                    let way = unit::<D>(axis, up).map(|s| h * s);
                    for there in ones(fresh[slot] & opposite) {
                        let across = 3 << (2 * axis);
                        let cell = if up { there + across } else { there - across };
                        let value = self.nearest[slot * dims::cells(D) + there as usize];
                        own.shorten(cell as usize, way, value);
                    }
                }
                _ => {
                    for cell in ones(face) {
                        let at = CellRef { block, cell };
                        for_each_beside(mesh, at, direction, |n, way| {
                            if let Some(value) = self.vector(n) {
                                own.shorten(cell as usize, way, value);
                            }
                        });
                    }
                }
            }
        }
        let of_own = slot.filter(|_| is_first).map_or(0, |slot| fresh[slot]);
        own.spread(around::<D>(own.cells | of_own), h);
        (own.cells != 0).then(|| Changed {
            block,
            cells: own.cells,
            values: own.values[..dims::cells(D)].to_vec(),
        })
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

/// What a pass has found for a block.
struct Changed<const D: usize> {
    block: u32,
    /// The cells with a shorter vector, a bit each.
    cells: u64,
    /// All vectors of the block.
    values: Vec<[f32; D]>,
}

/// Vectors of a block while they become shorter.
struct Relaxing<const D: usize> {
    values: [[f32; D]; 64],
    /// Cells that have changed.
    cells: u64,
    /// Square of the longest vector.
    most: f32,
}

impl<const D: usize> Relaxing<D> {
    /// Takes the vector of a cell one `way` away, if it is shorter.
    fn shorten(&mut self, cell: usize, way: [f32; D], there: [f32; D]) -> bool {
        let found = std::array::from_fn(|a| way[a] + there[a]);
        let (new, old) = (square(found), square(self.values[cell]));
        let shorter = new <= self.most && new < SHORTER * old;
        if shorter {
            self.values[cell] = found;
            self.cells |= 1 << cell;
        }
        shorter
    }

    /// Sweeps up and down through the block until no vector changes. Only cells beside which one has changed are looked
    /// at, at first the `pending` ones.
    fn spread(&mut self, mut pending: u64, h: f32) {
        while pending != 0 {
            let mut ahead = u64::MAX;
            while pending & ahead != 0 {
                let cell = (pending & ahead).trailing_zeros();
                ahead = u64::MAX.checked_shl(cell + 1).unwrap_or(0);
                self.look(cell, h, &mut pending);
            }
            let mut ahead = u64::MAX;
            while pending & ahead != 0 {
                let cell = (pending & ahead).ilog2();
                ahead = (1 << cell) - 1;
                self.look(cell, h, &mut pending);
            }
        }
    }

    fn look(&mut self, cell: u32, h: f32, pending: &mut u64) {
        let own = 1u64 << cell;
        *pending &= !own;
        let mut moves = false;
        for (axis, up) in steps::<D>() {
            if own & face::<D>(axis, up) == 0 {
                let stride = 1 << (2 * axis);
                let n = if up { cell + stride } else { cell - stride } as usize;
                let way = unit::<D>(axis, up).map(|s| h * s);
                moves |= self.shorten(cell as usize, way, self.values[n]);
            }
        }
        if moves {
            *pending |= around::<D>(own);
        }
    }
}

/// The steps along axes.
fn steps<const D: usize>() -> impl Iterator<Item = (usize, bool)> {
    (0..D).flat_map(|axis| [(axis, false), (axis, true)])
}

/// One step along an axis.
fn unit<const D: usize>(axis: usize, up: bool) -> [f32; D] {
    let mut step = [0.0; D];
    step[axis] = if up { 1.0 } else { -1.0 };
    step
}

/// The direction along an axis.
fn along<const D: usize>(axis: usize, up: bool) -> usize {
    dims::direction(unit::<D>(axis, up).map(|s| s as i32))
}

/// The cells of a block at one of its faces.
fn face<const D: usize>(axis: usize, up: bool) -> u64 {
    const LOWER: [u64; 3] = [0x1111_1111_1111_1111, 0x000f_000f_000f_000f, 0xffff];
    let shift = if up { 3 << (2 * axis) } else { 0 };
    LOWER[axis] << shift & dims::full_mask(D)
}

/// The cells of a block beside some of them.
fn around<const D: usize>(cells: u64) -> u64 {
    (0..D).fold(0, |all, axis| {
        let stride = 1 << (2 * axis);
        let up = (cells & !face::<D>(axis, true)) << stride;
        let down = (cells & !face::<D>(axis, false)) >> stride;
        all | up | down
    })
}

/// From each cell to the nearest of its own cuts.
fn at_wall<const D: usize>(mesh: &Mesh<D>, block: u32) -> Changed<D> {
    let h = size(mesh, block);
    let mut cells = 0;
    let values = (0..dims::cells(D) as u32)
        .map(|cell| {
            let cut = mesh.nearest_cut(CellRef { block, cell });
            cells |= u64::from(cut.is_some()) << cell;
            cut.map_or([f32::INFINITY; D], |link| {
                link.step.map(|s| link.q * h * s as f32)
            })
        })
        .collect();
    Changed {
        block,
        cells,
        values,
    }
}

/// The leaves beside changed cells, through the faces of their blocks.
fn beside<const D: usize>(mesh: &Mesh<D>, changed: &[Changed<D>]) -> Vec<u32> {
    let forest = &mesh.forest;
    let of = |c: &Changed<D>| {
        let mut leaves = Vec::new();
        for (axis, up) in steps::<D>().filter(|&(axis, up)| c.cells & face::<D>(axis, up) != 0) {
            let direction = along::<D>(axis, up);
            match forest.neighbor(c.block, direction) {
                OUTSIDE => {}
                NONE => leaves.push(forest.coarser_neighbor(c.block, direction)),
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
    changed.par_iter().flat_map_iter(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EmbedParams, Fill, Frame, embed, prepare};
    use cutlink_mesher::{Surface, primitives::Shape3};

    /// A ball in a mesh of two levels: each vector ends in a cut point, which is the nearest one but for the error of
    /// the method, and cells without a vector are farther than the reach.
    #[test]
    fn vectors_lead_to_the_nearest_cut_but_for_a_fraction_of_a_cell() {
        let mut ball: Surface<3> = Shape3::Sphere { radius: 0.23 }
            .surface(1e-3)
            .expect("a ball");
        for v in &mut ball.vertices {
            *v = v.map(|c| c + 0.47);
        }
        let frame = Frame::new([0.0; 3], 1.0 / 16.0, [16; 3]).expect("a frame");
        let params = EmbedParams::new(2, 0.08, Fill::Sheets);
        let (snapped, _) = prepare(&Host, &ball, &frame, &params).expect("near");
        let mesh = embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh");
        let dx = mesh.frame.dx_at(1);
        let cuts: Vec<[f64; 3]> = mesh.links().map(|link| link.point()).collect();
        let nearest = |p: [f64; 3]| {
            let square = |c: &[f64; 3]| (0..3).map(|a| (c[a] - p[a]).powi(2)).sum::<f64>();
            cuts.iter().map(square).fold(f64::INFINITY, f64::min).sqrt() / dx
        };
        for reach in [2.0f32, 5.0] {
            let all = Clearance::new(&mesh, reach).expect("memory");
            let (mut known, mut sum) = (0, 0.0);
            for block in mesh.forest.leaves() {
                for cell in 0..64 {
                    let at = CellRef { block, cell };
                    let center = super::super::beside::center(&mesh, at);
                    let least = nearest(center);
                    let Some(v) = all.vector(at) else {
                        assert!(least > f64::from(reach), "{at:?} is {least} away");
                        continue;
                    };
                    let end = std::array::from_fn(|a| center[a] + dx * f64::from(v[a]));
                    assert!(nearest(end) < 1e-4, "{at:?} leads to no cut");
                    let off = f64::from(all.distance(at).expect("known")) - least;
                    assert!(off > -1e-4 && off < 0.7, "{at:?} is {off} off");
                    known += 1;
                    sum += off;
                }
            }
            let mean = sum / f64::from(known);
            assert!(known > 3_000 && mean < 0.15, "{mean} in {known} cells");
        }
    }
}
