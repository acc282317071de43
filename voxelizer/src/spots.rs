//! Single cells that are wanted finer: what a caller found, such as the cells along sharp edges.
//!
//! As [`crate::refine`] has it, a refined block lies within [`SOLID_LAYERS`] of a wanted one of its level, and the parents
//! of its neighbours have to be refined. So wanted on a level are the blocks of its own spots, and all with a child within
//! [`SOLID_LAYERS`] + 1 blocks of a wanted one below. Parents of blocks that are not inside the body are not inside
//! either, so the layers into the body are there as well.

use crate::Frame;
use crate::constants::KEY_BITS;
use crate::refine::SOLID_LAYERS;
use cutlink_amr::dims;
use rayon::prelude::*;

/// Cells to refine, by level; at most one entry a cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spots {
    /// Keys of cells, ascending.
    levels: Vec<Vec<u64>>,
}

/// The coordinates of a cell or a block as a number. Not negative, and below 2^21.
fn key<const D: usize>(coord: [i32; D]) -> u64 {
    (0..D).fold(0, |key, a| key | (coord[a] as u64) << (KEY_BITS * a as u32))
}

fn coord<const D: usize>(key: u64) -> [i32; D] {
    std::array::from_fn(|a| (key >> (KEY_BITS * a as u32) & ((1 << KEY_BITS) - 1)) as i32)
}

/// Whether a block or a cell is in an ascending list of keys.
pub(crate) fn holds<const D: usize>(keys: &[u64], at: [i32; D]) -> bool {
    !keys.is_empty() && keys.binary_search(&key(at)).is_ok()
}

fn unique(mut keys: Vec<u64>) -> Vec<u64> {
    keys.par_sort_unstable();
    keys.dedup();
    keys
}

