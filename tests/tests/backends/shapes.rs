//! Primitives, and surfaces and boxes of extreme sizes: nothing, larger than the box, few huge facets, many
//! tiny ones, root grids that are no powers of two.

use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
    snap::{Snapped, snap},
};
use cutlink_tests::{
    backend_test,
    backends::{AnyKernels, conform},
    bodies::{frame_around, lattice_frame, levels, unit_frame},
    chains::{Bodies, CELL, Chains, Soup},
    compare::{against_oracle, solid_finest},
    oracle::{Determinants, Oracle, Space},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, Reach, Region, RegionShape, Spots, WallRule,
    kernels::MeshKernels,
};
use std::sync::Arc;

backend_test!(
    primitives_in_the_plane,
    primitives_in_space,
    primitives_with_rules_and_regions,
    nothing_at_all,
    larger_than_the_box,
    beside_the_box,
    few_huge_facets_over_many_blocks,
    few_huge_facets_over_many_levels,
    long_facets_among_small_ones,
    slanted_huge_facets,
    many_tiny_facets_in_few_cells,
    root_grids_of_any_shape,
    a_speck_in_one_root_block_on_twelve_levels,
);

fn embedded<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    match conform(kernels, surface, frame, params) {
        Ok(mesh) => mesh,
        Err(text) => panic!("{text}\n{frame:?} {params:?}"),
    }
}

/// The same, against brute force too.
fn checked<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Mesh<D>
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
{
    let mesh = embedded(kernels, surface, frame, params);
    let ray = std::array::from_fn(|a| [307, -119, 53][a]);
    let oracle = Oracle::new(surface, ray);
    if let Err(mismatch) = against_oracle(&mesh, params.levels, &oracle) {
        panic!("{mismatch:?}\n{frame:?} {params:?}");
    }
    mesh
}

fn snapped<const D: usize>(surface: &Surface<D>, frame: &Frame<D>, levels: usize) -> Snapped<D> {
    snap(surface, frame.lattice(levels)).expect("in range")
}

fn shapes_of_the_plane() -> Vec<Surface<2>> {
    let shapes = [
        Shape2::Circle { radius: 0.3 },
        Shape2::Ellipse { radii: [0.4, 0.1] },
        Shape2::Rectangle { size: [0.5, 0.25] },
        Shape2::Polygon {
            points: vec![[0.0, 0.0], [0.5, 0.1], [0.2, 0.2], [0.1, 0.6]],
        },
        Shape2::Naca {
            digits: [2, 4, 1, 2],
            chord: 1.0,
        },
    ];
    shapes
        .iter()
        .map(|s| s.surface(1e-3).expect("a shape"))
        .collect()
}

fn shapes_of_space() -> Vec<Surface<3>> {
    let shapes = [
        Shape3::Sphere { radius: 0.3 },
        Shape3::Ellipsoid {
            radii: [0.5, 0.2, 0.1],
        },
        Shape3::Box {
            size: [0.5, 0.25, 0.75],
        },
        Shape3::Cylinder {
            radius: 0.2,
            height: 0.7,
        },
        Shape3::Cone {
            radius: 0.3,
            height: 0.5,
        },
        Shape3::Capsule {
            radius: 0.1,
            height: 0.6,
        },
        Shape3::Torus {
            major: 0.4,
            minor: 0.1,
        },
        Shape3::NacaWing {
            digits: [0, 0, 1, 2],
            chord: 0.5,
            span: 0.6,
        },
    ];
    shapes
        .iter()
        .map(|s| s.surface(4e-3).expect("a shape"))
        .collect()
}

fn primitives_in_the_plane<K: AnyKernels>(kernels: &K) {
    for surface in shapes_of_the_plane() {
        let frame = frame_around(&surface, 32);
        for (depth, fill) in [1, 3, 5].into_iter().zip(Fill::ALL) {
            let params = EmbedParams::new(depth, 0.02, fill);
            let surface = snapped(&surface, &frame, depth);
            let mesh = embedded(kernels, &surface, frame, &params);
            assert!(!mesh.links.is_empty(), "a surface without cuts");
        }
    }
}

fn primitives_in_space<K: AnyKernels>(kernels: &K) {
    for surface in shapes_of_space() {
        let frame = frame_around(&surface, 16);
        for (depth, fill) in [1, 2, 4].into_iter().zip(Fill::ALL) {
            let params = EmbedParams::new(depth, 0.02, fill);
            let surface = snapped(&surface, &frame, depth);
            let mesh = embedded(kernels, &surface, frame, &params);
            assert!(!mesh.links.is_empty(), "a surface without cuts");
        }
    }
}

