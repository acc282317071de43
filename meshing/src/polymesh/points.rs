//! Numbers of points without sorting or hashing.
//!
//! A point has a home: the leaf block that holds it, lower faces included, upper ones only at the end of the box. Points of
//! a block lie on its lattice of half cells, 9^3 places; those at odd places are corners of finer cells. A bit mask a block
//! says which are used; that of a refined block is empty. Points are numbered by block, then z, y, x.

use super::cells::{Block, Cells};
use cutlink_amr::{NONE, OUTSIDE, dims};
use std::sync::atomic::{AtomicU64, Ordering};

/// Half cells along a block, and one.
pub(super) const SIDE: usize = 9;
/// Words of a mask of SIDE^3 bits.
const WORDS: usize = (SIDE * SIDE * SIDE).div_ceil(64);

/// Bytes for each block.
pub(super) const BYTES_PER_BLOCK: u64 = 8 * WORDS as u64 + 4;

/// The place of a point in a block, x fastest.
pub(super) fn place(at: [u8; 3]) -> usize {
    let [x, y, z] = at.map(usize::from);
    x + SIDE * (y + SIDE * z)
}

/// The point at a place.
pub(super) fn at(place: usize) -> [u8; 3] {
    dims::unravel::<3>(place, SIDE).map(|c| c as u8)
}

/// Which places of a block are used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used([u64; WORDS]);

impl Used {
    pub(super) fn none() -> Self {
        Self([0; WORDS])
    }

    pub(super) fn add(&mut self, at: [u8; 3]) {
        let place = place(at);
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// The eight corners of cells.
    pub(super) fn add_corners(&mut self, cells: u64) {
        let mut rest = cells;
        while rest != 0 {
            let [x, y, z] =
                dims::unravel::<3>(rest.trailing_zeros() as usize, 4).map(|c| 2 * c as u8);
            rest &= rest - 1;
            for corner in 0..8 {
                self.add([
                    x + 2 * (corner & 1),
                    y + (corner & 2),
                    z + (corner >> 1 & 2),
                ]);
            }
        }
    }

    fn each(&self, mut f: impl FnMut([u8; 3])) {
        for (word, &bits) in self.0.iter().enumerate() {
            let mut rest = bits;
            while rest != 0 {
                let place = 64 * word + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                f(at(place));
            }
        }
    }
}

/// The points of all blocks.
#[derive(Debug)]
pub(super) struct Points {
    /// By slot, `WORDS` words each.
    used: Vec<AtomicU64>,
    /// First point of each slot.
    first: Vec<u32>,
}

impl Points {
    pub(super) fn new(blocks: usize) -> Self {
        let mut used = Vec::new();
        used.resize_with(WORDS * blocks, AtomicU64::default);
        Self {
            used,
            first: Vec::new(),
        }
    }

    /// Marks points of a block as used. Order does not matter: bits are only set.
    pub(super) fn mark(&self, block: &Block<'_, '_>, used: &Used) {
        used.each(|at| {
            let (slot, at) = home(block, at);
            let place = place(at);
            let (word, bit) = (&self.used[WORDS * slot + place / 64], 1 << (place % 64));
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        });
    }

    /// Numbers the points; returns how many there are.
    pub(super) fn number(&mut self) -> u64 {
        let mut count = 0u64;
        for words in self.used.chunks(WORDS) {
            self.first.push(count as u32);
            let ones = words.iter().map(|w| w.load(Ordering::Relaxed).count_ones());
            count += u64::from(ones.sum::<u32>());
        }
        count
    }

    /// The number of a point of a block, which is in use.
    pub(super) fn id(&self, block: &Block<'_, '_>, at: [u8; 3]) -> u32 {
        let (slot, at) = home(block, at);
        let place = place(at);
        let words = &self.used[WORDS * slot..][..place / 64 + 1];
        let (last, before) = words.split_last().expect("there is at least one word");
        let below = last.load(Ordering::Relaxed) & ((1 << (place % 64)) - 1);
        let ones = before
            .iter()
            .map(|w| w.load(Ordering::Relaxed).count_ones());
        self.first[slot] + ones.sum::<u32>() + below.count_ones()
    }

    /// The points that have their home in a block, in order.
    pub(super) fn of(&self, slot: usize, f: impl FnMut([u8; 3])) {
        let words = &self.used[WORDS * slot..][..WORDS];
        Used(std::array::from_fn(|i| words[i].load(Ordering::Relaxed))).each(f);
    }

    /// Number of points of a range of slots; `end` is the number of all points.
    pub(super) fn count(&self, slots: std::ops::Range<usize>, end: usize) -> usize {
        let first = |slot: usize| self.first.get(slot).map_or(end, |&first| first as usize);
        first(slots.end) - first(slots.start)
    }
}

/// The slot of a point's home, and the point there.
fn home(block: &Block<'_, '_>, at: [u8; 3]) -> (usize, [u8; 3]) {
    let cells: &Cells<'_> = block.cells;
    if !cells.mesh.forest.is_leaf(block.id) {
        return home_below(block, at);
    }
    let slot_of = |id: u32| cells.slot[id as usize] as usize;
    let beyond = |a: usize| {
        let mut step = [0; 3];
        step[a] = 1;
        at[a] == 8 && block.outside >> dims::direction(step) & 1 == 0
    };
    let step: [i32; 3] = std::array::from_fn(|a| i32::from(beyond(a)));
    if step == [0; 3] {
        return (slot_of(block.id), at);
    }
    let forest = &cells.mesh.forest;
    let direction = dims::direction(step);
    let there: [i32; 3] = std::array::from_fn(|a| i32::from(at[a]) - 8 * step[a]);
    match block.around(direction) {
        NONE => {
            let coarse = forest.coarser_neighbor(block.id, direction);
            let (from, to) = (
                forest.coord[block.id as usize],
                forest.coord[coarse as usize],
            );
            let at =
                std::array::from_fn(|a| ((8 * from[a] + i32::from(at[a])) / 2 - 8 * to[a]) as u8);
            (slot_of(coarse), at)
        }
        other if forest.is_leaf(other) => (slot_of(other), there.map(|c| c as u8)),
        other => {
            debug_assert!(other != OUTSIDE, "the place should be in the box");
            let child = there.map(|c| (c >> 2).min(1));
            let at = std::array::from_fn(|a| (2 * (there[a] - 4 * child[a])) as u8);
            let id = forest.first_child[other as usize] + dims::ravel(child, 2) as u32;
            (slot_of(id), at)
        }
    }
}

/// The same for a point of a refined block, from the roots down.
fn home_below(block: &Block<'_, '_>, at: [u8; 3]) -> (usize, [u8; 3]) {
    let cells: &Cells<'_> = block.cells;
    let forest = &cells.mesh.forest;
    let finest = forest.finest();
    // In half cells of the finest level, eight to a block.
    let up = finest - block.level;
    let own = forest.coord[block.id as usize];
    let fine: [i32; 3] = std::array::from_fn(|a| (8 * own[a] + i32::from(at[a])) << up);
    let place = std::array::from_fn(|a| {
        let blocks = (forest.root[a] as i32) << finest;
        (fine[a] >> 3).min(blocks - 1)
    });
    let id = forest
        .find(finest, place)
        .expect("the place should be in the box");
    let (up, low) = (
        finest - usize::from(forest.level[id as usize]),
        forest.coord[id as usize],
    );
    let at = std::array::from_fn(|a| ((fine[a] >> up) - 8 * low[a]) as u8);
    (cells.slot[id as usize] as usize, at)
}
