//! Keys of blocks: Morton number and level in one word, and the arithmetic of neighbours on it.
//!
//! The Morton number interleaves the coordinates of a block's lower corner, x lowest, counted in blocks of the finest
//! level that keys of the root grid can name ([`Grid::limit`]): 19 bits an axis in 3D, 29 in 2D. Below it are 5 bits of
//! the level (Wang, Witherden & Jameson 2024 \[W24\], §2.2, Alg. 1, with the level in place of the depth). In the order
//! of keys a block comes before the blocks in it, and these before every block that begins after it.
//!
//! A root grid is a box in the enclosing cube of a power of two; a block outside of it does not exist.
//! Steps along an axis add and subtract on the interleaved bits of that axis (Schrack 1992), so nothing is decoded.

use crate::{ForestError, MAX_LEVELS, constants::LEVEL_BITS, dims};

/// Bits of a coordinate in a key.
pub const fn coordinate_bits(d: usize) -> u32 {
    if d == 3 { 19 } else { 29 }
}

/// Every D-th bit from the lowest on: those of x.
const fn axis_bits(d: usize) -> u64 {
    if d == 3 {
        0x1249_2492_4924_9249
    } else {
        0x5555_5555_5555_5555
    }
}

/// The bits of `x`, each D places from the next.
pub(crate) const fn spread(d: usize, x: u32) -> u64 {
    let mut x = x as u64;
    if d == 3 {
        x = (x | x << 32) & 0x001f_0000_0000_ffff;
        x = (x | x << 16) & 0x001f_0000_ff00_00ff;
        x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
        x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
        x = (x | x << 2) & axis_bits(3);
    } else {
        x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
        x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        x = (x | x << 2) & 0x3333_3333_3333_3333;
        x = (x | x << 1) & axis_bits(2);
    }
    x
}

/// The inverse of [`spread`]; other bits are ignored.
pub(crate) const fn gather(d: usize, x: u64) -> u32 {
    let mut x = x & axis_bits(d);
    if d == 3 {
        x = (x | x >> 2) & 0x10c3_0c30_c30c_30c3;
        x = (x | x >> 4) & 0x100f_00f0_0f00_f00f;
        x = (x | x >> 8) & 0x001f_0000_ff00_00ff;
        x = (x | x >> 16) & 0x001f_0000_0000_ffff;
        x = (x | x >> 32) & 0x001f_ffff;
    } else {
        x = (x | x >> 1) & 0x3333_3333_3333_3333;
        x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
        x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
        x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
        x = (x | x >> 16) & 0xffff_ffff;
    }
    x as u32
}

/// The Morton number of a key.
#[inline]
pub(crate) const fn morton(key: u64) -> u64 {
    key >> LEVEL_BITS
}

/// The level of a key.
#[inline]
pub const fn level(key: u64) -> u32 {
    (key & ((1 << LEVEL_BITS) - 1)) as u32
}

/// The key of a Morton number and a level.
#[inline]
pub(crate) const fn pack(morton: u64, level: u32) -> u64 {
    morton << LEVEL_BITS | level as u64
}

/// A root grid, and the keys of blocks in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid<const D: usize> {
    root: [u32; D],
    periodic: [bool; D],
    limit: u32,
    /// Per axis, the coordinate behind the last block, spread to the bits of the axis.
    end: [u64; D],
}

impl<const D: usize> Grid<D> {
    /// Root blocks on each axis, and the axes along which the box is periodic.
    ///
    /// # Errors
    /// Where an axis has no block, or keys cannot number the blocks of the longest one.
    pub fn new(root: [u32; D], periodic: [bool; D]) -> Result<Self, ForestError> {
        let count: u64 = root
            .iter()
            .map(|&n| u64::from(n))
            .fold(1, u64::saturating_mul);
        if root.contains(&0) || count >= 1 << 31 {
            return Err(ForestError::RootGrid {
                blocks: root.to_vec(),
            });
        }
        let blocks = *root.iter().max().expect("D should be positive");
        let cube = u32::BITS - (blocks - 1).leading_zeros();
        let Some(limit) = coordinate_bits(D).checked_sub(cube) else {
            return Err(ForestError::TooFineForKeys { level: 0, blocks });
        };
        let limit = limit.min(MAX_LEVELS as u32 - 1);
        let end = std::array::from_fn(|a| spread(D, root[a] << limit) << a);
        Ok(Self {
            root,
            periodic,
            limit,
            end,
        })
    }

    /// Root blocks on each axis.
    pub fn root(&self) -> [u32; D] {
        self.root
    }

    /// Axes along which the box is periodic.
    pub fn periodic(&self) -> [bool; D] {
        self.periodic
    }

    /// Root blocks.
    pub fn roots(&self) -> usize {
        self.root.iter().map(|&n| n as usize).product()
    }

