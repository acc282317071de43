//! Known defects, each as the test that will show it mended. A test here that passes is moved
//! to where it belongs.

use cutlink_tests::{
    bodies::{lattice_frame, levels, mesh},
    chains::{Bodies, CELL, Chains, Soup},
};

/// `Build::view` sums the block counts of levels that were never made.
#[test]
#[should_panic(expected = "out of range")]
fn three_levels_around_nothing() {
    let nothing = Soup::<3>::default().snapped(1);
    let mesh = mesh(&nothing, lattice_frame([4; 3], 3), &levels(3));
    assert_eq!(mesh.forest.levels.len(), 1, "the root grid");
}

/// The same where the surface is so near the box that only its coarse bins see it.
#[test]
#[should_panic(expected = "out of range")]
fn four_levels_beside_a_body_outside_the_box() {
    let beside = -3 * CELL;
    let soup = Soup {
        facets: Bodies::cross([beside; 3], [CELL; 3])
            .into_iter()
            .map(|f| (f, 0))
            .collect(),
    };
    let mesh = mesh(&soup.snapped(1), lattice_frame([4; 3], 4), &levels(4));
    assert_eq!(mesh.solid_at(3), 0, "nothing inside");
}
