//! Closed regions: cells joined by open faces, where only differences of the solution are determined.

use crate::{Beside, Blocks, EllipticError, faces};
use cutlink_amr::dims;
use cutlink_device::{Backend, UnionFind, memory};
use rayon::prelude::*;

pub(crate) const NONE: u32 = u32::MAX;

/// A cell's volume, in cells of the finest level.
pub(crate) fn size<const D: usize>(blocks: &Blocks<D>, block: usize) -> f64 {
    2f64.powi((D * (blocks.finest() - blocks.level(block))) as i32)
}

/// The regions in a backend's memory. Their sums are taken over *shares*: the cells that a block has in a region.
#[derive(Debug)]
pub(crate) struct Regions<B: Backend> {
    count: usize,
    /// By cell: its closed region. Empty where no region is closed.
    pub(crate) of: B::Buf<u32>,
    /// By region: its volume, in cells of the finest level.
    pub(crate) volume: B::Buf<f64>,
    /// Blocks and regions of the shares, by region and block.
    pub(crate) share_block: B::Buf<u32>,
    pub(crate) share_region: B::Buf<u32>,
    /// By region: its first share; after the last one their number.
    pub(crate) first_share: B::Buf<u32>,
    shares: usize,
}

impl<B: Backend> Regions<B> {
    /// Cost: one pass in order over the faces.
    pub(crate) fn new<const D: usize>(
        backend: &B,
        blocks: &Blocks<D>,
        conductance: &[f64],
        diagonal: &[f64],
    ) -> Result<Self, EllipticError> {
        let (of, volume) = closed(blocks, conductance, diagonal)?;
        let mut shares: Vec<(u32, u32)> = Vec::new();
        for (block, cells) in of.chunks(dims::cells(D)).enumerate() {
            let mut found: Vec<u32> = cells.iter().copied().filter(|&r| r != NONE).collect();
            found.sort_unstable();
            found.dedup();
            shares.extend(found.into_iter().map(|region| (region, block as u32)));
        }
        shares.sort_unstable();
        let first = |region: u32| shares.partition_point(|s| s.0 < region) as u32;
        let first_share = (0..=volume.len() as u32).map(first).collect();
        Ok(Self {
            count: volume.len(),
            of: backend.upload(of)?,
            volume: backend.upload(volume)?,
            share_block: backend.upload(shares.iter().map(|s| s.1).collect())?,
            share_region: backend.upload(shares.iter().map(|s| s.0).collect())?,
            first_share: backend.upload(first_share)?,
            shares: shares.len(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn shares(&self) -> usize {
        self.shares
    }

    /// Sums of shares, and behind them those of regions.
    pub(crate) fn sums(&self) -> usize {
        self.shares + self.count
    }
}

/// By cell its closed region, and the volumes of regions.
fn closed<const D: usize>(
    blocks: &Blocks<D>,
    conductance: &[f64],
    diagonal: &[f64],
) -> Result<(Vec<u32>, Vec<f64>), EllipticError> {
    let cells = dims::cells(D);
    let leaves = || (0..blocks.len()).filter(|&block| blocks.is_leaf(block));
    let of_block = |block: usize| &diagonal[block * cells..(block + 1) * cells];
    let is_held = |block: usize| of_block(block).iter().all(|&d| d > 0.0);
    if !diagonal.is_empty() && leaves().all(is_held) {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut joined = Joined::new(blocks, conductance, diagonal)?;
    let is_held = joined.held_roots();
    let mut of = Vec::new();
    memory::grow("closed regions", &mut of, blocks.cells(), NONE)?;
    let (mut number, mut volume) = (vec![NONE; blocks.cells()], Vec::new());
    for block in leaves() {
        let size = size(blocks, block);
        for cell in 0..cells {
            let root = joined.root(block, cell);
            if is_held[root] {
                if joined.is_whole[block] {
                    break;
                }
                continue;
            }
            if !joined.is_whole[block] && !is_unknown(blocks, conductance, block, cell) {
                continue;
            }
            if number[root] == NONE {
                number[root] = volume.len() as u32;
                volume.push(0.0);
            }
            of[block * cells + cell] = number[root];
            volume[number[root] as usize] += size;
        }
    }
    if volume.is_empty() {
        of = Vec::new();
    }
    Ok((of, volume))
}

/// Whether a leaf's cell has an open face.
fn is_unknown<const D: usize>(
    blocks: &Blocks<D>,
    conductance: &[f64],
    block: usize,
    cell: usize,
) -> bool {
    let per = faces::per_block(D);
    let is_open = |block: usize, face: usize| conductance[block * per + face] > 0.0;
    (0..2 * D).any(|side| match blocks.beside(block, side) {
        Beside::Same(b) if !blocks.is_leaf(b) => {
            if !faces::is_at::<D>(side, cell) {
                return is_open(block, faces::of_side(D, side, cell));
            }
            let at = dims::unravel::<D>(cell, 4);
            let mut fine = blocks.finer_cells(b, side, at);
            fine.any(|(b, c)| is_open(b, faces::of_side(D, side ^ 1, c)))
        }
        _ => is_open(block, faces::of_side(D, side, cell)),
    })
}

/// Cells that open faces join, and those that a diagonal or a value on the box holds. A leaf is *whole* if all faces between
/// its cells are open: its first cell stands for all.
struct Joined<const D: usize> {
    sets: UnionFind,
    held: Vec<bool>,
    is_whole: Vec<bool>,
}

/// Whether all faces between a block's cells are open, by its conductances.
fn is_whole<const D: usize>(t: &[f64]) -> bool {
    let inner = |axis: usize| {
        (0..dims::cells(D)).filter(move |&cell| dims::unravel::<D>(cell, 4)[axis] < 3)
    };
    (0..D).all(|axis| inner(axis).all(|cell| t[faces::of_side(D, 2 * axis + 1, cell)] > 0.0))
}

impl<const D: usize> Joined<D> {
    fn new(
        blocks: &Blocks<D>,
        conductance: &[f64],
        diagonal: &[f64],
    ) -> Result<Self, EllipticError> {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let of_block = |block: usize| &conductance[block * per..(block + 1) * per];
        let whole = |block: usize| blocks.is_leaf(block) && is_whole::<D>(of_block(block));
        let mut joined = Self {
            sets: UnionFind::try_new("regions of cells", blocks.cells())?,
            held: vec![false; blocks.cells()],
            is_whole: (0..blocks.len()).into_par_iter().map(whole).collect(),
        };
        for block in (0..blocks.len()).filter(|&b| blocks.is_leaf(b)) {
            let t = of_block(block);
            for cell in 0..cells {
                let own = block * cells + cell;
                let node = joined.node(block, cell);
                joined.held[node] |= diagonal.get(own).is_some_and(|&d| d > 0.0);
            }
            for side in 0..2 * D {
                if !joined.is_whole[block] {
                    let inside = (0..cells).filter(|&cell| !faces::is_at::<D>(side, cell));
                    for cell in inside.filter(|&cell| t[faces::of_side(D, side, cell)] > 0.0) {
                        let step = faces::stride(side / 2);
                        let other = if side % 2 == 0 {
                            cell - step
                        } else {
                            cell + step
                        };
                        joined.join((block, cell), (block, other));
                    }
                }
                for cell in faces::layer::<D>(side) {
                    if t[faces::of_side(D, side, cell)] > 0.0
                        && joined.join_beyond(blocks, block, cell, side)
                    {
                        break;
                    }
                }
            }
        }
        Ok(joined)
    }

    /// What stands for a cell.
    fn node(&self, block: usize, cell: usize) -> usize {
        block * dims::cells(D) + if self.is_whole[block] { 0 } else { cell }
    }

    fn root(&mut self, block: usize, cell: usize) -> usize {
        let node = self.node(block, cell);
        self.sets.root(node as u32) as usize
    }

    /// By root: whether one of its cells is held.
    fn held_roots(&mut self) -> Vec<bool> {
        let mut is_held = vec![false; self.held.len()];
        for node in 0..self.held.len() {
            if self.held[node] {
                is_held[self.sets.root(node as u32) as usize] = true;
            }
        }
        is_held
    }

    fn join(&mut self, a: (usize, usize), b: (usize, usize)) {
        let [a, b] = [a, b].map(|(block, cell)| self.node(block, cell) as u32);
        self.sets.join(a, b);
    }

    /// Joins a leaf's cell with what is beyond an open side that it is at. Returns whether that joins all cells of this side.
    fn join_beyond(&mut self, blocks: &Blocks<D>, block: usize, cell: usize, side: usize) -> bool {
        let across = 3 * faces::stride(side / 2);
        let (other, there) = match blocks.beside(block, side) {
            // The finer cells join this one.
            Beside::Same(other) if !blocks.is_leaf(other) => return true,
            Beside::Same(other) if side.is_multiple_of(2) => (other, cell + across),
            Beside::Same(other) => (other, cell - across),
            Beside::Coarser(other) => {
                let at = dims::unravel::<D>(cell, 4);
                (other, blocks.coarser_cell(block, side, at))
            }
            Beside::Outside => {
                let node = self.node(block, cell);
                self.held[node] = true;
                return self.is_whole[block];
            }
        };
        self.join((block, cell), (other, there));
        self.is_whole[block] && self.is_whole[other]
    }
}