fn regions() -> Vec<Region> {
    let shapes = [
        RegionShape::Box {
            lower: [0.1, -0.4, -0.2],
            upper: [0.5, -0.1, 0.2],
        },
        RegionShape::Ball {
            center: [-0.2, 0.3, 0.1],
            radius: 0.15,
        },
        RegionShape::Cylinder {
            from: [-0.4, -0.3, 0.0],
            to: [0.3, 0.4, 0.3],
            radius: 0.05,
        },
    ];
    let levels = [2, 4, 3];
    shapes
        .into_iter()
        .zip(levels)
        .map(|(shape, levels)| Region { shape, levels })
        .collect()
}

/// Cells of each level along a diagonal of the box, some of them beyond it.
fn with_spots<const D: usize>(params: EmbedParams, frame: &Frame<D>) -> EmbedParams {
    let of_level = |level: usize| {
        let along = (-2..7).map(|i| frame.root_cells.map(|n| ((n as i32 * i) << level) / 7));
        along.collect::<Vec<[i32; D]>>()
    };
    let cells = (1..params.levels).map(of_level).collect();
    let spots = Spots::new(frame, [false; D], cells);
    assert!(!spots.is_empty(), "spots inside the box");
    EmbedParams {
        spots: Arc::new(spots),
        ..params
    }
}

fn primitives_with_rules_and_regions<K: AnyKernels>(kernels: &K) {
    let rule = |patches: &[u16], levels: usize, reach: Reach| WallRule {
        patches: Some(patches.to_vec()),
        levels,
        reach,
    };
    let cylinder = Shape3::Cylinder {
        radius: 0.2,
        height: 0.5,
    };
    let cylinder = cylinder.surface(1e-3).expect("a cylinder");
    let params = EmbedParams {
        walls: vec![
            rule(&[1], 4, Reach::Near(0.02)),
            rule(&[0, 2], 2, Reach::Within(0.05)),
        ],
        regions: regions(),
        ..levels(4)
    };
    let frame = frame_around(&cylinder, 16);
    let params = with_spots(params, &frame);
    let mesh = embedded(kernels, &snapped(&cylinder, &frame, 4), frame, &params);
    assert!(mesh.graded, "patches of different levels");

    let wing = Shape2::Naca {
        digits: [2, 4, 1, 2],
        chord: 0.8,
    };
    let wing = wing.surface(1e-3).expect("a section");
    assert!(wing.patches.len() > 1, "{:?}", wing.patches);
    let params = EmbedParams {
        walls: vec![
            rule(&[0], 5, Reach::Within(0.02)),
            rule(&[1], 3, Reach::Near(0.1)),
        ],
        regions: regions(),
        ..levels(5)
    };
    let frame = frame_around(&wing, 32);
    let params = with_spots(params, &frame);
    let mesh = checked(kernels, &snapped(&wing, &frame, 5), frame, &params);
    assert!(mesh.graded, "patches of different levels");
}

fn nothing_at_all<K: AnyKernels>(kernels: &K) {
    for fill in Fill::ALL {
        let params = EmbedParams::new(3, 0.1, fill);
        let space = Soup::<3>::default().snapped(1);
        let mesh = checked(kernels, &space, lattice_frame([8, 4, 12], 3), &params);
        assert_eq!(mesh.forest.levels.len(), 1, "nothing to refine for");
        let plane = Soup::<2>::default().snapped(3);
        let mesh = checked(kernels, &plane, lattice_frame([4, 20], 3), &params);
        assert!(mesh.links.is_empty(), "nothing to cut");
    }
    // Regions are refined without a surface too.
    let params = EmbedParams {
        regions: regions(),
        ..levels(4)
    };
    let frame = Frame::new([-0.5; 3], 1.0 / 16.0, [16; 3]).expect("a box");
    let none = Snapped {
        lattice: frame.lattice(4),
        ..Soup::<3>::default().snapped(1)
    };
    let mesh = embedded(kernels, &none, frame, &params);
    assert_eq!(mesh.forest.levels.len(), 4, "by the ball");
}

