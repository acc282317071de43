//! What `validate` rejects, what lookups find, limits, and any number of threads. Adaptation itself is
//! tested on every backend, in `tests/tests/backends/adapt.rs`.

use cutlink_amr::{Forest, ForestViolation, Mark, NONE, dims};
use cutlink_device::Host;

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
            matches!(forest.validate(), Err(ForestViolation::Neighbor { .. })),
            "place {place}: {:?}",
            forest.validate()
        );
    }
}

/// What `run` panics with.
fn panic_of(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(run).expect_err("it should panic");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn marks_of_another_length_never_reach_a_kernel() {
    use cutlink_amr::ChangeKernels;
    let blocks = corner(2).capacity();
    for len in [0, blocks - 1, blocks + 1] {
        let text =
            format!("marks should have one entry for each of the {blocks} block ids, not {len}");
        type Use = fn(&mut Forest<3>, &mut Vec<u8>);
        let uses: [Use; 5] = [
            |f, marks| drop(f.adapt(&Host, marks)),
            |f, marks| drop(f.refine(&Host, 0, marks)),
            |f, marks| drop(Host.ripple(f, 1, marks)),
            |f, marks| drop(Host.select_refine(f, 0, marks)),
            |f, marks| drop(Host.select_coarsen(f, 0, marks)),
        ];
        for run in uses {
            let mut marks = vec![Mark::Keep as u8; len];
            let found = panic_of(move || run(&mut corner(2), &mut marks));
            assert_eq!(found, text);
        }
    }
    for level in [0, 2] {
        let found = panic_of(move || drop(Host.connect(&mut corner(2), level)));
        assert_eq!(
            found,
            format!("level {level} should be one of 1 to 1 of the forest")
        );
    }
    let found = std::panic::catch_unwind(|| corner(2).with_periodic([true; 3]));
    assert!(found.is_err(), "neighbours are stored");
}

#[test]
fn ids_are_contiguous_until_they_are_recycled_or_inserted_between() {
    let in_order = |forest: &Forest<3>| {
        let ids: Vec<u32> = forest.ids().collect();
        ids.iter().enumerate().all(|(i, &id)| i as u32 == id)
    };
    let adapt = |forest: &mut Forest<3>, id: u32, mark: Mark| {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        marks[id as usize] = mark as u8;
        forest.adapt(&Host, &mut marks).expect("memory");
    };
    let mut forest = Forest::new(&Host, [4, 1, 1]).expect("a root grid");
    // The second one of level 0 goes behind the first one's children; the child in the box's corner touches siblings
    // alone.
    for (id, levels) in [(0, 2), (1, 2), (4, 3)] {
        adapt(&mut forest, id, Mark::Refine);
        assert_eq!(forest.levels.len(), levels);
        assert!(forest.is_contiguous() && in_order(&forest), "block {id}");
    }
    adapt(&mut forest, 3, Mark::Refine);
    assert!(
        !forest.is_contiguous() && !in_order(&forest),
        "behind a finer level"
    );

    let mut forest = Forest::new(&Host, [1, 1, 1]).expect("a root grid");
    adapt(&mut forest, 0, Mark::Refine);
    let mut marks = vec![Mark::Coarsen as u8; forest.capacity()];
    forest.adapt(&Host, &mut marks).expect("memory");
    assert!(!forest.is_contiguous(), "free ids");
}

#[test]
fn validate_rejects_groups_that_are_not_whole() {
    let mut forest = corner(2);
    forest.level.pop();
    forest.coord.pop();
    forest.parent.pop();
    forest.first_child.pop();
    assert!(
        matches!(forest.validate(), Err(ForestViolation::Length { .. })),
        "{:?}",
        forest.validate()
    );
}

#[test]
#[expect(unsafe_code, reason = "refines past what `adapt` lets happen")]
fn validate_rejects_a_forest_that_is_not_balanced() {
    let mut forest = Forest::<2>::new(&Host, [2, 1]).expect("a root grid");
    // Refining past the marks' closure: the children of block 0 that touch block 1.
    for (level, which) in [(0, 0), (1, 1)] {
        let id = forest.levels[level][which];
        let parents = vec![id];
        use cutlink_amr::ChangeKernels;
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        // SAFETY: a leaf of that level.
        let done = unsafe { Host.insert_children(&mut forest, level, &parents, &mut marks) };
        done.expect("memory");
        Host.connect(&mut forest, level + 1).expect("memory");
    }
    assert!(
        matches!(
            forest.validate(),
            Err(ForestViolation::Unbalanced { level: 2, .. })
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
