//! Closed regions: cells joined by open faces, where only differences of the solution are determined.

use crate::{Beside, Blocks, EllipticError, faces};
use cutlink_amr::dims;
use cutlink_device::{Backend, UnionFind, memory};

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
    let leaf = |block: &usize| blocks.is_leaf(*block);
    let of_block = |block: usize| &diagonal[block * cells..(block + 1) * cells];
    let is_held = |block: usize| of_block(block).iter().all(|&d| d > 0.0);
    if !diagonal.is_empty() && (0..blocks.len()).filter(leaf).all(is_held) {
        return Ok((Vec::new(), Vec::new()));
    }
    let joined = Joined::new(blocks, conductance, diagonal)?;
    let Joined { mut sets, held } = joined;
    let mut is_held = vec![false; blocks.cells()];
    for own in 0..blocks.cells() {
        if held[own] {
            is_held[sets.root(own as u32) as usize] = true;
        }
    }
    let mut of = Vec::new();
    memory::grow("closed regions", &mut of, blocks.cells(), NONE)?;
    let (mut number, mut volume) = (vec![NONE; blocks.cells()], Vec::new());
    for block in (0..blocks.len()).filter(|&b| blocks.is_leaf(b)) {
        let size = size(blocks, block);
        for cell in 0..cells {
            let own = block * cells + cell;
            let root = sets.root(own as u32) as usize;
            if is_held[root] || !is_unknown(blocks, conductance, block, cell) {
                continue;
            }
            if number[root] == NONE {
                number[root] = volume.len() as u32;
                volume.push(0.0);
            }
            of[own] = number[root];
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
            let at = dims::unravel::<D>(cell, 4);
            let edge = if side.is_multiple_of(2) { 0 } else { 3 };
            let mut fine = blocks.finer_cells(b, side, at);
            (at[side / 2] == edge && fine.any(|(b, c)| is_open(b, faces::of_side(D, side ^ 1, c))))
                || (at[side / 2] != edge && is_open(block, faces::of_side(D, side, cell)))
        }
        _ => is_open(block, faces::of_side(D, side, cell)),
    })
}

/// Cells that open faces join, and those that a diagonal or a value on the box holds.
struct Joined {
    sets: UnionFind,
    held: Vec<bool>,
}

impl Joined {
    fn new<const D: usize>(
        blocks: &Blocks<D>,
        conductance: &[f64],
        diagonal: &[f64],
    ) -> Result<Self, EllipticError> {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let mut joined = Self {
            sets: UnionFind::try_new("regions of cells", blocks.cells())?,
            held: vec![false; blocks.cells()],
        };
        for block in (0..blocks.len()).filter(|&b| blocks.is_leaf(b)) {
            for cell in 0..cells {
                let own = block * cells + cell;
                joined.held[own] |= diagonal.get(own).is_some_and(|&d| d > 0.0);
                for side in 0..2 * D {
                    if conductance[block * per + faces::of_side(D, side, cell)] > 0.0 {
                        joined.join(blocks, block, cell, side);
                    }
                }
            }
        }
        Ok(joined)
    }

    /// Joins a leaf's cell with what is beyond an open side.
    fn join<const D: usize>(&mut self, blocks: &Blocks<D>, block: usize, cell: usize, side: usize) {
        let cells = dims::cells(D);
        let at = dims::unravel::<D>(cell, 4);
        let own = block * cells + cell;
        let (axis, upper) = (side / 2, side % 2);
        let step = faces::stride(axis);
        let inside = if upper == 0 {
            at[axis] > 0
        } else {
            at[axis] < 3
        };
        let across = 3 * step;
        let other = if inside {
            if upper == 0 { own - step } else { own + step }
        } else {
            let over = if upper == 0 {
                cell + across
            } else {
                cell.wrapping_sub(across)
            };
            match blocks.beside(block, side) {
                Beside::Same(b) if blocks.is_leaf(b) => b * cells + over,
                // The finer cells join this one.
                Beside::Same(_) => return,
                Beside::Coarser(b) => b * cells + blocks.coarser_cell(block, side, at),
                Beside::Outside => {
                    self.held[own] = true;
                    return;
                }
            }
        };
        self.sets.join(own as u32, other as u32);
    }
}
