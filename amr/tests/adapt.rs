//! Adaptation against a model that shares nothing with the forest but the definition: a
//! set of leaves, balanced by trying again until nothing changes.

use cutlink_amr::{Forest, Mark, NONE, Violation, dims};
use cutlink_device::Host;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

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

/// Runs `rounds` of random marks on a forest and its model.
fn run<const D: usize>(root: [u32; D], rounds: &[Vec<u8>]) {
    let mut forest = Forest::new(&Host, root).expect("a root grid");
    let mut model = leaves(&forest);
    for random in rounds {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        let (mut refine, mut coarsen) = (BTreeSet::new(), BTreeSet::new());
        let ids: Vec<u32> = forest.leaves().collect();
        let mut keys: Vec<(Leaf<D>, u32)> = ids
            .iter()
            .map(|&id| ((forest.level[id as usize], forest.coord[id as usize]), id))
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
        forest.adapt(&Host, &mut marks).expect("memory");
        forest.validate().expect("a valid forest");
        model_refine(&mut model, &refine);
        model_coarsen(&mut model, &coarsen);
        assert_eq!(
            leaves(&forest),
            model,
            "leaves after {refine:?} {coarsen:?}"
        );
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_marks_in_2d_agree_with_the_model(rounds in rounds()) {
        run([3, 2], &rounds);
    }

    #[test]
    fn any_marks_in_3d_agree_with_the_model(rounds in rounds()) {
        run([2, 1, 1], &rounds[..rounds.len().min(3)]);
    }
}

/// Refines the leaf at one corner again and again: the hardest case for 2:1.
fn corner(levels: usize) -> Forest<3> {
    let mut forest = Forest::new(&Host, [4, 3, 2]).expect("a root grid");
    for _ in 1..levels {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        let at = forest.leaf_at([7.999, 7.999, 3.999]).expect("inside");
        marks[at.block as usize] = Mark::Refine as u8;
        forest.adapt(&Host, &mut marks).expect("memory");
    }
    forest
}

#[test]
fn a_corner_refined_ten_times_is_balanced_and_coarsens_back_to_the_root() {
    let mut forest = corner(11);
    assert_eq!(forest.finest(), 10, "levels");
    forest.validate().expect("balanced");
    let fresh = Forest::<3>::new(&Host, [4, 3, 2]).expect("a root grid");
    for _ in 0..10 {
        let mut marks = vec![Mark::Coarsen as u8; forest.capacity()];
        forest.adapt(&Host, &mut marks).expect("memory");
        forest.validate().expect("valid while coarsening");
    }
    assert_eq!(forest.checksum(), fresh.checksum(), "back at the root grid");
    let capacity = forest.capacity();
    let mut marks = vec![Mark::Refine as u8; capacity];
    forest.adapt(&Host, &mut marks).expect("memory");
    forest.validate().expect("valid on recycled ids");
    assert_eq!(forest.capacity(), capacity, "ids are recycled");
}

#[test]
fn the_checksum_tells_forests_apart_but_not_their_histories() {
    let mut direct = Forest::new(&Host, [2, 2]).expect("a root grid");
    let mut marks = vec![Mark::Keep as u8; direct.capacity()];
    marks[0] = Mark::Refine as u8;
    direct.adapt(&Host, &mut marks).expect("memory");

    let mut detour = Forest::new(&Host, [2, 2]).expect("a root grid");
    let mut all = vec![Mark::Refine as u8; detour.capacity()];
    detour.adapt(&Host, &mut all).expect("memory");
    assert_ne!(direct.checksum(), detour.checksum(), "different leaves");
    let mut marks: Vec<u8> = vec![Mark::Coarsen as u8; detour.capacity()];
    let first = detour.first_child[0] as usize;
    marks[first..first + 4].fill(Mark::Keep as u8);
    detour.adapt(&Host, &mut marks).expect("memory");
    assert_ne!(direct.capacity(), detour.capacity(), "different ids");
    assert_eq!(direct.checksum(), detour.checksum(), "same leaves");
}

#[test]
fn any_number_of_threads_gives_the_same_arrays() {
    let reference = corner(8);
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let forest = pool.install(|| corner(8));
        assert_eq!(forest.levels, reference.levels, "{threads} threads: ids");
        assert_eq!(forest.families, reference.families, "{threads} threads");
    }
}

