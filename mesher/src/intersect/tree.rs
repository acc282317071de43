//! A tree of integer boxes, four children a node, for a set's pairs of boxes that touch.
//!
//! Boxes are sorted by the Morton code of their centres (ties by number), so that position
//! `n` of a level covers the positions `4n..4n + 4` of the one below: no links are stored.

use rayon::prelude::*;

pub(super) type Bounds<const D: usize> = [[i32; D]; 2];

const ARITY: usize = 4;

/// The tree.
pub(super) struct Tree<const D: usize> {
    /// Numbers of the boxes, by position.
    pub(super) order: Vec<u32>,
    /// The boxes by position, and upwards from them the hulls of four each, to one.
    levels: Vec<Vec<Bounds<D>>>,
}

impl<const D: usize> Tree<D> {
    pub(super) fn new(boxes: &[Bounds<D>]) -> Self {
        let all = boxes.par_iter().copied().reduce_with(hull);
        let lower = all.map_or([0; D], |b| b[0]);
        let mut keys: Vec<(u64, u32)> = boxes
            .par_iter()
            .enumerate()
            .map(|(i, b)| (morton(b, lower), i as u32))
            .collect();
        keys.par_sort_unstable();
        let order: Vec<u32> = keys.into_iter().map(|(_, i)| i).collect();
        let sorted: Vec<Bounds<D>> = order.par_iter().map(|&i| boxes[i as usize]).collect();
        let mut levels = vec![sorted];
        while let Some(below) = levels.last().filter(|l| l.len() > 1) {
            let above = below
                .par_chunks(ARITY)
                .map(|four| four[1..].iter().fold(four[0], |a, b| hull(a, *b)))
                .collect();
            levels.push(above);
        }
        Self { order, levels }
    }

    /// Calls `found` with each position above `at` whose box touches that of `at`, ascending;
    /// returns the number of boxes it looked at.
    pub(super) fn partners(&self, at: usize, found: &mut impl FnMut(usize)) -> u64 {
        let top = self.levels.len() - 1;
        let bounds = self.levels[0][at];
        self.visit(top, 0, at, &bounds, found)
    }

    fn visit(
        &self,
        level: usize,
        node: usize,
        at: usize,
        bounds: &Bounds<D>,
        found: &mut impl FnMut(usize),
    ) -> u64 {
        // The last position below the node.
        let last = ((node + 1) << (2 * level)) - 1;
        if last <= at {
            return 0;
        }
        if !touch(&self.levels[level][node], bounds) {
            return 1;
        }
        if level == 0 {
            found(node);
            return 1;
        }
        let children = ARITY * node..(ARITY * node + ARITY).min(self.levels[level - 1].len());
        1 + children
            .map(|child| self.visit(level - 1, child, at, bounds, found))
            .sum::<u64>()
    }
}

fn hull<const D: usize>(a: Bounds<D>, b: Bounds<D>) -> Bounds<D> {
    [
        std::array::from_fn(|k| a[0][k].min(b[0][k])),
        std::array::from_fn(|k| a[1][k].max(b[1][k])),
    ]
}

fn touch<const D: usize>(a: &Bounds<D>, b: &Bounds<D>) -> bool {
    (0..D).all(|k| a[0][k] <= b[1][k] && b[0][k] <= a[1][k])
}

/// The bits of the centre's coordinates, interleaved: the upper 21 of 30 in 3D, all in
/// the plane. Coordinates are within ±2^28.
fn morton<const D: usize>(b: &Bounds<D>, lower: [i32; D]) -> u64 {
    let (bits, drop) = if D == 2 { (31, 0) } else { (21, 9) };
    let mut code = 0;
    for (k, &from) in lower.iter().enumerate() {
        let double = i64::from(b[0][k]) + i64::from(b[1][k]) - 2 * i64::from(from);
        let centre = (double as u64 >> 1) >> drop;
        for bit in 0..bits {
            code |= (centre >> bit & 1) << (bit * D + k);
        }
    }
    code
}
