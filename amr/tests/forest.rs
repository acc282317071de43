//! What `validate` rejects, what lookups find, limits, and any number of threads. Adaptation itself is
//! tested on every backend, in `tests/tests/backends/adapt.rs`.

use cutlink_amr::{Forest, Mark, NONE, Violation, dims};
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