#[test]
fn validate_rejects_every_kind_of_damage() {
    type Damage = (&'static str, fn(&mut Forest<3>));
    let damages: [Damage; 9] = [
        ("length", |f| {
            f.parent.pop();
        }),
        ("length of the families", |f| {
            f.families.pop();
        }),
        ("level", |f| f.level[3] = 1),
        ("list", |f| {
            let id = f.levels[1][0];
            f.levels[1].push(id);
        }),
        ("coordinate", |f| f.coord[30][1] += 1),
        ("parent", |f| f.parent[30] = 0),
        ("first child", |f| {
            let refined = f.parent[30] as usize;
            f.first_child[refined] += 1;
        }),
        ("neighbour", |f| {
            let slot = f.families.iter().position(|&n| n == NONE);
            f.families[slot.expect("an interface")] = 0;
        }),
        ("gap", |f| f.gaps.push(24)),
    ];
    for (what, damage) in damages {
        let mut forest = corner(4);
        assert_eq!(forest.validate(), Ok(()), "sound before");
        damage(&mut forest);
        assert!(forest.validate().is_err(), "damaged {what}");
    }
}

#[test]
fn every_place_of_every_family_is_checked() {
    let sound = corner(3);
    for place in 0..sound.families.len() {
        let mut forest = corner(3);
        forest.families[place] ^= 1;
        assert!(
            matches!(forest.validate(), Err(Violation::Neighbor { .. })),
            "place {place}: {:?}",
            forest.validate()
        );
    }
}

#[test]
fn validate_rejects_groups_that_are_not_whole() {
    let mut forest = corner(2);
    forest.level.pop();
    forest.coord.pop();
    forest.parent.pop();
    forest.first_child.pop();
    assert!(
        matches!(forest.validate(), Err(Violation::Length { .. })),
        "{:?}",
        forest.validate()
    );
}

#[test]
fn validate_rejects_a_forest_that_is_not_balanced() {
    let mut forest = Forest::<2>::new(&Host, [2, 1]).expect("a root grid");
    // Refining past the marks' closure: the children of block 0 that touch block 1.
    for (level, which) in [(0, 0), (1, 1)] {
        let id = forest.levels[level][which];
        let parents = vec![id];
        use cutlink_amr::ForestKernels;
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        Host.insert_children(&mut forest, level, &parents, &mut marks)
            .expect("memory");
        Host.connect(&mut forest, level + 1).expect("memory");
    }
    assert!(
        matches!(
            forest.validate(),
            Err(Violation::Unbalanced { level: 2, .. })
        ),
        "{:?}",
        forest.validate()
    );
}

#[test]
fn lookups_agree_with_geometry() {
    use cutlink_amr::NeighborCell::{Coarser, Outside, Refined, Same};
    let forest = corner(5);
    for id in forest.leaves() {
        for cell in 0..64 {
            let at = cutlink_amr::CellRef { block: id, cell };
            let level = forest.level[id as usize];
            let size = 1.0 / f64::from(1 << level);
            let center = forest.cell_coord(at).map(|c| (f64::from(c) + 0.5) * size);
            assert_eq!(forest.leaf_at(center), Some(at), "centre of its own cell");
            for direction in 0..27 {
                let step = dims::step::<3>(direction);
                let target: [f64; 3] =
                    std::array::from_fn(|a| center[a] + f64::from(step[a]) * size);
                let leaf = forest.leaf_at(target);
                let found = forest.neighbor_cell(at, direction);
                let agrees = match found {
                    Outside => leaf.is_none(),
                    Same(n) | Coarser(n) => leaf == Some(n),
                    Refined(n) => leaf.is_some_and(|l| {
                        forest.parent[l.block as usize] == n.block
                            && forest.cell_coord(l).map(|c| c >> 1) == forest.cell_coord(n)
                    }),
                };
                assert!(
                    agrees,
                    "cell {at:?} direction {direction}: {found:?} {leaf:?}"
                );
            }
        }
    }
    assert_eq!(forest.leaf_at([f64::NAN, 0.0, 0.0]), None, "not a number");
    assert_eq!(forest.leaf_at([16.0, 0.0, 0.0]), None, "upper wall");
}

#[test]
fn limits_are_errors() {
    assert!(Forest::<3>::new(&Host, [0, 1, 1]).is_err(), "no block");
    assert!(
        Forest::<3>::new(&Host, [1 << 27, 1 << 27, 1]).is_err(),
        "too many"
    );
    let forest = Forest::<3>::new(&Host, [16; 3]).expect("64 cells an axis");
    assert!(
        forest.check_level(9).is_ok(),
        "ten levels for a 64-cell root"
    );
    assert!(forest.check_level(24).is_ok(), "as fine as i32 goes");
    assert!(forest.check_level(25).is_err(), "beyond");
}
