//! Ids as a function of the blocks alone.

use crate::{Forest, ForestError, Mark, NONE, dims};
use cutlink_device::Host;

impl<const D: usize> Forest<D> {
    /// A forest of the same blocks with *canonical* ids: those of a forest that is refined once a level, from the root to
    /// the finest. Ids ascend with the level, the children of a level in the order of their parents, without gaps; they depend
    /// on the set of blocks alone, and not on the adaptations that led to it. Also returns, by new id, the old one.
    ///
    /// Cost: as building the forest, one sweep over its blocks.
    ///
    /// # Errors
    /// Where memory is short.
    pub fn renumbered(&self) -> Result<(Self, Vec<u32>), ForestError> {
        let mut fresh = Self::new(&Host, self.root)?.with_periodic(self.periodic);
        let mut old_of: Vec<u32> = (0..self.roots() as u32).collect();
        let mut marks = vec![Mark::Keep as u8; old_of.len()];
        for level in 0..self.finest() {
            let mut children = Vec::new();
            for &id in &fresh.levels[level] {
                let first = self.first_child[old_of[id as usize] as usize];
                if first != NONE {
                    marks[id as usize] = Mark::Refine as u8;
                    children.extend(first..first + dims::children(D) as u32);
                }
            }
            fresh.refine(&Host, level, &mut marks)?;
            old_of.extend(children);
        }
        Ok((fresh, old_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks by a hash of level and coordinates, so that they do not depend on ids.
    fn marks<const D: usize>(forest: &Forest<D>, round: u64) -> Vec<u8> {
        let of = |id: usize| {
            let key = crate::checksum::block_key(forest.level[id], forest.coord[id]);
            match crate::checksum::mix(key ^ round) % 4 {
                0 if forest.level[id] < 4 => Mark::Refine as u8,
                1 | 2 => Mark::Coarsen as u8,
                _ => Mark::Keep as u8,
            }
        };
        (0..forest.capacity()).map(of).collect()
    }

    #[test]
    fn ids_depend_on_the_blocks_alone() {
        let new = || Forest::<2>::new(&Host, [3, 2]).expect("a root grid");
        // One forest keeps the ids of its history, the other one is renumbered after each adaptation.
        let mut grown = new().with_periodic([true, false]);
        let mut canonical = new().with_periodic([true, false]);
        for round in 0..12 {
            for forest in [&mut grown, &mut canonical] {
                let mut marks = marks(forest, round);
                forest.adapt(&Host, &mut marks).expect("an adaptation");
            }
            let (fresh, old_of) = canonical.renumbered().expect("a forest");
            assert_eq!(old_of.len(), fresh.capacity());
            for (id, &old) in old_of.iter().enumerate() {
                let old = old as usize;
                assert_eq!(fresh.coord[id], canonical.coord[old]);
                assert_eq!(fresh.level[id], canonical.level[old]);
            }
            canonical = fresh;
            assert_eq!(canonical.checksum(), grown.checksum());
            let (again, _) = grown.renumbered().expect("a forest");
            assert_eq!(again.coord, canonical.coord);
            assert_eq!(again.first_child, canonical.first_child);
            assert_eq!(again.families, canonical.families);
            assert!(canonical.is_contiguous() && canonical.gaps.is_empty());
            canonical.validate().expect("a forest");
        }
        assert_ne!(
            grown.coord, canonical.coord,
            "the history should have left other ids"
        );
    }
}
