//! Counts and index arithmetic of a block in D dimensions; see the crate's table of frames.

/// Cells along a block's edge.
pub const EDGE: i32 = 4;

/// 3^D: a block, its neighbours over faces, edges and corners, and itself in the middle.
#[inline]
pub const fn directions(d: usize) -> usize {
    3usize.pow(d as u32)
}

/// 2^D children of a refined block.
#[inline]
pub const fn children(d: usize) -> usize {
    1 << d
}

/// 4^D cells of a block.
#[inline]
pub const fn cells(d: usize) -> usize {
    1 << (2 * d)
}

/// The mask with the bit of every cell of a block set.
#[inline]
pub const fn full_mask(d: usize) -> u64 {
    if d == 3 {
        u64::MAX
    } else {
        (1 << cells(d)) - 1
    }
}

/// The direction that is no step.
#[inline]
pub const fn center(d: usize) -> usize {
    directions(d) / 2
}

/// The step of direction `i`, each component -1, 0 or 1.
#[inline]
pub const fn step<const D: usize>(i: usize) -> [i32; D] {
    let mut step = [0; D];
    let (mut rest, mut a) = (i, 0);
    while a < D {
        step[a] = (rest % 3) as i32 - 1;
        rest /= 3;
        a += 1;
    }
    step
}

/// The direction of a step; the inverse of [`step`].
#[inline]
pub const fn direction<const D: usize>(step: [i32; D]) -> usize {
    let (mut direction, mut a) = (0, D);
    while a > 0 {
        a -= 1;
        direction = 3 * direction + (step[a] + 1) as usize;
    }
    direction
}

/// Coordinates 0..`edge` of the `i`-th item of a cube of `edge`^D items, x fastest.
#[inline]
pub const fn unravel<const D: usize>(i: usize, edge: usize) -> [i32; D] {
    let mut at = [0; D];
    let (mut rest, mut a) = (i, 0);
    while a < D {
        at[a] = (rest % edge) as i32;
        rest /= edge;
        a += 1;
    }
    at
}

/// The inverse of [`unravel`]; the coordinates are in 0..`edge`.
#[inline]
pub const fn ravel<const D: usize>(at: [i32; D], edge: usize) -> usize {
    let (mut i, mut a) = (0, D);
    while a > 0 {
        a -= 1;
        i = edge * i + at[a] as usize;
    }
    i
}

/// The finer cell that covers a corner of a cell: the child block it is in, and where there. `corner` is 0 or 1 on each
/// axis.
#[inline]
pub const fn below<const D: usize>(cell: [i32; D], corner: [i32; D]) -> (usize, [i32; D]) {
    let (mut child, mut fine, mut a) = ([0; D], [0; D], 0);
    while a < D {
        child[a] = cell[a] >> 1;
        fine[a] = 2 * (cell[a] & 1) + corner[a];
        a += 1;
    }
    (ravel(child, 2), fine)
}

/// The cell above one of a child block, which is the `child`-th, by coordinates; the inverse of [`below`].
#[inline]
pub const fn above<const D: usize>(child: [i32; D], cell: [i32; D]) -> [i32; D] {
    let (mut coarse, mut a) = ([0; D], 0);
    while a < D {
        coarse[a] = 2 * child[a] + (cell[a] >> 1);
        a += 1;
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_above_and_below_are_one_another() {
        let mut seen = [[0; 64]; 8];
        for cell in 0..64 {
            for corner in 0..8 {
                let (child, fine) = below::<3>(unravel(cell, 4), unravel(corner, 2));
                seen[child][ravel(fine, 4)] += 1;
                let over = above(unravel::<3>(child, 2), fine);
                assert_eq!(ravel(over, 4), cell, "above {fine:?} of child {child}");
                // Twice as fine, the same place.
                let at = unravel::<3>(child, 2);
                for a in 0..3 {
                    let whole = 4 * at[a] + fine[a];
                    let expected = 2 * unravel::<3>(cell, 4)[a] + unravel::<3>(corner, 2)[a];
                    assert_eq!(whole, expected, "axis {a}");
                }
            }
        }
        assert_eq!(seen, [[1; 64]; 8], "every fine cell once");
    }

    #[test]
    fn numbering_is_its_own_inverse_and_opposites_sum_up() {
        for i in 0..27 {
            let s = step::<3>(i);
            assert_eq!(direction(s), i, "3D direction {i}");
            assert_eq!(direction(s.map(|c| -c)), 26 - i, "opposite of {i}");
        }
        for i in 0..9 {
            assert_eq!(direction(step::<2>(i)), i, "2D direction {i}");
        }
        for i in 0..64 {
            assert_eq!(ravel(unravel::<3>(i, 4), 4), i, "cell {i}");
        }
        assert_eq!(step::<3>(center(3)), [0; 3], "middle");
        assert_eq!(full_mask(2), 0xffff, "16 cells");
    }
}
