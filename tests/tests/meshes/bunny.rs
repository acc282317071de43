//! What must not change the embedding of a real scan: threads, wall distance, the order of
//! triangles, a finer triangulation of the same surface, where the levels lie, rotation.

use cutlink_mesher::snap::{Snapped, snap};
use cutlink_tests::{
    arrays::same_mesh,
    bodies::{levels, map_lattice, mesh, split_in_four, unit_frame},
    chains::CELL,
    compare::{Cells, cell_against_oracle, cells, cells_through, same_cells, unequal_cells},
    oracle::Oracle,
    scans,
};
use cutlink_voxelizer::{EmbedParams, Mesh};

fn bunny(root: u32, depth: usize) -> Snapped<3> {
    let frame = unit_frame(root);
    snap(&scans::read("bunny_unit.stl"), frame.lattice(depth)).expect("the bunny is in the box")
}

fn on_threads(threads: usize, root: u32, depth: usize, bunny: &Snapped<3>) -> Mesh<3> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("so many threads should start");
    pool.install(|| mesh(bunny, unit_frame(root), &levels(depth)))
}

/// Cells with links, and the number of centres inside.
fn surface_of(mesh: &Mesh<3>, depth: usize) -> (u64, Cells<3>) {
    let mut cells = cells(mesh);
    cells.retain(|_, state| state.boundary);
    for state in cells.values_mut() {
        // Where levels end depends on the forest, the surface does not.
        (state.ghost, state.interface) = (false, false);
    }
    (mesh.solid_at(depth - 1), cells)
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn threads() {
    let surface = bunny(32, 3);
    let one = on_threads(1, 32, 3, &surface);
    assert!(one.links.len() > 100_000, "{} links", one.links.len());
    for threads in [2, 3, 7] {
        let many = on_threads(threads, 32, 3, &surface);
        assert_eq!(same_mesh(&one, &many), Ok(()), "{threads} threads");
        assert_eq!(one.checksum(), many.checksum(), "{threads} threads");
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn threads_at_four_and_five_levels() {
    for depth in [4, 5] {
        let surface = bunny(16, depth);
        let one = on_threads(1, 16, depth, &surface);
        let seven = on_threads(7, 16, depth, &surface);
        assert_eq!(same_mesh(&one, &seven), Ok(()), "{depth} levels");
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn wall_distance_and_where_the_levels_lie() {
    for (root, depth) in [(16, 3), (8, 4)] {
        // The same finest cells through other forests: more layers, fewer levels.
        let fine = root << (depth - 1);
        let surface = bunny(root, depth);
        let plain = mesh(&surface, unit_frame(root), &levels(depth));
        let (count, links) = surface_of(&plain, depth);
        assert!(!links.is_empty(), "the bunny has a surface");
        for wall_distance in [0.02, 0.1, 0.4] {
            let params = EmbedParams {
                wall_distance,
                ..levels(depth)
            };
            let layered = mesh(&surface, unit_frame(root), &params);
            let (n, other) = surface_of(&layered, depth);
            assert_eq!(n, count, "centres inside at wall distance {wall_distance}");
            assert_eq!(same_cells(&links, &other), Ok(()), "at {wall_distance}");
        }
        for less in 1..depth {
            let fewer = mesh(
                &surface,
                unit_frame(fine >> (depth - 1 - less)),
                &levels(depth - less),
            );
            let (n, other) = surface_of(&fewer, depth - less);
            assert_eq!(n, count, "centres inside with {less} levels less");
            let moved: Cells<3> = other
                .into_iter()
                .map(|((level, at), state)| ((level + less, at), state))
                .collect();
            assert_eq!(
                same_cells(&links, &moved),
                Ok(()),
                "with {less} levels less"
            );
        }
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn order_of_triangles_and_of_their_corners() {
    let surface = bunny(32, 4);
    let checksum = mesh(&surface, unit_frame(32), &levels(4)).checksum();
    let mut shuffled = surface.clone();
    let n = shuffled.facets.len();
    // 7919 is prime and does not divide n: a permutation.
    assert_ne!(n % 7919, 0, "the step should visit every facet");
    shuffled.facets = (0..n).map(|i| surface.facets[i * 7919 % n]).collect();
    for (i, f) in shuffled.facets.iter_mut().enumerate() {
        f.rotate_left(i % 3);
    }
    assert_ne!(shuffled.facets, surface.facets, "another order");
    let other = mesh(&shuffled, unit_frame(32), &levels(4)).checksum();
    assert_eq!(other, checksum, "the same surface");
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn triangles_split_in_four() {
    for depth in [3, 4] {
        let even = map_lattice(&bunny(32, depth), |p| p.map(|c| c & !1));
        let split = split_in_four(&even);
        assert!(
            split.facets.len() > 4 * 69_000,
            "{} facets",
            split.facets.len()
        );
        let a = mesh(&even, unit_frame(32), &levels(depth));
        let b = mesh(&split, unit_frame(32), &levels(depth));
        assert_eq!(
            a.solid_at(depth - 1),
            b.solid_at(depth - 1),
            "{depth} levels: centres"
        );
        assert_eq!(a.classes.solid, b.classes.solid, "{depth} levels: masks");
        assert_eq!(a.links.cells, b.links.cells, "{depth} levels: links");
        // The quotients are of other integers: they may round apart by one unit.
        let apart = a.links.q.iter().zip(&b.links.q);
        let apart = apart.map(|(a, b)| a.to_bits().abs_diff(b.to_bits())).max();
        assert!(
            apart <= Some(1),
            "{depth} levels: distances differ by {apart:?} units"
        );
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn rotation_by_quarter_turns() {
    let (root, depth) = (32, 3);
    let size = (root as i32 * CELL) << (depth - 1);
    let surface = bunny(root, depth);
    let start = mesh(&surface, unit_frame(root), &levels(depth));
    for axis in 0..3 {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let turn = |at: [i32; 3], size: i32| {
            let mut to = at;
            (to[i], to[j]) = (size - at[j], at[i]);
            to
        };
        let turned_surface = map_lattice(&surface, |p| turn(p, size));
        let turned = mesh(&turned_surface, unit_frame(root), &levels(depth));
        let last = |level: usize| ((root as i32) << level) - 1;
        let place = |level: usize, at| turn(at, last(level));
        let expected = cells_through(&start, place, |step| turn(step, 0));
        let got = cells(&turned);
        // Ties are broken along x first, so a turned tie may fall the other way: a link that
        // only grazes a ridge of the surface is cut in one pose and not in the other.
        let ties = unequal_cells(&expected, &got);
        assert!(
            ties.len() <= 4,
            "about axis {axis}: {} cells differ",
            ties.len()
        );
        let oracle = Oracle::new(&turned_surface, [113, -57, 29]);
        for at in ties {
            let (mut a, mut b) = (expected[&at].clone(), got[&at].clone());
            cell_against_oracle(&turned, depth, &oracle, at).unwrap_or_else(|m| panic!("{m:?}"));
            let common: Vec<_> = a
                .links
                .iter()
                .filter(|l| b.links.contains(l))
                .copied()
                .collect();
            let more = a.links.len() + b.links.len() - 2 * common.len();
            assert_eq!(more, 1, "{at:?}: one link grazes");
            (a.links, b.links) = (common.clone(), common);
            assert_eq!(a, b, "{at:?}: all else agrees");
        }
        assert!(
            unequal_cells(&cells(&start), &got).len() > 10_000,
            "the bunny has no such symmetry"
        );
    }
}
