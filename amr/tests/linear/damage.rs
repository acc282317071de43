//! What is refused, and that the comparators can fail.

use super::oracle::*;
use cutlink_amr::{
    Mark,
    linear::{Face, Grid, Leaves, LeavesViolation},
};
use cutlink_device::Host;

/// A leaf at a corner of a root block that has neighbours on all sides.
fn corner() -> (Leaves<3>, Model<3>) {
    let grid = Grid::new([3, 3, 2], [false; 3]).expect("a root grid");
    let (level, at) = (4, [16, 31, 16]);
    let key = grid.key(level, at).expect("inside");
    let leaves = Leaves::build(&Host, grid, vec![key]).expect("memory");
    let mut model = Model::new(grid);
    model.want((level, at));
    model.balance();
    (leaves, model)
}

#[test]
fn validate_refuses_every_kind_of_damage() {
    use LeavesViolation as V;
    type Damage = (&'static str, fn(&mut Vec<u64>), fn(&V) -> bool);
    let damages: [Damage; 10] = [
        (
            "a level beyond all",
            |k| k[5] |= 31,
            |v| matches!(v, V::Key { id: 5, .. }),
        ),
        (
            "a corner off its grid",
            |k| k[5] ^= 1 << 5,
            |v| matches!(v, V::Key { id: 5, .. }),
        ),
        (
            "a bit beyond all axes",
            |k| k[5] |= 1 << 63,
            |v| matches!(v, V::Key { id: 5, .. }),
        ),
        (
            "a block beyond the box",
            |k| *k.last_mut().expect("a leaf") |= 3 << 60,
            |v| matches!(v, V::Key { .. }),
        ),
        (
            "two leaves swapped",
            |k| k.swap(5, 6),
            |v| matches!(v, V::Order { id: 5 }),
        ),
        (
            "a leaf twice",
            |k| k.insert(5, k[5]),
            |v| matches!(v, V::Order { id: 5 }),
        ),
        (
            "a leaf missing",
            |k| {
                k.remove(5);
            },
            |v| matches!(v, V::Volume { .. }),
        ),
        ("no leaves", Vec::clear, |v| matches!(v, V::Finest { .. })),
        ("a parent among its children", parent_too, |v| {
            matches!(v, V::Overlap { .. })
        }),
        ("children merged", merge_beside_fine, |v| {
            matches!(v, V::Unbalanced { .. })
        }),
    ];
    for (what, damage, is_told) in damages {
        let (mut leaves, _) = corner();
        assert_eq!(leaves.validate(), Ok(()), "sound before");
        damage(leaves.keys_mut());
        let violation = leaves.validate().expect_err(what);
        assert!(is_told(&violation), "{what}: {violation}");
        let found = std::panic::catch_unwind(|| leaves.upload(&Host).is_ok());
        assert!(found.is_err(), "{what}: uploaded");
        let again = Leaves::from_keys(*leaves.grid(), leaves.keys().clone());
        assert!(again.is_err(), "{what}: taken");
    }
}

/// The first group of siblings, and how many leaves it has.
fn group(keys: &[u64], level: u64) -> usize {
    let is_group =
        |w: &[u64]| w.iter().all(|k| k & 31 == level) && w[0] >> (5 + 3 * (17 - level)) & 7 == 0;
    keys.windows(8).position(is_group).expect("a group")
}

fn parent_too(keys: &mut Vec<u64>) {
    let at = group(keys, 3);
    keys.insert(at, keys[at] - 1);
}

fn merge_beside_fine(keys: &mut Vec<u64>) {
    let at = keys
        .iter()
        .position(|k| k & 31 == 4)
        .expect("the finest level");
    let beside = (0..keys.len() - 7).find(|&i| {
        let w = &keys[i..i + 8];
        w.iter().all(|k| k & 31 == 3) && w[0] >> (5 + 3 * 14) & 7 == 0 && i + 16 > at
    });
    let beside = beside.expect("a group beside");
    keys[beside] -= 1;
    keys.drain(beside + 1..beside + 8);
}

#[test]
fn the_comparators_can_fail() {
    let (leaves, model) = corner();
    let sound = || leaves.faces(&Host).expect("memory");
    assert_eq!(same_leaves(&leaves, &model), Ok(()));
    assert_eq!(same_faces(&sound(), &model), Ok(()));
    for i in 0..leaves.len() {
        let mut changed = leaves.clone();
        changed.keys_mut()[i] ^= 1;
        assert!(same_leaves(&changed, &model).is_err(), "leaf {i}");
    }
    for i in 0..sound().codes.len() {
        let mut changed = sound();
        changed.codes[i] ^= 1 << (i % 32);
        assert!(same_faces(&changed, &model).is_err(), "code {i}");
    }
    for i in 0..sound().slots.len() {
        let mut changed = sound();
        changed.slots[i] += 1;
        assert!(same_faces(&changed, &model).is_err(), "slot {i}");
        changed = sound();
        changed.hanging.swap(4 * i, 4 * i + 1);
        assert!(same_faces(&changed, &model).is_err(), "finer leaves of {i}");
    }
    let mut other = model.clone();
    other.adapt(&[((0, [0, 0, 0]), Mark::Refine)].into());
    assert!(same_leaves(&leaves, &other).is_err(), "another model");
}

#[test]
fn faces_are_read_as_they_are_written() {
    let (leaves, _) = corner();
    let faces = leaves.faces(&Host).expect("memory");
    let mut kinds = [0; 4];
    for leaf in 0..leaves.len() as u32 {
        for face in 0..6 {
            match faces.at(leaf, face) {
                Face::Outside => kinds[0] += 1,
                Face::Same(other) => {
                    kinds[1] += 1;
                    assert_eq!(faces.at(other, face ^ 1), Face::Same(leaf));
                }
                Face::Coarser {
                    leaf: other,
                    sub_face,
                } => {
                    kinds[2] += 1;
                    let Face::Finer(slot) = faces.at(other, face ^ 1) else {
                        panic!("the coarser side should hang");
                    };
                    assert_eq!(faces.finer(slot)[sub_face as usize], leaf);
                }
                Face::Finer(slot) => {
                    kinds[3] += 1;
                    assert_eq!(faces.slots[slot as usize], leaf * 6 + face as u32);
                }
            }
        }
    }
    assert_eq!(kinds[2], 4 * kinds[3], "four finer faces each");
    assert!(kinds.iter().all(|&n| n > 10), "{kinds:?}");
}

#[test]
fn strange_words_are_refused() {
    let grid = Grid::<3>::new([3, 1, 1], [false; 3]).expect("a root grid");
    let good = grid.key(2, [11, 3, 0]).expect("inside");
    let outside = (3 << 17 << 5) | 2;
    for strange in [
        good | 31,
        good | 1 << 5,
        good | 1 << 63,
        u64::MAX,
        outside | 1 << 6,
    ] {
        let error = Leaves::build(&Host, grid, vec![good, strange]).expect_err("a strange word");
        assert!(
            error.to_string().starts_with("1 of"),
            "{strange:#x}: {error}"
        );
    }
    let too_wide = Grid::<3>::new([1 << 20, 1, 1], [false; 3]);
    assert!(too_wide.is_err(), "keys cannot name its blocks");
}

#[test]
fn marks_of_another_length_never_reach_a_kernel() {
    for len in [0, 17, 19] {
        let found = std::panic::catch_unwind(|| {
            let grid = Grid::new([3, 3, 2], [false; 3]).expect("a root grid");
            let mut leaves = Leaves::<3>::new(&Host, grid).expect("memory");
            leaves.adapt(&Host, &mut vec![0; len]).is_ok()
        });
        let text = found.expect_err("it should panic");
        let text = text.downcast_ref::<String>().expect("a text");
        assert!(text.contains("each of the 18 leaves"), "{text}");
    }
}

#[test]
fn values_that_are_no_mark_keep_the_leaf() {
    let (mut leaves, model) = corner();
    let mut marks: Vec<u8> = (0..leaves.len()).map(|i| 3 + (i % 250) as u8).collect();
    let done = leaves.adapt(&Host, &mut marks).expect("memory");
    assert_eq!([done.refined, done.coarsened], [0, 0]);
    assert_eq!(same_leaves(&leaves, &model), Ok(()));
    assert!(marks.iter().all(|&mark| mark == Mark::Keep as u8), "closed");
}
