//! Fluid that no face connects to the rest: pockets behind the surface's wrinkles, of a few cells each. A pressure
//! equation is singular there, so they are dropped.

use super::cells::{Block, Cells, Next, Side};
use cutlink_amr::{CellRef, NONE, dims};
use cutlink_common::Error;
use cutlink_device::UnionFind;
use std::collections::BTreeMap;

/// A region with less than this share of the fluid that touches no face of the box is a pocket.
const SHARE: f64 = 1e-3;

/// Regions that faces connect.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Regions {
    /// Regions that stay.
    pub(super) kept: u64,
    /// Pockets.
    pub(super) dropped: u64,
    /// Cells of the pockets.
    pub(super) dropped_cells: u64,
}

/// The parts of a block: connected cells of its level. Parts are nodes of a graph.
struct Parts {
    /// First node of each slot.
    first: Vec<u32>,
    /// Nodes.
    count: u32,
    /// Position in `labels` of each block that does not keep all of its cells, or has walls; others are one part, and
    /// [`NONE`].
    mixed: Vec<u32>,
    /// Part of each cell.
    labels: Vec<[u8; 64]>,
}

impl Parts {
    fn of(cells: &Cells<'_>) -> Self {
        let (first, mixed) = (Vec::new(), vec![NONE; cells.blocks.len()]);
        let mut parts = Self {
            first,
            count: 0,
            mixed,
            labels: Vec::new(),
        };
        for (slot, &id) in cells.blocks.iter().enumerate() {
            parts.first.push(parts.count);
            let kept = cells.kept[slot];
            if kept == u64::MAX && cells.mesh.classes.boundary[id as usize] == 0 {
                parts.count += 1;
            } else if kept != 0 {
                let (labels, count) = flood(cells, id, kept);
                parts.mixed[slot] = parts.labels.len() as u32;
                parts.labels.push(labels);
                parts.count += count;
            }
        }
        parts
    }

    fn node(&self, slot: u32, cell: u32) -> u32 {
        let part = match self.mixed[slot as usize] {
            NONE => 0,
            at => self.labels[at as usize][cell as usize],
        };
        self.first[slot as usize] + u32::from(part)
    }

    fn is_plain(&self, slot: u32) -> bool {
        self.mixed[slot as usize] == NONE
    }
}

/// The parts of one block: the part of each cell, and how many there are.
fn flood(cells: &Cells<'_>, block: u32, kept: u64) -> ([u8; 64], u32) {
    let (mut labels, mut count, mut rest) = ([0; 64], 0, kept);
    let mut stack = Vec::new();
    while rest != 0 {
        stack.push(rest.trailing_zeros());
        rest &= rest - 1;
        while let Some(cell) = stack.pop() {
            labels[cell as usize] = count as u8;
            let at = dims::unravel::<3>(cell as usize, 4);
            for side in Side::ALL {
                let mut to = at;
                to[side.axis()] += if side.is_upper() { 1 } else { -1 };
                if !(0..4).contains(&to[side.axis()]) {
                    continue;
                }
                let next = dims::ravel(to, 4) as u32;
                let [at, other] = [cell, next].map(|cell| CellRef { block, cell });
                if rest >> next & 1 == 1 && cells.cut_in_level(at, side, other).is_none() {
                    rest &= !(1 << next);
                    stack.push(next);
                }
            }
        }
        count += 1;
    }
    (labels, count)
}

/// The 16 cells of a block at one of its sides.
fn cells_at(side: Side) -> u64 {
    let end = if side.is_upper() { 3 } else { 0 };
    let is_there = |&cell: &usize| dims::unravel::<3>(cell, 4)[side.axis()] == end;
    (0..64)
        .filter(is_there)
        .fold(0, |mask, cell| mask | 1 << cell)
}

