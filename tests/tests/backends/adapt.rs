//! Adaptation against a model that shares nothing with the forest but the definition: a
//! set of leaves, balanced by trying again until nothing changes.

use cutlink_amr::{ChangeKernels, FREE, Forest, ForestError, ForestKernels, Mark, NONE, dims};
use cutlink_device::Host;
use cutlink_tests::{
    arrays::same_forest,
    backend_test,
    backends::{AnyKernels, random_cases},
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

backend_test!(
    any_marks_in_the_plane,
    any_marks_in_space,
    a_corner_refined_ten_times_and_coarsened_back,
    recycled_ids_and_fresh_ones_together,
    the_checksum_tells_forests_apart_but_not_their_histories,
    refining_everything_and_nothing,
    closed_marks_refine_one_level,
    too_many_levels_are_an_error,
);

type Leaf<const D: usize> = (u8, [i32; D]);

fn leaves<const D: usize>(forest: &Forest<D>) -> BTreeSet<Leaf<D>> {
    forest
        .leaves()
        .map(|id| (forest.level[id as usize], forest.coord[id as usize]))
        .collect()
}

/// The leaf of the model that covers a block position, if it is not finer than `level`.
fn cover<const D: usize>(model: &BTreeSet<Leaf<D>>, level: u8, at: [i32; D]) -> Option<Leaf<D>> {
    (0..=level)
        .map(|l| (l, at.map(|c| c >> (level - l))))
        .find(|leaf| model.contains(leaf))
}

fn touching<const D: usize>(level: u8, at: [i32; D]) -> impl Iterator<Item = Leaf<D>> {
    (0..dims::directions(D)).map(move |i| {
        let step = dims::step::<D>(i);
        (level, std::array::from_fn(|a| at[a] + step[a]))
    })
}

fn split<const D: usize>((level, at): Leaf<D>) -> impl Iterator<Item = Leaf<D>> {
    (0..dims::children(D)).map(move |i| {
        let low = dims::unravel::<D>(i, 2);
        (level + 1, std::array::from_fn(|a| 2 * at[a] + low[a]))
    })
}

/// Refinement: the marked leaves and whatever 2:1 needs, by repeated sweeps over all leaves.
fn model_refine<const D: usize>(model: &mut BTreeSet<Leaf<D>>, marked: &BTreeSet<Leaf<D>>) {
    for leaf in marked {
        model.remove(leaf);
        model.extend(split(*leaf));
    }
    loop {
        let too_coarse: BTreeSet<Leaf<D>> = model
            .iter()
            .flat_map(|&(level, at)| {
                touching(level, at)
                    .filter_map(|(l, n)| cover(model, l, n))
                    .filter(move |&(l, _)| l + 1 < level)
            })
            .collect();
        if too_coarse.is_empty() {
            return;
        }
        for leaf in too_coarse {
            model.remove(&leaf);
            model.extend(split(leaf));
        }
    }
}

/// Coarsening: groups from fine to coarse, each only if no finer leaf would be too near.
fn model_coarsen<const D: usize>(model: &mut BTreeSet<Leaf<D>>, marked: &BTreeSet<Leaf<D>>) {
    let mut groups: BTreeMap<u8, BTreeSet<[i32; D]>> = BTreeMap::new();
    for &(level, at) in marked {
        if level > 0 {
            groups.entry(level).or_default().insert(at.map(|c| c >> 1));
        }
    }
    for (level, parents) in groups.into_iter().rev() {
        let before = model.clone();
        for at in parents {
            let children: Vec<Leaf<D>> = split((level - 1, at)).collect();
            let all = children
                .iter()
                .all(|c| before.contains(c) && marked.contains(c));
            let near_finer = children.iter().any(|&(l, c)| {
                touching(l, c).any(|n| split(n).any(|f| has_at_or_below(&before, f)))
            });
            if all && !near_finer {
                for child in children {
                    model.remove(&child);
                }
                model.insert((level - 1, at));
            }
        }
    }
}

fn has_at_or_below<const D: usize>(model: &BTreeSet<Leaf<D>>, (level, at): Leaf<D>) -> bool {
    model
        .iter()
        .any(|&(l, c)| l >= level && c.map(|x| x >> (l - level)) == at)
}

/// A forest on a backend, and the same on the host.
struct Twins<'a, const D: usize, K: ForestKernels<D>> {
    kernels: &'a K,
    there: Forest<D, K>,
    here: Forest<D>,
}

