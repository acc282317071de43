//! An adaptation that makes a new forest, whose ids are a function of its blocks alone.

use crate::{
    Forest, ForestError, ForestKernels, MAX_LEVELS, NONE,
    constants::{COUNT_GONE, COUNT_NEW, REFINED_COUNTS},
    dims,
};
use cutlink_device::Backend;

/// Which blocks have children after an adaptation: see [`Forest::refined_after`].
#[derive(Debug)]
pub struct Refined<B: Backend> {
    /// By block id, 1 where the block has children then.
    pub(crate) flags: B::Buf<u8>,
    /// By level of the forest as it is, how many these are.
    pub by_level: Vec<u64>,
    /// Leaves that are given children.
    pub refined: u64,
    /// Blocks whose children are taken.
    pub coarsened: u64,
}

impl<B: Backend> Refined<B> {
    /// Leaves by level after the adaptation, in a forest with so many root blocks.
    pub fn leaves(&self, d: usize, roots: usize) -> Vec<u64> {
        let mut blocks = roots as u64;
        let mut leaves = Vec::new();
        for &refined in &self.by_level {
            leaves.push(blocks - refined);
            blocks = dims::children(d) as u64 * refined;
            if blocks == 0 {
                return leaves;
            }
        }
        leaves.push(blocks);
        leaves
    }
}

/// What the blocks of a forest were in the forest that it was made from.
#[derive(Debug)]
pub struct FormerIds<B: Backend> {
    ids: B::Buf<u32>,
    /// Ids of the former forest.
    blocks: usize,
}

impl<B: Backend> FormerIds<B> {
    /// By block id the former one, or [`NONE`] for a block that is new.
    pub fn ids(&self) -> &B::Buf<u32> {
        &self.ids
    }

    /// Number of the former ids.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The same in the memory of another backend.
    ///
    /// # Errors
    /// Where memory is short or a device fails.
    pub fn moved<T: Backend>(&self, from: &B, to: &T) -> Result<FormerIds<T>, ForestError> {
        Ok(FormerIds {
            ids: to.upload(from.download(&self.ids)?)?,
            blocks: self.blocks,
        })
    }

    /// # Panics
    /// Where there is not one value for each former id.
    pub(crate) fn check(&self, values: usize) {
        let blocks = self.blocks;
        assert!(
            values == blocks,
            "{values} values should follow, of {blocks} former ids"
        );
    }
}

const _: () = assert!(COUNT_NEW as usize == MAX_LEVELS && REFINED_COUNTS == COUNT_GONE + 1);

#[expect(unsafe_code, reason = "stages follow ids that another stage wrote")]
impl<const D: usize, K: ForestKernels<D>> Forest<D, K> {
    /// Which blocks have children after an adaptation to `marks` that are closed: what [`adapt`](Self::adapt) would do, without
    /// a change of the forest.
    ///
    /// # Errors
    /// Where memory runs out or the device fails.
    ///
    /// # Panics
    /// Where `marks` has not one entry for each block id.
    pub fn refined_after(
        &self,
        kernels: &K,
        marks: &K::Buf<u8>,
    ) -> Result<Refined<K>, ForestError> {
        self.check_marks(marks);
        let mut flags = kernels.flag_refined(self, marks)?;
        // As in `adapt`, what goes on a finer level lets more go on the coarser one.
        for level in (0..self.finest()).rev() {
            kernels.clear_coarsened(self, level, marks, &mut flags)?;
        }
        let counts = kernels.count_refined(self, &flags)?;
        Ok(Refined {
            flags,
            by_level: counts[..self.levels.len()].to_vec(),
            refined: counts[COUNT_NEW as usize],
            coarsened: counts[COUNT_GONE as usize],
        })
    }

    /// A forest in which those blocks have children, with *canonical* ids: those of a forest that is refined once a level, from
    /// the root to the finest. Ids ascend with the level, the children of a level in the order of their parents, without
    /// gaps; they depend on the set of blocks alone, and not on the adaptations that led to it. Also returns what the blocks
    /// were.
    ///
    /// Cost: as building the forest.
    ///
    /// # Errors
    /// As [`adapt`](Self::adapt).
    ///
    /// # Panics
    /// Where `refined` is of a forest with another number of ids.
    pub fn rebuilt(
        &self,
        kernels: &K,
        refined: &Refined<K>,
    ) -> Result<(Self, FormerIds<K>), ForestError> {
        self.check_marks(&refined.flags);
        let mut fresh = Self::new(kernels, self.root)?.with_periodic(self.periodic);
        let roots = self.roots();
        let mut old_of = kernels.upload((0..roots as u32).collect())?;
        let mut marks = kernels.alloc("marks", roots, 0)?;
        for level in 0..self.levels.len() {
            // SAFETY: former ids of the blocks so far, a flag for each id of this forest.
            unsafe { kernels.follow_marks(&fresh, level, &old_of, &refined.flags, &mut marks)? };
            if fresh.refine(kernels, level, &mut marks)? == 0 {
                break;
            }
            kernels.resize("former ids", &mut old_of, fresh.capacity(), NONE)?;
            // SAFETY: as above; the place of each block that was just inserted is there.
            unsafe { kernels.follow_children(self, &fresh, level, &mut old_of)? };
        }
        let former = FormerIds {
            ids: old_of,
            blocks: self.capacity(),
        };
        Ok((fresh, former))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChangeKernels, Mark};
    use cutlink_device::Host;

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