    /// The finest level that blocks can have.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The key of a block by its level and its coordinate there; `None` for one outside of the box, or finer than
    /// [`limit`](Self::limit).
    pub fn key(&self, level: u32, coord: [i32; D]) -> Option<u64> {
        let inside =
            |a: usize| coord[a] >= 0 && (coord[a] as u64) < u64::from(self.root[a]) << level;
        if level > self.limit || !(0..D).all(inside) {
            return None;
        }
        let spread = |a: usize| spread(D, (coord[a] as u32) << (self.limit - level)) << a;
        Some(pack((0..D).fold(0, |m, a| m | spread(a)), level))
    }

    /// The key of the block of a level that holds a point, in units of root cells (a quarter of a root block) from the
    /// lower corner of the box, as in [`Forest::leaf_at`](crate::Forest::leaf_at).
    pub fn key_at(&self, level: u32, point: [f64; D]) -> Option<u64> {
        let inside = |a: usize| point[a] >= 0.0 && point[a] < f64::from(self.root[a]) * 4.0;
        if level > self.limit || !(0..D).all(inside) {
            return None;
        }
        let scale = f64::from(1u32 << level) / 4.0;
        self.key(level, point.map(|x| (x * scale) as i32))
    }

    /// The coordinate of a block at its level: the inverse of [`key`](Self::key).
    #[inline]
    pub fn coord(&self, key: u64) -> [i32; D] {
        let (at, down) = (morton(key), self.limit - level(key));
        std::array::from_fn(|a| (gather(D, at >> a) >> down) as i32)
    }

    /// Whether a word is the key of a block of this grid.
    #[inline]
    pub fn is_key(&self, key: u64) -> bool {
        let (at, level) = (morton(key), level(key));
        level <= self.limit
            && at & ((1 << self.shift(level)) - 1) == 0
            && (0..D).all(|a| at & (axis_bits(D) << a) < self.end[a])
    }

    /// The places behind the last block per axis, spread to the bits of the axis.
    #[cfg(feature = "cuda")]
    pub(crate) fn end(&self) -> [u64; D] {
        self.end
    }

    /// Which bits of keys tell blocks of a level and coarser ones apart that are not in one another; a word of ones
    /// differs from all of them there.
    #[cfg(feature = "cuda")]
    pub(crate) fn key_bits(&self, level: u32) -> std::ops::Range<u32> {
        let end = *self.end.iter().max().expect("D should be positive");
        let behind = LEVEL_BITS + u64::BITS - end.leading_zeros();
        LEVEL_BITS + self.shift(level)..behind.min(u64::BITS)
    }

    /// Bits of a Morton number below those that tell the blocks of a level apart.
    #[inline]
    pub(crate) fn shift(&self, level: u32) -> u32 {
        D as u32 * (self.limit - level)
    }

    /// The block of a level (coarser than the Morton number's own, or its own) that holds its corner.
    #[inline]
    pub(crate) fn cover(&self, at: u64, level: u32) -> u64 {
        let shift = self.shift(level);
        at >> shift << shift
    }

    /// Which child of its parent a block is.
    #[inline]
    pub(crate) fn child_number(&self, at: u64, level: u32) -> usize {
        (at >> self.shift(level)) as usize & (dims::children(D) - 1)
    }

    /// A child of a block of `level`.
    #[inline]
    pub(crate) fn child(&self, at: u64, level: u32, child: usize) -> u64 {
        at | (child as u64) << self.shift(level + 1)
    }

    /// The block beside a block of a level, one step up or down an axis; `None` beyond a face that is not periodic.
    #[inline]
    pub(crate) fn beside(&self, at: u64, level: u32, axis: usize, up: bool) -> Option<u64> {
        let bits = axis_bits(D) << axis;
        let (own, others) = (at & bits, at & !bits);
        let unit = 1 << (self.shift(level) + axis as u32);
        let to = if up {
            let to = (own | !bits).wrapping_add(unit) & bits;
            match (to == self.end[axis], self.periodic[axis]) {
                (true, false) => return None,
                (true, true) => 0,
                (false, _) => to,
            }
        } else if own == 0 {
            if !self.periodic[axis] {
                return None;
            }
            (self.end[axis] - unit) & bits
        } else {
            (own - unit) & bits
        };
        Some(others | to)
    }

    /// The block of the same level in a step of -1, 0 or 1 on each axis.
    #[inline]
    pub(crate) fn stepped(&self, at: u64, level: u32, step: [i32; D]) -> Option<u64> {
        (0..D).try_fold(at, |at, a| match step[a] {
            0 => Some(at),
            s => self.beside(at, level, a, s > 0),
        })
    }

    /// The first level of the proper ancestors of `key` that are none of `before`, which is the key before it in sorted
    /// order: an ancestor of both is one of all keys between.
    #[inline]
    pub(crate) fn first_new_ancestor(&self, before: u64, key: u64) -> u32 {
        let differ = morton(before) ^ morton(key);
        if differ == 0 {
            return level(before);
        }
        let above = self.limit as i32 - (differ.ilog2() / D as u32) as i32;
        (above.max(0) as u32).min(level(before))
    }