impl<'a, const D: usize, K: ForestKernels<D>> Twins<'a, D, K> {
    fn new(kernels: &'a K, root: [u32; D]) -> Self {
        Self {
            kernels,
            there: Forest::new(kernels, root).expect("a root grid"),
            here: Forest::new(&Host, root).expect("a root grid"),
        }
    }

    /// The same adaptation by making a new forest, on both: the former ids, and the new forest of the host.
    fn rebuild(&self, marks: &[u8]) -> Forest<D> {
        let rebuilt = |mut closed: Vec<u8>| {
            for level in (1..self.here.levels.len()).rev() {
                Host.ripple(&self.here, level, &mut closed).expect("marks");
            }
            let refined = self.here.refined_after(&Host, &closed).expect("memory");
            self.here.rebuilt(&Host, &refined).expect("memory")
        };
        let (here, former) = rebuilt(marks.to_vec());
        let mut closed = self.kernels.upload(marks.to_vec()).expect("memory");
        for level in (1..self.there.levels.len()).rev() {
            let kernels = self.kernels;
            kernels
                .ripple(&self.there, level, &mut closed)
                .expect("marks");
        }
        let refined = self
            .there
            .refined_after(self.kernels, &closed)
            .expect("memory");
        let (there, former_there) = self.there.rebuilt(self.kernels, &refined).expect("memory");
        let former_there = self.kernels.download(former_there.ids()).expect("memory");
        assert_eq!(&former_there, former.ids(), "former ids");
        let there = there.download(self.kernels).expect("memory");
        if let Err(difference) = same_forest(&there, &here) {
            panic!("rebuilt, not the host's: {difference}");
        }
        let of_level = |ids: &Vec<u32>| ids.iter().filter(|id| here.is_leaf(**id)).count() as u64;
        let leaves: Vec<u64> = here.levels.iter().map(of_level).collect();
        assert_eq!(refined.leaves(D, here.roots()), leaves, "leaves");
        here
    }

    /// Adapts both, and compares the forests, the counts and the marks that are left.
    fn adapt(&mut self, marks: Vec<u8>) {
        let rebuilt = self.rebuild(&marks);
        let mut left = marks.clone();
        let expected = self.here.adapt(&Host, &mut left).expect("memory");
        let mut there = self.kernels.upload(marks).expect("memory");
        let done = self.there.adapt(self.kernels, &mut there).expect("memory");
        assert_eq!(done, expected, "counts");
        self.compare();
        assert_eq!(rebuilt.checksum(), self.here.checksum(), "the same blocks");
        rebuilt.validate().expect("a forest");
        let there = self.kernels.download(&there).expect("memory");
        assert_eq!(there.len(), left.len(), "marks grow with the ids");
        for id in (0..left.len()).filter(|&id| self.here.level[id] != FREE) {
            assert_eq!(there[id], left[id], "mark of block {id}");
        }
    }

    fn compare(&self) {
        let forest = self.there.download(self.kernels).expect("memory");
        if let Err(violation) = forest.validate() {
            panic!("{violation}");
        }
        if let Err(difference) = same_forest(&forest, &self.here) {
            panic!("not the host's: {difference}");
        }
        assert_eq!(forest.checksum(), self.here.checksum(), "checksum");
    }

    /// One mark for all ids.
    fn all(&self, mark: Mark) -> Vec<u8> {
        vec![mark as u8; self.here.capacity()]
    }
}

