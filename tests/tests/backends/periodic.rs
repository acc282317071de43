//! Boxes that are periodic along some axes: cut links across their faces, refinement alike on both sides.

use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::Shape3,
    repeat::repeat,
    snap::{Snapped, snap},
};
use cutlink_tests::{
    backend_test,
    backends::{AnyKernels, conform, random_cases},
    bodies::map_lattice,
    chains::{Bodies, Case, Chains, Sizes, cases},
    compare::{Mismatch, against_oracle, cells, cells_through, same_cells},
    oracle::{Determinants, Oracle, Space},
    rules::{Rules, rules},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, MeshViolation, VoxelError, check_periodic, embed,
    kernels::MeshKernels, prepare, validate,
};
use proptest::prelude::*;
use std::cell::Cell;

backend_test!(
    plane_at_random,
    space_at_random,
    plane_by_rules,
    a_moved_body_gives_the_same_mesh,
    ends_of_a_body_are_no_walls,
    a_body_at_one_face_is_a_wall_for_the_other,
);

/// Links across faces among all that were compared.
fn run<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    count: u32,
    sizes: Sizes,
    by_rules: bool,
) -> u64
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
    Bodies: Chains<D>,
{
    let across = Cell::new(0);
    let each = |(mut case, rules, axes): (Case<D>, Rules, u8)| {
        if by_rules {
            case.params = rules.params(&case);
        }
        // At most two axes: copies are as many as the facets of a lattice of them.
        case.params.periodic = std::array::from_fn(|a| axes >> a & 1 == 1 && a < 2);
        let surface = case.continued();
        let fail = |text: String| TestCaseError::fail(text);
        let mesh = conform(kernels, &surface, case.frame, &case.params).map_err(fail)?;
        check_periodic(&mesh).map_err(|e| fail(format!("{e}")))?;
        let oracle = Oracle::new(&surface, case.ray);
        let seen = against_oracle(&mesh, case.params.levels, &oracle);
        seen.map_err(|m| fail(format!("oracle: {m:?}")))?;
        across.set(across.get() + links_across(&mesh));
        Ok(())
    };
    random_cases(count, &(cases(sizes), rules(), 1..4u8), each);
    across.get()
}

fn links_across<const D: usize>(mesh: &Mesh<D>) -> u64 {
    let mut count = 0;
    for ((level, coord), state) in cells(mesh) {
        let last = mesh.frame.root_cells.map(|n| ((n as i32) << level) - 1);
        for (direction, ..) in state.links {
            let step = cutlink_amr::dims::step::<D>(direction);
            let out = |a: usize| coord[a] + step[a] < 0 || coord[a] + step[a] > last[a];
            count += u64::from((0..D).any(out));
        }
    }
    count
}

fn plane_at_random<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (1, 3),
        bodies: 3,
        far: false,
    };
    let across = run::<2, K>(kernels, 400, sizes, false);
    assert!(across > 3000, "{across} links across faces");
}

fn space_at_random<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (1, 2),
        bodies: 2,
        far: false,
    };
    let across = run::<3, K>(kernels, 60, sizes, false);
    assert!(across > 2500, "{across} links across faces");
}

fn plane_by_rules<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (2, 4),
        bodies: 3,
        far: false,
    };
    let across = run::<2, K>(kernels, 200, sizes, true);
    assert!(across > 500, "{across} links across faces");
}

const LEVELS: usize = 3;

fn space(periodic: [bool; 3]) -> (Frame<3>, EmbedParams) {
    let frame = Frame::new([0.0; 3], 1.0, [32, 24, 16]).expect("a box");
    let params = EmbedParams {
        periodic,
        ..EmbedParams::new(LEVELS, 1.5, Fill::NonZero)
    };
    (frame, params)
}

/// A flattened sphere about the middle of the box.
fn body(frame: &Frame<3>) -> Snapped<3> {
    let shape: Shape3 = Shape3::Sphere { radius: 4.3 };
    let mut surface = shape.surface(0.05).expect("a sphere");
    for v in &mut surface.vertices {
        *v = [v[0] + 16.1, 0.7 * v[1] + 12.2, 0.9 * v[2] + 8.3];
    }
    snap(&surface, frame.lattice(LEVELS)).expect("in range")
}