    /// Root blocks in the order of their keys.
    pub(crate) fn root_keys(&self) -> Vec<u64> {
        let root_key = |i: usize| {
            let mut rest = i as u64;
            let coord = self.root.map(|n| {
                let c = rest % u64::from(n);
                rest /= u64::from(n);
                c as i32
            });
            self.key(0, coord).expect("a root block should have a key")
        };
        let mut keys: Vec<u64> = (0..self.roots()).map(root_key).collect();
        keys.sort_unstable();
        keys
    }

    /// # Errors
    /// Where keys cannot name blocks of the level.
    pub(crate) fn check_level(&self, level: u32) -> Result<(), ForestError> {
        if level > self.limit {
            let blocks = *self.root.iter().max().expect("D should be positive");
            return Err(ForestError::TooFineForKeys {
                level: level as usize,
                blocks,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreading_is_its_own_inverse() {
        for x in [0, 1, 2, 0b1011, 0x5_5555, 0x7_ffff, 0xf_ffff] {
            assert_eq!(gather(3, spread(3, x)), x, "3D");
            assert_eq!(gather(2, spread(2, x)), x, "2D");
        }
        let bitwise =
            |d: usize, x: u32| (0..64 / d).fold(0, |m, b| m | (u64::from(x) >> b & 1) << (d * b));
        assert_eq!(spread(2, 0xdead_beef), bitwise(2, 0xdead_beef));
        assert_eq!(spread(3, 0x000d_ead5), bitwise(3, 0x000d_ead5));
    }

    fn steps_follow_coordinates<const D: usize>(root: [u32; D]) {
        for bits in 0..1 << D {
            let periodic = std::array::from_fn(|a| bits >> a & 1 == 1);
            let grid = Grid::new(root, periodic).expect("a root grid");
            for level in [0, 1, 2, grid.limit()] {
                let count = root.map(|n| u64::from(n) << level);
                for i in 0..200usize {
                    // Corners of the box, and places in it.
                    let coord: [i32; D] = std::array::from_fn(|a| match i >> (2 * a) & 3 {
                        0 => 0,
                        1 => count[a] as i32 - 1,
                        k => ((i * 37 * k + a * 11) as u64 % count[a]) as i32,
                    });
                    let key = grid.key(level, coord).expect("inside");
                    assert!(grid.is_key(key));
                    assert_eq!(grid.coord(key), coord);
                    for direction in 0..dims::directions(D) {
                        let step = dims::step::<D>(direction);
                        let to = std::array::from_fn(|a| {
                            let to = coord[a] + step[a];
                            let around = to.rem_euclid(count[a] as i32);
                            if periodic[a] { around } else { to }
                        });
                        let found = grid.stepped(morton(key), level, step);
                        let found = found.map(|at| pack(at, level));
                        assert_eq!(found, grid.key(level, to), "{coord:?} {step:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn neighbours_of_keys_are_those_of_coordinates() {
        steps_follow_coordinates::<2>([3, 2]);
        steps_follow_coordinates::<2>([1, 1]);
        steps_follow_coordinates::<3>([4, 3, 1]);
        steps_follow_coordinates::<3>([5, 8, 2]);
    }

    #[test]
    fn words_that_are_no_keys_are_told() {
        let grid = Grid::<3>::new([3, 2, 2], [false; 3]).expect("a root grid");
        assert_eq!(grid.limit(), 17, "two bits for three blocks");
        let key = grid.key(4, [40, 3, 31]).expect("inside");
        assert!(grid.is_key(key));
        assert!(!grid.is_key(key | 1 << LEVEL_BITS), "not aligned");
        assert!(!grid.is_key(key & !31 | 18), "too fine");
        assert!(!grid.is_key(key | 1 << 63), "beyond all bits");
        assert_eq!(grid.key(4, [48, 0, 0]), None, "outside");
        assert_eq!(grid.key(18, [0, 0, 0]), None, "too fine");
        let outside = pack(spread(3, 48 << 13), 4);
        assert!(!grid.is_key(outside), "outside");
        assert!(Grid::<3>::new([1 << 19, 1, 1], [false; 3]).is_ok());
        assert!(Grid::<3>::new([(1 << 19) + 1, 1, 1], [false; 3]).is_err());
        assert!(Grid::<2>::new([0, 1], [false; 2]).is_err());
    }

    #[test]
    fn a_point_is_in_the_block_of_its_key() {
        let grid = Grid::<2>::new([3, 2], [false; 2]).expect("a root grid");
        let key = grid.key_at(3, [11.99, 0.5]).expect("inside");
        assert_eq!((level(key), grid.coord(key)), (3, [23, 1]));
        assert_eq!(grid.key_at(3, [12.0, 0.5]), None, "the upper face");
        assert_eq!(grid.key_at(3, [f64::NAN, 0.5]), None, "not a number");
    }
}