fn larger_than_the_box<K: AnyKernels>(kernels: &K) {
    // The box is well inside, and the surface comes in at one corner.
    for (radius, cuts) in [(9.0, false), (1.0, true)] {
        let ball = Shape3::Sphere { radius }.surface(0.02).expect("a sphere");
        for fill in [Fill::NonZero, Fill::Zero] {
            let params = EmbedParams::new(3, 0.0, fill);
            let frame = unit_frame(8);
            let mesh = embedded(kernels, &snapped(&ball, &frame, 3), frame, &params);
            assert_eq!(!mesh.links.is_empty(), cuts, "radius {radius}");
        }
        let disc = Shape2::Circle { radius }.surface(0.001).expect("a circle");
        let frame = unit_frame(16);
        checked(kernels, &snapped(&disc, &frame, 3), frame, &levels(3));
    }
}

/// Rays along x start outside: what lies at lower x must count, what lies elsewhere must not.
fn beside_the_box<K: AnyKernels>(kernels: &K) {
    for axis in 0..3 {
        for side in [-1, 1] {
            let mut center = [6 * CELL + 3; 3];
            center[axis] += side * 14 * CELL;
            let mut soup = Soup::<3>::default();
            let radii = [4 * CELL, 3 * CELL + 1, 5 * CELL];
            let body = Bodies::cross(center, radii);
            soup.facets.extend(body.into_iter().map(|f| (f, 0)));
            let frame = lattice_frame([12; 3], 1);
            let mesh = checked(kernels, &soup.snapped(1), frame, &levels(1));
            assert_eq!(mesh.solid_at(0), 0, "beside the box");
        }
    }
}

/// A box of whole cells, away from the centres by a quarter: its cells can be counted.
fn few_huge_facets_over_many_blocks<K: AnyKernels>(kernels: &K) {
    let low = [3, 10, 21].map(|c| c * CELL + CELL / 4);
    let high = [120, 99, 127].map(|c| c * CELL + CELL / 4);
    let mut soup = Soup::<3>::default();
    soup.facets
        .extend(Bodies::cuboid(low, high).into_iter().map(|f| (f, 0)));
    let frame = lattice_frame([128; 3], 1);
    let mesh = embedded(kernels, &soup.snapped(1), frame, &levels(1));
    assert_eq!(mesh.solid_at(0), (120 - 3) * (99 - 10) * (127 - 21));

    let mut square = Soup::<2>::default();
    let edges = Bodies::cuboid([low[0], low[1]], [high[0], high[1]]);
    square.facets.extend(edges.into_iter().map(|f| (f, 0)));
    let frame = lattice_frame([128; 2], 1);
    let mesh = checked(kernels, &square.snapped(1), frame, &levels(1));
    assert_eq!(mesh.solid_at(0), (120 - 3) * (99 - 10));
}

fn few_huge_facets_over_many_levels<K: AnyKernels>(kernels: &K) {
    let low = [3, 10, 21].map(|c| c * CELL + CELL / 4);
    let high = [60, 49, 63].map(|c| c * CELL + CELL / 4);
    let mut soup = Soup::<3>::default();
    soup.facets
        .extend(Bodies::cuboid(low, high).into_iter().map(|f| (f, 0)));
    let frame = lattice_frame([4; 3], 5);
    let mesh = embedded(kernels, &soup.snapped(1), frame, &levels(5));
    assert_eq!(mesh.solid_at(4), (60 - 3) * (49 - 10) * (63 - 21));
}

/// A prism through most of the box, and hundreds of cubes of two cells beside its end, in lists of all lengths. With 7
/// levels the prism's facets are large on each level, with 9 beyond what 64 bits hold.
fn long_facets_among_small_ones<K: AnyKernels>(kernels: &K) {
    for depth in [7, 9] {
        let cells = 16 << (depth - 1);
        let place = |cells: i32| cells * CELL + CELL / 4;
        let mut soup = Soup::<3>::default();
        let mut solid = 0;
        let mut add = |low: [i32; 3], size: [i32; 3]| {
            let high = std::array::from_fn(|a| place(low[a] + size[a]));
            let cuboid = Bodies::cuboid(low.map(place), high).into_iter();
            soup.facets.extend(cuboid.map(|facet| (facet, 0)));
            solid += size.into_iter().map(|n| n as u64).product::<u64>();
        };
        add([5, 9, 14], [cells - 12, 3, 2]);
        for cube in 0..343 {
            let at = [cube % 7, cube / 7 % 7, cube / 49];
            add(at.map(|n| 17 + 4 * n), [2; 3]);
        }
        let frame = lattice_frame([16; 3], depth);
        let mesh = embedded(kernels, &soup.snapped(1), frame, &levels(depth));
        assert_eq!(mesh.solid_at(depth - 1), solid, "{depth} levels");
    }
}

