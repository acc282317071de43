//! The embedding against the brute-force oracle on bodies chosen by hand, and at depths that
//! random cases do not reach.

use cutlink_tests::{
    bodies::{lattice_frame, levels, mesh},
    chains::{Bodies, CELL, Chains, Soup},
    compare::{Seen, against_oracle, solid_finest},
    oracle::Oracle,
};
use cutlink_voxelizer::{EmbedParams, Fill};

const HALF: i32 = CELL / 2;
const RAY: [i32; 3] = [311, -127, 53];

fn soup<const D: usize>(bodies: &[(Vec<[[i32; D]; D]>, bool)]) -> Soup<D> {
    let mut soup = Soup::default();
    for (patch, (facets, flip)) in bodies.iter().enumerate() {
        for mut f in facets.iter().copied() {
            if *flip {
                f.swap(0, 1);
            }
            soup.facets.push((f, patch as u16));
        }
    }
    soup
}

/// Embeds in a box of 8 x 4 x 4 root cells and compares, under all fill rules; what was seen by
/// those of flows outside.
fn check(soup: &Soup<3>, depth: usize) -> [Seen; 2] {
    let rules = [Fill::NonZero, Fill::EvenOdd, Fill::Zero, Fill::Even];
    let seen = rules.map(|fill| {
        let surface = soup.snapped(3);
        let params = EmbedParams {
            fill,
            ..levels(depth)
        };
        let mesh = mesh(&surface, lattice_frame([8, 4, 4], depth), &params);
        let oracle = Oracle::new(&surface, RAY);
        solid_finest(&mesh, depth, &oracle).unwrap_or_else(|m| panic!("{m:?}"));
        against_oracle(&mesh, depth, &oracle).unwrap_or_else(|m| panic!("{m:?}"))
    });
    [seen[0], seen[1]]
}

#[test]
fn faces_edges_and_corners_on_cell_centres() {
    // Two cells thick, every face through centres: the shift takes the lower faces in and
    // leaves the upper ones out.
    let cube = Bodies::cuboid([HALF + CELL; 3], [HALF + 3 * CELL; 3]);
    for flip in [false, true] {
        let [nonzero, evenodd] = check(&soup(&[(cube.clone(), flip)]), 1);
        assert_eq!(nonzero.solid, 8, "lower faces in, upper faces out");
        assert_eq!(nonzero, evenodd, "one body");
        assert!(nonzero.on_surface > 0, "{nonzero:?}");
    }
}

#[test]
fn nested_touching_and_overlapping() {
    let outer = Bodies::cuboid([0; 3], [4 * CELL; 3]);
    let inner = Bodies::cuboid([CELL; 3], [3 * CELL; 3]);
    let [nonzero, evenodd] = check(&soup(&[(outer.clone(), false), (inner.clone(), false)]), 2);
    assert_eq!(nonzero.solid, 64, "the inner body adds nothing");
    assert_eq!(evenodd.solid, 64 - 8, "the inner body is a cavity");
    let [cavity, _] = check(&soup(&[(outer.clone(), false), (inner, true)]), 2);
    assert_eq!(
        cavity.solid,
        64 - 8,
        "turned inward it is one under both rules"
    );

    let beside = Bodies::cuboid([4 * CELL, 0, 0], [6 * CELL, 4 * CELL, 4 * CELL]);
    let [nonzero, _] = check(&soup(&[(outer.clone(), false), (beside, false)]), 2);
    assert_eq!(nonzero.solid, 64 + 32, "no gap at the common face");

    let across = Bodies::cuboid([2 * CELL, 0, 0], [6 * CELL, 4 * CELL, 4 * CELL]);
    let [nonzero, evenodd] = check(&soup(&[(outer.clone(), false), (across, false)]), 2);
    assert_eq!(nonzero.solid, 96, "union");
    assert_eq!(evenodd.solid, 64, "the overlap is out");

    let [none, _] = check(&soup(&[(outer.clone(), false), (outer, true)]), 2);
    assert_eq!(none.solid, 0, "a body and itself turned inward cancel");
    assert!(none.links > 0, "but the cuts remain");
}

