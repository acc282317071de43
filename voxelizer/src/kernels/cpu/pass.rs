//! Links that pass facets with fluid on both sides: of overlapping and nested bodies, and of bodies that share faces.
//!
//! The nearest crossing of a link is its cut, unless the kind does not change there. That is so only on links that are
//! crossed in several places, or from fluid to fluid: these are walked, crossing by crossing in exact order, from the
//! winding number of the cell.

use crate::Fill;
use cutlink_amr::{Forest, OUTSIDE, dims};
use std::cmp::Ordering;

/// Where a facet crosses a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    /// The link: cell times 3^D, plus direction.
    pub(super) slot: u32,
    /// The distance from the cell's centre, as an exact fraction of the link.
    pub(super) far: (i128, i128),
    /// The same, rounded.
    pub(super) q: f32,
    /// What the winding number changes by.
    pub(super) change: i32,
    /// Patch of the facet.
    pub(super) patch: u16,
    /// Whether it is of an image of the surface, beyond a periodic face.
    pub(super) is_image: bool,
}

impl Crossing {
    /// By link, then by distance.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let by_link = self.slot.cmp(&other.slot);
        by_link.then_with(|| compare(self.far, other.far))
    }
}

/// Compares fractions, not negative, by their continued fractions: no product overflows.
fn compare((mut a, mut b): (i128, i128), (mut c, mut d): (i128, i128)) -> Ordering {
    let mut turned = false;
    loop {
        let (p, q) = (a / b, c / d);
        (a, c) = (a % b, c % d);
        let order = match p.cmp(&q) {
            // A remainder of 0 is the end of the one fraction.
            Ordering::Equal if a == 0 || c == 0 => a.cmp(&c),
            order => order,
        };
        if order != Ordering::Equal || a == 0 {
            return if turned { order.reverse() } else { order };
        }
        (a, b, c, d) = (b, a, d, c);
        turned = !turned;
    }
}

/// The cut of a link by its crossings in ascending order, from a fluid cell of this winding number: distance and patch
/// where the kind changes by the sum of all crossings there, the lowest of them; `None` if it does not change.
pub(super) fn cut_of(crossings: &[Crossing], mut winding: i32, fill: Fill) -> Option<(f32, u16)> {
    for place in crossings.chunk_by(is_one_place) {
        winding += change_at(place);
        if fill.is_solid(winding) {
            let (q, patch) = (place[0].q, place[0].patch);
            let lowest =
                |(q, patch): (f32, u16), next: &Crossing| (q.min(next.q), patch.min(next.patch));
            return Some(place.iter().fold((q, patch), lowest));
        }
    }
    None
}

/// Whether the winding number changes anywhere on a link, given its crossings in ascending order: not if it grazes edges
/// or passes faces that cancel.
pub(super) fn changes(crossings: &[Crossing]) -> bool {
    let mut places = crossings.chunk_by(is_one_place);
    places.any(|place| change_at(place) != 0)
}

/// What the winding number changes by at a place. In a periodic face the surface and its image have the same walls where the
/// surface goes on beyond the face: these count once. Ends of a body in the face cancel with those of its image.
fn change_at(place: &[Crossing]) -> i32 {
    let sum = |is_image: bool| -> i32 {
        let of = place
            .iter()
            .filter(|crossing| crossing.is_image == is_image);
        of.map(|crossing| crossing.change).sum()
    };
    match (sum(false), sum(true)) {
        (own, image) if own == image => own,
        (own, image) => own + image,
    }
}

fn is_one_place(a: &Crossing, b: &Crossing) -> bool {
    compare(a.far, b.far) == Ordering::Equal
}

/// What is around a block.
pub(super) struct Around<const D: usize> {
    ids: [u32; 27],
    /// By direction, the cells of the block whose link ends in a solid cell, as far as it is of the same level.
    pub(super) ends: [u64; 27],
}

impl<const D: usize> Around<D> {
    pub(super) fn new(forest: &Forest<D>, solid: &[u64], block: u32) -> Self {
        let mut ids = [OUTSIDE; 27];
        for (id, n) in ids.iter_mut().zip(forest.neighbors_of(block)) {
            *id = n;
        }
        let mut ends = ids.map(|n| if n < OUTSIDE { solid[n as usize] } else { 0 });
        shift_to_ends::<D>(&mut ends);
        Self { ids, ends }
    }

    /// The block in which a cell's link ends, if it is of the same level.
    pub(super) fn end(&self, cell: usize, direction: usize) -> u32 {
        let (at, step) = (dims::unravel::<D>(cell, 4), dims::step::<D>(direction));
        let toward: [_; D] = std::array::from_fn(|a| (at[a] + step[a]).div_euclid(4));
        self.ids[dims::direction(toward)]
    }
}