/// Drops the pockets from the cells that are kept, and numbers the cells anew. Cost: one pass over the blocks, in
/// sequence; blocks without walls that keep all their cells count as one cell.
pub(super) fn drop_pockets(cells: &mut Cells<'_>) -> Result<Regions, Error> {
    let parts = Parts::of(cells);
    let mut sets = UnionFind::try_new("regions", parts.count as usize)?;
    let mut at_box = vec![false; parts.count as usize];
    for slot in 0..cells.blocks.len() {
        if cells.kept[slot] != 0 {
            join_around(
                &Block::new(cells, slot),
                slot as u32,
                &parts,
                &mut sets,
                &mut at_box,
            );
        }
    }
    // Volume in root cells, cells, whether it touches the box; by root of the set.
    let mut regions: BTreeMap<u32, (f64, u64, bool)> = BTreeMap::new();
    for (slot, &id) in cells.blocks.iter().enumerate() {
        let volume = 0.125f64.powi(i32::from(cells.mesh.forest.level[id as usize]));
        let mut count = |node: u32, n: u32| {
            let region = regions.entry(sets.root(node)).or_default();
            region.0 += f64::from(n) * volume;
            region.1 += u64::from(n);
            region.2 |= at_box[node as usize];
        };
        match parts.is_plain(slot as u32) {
            true if cells.kept[slot] != 0 => count(parts.first[slot], 64),
            true => {}
            false => {
                ones(cells.kept[slot]).for_each(|cell| count(parts.node(slot as u32, cell), 1))
            }
        }
    }
    let all: f64 = regions.values().map(|r| r.0).sum();
    let largest = regions
        .values()
        .fold(0.0, |largest: f64, r| largest.max(r.0));
    let is_pocket = |&(volume, _, at_box): &(f64, u64, bool)| {
        !at_box && volume < SHARE * all && volume < largest
    };
    let mut found = Regions::default();
    for region in regions.values() {
        match is_pocket(region) {
            true => {
                (found.dropped, found.dropped_cells) =
                    (found.dropped + 1, found.dropped_cells + region.1)
            }
            false => found.kept += 1,
        }
    }
    if found.dropped > 0 {
        for slot in 0..cells.blocks.len() {
            let mut stays = |cell: &u32| {
                let root = sets.root(parts.node(slot as u32, *cell));
                !regions.get(&root).is_some_and(is_pocket)
            };
            if !parts.is_plain(slot as u32) {
                cells.kept[slot] = ones(cells.kept[slot])
                    .filter(&mut stays)
                    .fold(0, |mask, cell| mask | 1 << cell);
            } else if cells.kept[slot] != 0 && !stays(&0) {
                cells.kept[slot] = 0;
            }
        }
        cells.number();
    }
    Ok(found)
}

/// Joins the parts of a block with those beside it in other blocks, of the same level or coarser.
fn join_around(
    block: &Block<'_, '_>,
    slot: u32,
    parts: &Parts,
    sets: &mut UnionFind,
    at_box: &mut [bool],
) {
    let cells = block.cells;
    for side in Side::ALL {
        let end = cells_at(side);
        let ahead = match parts.is_plain(slot) {
            true => end,
            false => block.kept,
        };
        for cell in ones(block.kept & ahead) {
            let at = CellRef {
                block: block.id,
                cell,
            };
            let (to, cut) = match block.next(cell, side) {
                Next::Outside => {
                    at_box[parts.node(slot, cell) as usize] = true;
                    continue;
                }
                Next::Coarser(to) => (to, cells.cut_between_levels(at, side, to)),
                Next::Same(to) if end >> cell & 1 == 1 && side.is_upper() => {
                    (to, cells.cut_in_level(at, side, to))
                }
                Next::Same(_) | Next::Finer(_) => continue,
            };
            let there = cells.slot[to.block as usize];
            if there == NONE || cells.kept[there as usize] >> to.cell & 1 == 0 {
                continue;
            }
            if cut.is_none() {
                sets.join(parts.node(slot, cell), parts.node(there, to.cell));
            }
            if cut.is_none() && parts.is_plain(slot) && parts.is_plain(there) {
                break;
            }
        }
    }
}

fn ones(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}