#[test]
fn thin_walls_have_cuts_and_no_solid_cell() {
    // A plate of one unit between two planes of centres.
    let plate = Bodies::cuboid([-CELL, -CELL, 2 * CELL - 1], [9 * CELL, 5 * CELL, 2 * CELL]);
    let [seen, _] = check(&soup(&[(plate, false)]), 1);
    assert_eq!(seen.solid, 0, "no centre in it");
    // Of the 9 upward links of each cell of the plane below, and as many from above.
    let plane = (8 * 4) as u64;
    assert!(seen.links > 2 * 6 * plane, "both sides see it: {seen:?}");
    assert_eq!(seen.several, seen.links, "each through both faces");
}

#[test]
fn bodies_through_the_walls_of_the_box() {
    let huge = Bodies::cuboid([-100 * CELL; 3], [100 * CELL; 3]);
    let [all, _] = check(&soup(&[(huge, false)]), 2);
    assert_eq!(
        (all.solid, all.links),
        (128, 0),
        "the box is inside, unrefined"
    );
    let half = Bodies::cuboid([-100 * CELL; 3], [100 * CELL, 100 * CELL, 4 * CELL]);
    let [seen, _] = check(&soup(&[(half, false)]), 2);
    assert_eq!(seen.solid, 16 * 8 * 4, "lower half, at the finest level");
}

#[test]
fn deep_levels_in_the_far_corner() {
    // 18 levels of 4 cells are 2^27 lattice units: the most there is.
    for depth in [10, 14, 18] {
        let size = 4i32 << (depth - 1);
        for (corner, sign) in [(0, 1), (size, -1)] {
            let at = |cells: i32, units: i32| sign * (cells * CELL + units) + corner * CELL;
            let tetra = Bodies::simplex([
                [at(1, HALF), at(1, HALF), at(1, HALF)],
                [at(4, 3), at(1, 7), at(2, -9)],
                [at(1, HALF), at(4, 0), at(1, 0)],
                [at(2, 11), at(1, HALF), at(4, HALF)],
            ]);
            let surface = soup(&[(tetra, false)]).snapped(1);
            let mesh = mesh(&surface, lattice_frame([4; 3], depth), &levels(depth));
            let oracle = Oracle::new(&surface, RAY);
            let seen =
                against_oracle(&mesh, depth, &oracle).unwrap_or_else(|m| panic!("{depth}: {m:?}"));
            assert!(seen.solid > 0 && seen.links > 20, "{depth}: {seen:?}");
        }
    }
}

#[test]
fn needles_and_slivers() {
    let needle = Bodies::simplex([
        [0, HALF, HALF],
        [8 * CELL, 3 * CELL + HALF, 3 * CELL + HALF],
        [8 * CELL, 3 * CELL + HALF + 1, 3 * CELL + HALF],
        [8 * CELL, 3 * CELL + HALF, 3 * CELL + HALF + 1],
    ]);
    let [seen, _] = check(&soup(&[(needle.clone(), false)]), 2);
    assert!(seen.links > 50, "{seen:?}");
    let flat = Bodies::simplex([
        [0, 0, 0],
        [8 * CELL, 0, 0],
        [8 * CELL, 4 * CELL, 0],
        [0, 4 * CELL, 1],
    ]);
    check(&soup(&[(needle, true), (flat, false)]), 2);
}

#[test]
fn nothing_and_bodies_outside_the_box() {
    let nothing = Soup::<3>::default().snapped(1);
    for depth in 1..=4 {
        let none = mesh(&nothing, lattice_frame([4; 3], depth), &levels(depth));
        assert_eq!(
            (none.forest.blocks(), none.links.len()),
            (1, 0),
            "the root grid"
        );
        // So near the box that only the bins of its coarse blocks see it, and farther away.
        for away in [CELL, 3 * CELL, 100 * CELL] {
            let body = Bodies::cross([-away - CELL; 3], [CELL; 3]);
            let surface = soup(&[(body, false)]).snapped(1);
            let mesh = mesh(&surface, lattice_frame([4; 3], depth), &levels(depth));
            assert_eq!(mesh.solid_at(depth - 1), 0, "nothing inside");
            let oracle = Oracle::new(&surface, RAY);
            against_oracle(&mesh, depth, &oracle).unwrap_or_else(|m| panic!("{m:?}"));
        }
    }
}