impl Spots {
    /// Cells by level, the root first, in any order. Beyond a periodic face they go on at the other one; others outside the
    /// box do not count.
    pub fn new<const D: usize>(
        frame: &Frame<D>,
        periodic: [bool; D],
        cells: Vec<Vec<[i32; D]>>,
    ) -> Self {
        let of_level = |(level, cells): (usize, Vec<[i32; D]>)| {
            let count = frame.root_cells.map(|n| i64::from(n) << level);
            let keys = cells
                .into_par_iter()
                .filter_map(|cell| wrapped(cell, count, periodic));
            unique(keys.map(key).collect())
        };
        Self {
            levels: cells.into_iter().enumerate().map(of_level).collect(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.levels.iter().all(Vec::is_empty)
    }

    /// Whether a cell of a level is to be refined.
    pub fn holds<const D: usize>(&self, level: usize, cell: [i32; D]) -> bool {
        self.levels.get(level).is_some_and(|keys| holds(keys, cell))
    }

    /// How many there are on each level.
    pub fn counts(&self) -> Vec<usize> {
        self.levels.iter().map(Vec::len).collect()
    }

    /// The same in a mesh of so many levels: of finer cells, those that contain them.
    #[must_use]
    pub fn within(&self, levels: usize) -> Self {
        let kept = levels.saturating_sub(1);
        let mut made = self.clone();
        for (level, finer) in self.levels.iter().enumerate().skip(kept.max(1)) {
            let up = level + 1 - kept;
            let above = finer.iter().map(|&key_of| {
                let cell: [i32; 3] = coord(key_of);
                key(cell.map(|c| c >> up))
            });
            if let Some(last) = kept.checked_sub(1) {
                made.levels[last].extend(above);
            }
        }
        made.levels.truncate(kept);
        made.levels = made.levels.into_iter().map(unique).collect();
        made
    }

    /// The wanted blocks of each level but the finest of so many, ascending keys.
    pub(crate) fn blocks<const D: usize>(
        &self,
        frame: &Frame<D>,
        periodic: [bool; D],
        levels: usize,
    ) -> Vec<Vec<u64>> {
        let mut made = vec![Vec::new(); levels.saturating_sub(1)];
        let mut finer: Vec<u64> = Vec::new();
        for (level, wanted) in made.iter_mut().enumerate().rev() {
            let own = self.levels.get(level).map_or(&[][..], Vec::as_slice);
            let own = own.par_iter().map(|&of| {
                let cell: [i32; D] = coord(of);
                key(cell.map(|c| c / dims::EDGE))
            });
            let mut keys: Vec<u64> = own.collect();
            keys.par_extend(parents_around(frame, periodic, level, finer));
            *wanted = unique(keys);
            finer = wanted.clone();
        }
        made
    }
}

/// A cell in the box of so many cells, or `None`.
fn wrapped<const D: usize>(
    cell: [i32; D],
    count: [i64; D],
    periodic: [bool; D],
) -> Option<[i32; D]> {
    let mut at = cell;
    for a in 0..D {
        if periodic[a] {
            at[a] = i64::from(cell[a]).rem_euclid(count[a]) as i32;
        } else if cell[a] < 0 || i64::from(cell[a]) >= count[a] {
            return None;
        }
    }
    Some(at)
}

/// The blocks of a level with a child within [`SOLID_LAYERS`] + 1 of one of the blocks below, axis by axis.
fn parents_around<const D: usize>(
    frame: &Frame<D>,
    periodic: [bool; D],
    level: usize,
    finer: Vec<u64>,
) -> Vec<u64> {
    let reach = SOLID_LAYERS as i32 + 1;
    let count = frame.root_blocks().map(|n| i64::from(n) << level);
    (0..D).fold(finer, |keys, axis| {
        let along = keys.par_iter().flat_map_iter(|&of| {
            let at: [i32; D] = coord(of);
            let range = (at[axis] - reach).div_euclid(2)..=(at[axis] + reach).div_euclid(2);
            range.filter_map(move |c| {
                let [c] = wrapped([c], [count[axis]], [periodic[axis]])?;
                let mut moved = at;
                moved[axis] = c;
                Some(key(moved))
            })
        });
        unique(along.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_wants_its_block_and_room_around_it() {
        let frame = Frame::<3>::new([0.0; 3], 0.25, [32, 16, 16]).expect("a box");
        // A cell of block (3, 2, 4) of level 1.
        let cells = vec![Vec::new(), vec![[13, 11, 16]]];
        let spots = Spots::new(&frame, [false; 3], cells);
        assert!(spots.holds(1, [13, 11, 16]) && !spots.holds(1, [13, 11, 17]));
        assert!(!spots.holds(0, [6, 5, 8]) && !spots.holds(2, [0; 3]));
        let wanted = spots.blocks(&frame, [false; 3], 3);
        assert_eq!(wanted[1], [key([3, 2, 4])]);
        // Blocks 0 to 6, -1 to 5 and 1 to 7 of level 1 lie within three.
        let mut all = Vec::new();
        for z in 0..=3 {
            for y in 0..=2 {
                all.extend((0..=3).map(|x| key([x, y, z])));
            }
        }
        assert_eq!(wanted[0], all);
        // Across a periodic face.
        let around = spots.blocks(&frame, [false, true, false], 3);
        assert_eq!(around[0].len(), 4 * 4 * 4);
        assert!(holds(&around[0], [1, 3, 2]) && !holds(&wanted[0], [1, 3, 2]));
    }

    #[test]
    fn fewer_levels_keep_the_cells_that_contain_spots() {
        let frame = Frame::<2>::new([0.0; 2], 1.0, [8, 8]).expect("a box");
        let cells = vec![vec![[1, 1]], Vec::new(), vec![[9, 31], [8, 30], [-1, 3]]];
        let spots = Spots::new(&frame, [false; 2], cells);
        assert_eq!(spots.counts(), [1, 0, 2], "one is outside");
        assert_eq!(spots.within(4), spots);
        let two = spots.within(3);
        assert!(two.holds(1, [4, 15]) && two.holds(0, [1, 1]));
        assert_eq!(two.counts(), [1, 1]);
        let one = spots.within(2);
        assert!(one.holds(0, [2, 7]) && one.counts() == [2]);
        assert!(spots.within(1).is_empty());
        let periodic = Spots::new(&frame, [true, false], vec![vec![[-1, 3], [8, 3]]]);
        assert!(periodic.holds(0, [7, 3]) && periodic.holds(0, [0, 3]));
    }
}
