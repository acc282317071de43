//! Where the body is thinner than a cell: cut links with fluid at both ends.
//!
//! Such a link enters the body and leaves it again. Along an axis, and without a solid cell next to either end, the body
//! is thinner than the cells there: a plate, a trailing edge, a spike. A diagonal link may just clip a corner, and a
//! link beside solid cells a bump of the surface, so these do not count as places.

use crate::Mesh;
use crate::kernels::{ThinBlock, cpu::tally};
use cutlink_amr::dims;
use cutlink_device::{Backend, UnionFind};
use std::collections::{BTreeMap, HashMap};

/// Parts of a body thinner than a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Thin<const D: usize> {
    /// Links in all directions with fluid at both ends, each counted once.
    pub links: u64,
    /// Cells that such a link along an axis leaves, without a solid cell next to either end.
    pub cells: u64,
    /// Where those cells are, the place with most cells first.
    pub places: Vec<ThinPlace<D>>,
}

/// Blocks that touch one another and have such cells.
#[derive(Debug, Clone, PartialEq)]
pub struct ThinPlace<const D: usize> {
    /// Cells as in [`Thin::cells`].
    pub cells: u64,
    /// Box of their centres, in lengths.
    pub bounds: [[f64; D]; 2],
}

/// Finds parts thinner than a cell. Cost: one pass over the link table.
pub fn thin<const D: usize>(mesh: &Mesh<D>) -> Thin<D> {
    let (links, blocks) = tally::thin(mesh);
    mesh.thin_of(links, blocks)
}

impl<const D: usize, B: Backend> Mesh<D, B> {
    /// Thin parts, from their blocks and the number of links, each counted from both ends.
    pub(crate) fn thin_of(&self, links: u64, mut blocks: Vec<ThinBlock<D>>) -> Thin<D> {
        blocks.sort_unstable_by_key(|thin| thin.block);
        let ones = |thin: &ThinBlock<D>| u64::from(thin.cells.count_ones());
        Thin {
            links: links / 2,
            cells: blocks.iter().map(ones).sum(),
            places: self.places(&blocks),
        }
    }

    /// Groups of touching blocks.
    fn places(&self, blocks: &[ThinBlock<D>]) -> Vec<ThinPlace<D>> {
        let numbers: HashMap<(u8, [i32; D]), u32> = (0..)
            .zip(blocks)
            .map(|(i, thin)| ((thin.level, thin.coord), i))
            .collect();
        let mut sets = UnionFind::new(blocks.len());
        for (i, thin) in (0..).zip(blocks) {
            for direction in 0..dims::directions(D) {
                let step = dims::step::<D>(direction);
                let beside = std::array::from_fn(|a| {
                    let at = thin.coord[a] + step[a];
                    let end = (self.forest.root[a] as i32) << thin.level;
                    match self.forest.periodic[a] {
                        true => at.rem_euclid(end),
                        false => at,
                    }
                });
                if let Some(&n) = numbers.get(&(thin.level, beside)) {
                    sets.join(i, n);
                }
            }
        }
        let mut places: BTreeMap<u32, ThinPlace<D>> = BTreeMap::new();
        for (i, thin) in (0..).zip(blocks) {
            let place = places.entry(sets.root(i)).or_insert(ThinPlace {
                cells: 0,
                bounds: [[f64::INFINITY; D], [f64::NEG_INFINITY; D]],
            });
            for cell in (0..dims::cells(D)).filter(|c| thin.cells >> c & 1 == 1) {
                let local = dims::unravel::<D>(cell, 4);
                let at = std::array::from_fn(|a| 4 * thin.coord[a] + local[a]);
                let center = self.frame.center(usize::from(thin.level), at);
                place.cells += 1;
                for a in 0..D {
                    place.bounds[0][a] = place.bounds[0][a].min(center[a]);
                    place.bounds[1][a] = place.bounds[1][a].max(center[a]);
                }
            }
        }
        let mut places: Vec<ThinPlace<D>> = places.into_values().collect();
        places.sort_by_key(|p| std::cmp::Reverse(p.cells));
        places
    }
}