/// From masks of the blocks around a block, by direction, to masks of its own cells: by direction, the cells whose link
/// ends in a cell of these masks.
fn shift_to_ends<const D: usize>(masks: &mut [u64; 27]) {
    for axis in 0..D {
        let stride = 1 << (2 * axis);
        let first = (0..dims::cells(D)).filter(|cell| cell / stride % 4 == 0);
        let first = first.fold(0u64, |mask, cell| mask | 1 << cell);
        let last = first << (3 * stride);
        let apart = 3usize.pow(axis as u32);
        for low in (0..dims::directions(D)).filter(|d| (d / apart).is_multiple_of(3)) {
            let [below, own, above] = [0, 1, 2].map(|step| masks[low + step * apart]);
            masks[low] = (own & !last) << stride | (below & last) >> (3 * stride);
            masks[low + 2 * apart] = (own & !first) >> stride | (above & first) << (3 * stride);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_compare_exactly() {
        let cases = [
            ((1, 3), (1, 3), Ordering::Equal),
            ((2, 6), (1, 3), Ordering::Equal),
            ((0, 5), (0, 7), Ordering::Equal),
            ((0, 5), (1, 1 << 90), Ordering::Less),
            ((5, 5), (7, 7), Ordering::Equal),
            ((1 << 89, (1 << 90) + 1), (1, 2), Ordering::Less),
            (
                ((1 << 90) - 1, 1 << 90),
                ((1 << 90) - 2, (1 << 90) - 1),
                Ordering::Greater,
            ),
        ];
        for (a, b, order) in cases {
            assert_eq!(compare(a, b), order, "{a:?} and {b:?}");
            assert_eq!(compare(b, a), order.reverse(), "{b:?} and {a:?}");
        }
    }

    /// Crossings by (numerator, change) over 8, of patches in their order.
    fn crossings(changes: &[(i128, i32)]) -> Vec<Crossing> {
        let crossing = |(patch, &(n, change)): (u16, &(i128, i32))| Crossing {
            slot: 0,
            far: (n, 8),
            q: n as f32 / 8.0,
            change,
            patch,
            is_image: false,
        };
        (0..).zip(changes).map(crossing).collect()
    }

    fn cut(changes: &[(i128, i32)], winding: i32, fill: Fill) -> Option<(f32, u16)> {
        cut_of(&crossings(changes), winding, fill)
    }

    #[test]
    fn a_number_changes_unless_crossings_cancel_where_they_are() {
        for (all, expected) in [
            (&[(1, 1), (3, -1)][..], true),
            (&[(1, 1), (1, -1)], false),
            (&[(1, 1), (1, -1), (5, -2)], true),
            (&[(4, -1), (4, 1), (6, 0)], false),
        ] {
            assert_eq!(changes(&crossings(all)), expected, "{all:?}");
        }
    }

    #[test]
    fn walls_in_a_periodic_face_count_once_and_ends_cancel() {
        let place = |own: &[i32], image: &[i32]| {
            let mut all = crossings(&own.iter().map(|&c| (4, c)).collect::<Vec<_>>());
            let beyond = crossings(&image.iter().map(|&c| (4, c)).collect::<Vec<_>>());
            all.extend(beyond.into_iter().map(|crossing| Crossing {
                is_image: true,
                ..crossing
            }));
            change_at(&all)
        };
        assert_eq!(place(&[-1], &[-1]), -1, "a wall that goes on");
        assert_eq!(
            place(&[-1], &[1]),
            0,
            "the end of a body, and its beginning"
        );
        assert_eq!(place(&[-1], &[]), -1, "an end");
        assert_eq!(place(&[], &[1]), 1, "a beginning");
    }

    #[test]
    fn the_cut_is_where_the_kind_changes() {
        let walls = [(1, 1), (3, -1), (4, -1), (6, 1)];
        assert_eq!(cut(&walls, 1, Fill::Zero), Some((0.5, 2)), "1 2 1 0 1");
        assert_eq!(cut(&walls, 1, Fill::Even), Some((0.125, 0)), "odd, even");
        assert_eq!(cut(&walls[..2], 1, Fill::Zero), None, "an inner body");
        assert_eq!(
            cut(&[(2, -1), (2, 1)], 1, Fill::Zero),
            None,
            "a face shared by two ducts"
        );
        assert_eq!(
            cut(&[(2, -1), (2, 1), (2, -1)], 1, Fill::Zero),
            Some((0.25, 0))
        );
        assert_eq!(
            cut(&[(2, -2)], 1, Fill::Zero),
            None,
            "one of them is inside out"
        );
        assert_eq!(cut(&[(0, -1)], -1, Fill::Zero), None);
        assert_eq!(cut(&[(0, 1)], -1, Fill::Zero), Some((0.0, 0)));
    }
}