fn a_moved_body_gives_the_same_mesh<K: AnyKernels>(kernels: &K) {
    let (frame, params) = space([true; 3]);
    let extent = frame.extent(LEVELS);
    let unit = extent[0] / 32;
    let middle = conform(kernels, &body(&frame), frame, &params).expect("a mesh");
    // By half a period, and by whole root blocks, so that the forest moves along.
    for by in [[16, 12, 8], [-16, 0, 4], [0, -12, 0], [4, 8, -8]] {
        let mut moved = map_lattice(&body(&frame), |v| {
            std::array::from_fn(|a| v[a] + by[a] * unit)
        });
        let passes = |a: &usize| {
            let of = |v: &[i32; 3]| v[*a] < 0 || v[*a] > extent[*a];
            moved.vertices.iter().any(of)
        };
        let axes = (0..3).filter(passes).count();
        let added = repeat(&mut moved, extent, [true; 3]).expect("in range");
        assert!(axes > 0, "the faces go through the body");
        assert_eq!(added, (1 << axes) - 1, "copies of {by:?}");
        let there = conform(kernels, &moved, frame, &params).expect("a mesh");
        let place = |level: usize, at: [i32; 3]| {
            std::array::from_fn(|a| {
                let n = (frame.root_cells[a] as i32) << level;
                (at[a] + (by[a] << level)).rem_euclid(n)
            })
        };
        let expected = cells_through(&middle, place, |step| step);
        assert_eq!(
            same_cells(&expected, &cells(&there)),
            Ok(()),
            "moved by {by:?}"
        );
        assert_eq!(there.links.len(), middle.links.len(), "links");
        assert!(links_across(&there) > 20, "links across the faces");
        // A comparator that sees a link gone.
        let mut wrong = cells(&there);
        let cut = wrong.values_mut().find(|cell| !cell.links.is_empty());
        cut.expect("a boundary cell").links[0].1 ^= 1;
        assert!(
            same_cells(&expected, &wrong).is_err(),
            "one bit of a distance"
        );
    }
}

/// A cylinder along z of a length about the middle of the box.
fn cylinder(length: f64) -> Surface<3> {
    let shape = Shape3::Cylinder {
        radius: 5.0,
        height: length,
    };
    let mut surface = shape.surface(0.05).expect("a cylinder");
    for v in &mut surface.vertices {
        *v = [v[0] + 16.1, v[1] + 12.2, v[2] + 8.0];
    }
    surface
}

fn ends_of_a_body_are_no_walls<K: AnyKernels>(kernels: &K) {
    for fill in [Fill::NonZero, Fill::Zero] {
        let (frame, mut params) = space([false, false, true]);
        params.fill = fill;
        // Ends on the faces, beyond them by less than a cell, and far out.
        let meshes = [16.0, 17.3, 50.0].map(|length| {
            let (snapped, _) =
                prepare(&Host, &cylinder(length), &frame, &params).expect("in range");
            let mesh = conform(kernels, &snapped, frame, &params).expect("a mesh");
            check_periodic(&mesh).expect("the same on both faces");
            mesh
        });
        let all = meshes.each_ref().map(cells);
        assert_eq!(same_cells(&all[0], &all[1]), Ok(()), "{fill:?}");
        assert_eq!(same_cells(&all[0], &all[2]), Ok(()), "{fill:?}");
        assert!(links_across(&meshes[0]) > 500, "links through the faces");
        // The finest cells at both faces and any layer between: the same links, as the flow has no ends.
        let layer = |z: i32| {
            let of = all[0]
                .iter()
                .filter(move |((level, at), _)| *level == 2 && at[2] == z);
            of.map(|((_, [x, y, _]), cell)| ((*x, *y), cell.links.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(layer(0), layer(30), "{fill:?}: at the lower face");
        assert_eq!(layer(63), layer(30), "{fill:?}: at the upper face");
    }
}

fn a_body_at_one_face_is_a_wall_for_the_other<K: AnyKernels>(kernels: &K) {
    let frame = Frame::new([0.0; 2], 1.0, [16, 8]).expect("a box");
    let params = EmbedParams {
        periodic: [true, true, false],
        ..EmbedParams::new(1, 0.0, Fill::NonZero)
    };
    let block = |low: [f64; 2], high: [f64; 2]| {
        let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
        let ring = (0..4).map(|i| [i, (i + 1) % 4]).collect();
        Surface::<2>::single_patch(corners.to_vec(), ring, "block")
    };
    let on_face = block([0.0, 2.0], [4.0, 6.0]);
    let (snapped, _) = prepare(&Host, &on_face, &frame, &params).expect("in range");
    let mesh = conform(kernels, &snapped, frame, &params).expect("a mesh");
    check_periodic(&mesh).expect("its side is the wall");
    let all = cells(&mesh);
    let left: Vec<_> = all[&(0, [15, 3])].links.iter().map(|link| link.1).collect();
    assert_eq!(left, [0.5f32.to_bits(); 3], "seen from beyond the face");
    // Higher at one face than at the other.
    let slanted = Surface::<2>::single_patch(
        vec![[-3.0, 2.0], [19.0, 2.0], [19.0, 6.0], [-3.0, 3.0]],
        (0..4).map(|i| [i, (i + 1) % 4]).collect(),
        "wedge",
    );
    let (snapped, _) = prepare(&Host, &slanted, &frame, &params).expect("in range");
    let mesh = embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh");
    let refused = check_periodic(&mesh).expect_err("open steps at the face");
    let VoxelError::NotPeriodic { axis, position } = &refused else {
        panic!("{refused}");
    };
    assert_eq!((*axis, position[0]), ("x", 0.5), "{refused}");
    assert!(
        matches!(validate(&mesh), Err(MeshViolation::MissingLink { .. })),
        "seen by the check too"
    );
    let oracle = Oracle::new(&snapped, [7, 3]);
    assert!(
        matches!(
            against_oracle(&mesh, 1, &oracle),
            Err(Mismatch::Existence { .. })
        ),
        "the oracle takes the surface as it is"
    );
}