/// Runs `rounds` of random marks on a forest, its twin and its model.
fn run<const D: usize, K: ForestKernels<D>>(kernels: &K, root: [u32; D], rounds: &[Vec<u8>]) {
    let mut twins = Twins::new(kernels, root);
    let mut model = leaves(&twins.here);
    for random in rounds {
        let mut marks = twins.all(Mark::Keep);
        let (mut refine, mut coarsen) = (BTreeSet::new(), BTreeSet::new());
        let forest = &twins.here;
        let mut keys: Vec<(Leaf<D>, u32)> = forest
            .leaves()
            .map(|id| ((forest.level[id as usize], forest.coord[id as usize]), id))
            .collect();
        keys.sort_unstable();
        for (i, &(leaf, id)) in keys.iter().enumerate() {
            let mark = random[i % random.len()];
            if mark == Mark::Refine as u8 && leaf.0 < 4 {
                refine.insert(leaf);
                marks[id as usize] = mark;
            } else if mark == Mark::Coarsen as u8 {
                coarsen.insert(leaf);
                marks[id as usize] = mark;
            }
        }
        twins.adapt(marks);
        model_refine(&mut model, &refine);
        model_coarsen(&mut model, &coarsen);
        let found = leaves(&twins.there.download(kernels).expect("memory"));
        assert_eq!(found, model, "leaves after {refine:?} {coarsen:?}");
    }
}

fn rounds() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let sparse = proptest::collection::vec(
        prop_oneof![12 => Just(0u8), 2 => Just(1u8), 1 => Just(2u8)],
        1..40,
    );
    let coarsening = proptest::collection::vec(prop_oneof![1 => Just(0u8), 9 => Just(2u8)], 1..40);
    proptest::collection::vec(prop_oneof![2 => sparse, 1 => coarsening], 1..6)
}

fn any_marks_in_the_plane<K: AnyKernels>(kernels: &K) {
    random_cases(400, &rounds(), |rounds| {
        run(kernels, [3, 2], &rounds);
        Ok(())
    });
}

fn any_marks_in_space<K: AnyKernels>(kernels: &K) {
    random_cases(400, &rounds(), |rounds| {
        run(kernels, [2, 1, 1], &rounds[..rounds.len().min(3)]);
        Ok(())
    });
}

/// Refines the leaf at one corner again and again: the hardest case for 2:1.
fn corner<K: AnyKernels>(kernels: &K, levels: usize) -> Twins<'_, 3, K> {
    let mut twins = Twins::new(kernels, [4, 3, 2]);
    for _ in 1..levels {
        let mut marks = twins.all(Mark::Keep);
        let at = twins.here.leaf_at([7.999, 7.999, 3.999]).expect("inside");
        marks[at.block as usize] = Mark::Refine as u8;
        twins.adapt(marks);
    }
    twins
}

fn a_corner_refined_ten_times_and_coarsened_back<K: AnyKernels>(kernels: &K) {
    let mut twins = corner(kernels, 11);
    assert_eq!(twins.there.finest(), 10, "levels");
    let fresh = Forest::<3>::new(&Host, [4, 3, 2]).expect("a root grid");
    for _ in 0..10 {
        twins.adapt(twins.all(Mark::Coarsen));
    }
    let back = twins.there.download(kernels).expect("memory").checksum();
    assert_eq!(back, fresh.checksum(), "back at the root grid");
    let capacity = twins.there.capacity();
    twins.adapt(twins.all(Mark::Refine));
    assert_eq!(twins.there.capacity(), capacity, "ids are recycled");
}

/// Some gaps, and more parents than gaps.
fn recycled_ids_and_fresh_ones_together<K: AnyKernels>(kernels: &K) {
    let mut twins = Twins::<3, K>::new(kernels, [5, 3, 2]);
    let every = |twins: &Twins<3, K>, n: usize, mark: Mark| {
        let mut marks = twins.all(Mark::Keep);
        marks.iter_mut().step_by(n).for_each(|m| *m = mark as u8);
        marks
    };
    twins.adapt(every(&twins, 2, Mark::Refine));
    let capacity = twins.there.capacity();
    twins.adapt({
        // The children of every third root block that has any.
        let mut marks = twins.all(Mark::Keep);
        let parents = twins.here.first_child.iter().filter(|&&c| c != NONE);
        for &first in parents.step_by(3) {
            marks[first as usize..first as usize + 8].fill(Mark::Coarsen as u8);
        }
        marks
    });
    let gaps = twins.there.gaps.len();
    assert!(gaps >= 3, "{gaps} gaps");
    twins.adapt(twins.all(Mark::Refine));
    assert!(twins.there.gaps.is_empty(), "all gaps are used");
    assert!(twins.there.capacity() > capacity, "and fresh ids");
}

