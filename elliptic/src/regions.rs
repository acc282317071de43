//! Closed regions: cells joined by open faces, where only differences of the solution are determined.

use crate::constants::{OF_CELLS, OF_FACES};
use crate::{Beside, Blocks, EllipticError, faces};
use cutlink_amr::dims;
use cutlink_device::{Backend, UnionFind, memory};

pub(crate) const NONE: u32 = u32::MAX;

/// Bits of a block: its faces whose conductance is positive, by number, and behind them its cells whose diagonal is.
pub(crate) type OpenFaces = [u32; OF_FACES + OF_CELLS];

fn has(words: &[u32], bit: usize) -> bool {
    words[bit / 32] >> (bit % 32) & 1 == 1
}

fn is_open(of: &OpenFaces, face: usize) -> bool {
    has(&of[..OF_FACES], face)
}

/// The bits of so many cells.
fn all_cells(count: usize) -> [u32; 2] {
    [0, 32].map(|first| match count.saturating_sub(first) {
        0 => 0,
        left if left < 32 => (1 << left) - 1,
        _ => u32::MAX,
    })
}

fn is_held(of: &OpenFaces, cell: usize) -> bool {
    has(&of[OF_FACES..], cell)
}

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
    /// Cost: one pass in order over the blocks, and over the cells of those with closed faces.
    pub(crate) fn new<const D: usize>(
        backend: &B,
        blocks: &Blocks<D>,
        open: &[OpenFaces],
    ) -> Result<Self, EllipticError> {
        let (of, volume) = closed(blocks, open)?;
        let mut shares: Vec<(u32, u32)> = Vec::new();
        for (block, cells) in of.chunks(dims::cells(D)).enumerate() {
            let mut found: Vec<u32> = cells.iter().copied().filter(|&r| r != NONE).collect();
            found.dedup();
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
    open: &[OpenFaces],
) -> Result<(Vec<u32>, Vec<f64>), EllipticError> {
    let cells = dims::cells(D);
    let leaves = || (0..blocks.len()).filter(|&block| blocks.is_leaf(block));
    if leaves().all(|block| open[block][OF_FACES..] == all_cells(cells)) {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut joined = Joined::new(blocks, open)?;
    let is_held = joined.held_roots();
    let mut of = Vec::new();
    let (mut number, mut volume) = (vec![NONE; is_held.len()], Vec::new());
    for block in leaves() {
        if Joined::is_shut(blocks, open, block) {
            continue;
        }
        let size = size(blocks, block);
        for cell in 0..cells {
            let root = joined.root(block, cell);
            if is_held[root] {
                if joined.is_whole[block] {
                    break;
                }
                continue;
            }
            if !joined.is_whole[block] && !is_unknown(blocks, open, block, cell) {
                continue;
            }
            if number[root] == NONE {
                number[root] = volume.len() as u32;
                volume.push(0.0);
            }
            if of.is_empty() {
                memory::grow("closed regions", &mut of, blocks.cells(), NONE)?;
            }
            of[block * cells + cell] = number[root];
            volume[number[root] as usize] += size;
        }
    }
    Ok((of, volume))
}

/// Whether a leaf's cell has an open face.
fn is_unknown<const D: usize>(
    blocks: &Blocks<D>,
    open: &[OpenFaces],
    block: usize,
    cell: usize,
) -> bool {
    let is_open = |block: usize, face: usize| is_open(&open[block], face);
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
/// its cells are open: one node stands for its cells.
struct Joined<const D: usize> {
    sets: UnionFind,
    /// By node.
    held: Vec<bool>,
    is_whole: Vec<bool>,
    /// By block, its first node; refined blocks have none.
    first: Vec<u32>,
}

/// The faces between a block's cells.
fn inner_faces<const D: usize>() -> [u32; OF_FACES] {
    let mut inner = [0; OF_FACES];
    for axis in 0..D {
        for cell in (0..dims::cells(D)).filter(|&c| dims::unravel::<D>(c, 4)[axis] < 3) {
            let face = faces::of_side(D, 2 * axis + 1, cell);
            inner[face / 32] |= 1 << (face % 32);
        }
    }
    inner
}

impl<const D: usize> Joined<D> {
    fn new(blocks: &Blocks<D>, open: &[OpenFaces]) -> Result<Self, EllipticError> {
        let (cells, inner) = (dims::cells(D), inner_faces::<D>());
        let is_whole = |block: usize| {
            let all = open[block].iter().zip(&inner).all(|(o, i)| o & i == *i);
            blocks.is_leaf(block) && all
        };
        let is_whole: Vec<bool> = (0..blocks.len()).map(is_whole).collect();
        let mut nodes = 0;
        let first = |block: usize| {
            let first = nodes;
            nodes += match blocks.is_leaf(block) {
                true if is_whole[block] => 1,
                true => cells as u32,
                false => 0,
            };
            first
        };
        let first = (0..blocks.len()).map(first).collect();
        let mut joined = Self {
            sets: UnionFind::try_new("regions of cells", nodes as usize)?,
            held: vec![false; nodes as usize],
            is_whole,
            first,
        };
        for block in (0..blocks.len()).filter(|&b| blocks.is_leaf(b)) {
            let own = &open[block];
            if Joined::is_shut(blocks, open, block) {
                continue;
            }
            if own[OF_FACES..] != [0; OF_CELLS] {
                for cell in (0..cells).filter(|&cell| is_held(own, cell)) {
                    let node = joined.node(block, cell);
                    joined.held[node] = true;
                }
            }
            for side in 0..2 * D {
                if !joined.is_whole[block] {
                    let inside = (0..cells).filter(|&cell| !faces::is_at::<D>(side, cell));
                    for cell in inside.filter(|&cell| is_open(own, faces::of_side(D, side, cell))) {
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
                    if is_open(own, faces::of_side(D, side, cell))
                        && joined.join_beyond(blocks, block, cell, side)
                    {
                        break;
                    }
                }
            }
        }
        Ok(joined)
    }

    /// Whether no cell of a leaf is an unknown or held: all of its faces are closed, and none is beside finer cells.
    fn is_shut(blocks: &Blocks<D>, open: &[OpenFaces], block: usize) -> bool {
        open[block] == [0; OF_FACES + OF_CELLS]
            && (0..2 * D).all(|side| !blocks.is_finer(block, side))
    }

    /// What stands for a cell of a leaf.
    fn node(&self, block: usize, cell: usize) -> usize {
        self.first[block] as usize + if self.is_whole[block] { 0 } else { cell }
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