/// Facets far larger than the box that cross it at an angle, in two patches.
fn slanted_huge_facets<K: AnyKernels>(kernels: &K) {
    // One face is normal to (1, 2, 3) and goes through a point in all the boxes.
    let corner = |k: i32, l: i32| {
        let away = [2 * k + 3 * l, -k, -l].map(|c| c << 22);
        std::array::from_fn(|a| away[a] + 12 * CELL + [3, 0, 7][a])
    };
    let apex = [-1 << 22, -2 << 22, -3 << 22];
    let mut soup = Soup::<3>::default();
    let facets = Bodies::simplex([corner(1, 1), corner(-2, 1), corner(1, -2), apex]);
    for (i, facet) in facets.into_iter().enumerate() {
        soup.facets.push((facet, i as u16));
    }
    let surface = soup.snapped(2);
    let mesh = checked(kernels, &surface, lattice_frame([24; 3], 1), &levels(1));
    assert!(!mesh.links.is_empty(), "they cross the box");
    checked(kernels, &surface, lattice_frame([8, 4, 4], 3), &levels(3));
    embedded(kernels, &surface, lattice_frame([96; 3], 1), &levels(1));
}

fn many_tiny_facets_in_few_cells<K: AnyKernels>(kernels: &K) {
    let ball = Shape3::Sphere { radius: 0.4 };
    let mut ball = ball.surface(2.5e-5).expect("a sphere");
    let facets = ball.facets.len();
    assert!((90_000..200_000).contains(&facets), "{facets} facets");
    ball.vertices.iter_mut().flatten().for_each(|x| *x += 0.5);
    for depth in [1, 2] {
        let frame = unit_frame(8 >> (depth - 1));
        let surface = snapped(&ball, &frame, depth);
        let left = surface.facets.len();
        assert!(left > 80_000, "{left} of {facets} after snapping");
        embedded(kernels, &surface, frame, &levels(depth));
    }
}

fn root_grids_of_any_shape<K: AnyKernels>(kernels: &K) {
    for root in [[4; 3], [12, 20, 28], [4, 36, 8], [60, 4, 4], [4, 4, 44]] {
        for depth in [1, 2] {
            let size = root.map(|n| (n as i32 * CELL) << (depth - 1));
            let mut soup = Soup::<3>::default();
            let center = size.map(|n| n / 2 + 11);
            let body = Bodies::cross(center, size.map(|n| n / 3 + 5));
            soup.facets.extend(body.into_iter().map(|f| (f, 0)));
            let frame = lattice_frame(root, depth);
            checked(kernels, &soup.snapped(1), frame, &levels(depth));
        }
    }
    for root in [[4; 2], [12, 52], [4, 68], [100, 4]] {
        for depth in [1, 2, 4] {
            let size = root.map(|n| (n as i32 * CELL) << (depth - 1));
            let mut soup = Soup::<2>::default();
            let [x, y] = size.map(|n| n / 3 + 5);
            let body = Bodies::cross(size.map(|n| n / 2 + 11), [x, y, 0]);
            soup.facets.extend(body.into_iter().map(|f| (f, 0)));
            let frame = lattice_frame(root, depth);
            let mesh = checked(kernels, &soup.snapped(1), frame, &levels(depth));
            let oracle = Oracle::new(&soup.snapped(1), [-71, 23]);
            solid_finest(&mesh, depth, &oracle).unwrap_or_else(|m| panic!("{m:?}"));
        }
    }
}

/// A body of a few finest cells far down in the smallest forest.
fn a_speck_in_one_root_block_on_twelve_levels<K: AnyKernels>(kernels: &K) {
    let depth = 12;
    let mut soup = Soup::<3>::default();
    let center = [3001, 5, 8190].map(|c| c * CELL + 9);
    let body = Bodies::cross(center, [2 * CELL, 3 * CELL + 1, CELL]);
    soup.facets.extend(body.into_iter().map(|f| (f, 0)));
    let frame = lattice_frame([4; 3], depth);
    let mesh = embedded(kernels, &soup.snapped(1), frame, &levels(depth));
    assert_eq!(mesh.forest.finest(), depth - 1, "levels");
    assert!(mesh.solid_at(depth - 1) > 4, "cells inside");

    let mut soup = Soup::<2>::default();
    let body = Bodies::cross([center[0], center[1]], [2 * CELL, 3 * CELL + 1, 0]);
    soup.facets.extend(body.into_iter().map(|f| (f, 0)));
    let frame = lattice_frame([4; 2], depth);
    let mesh = embedded(kernels, &soup.snapped(1), frame, &levels(depth));
    assert_eq!(mesh.forest.finest(), depth - 1, "levels");
}