fn the_checksum_tells_forests_apart_but_not_their_histories<K: AnyKernels>(kernels: &K) {
    let mut direct = Twins::<2, K>::new(kernels, [2, 2]);
    let mut marks = direct.all(Mark::Keep);
    marks[0] = Mark::Refine as u8;
    direct.adapt(marks);

    let mut detour = Twins::<2, K>::new(kernels, [2, 2]);
    detour.adapt(detour.all(Mark::Refine));
    let checksum = |twins: &Twins<2, K>| {
        let forest = twins.there.download(kernels).expect("memory");
        forest.checksum()
    };
    assert_ne!(checksum(&direct), checksum(&detour), "different leaves");
    let mut marks = detour.all(Mark::Coarsen);
    let first = detour.here.first_child[0] as usize;
    marks[first..first + 4].fill(Mark::Keep as u8);
    detour.adapt(marks);
    let ids = [&direct, &detour].map(|twins| twins.there.capacity());
    assert_ne!(ids[0], ids[1], "different ids");
    assert_eq!(checksum(&direct), checksum(&detour), "same leaves");
}

fn refining_everything_and_nothing<K: AnyKernels>(kernels: &K) {
    let mut space = Twins::<3, K>::new(kernels, [3, 1, 5]);
    let mut plane = Twins::<2, K>::new(kernels, [7, 3]);
    for mark in [
        Mark::Keep,
        Mark::Coarsen,
        Mark::Refine,
        Mark::Refine,
        Mark::Refine,
    ] {
        space.adapt(space.all(mark));
        plane.adapt(plane.all(mark));
    }
    assert_eq!(space.there.blocks(), 15 * (1 + 8 + 64 + 512), "in space");
    assert_eq!(plane.there.blocks(), 21 * (1 + 4 + 16 + 64), "in the plane");
    for _ in 0..3 {
        space.adapt(space.all(Mark::Coarsen));
        plane.adapt(plane.all(Mark::Coarsen));
    }
    assert_eq!([space.there.blocks(), plane.there.blocks()], [15, 21]);
}

/// One level without the closure, as the embedding does it.
fn closed_marks_refine_one_level<K: AnyKernels>(kernels: &K) {
    let mut twins = Twins::<3, K>::new(kernels, [6, 5, 4]);
    let (mut from, mut to) = ([1; 3], [5, 4, 3]);
    for level in 0..4 {
        // All but the rim of the level's blocks.
        let forest = &twins.here;
        let mut marks = twins.all(Mark::Keep);
        for &id in &forest.levels[level] {
            let at = forest.coord[id as usize];
            if (0..3).all(|a| from[a] <= at[a] && at[a] < to[a]) {
                marks[id as usize] = Mark::Refine as u8;
            }
        }
        (from, to) = (from.map(|c| 2 * c + 1), to.map(|c| 2 * c - 1));
        let mut there = kernels.upload(marks.clone()).expect("memory");
        let count = twins.there.refine(kernels, level, &mut there);
        let expected = twins.here.refine(&Host, level, &mut marks);
        assert_eq!(count, expected, "refined on level {level}");
        assert!(count.expect("memory") > 0, "level {level} has an inside");
        twins.compare();
    }
}

fn too_many_levels_are_an_error<K: AnyKernels>(kernels: &K) {
    let mut forest = Forest::<2, K>::new(kernels, [1, 1]).expect("a root grid");
    let mut last = Ok(0);
    for level in 0..40 {
        // Only the block at the corner: its neighbours' refinement is closed by 2:1.
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        let ids = kernels.download(&forest.levels[level]).expect("memory");
        marks[ids[0] as usize] = Mark::Refine as u8;
        let mut marks = kernels.upload(marks).expect("memory");
        last = forest.adapt(kernels, &mut marks).map(|done| done.refined);
        if last.is_err() {
            break;
        }
    }
    assert!(
        matches!(last, Err(ForestError::TooFine { level: 29.., .. })),
        "{last:?}"
    );
}
