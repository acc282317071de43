//! Linear trees and forests: the same leaves either way, and after the same marks.

use super::{Random, seeds};
use cutlink_amr::{
    Forest, Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;

/// The leaf of the tree that a leaf of the forest is.
fn leaf_of<const D: usize>(leaves: &Leaves<D>, forest: &Forest<D>, id: u32) -> usize {
    let (level, coord) = (forest.level[id as usize], forest.coord[id as usize]);
    let leaf = leaves.find(u32::from(level), coord).expect("inside");
    assert_eq!(leaves.level(leaf), u32::from(level), "a leaf there");
    assert_eq!(leaves.coord(leaf), coord, "a leaf there");
    leaf as usize
}

fn check<const D: usize>(leaves: &Leaves<D>, forest: &Forest<D>) {
    assert_eq!(leaves.checksum(), forest.checksum(), "checksums");
    let converted = Leaves::of(&Host, forest).expect("memory");
    assert_eq!(converted.keys(), leaves.keys(), "leaves of the forest");
    assert_eq!(converted.finest(), leaves.finest(), "levels of the forest");
    assert_eq!(converted.grid(), leaves.grid());
    let back = Forest::of(&Host, leaves).expect("memory");
    assert_eq!(back.validate(), Ok(()), "a forest");
    assert_eq!(back.checksum(), leaves.checksum(), "checksum of the forest");
    assert!(back.is_contiguous(), "ids of a build from the root down");
    // The canonical ids of the same blocks.
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest.refined_after(&Host, &keep).expect("memory");
    let (canonical, _) = forest.rebuilt(&Host, &same).expect("memory");
    assert_eq!(back.coord, canonical.coord, "canonical ids");
    assert_eq!(back.first_child, canonical.first_child, "canonical ids");
    assert_eq!(back.families, canonical.families, "neighbours");
}

fn adapt_both<const D: usize>(count: u64) {
    let mut coarsened = 0;
    for seed in seeds(count) {
        let mut random = Random::new(seed);
        let grid = random.grid::<D>();
        let mut leaves = Leaves::new(&Host, grid).expect("memory");
        let mut forest = Forest::<D>::new(&Host, grid.root()).expect("a root grid");
        forest = forest.with_periodic(grid.periodic());
        check(&leaves, &forest);
        for round in 0..5 {
            let mut of_leaves = vec![Mark::Keep as u8; leaves.len()];
            let mut of_forest = vec![Mark::Keep as u8; forest.capacity()];
            let ids: Vec<u32> = forest.leaves().collect();
            for id in ids {
                let mark = match random.below(20) {
                    0..3 if round % 2 == 0 && forest.level[id as usize] < 4 => Mark::Refine,
                    0 => Mark::Keep,
                    _ if round % 2 == 1 => Mark::Coarsen,
                    _ => Mark::Keep,
                };
                of_forest[id as usize] = mark as u8;
                of_leaves[leaf_of(&leaves, &forest, id)] = mark as u8;
            }
            let done = forest.adapt(&Host, &mut of_forest).expect("memory");
            let linear = leaves.adapt(&Host, &mut of_leaves).expect("memory");
            assert_eq!(linear.refined, done.refined as u64, "seed {seed}");
            assert_eq!(linear.coarsened, done.coarsened as u64, "seed {seed}");
            check(&leaves, &forest);
            coarsened += done.coarsened;
        }
    }
    assert!(coarsened > 100, "{coarsened} groups");
}

#[test]
fn conversion_and_the_same_marks_in_the_plane() {
    adapt_both::<2>(100);
}

#[test]
fn conversion_and_the_same_marks_in_space() {
    adapt_both::<3>(50);
}

#[test]
fn checksums_tell_trees_apart() {
    let tree = |root, keys: &[(u32, [i32; 2])]| {
        let grid = Grid::<2>::new(root, [false; 2]).expect("a root grid");
        let keys = keys
            .iter()
            .map(|&(level, at)| grid.key(level, at).expect("inside"));
        Leaves::build(&Host, grid, keys.collect())
            .expect("memory")
            .checksum()
    };
    let one = tree([3, 2], &[(2, [0, 0])]);
    assert_eq!(
        one,
        tree([3, 2], &[(2, [1, 1]), (1, [0, 1])]),
        "same leaves"
    );
    assert_ne!(one, tree([3, 2], &[(2, [11, 0])]), "other leaves");
    assert_ne!(one, tree([2, 3], &[(2, [0, 0])]), "another box");
}

#[test]
fn a_forest_too_fine_for_keys_is_an_error() {
    let mut forest = Forest::<3>::new(&Host, [1 << 18, 1, 1]).expect("a root grid");
    for level in 0..2 {
        Leaves::of(&Host, &forest).expect("as fine as keys can name");
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        marks[forest.levels[level][0] as usize] = Mark::Refine as u8;
        forest.adapt(&Host, &mut marks).expect("memory");
    }
    let error = Leaves::of(&Host, &forest).expect_err("2^20 blocks on an axis");
    assert!(error.to_string().contains("level 2"), "{error}");
}