    /// The in-place adaptation, which keeps the ids of its history, is the oracle.
    fn follows<const D: usize>(root: [u32; D], periodic: [bool; D]) {
        let new = || Forest::<D>::new(&Host, root).expect("a root grid");
        let mut grown = new().with_periodic(periodic);
        let mut canonical = new().with_periodic(periodic);
        let (mut new_ids, mut gone) = (0, 0);
        for round in 0..12 {
            let mut closed = marks(&grown, round);
            let done = grown.adapt(&Host, &mut closed).expect("an adaptation");

            let mut closed = marks(&canonical, round);
            for level in (1..canonical.levels.len()).rev() {
                Host.ripple(&canonical, level, &mut closed).expect("marks");
            }
            let refined = canonical.refined_after(&Host, &closed).expect("flags");
            assert_eq!(refined.refined, done.refined as u64);
            assert_eq!(refined.coarsened, done.coarsened as u64);
            let (fresh, former) = canonical.rebuilt(&Host, &refined).expect("a forest");
            let old_of = former.ids();
            assert_eq!(old_of.len(), fresh.capacity());
            for (id, &old) in old_of.iter().enumerate() {
                if old == NONE {
                    new_ids += 1;
                    assert!(
                        canonical
                            .find(usize::from(fresh.level[id]), fresh.coord[id])
                            .is_none_or(|found| canonical.level[found as usize] != fresh.level[id])
                    );
                    continue;
                }
                assert_eq!(fresh.coord[id], canonical.coord[old as usize]);
                assert_eq!(fresh.level[id], canonical.level[old as usize]);
            }
            let of_level = |ids: &Vec<u32>| ids.iter().filter(|id| fresh.is_leaf(**id)).count();
            let leaves: Vec<u64> = fresh
                .levels
                .iter()
                .map(|ids| of_level(ids) as u64)
                .collect();
            assert_eq!(refined.leaves(D, fresh.roots()), leaves);
            gone += refined.coarsened;
            canonical = fresh;
            assert_eq!(canonical.checksum(), grown.checksum());
            assert!(canonical.is_contiguous() && canonical.gaps.is_empty());
            canonical.validate().expect("a forest");

            // Nothing changes: the ids of the grown forest become the canonical ones.
            let keep = vec![Mark::Keep as u8; grown.capacity()];
            let same = grown.refined_after(&Host, &keep).expect("flags");
            assert_eq!((same.refined, same.coarsened), (0, 0));
            let (again, _) = grown.rebuilt(&Host, &same).expect("a forest");
            assert_eq!(again.coord, canonical.coord);
            assert_eq!(again.first_child, canonical.first_child);
            assert_eq!(again.families, canonical.families);
        }
        assert!(new_ids > 100 && gone > 10, "{new_ids} new, {gone} gone");
        assert_ne!(
            grown.coord, canonical.coord,
            "the history should have left other ids"
        );
    }

    #[test]
    fn ids_depend_on_the_blocks_alone() {
        follows::<2>([3, 2], [true, false]);
        follows::<3>([2, 1, 2], [false, true, false]);
    }

    /// Forests of random marks, one after the other: each is reached from the one before, by steps of one level.
    fn reaches<const D: usize>(root: [u32; D], periodic: [bool; D]) {
        let grown = |seed: u64| {
            let mut forest = Forest::<D>::new(&Host, root).expect("a root grid");
            forest = forest.with_periodic(periodic);
            for round in 0..5 {
                let mut closed = marks(&forest, 97 * seed + round);
                forest.adapt(&Host, &mut closed).expect("an adaptation");
            }
            let keep = vec![Mark::Keep as u8; forest.capacity()];
            let same = forest.refined_after(&Host, &keep).expect("flags");
            forest.rebuilt(&Host, &same).expect("a forest").0
        };
        let (mut now, mut longest, mut grown_by_both) = (grown(0), 0, 0);
        for seed in 1..12 {
            let target = grown(seed);
            let mut steps = 0;
            while now.first_child != target.first_child {
                let (next, former) = now.toward(&target).expect("a forest");
                next.validate().expect("a forest");
                steps += 1;
                assert!(steps <= 2 * target.levels.len().max(now.levels.len()));
                for (id, &old) in former.ids().iter().enumerate() {
                    // A new block is the child of a leaf.
                    let was = if old == NONE {
                        former.ids()[next.parent[id] as usize]
                    } else {
                        old
                    };
                    assert!(old != NONE || now.is_leaf(was));
                    assert_eq!(
                        next.level[id],
                        now.level[was as usize] + u8::from(old == NONE)
                    );
                }
                now = next;
            }
            assert_eq!(now.checksum(), target.checksum());
            let other = grown(seed + 20);
            let mut both = other.toward(&other).expect("a forest").0;
            while !both.covers(&now) {
                let next = both.toward_both(&now).expect("a forest").0;
                next.validate().expect("a forest");
                assert!(next.covers(&both) && next.capacity() > both.capacity());
                both = next;
            }
            assert!(both.covers(&other));
            grown_by_both += u32::from(!other.covers(&both));
            // Nothing else: what is refined is so in one of them.
            for id in (0..both.capacity() as u32).filter(|&id| !both.is_leaf(id)) {
                let (level, coord) = (both.level[id as usize], both.coord[id as usize]);
                assert!(now.refines(level, coord) || other.refines(level, coord));
            }
            longest = longest.max(steps);
            let (same, former) = now.toward(&target).expect("a forest");
            assert_eq!(same.first_child, target.first_child);
            assert!(
                former
                    .ids()
                    .iter()
                    .enumerate()
                    .all(|(id, &old)| id as u32 == old)
            );
        }
        assert!(
            longest > 2 && grown_by_both > 5,
            "{longest} {grown_by_both}"
        );
    }

    #[test]
    fn another_forest_is_reached_by_steps_of_a_level() {
        reaches::<2>([3, 2], [true, false]);
        reaches::<3>([2, 1, 2], [false, true, false]);
    }
}
