//! Mass and inertia against formulas, poses against Rodrigues' rotation.

use super::worst;
use cutlink_mesher::{
    Surface,
    primitives::{Shape2, Shape3},
    rigid::{Inertia, Pose, Quaternion, RigidError},
};
use std::f64::consts::{FRAC_PI_2, PI};

fn moved<const D: usize>(surface: &Surface<D>, pose: &Pose<D>) -> Surface<D> {
    Surface {
        vertices: pose.apply_all(surface.vertices.iter().copied()).collect(),
        ..surface.clone()
    }
}

/// The largest difference of two tensors, relative to the trace of the second.
fn difference(found: &[[f64; 3]; 3], expected: &[[f64; 3]; 3]) -> f64 {
    let trace = expected[0][0] + expected[1][1] + expected[2][2];
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    worst(pairs.map(|(a, b)| (a - b).abs() / trace))
}

/// By Rodrigues' formula: v cos + (k × v) sin + k (k·v) (1 - cos).
fn rodrigues(axis: [f64; 3], angle: f64, v: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = angle.sin_cos();
    let along: f64 = (0..3).map(|a| axis[a] * v[a]).sum();
    std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        let cross = axis[b] * v[c] - axis[c] * v[b];
        v[a] * cos + cross * sin + axis[a] * along * (1.0 - cos)
    })
}

const AXIS: [f64; 3] = [2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0];

#[test]
fn a_box_has_the_moments_of_a_box() {
    let size = [1.5, 0.4, 0.7];
    let body = Shape3::Box { size }.surface(1e-3).expect("a box");
    let density = 2.5;
    let of = Inertia::of(&body, density).expect("closed");
    let mass = density * 1.5 * 0.4 * 0.7;
    assert!((of.mass / mass - 1.0).abs() < 1e-14, "{of:?}");
    let square = size.map(|s| s * s);
    let moment = |a: usize, b: usize| mass / 12.0 * (square[a] + square[b]);
    let expected = [
        [moment(1, 2), 0.0, 0.0],
        [0.0, moment(0, 2), 0.0],
        [0.0, 0.0, moment(0, 1)],
    ];
    assert!(difference(&of.tensor, &expected) < 1e-14, "{of:?}");
    // Elsewhere and turned: R I Rᵀ about the centre, which moves along.
    let angle = 0.8;
    let pose = Pose {
        center: [30.0, -20.0, 5.0],
        rotation: Quaternion::from_vector(AXIS.map(|k| k * angle)),
    };
    let there = Inertia::of(&moved(&body, &pose), density).expect("closed");
    let far = worst((0..3).map(|a| (there.center[a] - pose.center[a]).abs()));
    assert!(far < 1e-13, "{there:?}");
    let axes: [[f64; 3]; 3] = std::array::from_fn(|k| {
        let unit = std::array::from_fn(|a| f64::from(u8::from(a == k)));
        rodrigues(AXIS, angle, unit)
    });
    let entry = |a: usize, b: usize| -> f64 {
        (0..3)
            .map(|k| axes[k][a] * expected[k][k] * axes[k][b])
            .sum()
    };
    let turned = std::array::from_fn(|a| std::array::from_fn(|b| entry(a, b)));
    assert!(difference(&there.tensor, &turned) < 1e-13, "{there:?}");
    let mut off = expected;
    off[0][1] = f64::NAN;
    assert!(difference(&off, &expected).is_nan(), "NaN is seen");
}

#[test]
fn an_ellipsoid_has_the_moments_of_an_ellipsoid() {
    let radii = [1.2, 0.8, 0.5];
    let found = [1e-2, 1e-3].map(|deviation| {
        let body = Shape3::Ellipsoid { radii }.surface(deviation);
        let of = Inertia::of(&body.expect("an ellipsoid"), 3.0).expect("closed");
        let mass = 3.0 * 4.0 / 3.0 * PI * 1.2 * 0.8 * 0.5;
        let moment = |a: usize, b: usize| mass / 5.0 * (radii[a] * radii[a] + radii[b] * radii[b]);
        let expected = [
            [moment(1, 2), 0.0, 0.0],
            [0.0, moment(0, 2), 0.0],
            [0.0, 0.0, moment(0, 1)],
        ];
        [
            (of.mass / mass - 1.0).abs(),
            difference(&of.tensor, &expected),
        ]
    });
    // Inscribed facets: the error is in proportion to the deviation.
    for n in 0..2 {
        assert!(found[0][n] < 0.05 && found[1][n] < 0.005, "{found:?}");
        assert!(found[1][n] < 0.2 * found[0][n], "{found:?}");
    }
}

#[test]
fn plane_bodies_have_one_moment() {
    let body = Shape2::Rectangle { size: [3.0, 1.0] }.surface(1e-3);
    let body = body.expect("a rectangle");
    let pose = Pose {
        center: [7.0, -2.0],
        rotation: Quaternion::about_z(0.3),
    };
    let of = Inertia::of(&moved(&body, &pose), 2.0).expect("closed");
    assert!((of.mass - 6.0).abs() < 1e-13, "{of:?}");
    let moment = 6.0 / 12.0 * (9.0 + 1.0);
    assert!((of.tensor[2][2] - moment).abs() < 1e-12, "{of:?}");
    let others = of.tensor.iter().flatten().filter(|&&x| x != 0.0).count();
    assert_eq!(others, 1, "{of:?}");
    let far = worst((0..2).map(|a| (of.center[a] - pose.center[a]).abs()));
    assert!(far < 1e-13, "{of:?}");
}

#[test]
fn what_has_no_mass_is_refused() {
    let body = Shape3::Box { size: [1.0; 3] }.surface(1e-3).expect("a box");
    let mut open = body.clone();
    open.facets.pop();
    open.facet_patch.pop();
    let found = Inertia::of(&open, 1.0);
    assert_eq!(found, Err(RigidError::Open { edges: 3 }));
    let mut inward = body.clone();
    inward.facets.iter_mut().for_each(|f| f.swap(0, 1));
    let found = Inertia::of(&inward, 1.0);
    assert!(
        matches!(found, Err(RigidError::Inward { volume }) if volume < -0.9),
        "{found:?}"
    );
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = Inertia::of(&body, density);
        assert!(
            matches!(found, Err(RigidError::Density { .. })),
            "{found:?}"
        );
    }
    let nothing = Surface::<3>::single_patch(Vec::new(), Vec::new(), "none");
    assert_eq!(
        Inertia::of(&nothing, 1.0),
        Err(RigidError::Open { edges: 0 })
    );
}

#[test]
fn poses_turn_as_rodrigues_does() {
    let point = [0.3, -1.1, 0.7];
    for angle in [0.0, 1e-9, 1e-3, 0.5, 2.0, 3.1] {
        let pose = Pose {
            center: [1.0, 2.0, 3.0],
            rotation: Quaternion::from_vector(AXIS.map(|k| k * angle)),
        };
        let found = pose.apply(point);
        let turned = rodrigues(AXIS, angle, point);
        let off = worst((0..3).map(|a| (found[a] - pose.center[a] - turned[a]).abs()));
        assert!(off < 1e-15 * 8.0, "{angle}: {off:e}");
        let back = pose.rotation.vector();
        let off = worst((0..3).map(|a| (back[a] - AXIS[a] * angle).abs()));
        assert!(off < 1e-14, "{angle}: {back:?}");
        let same: Vec<_> = pose.apply_all([point].into_iter()).collect();
        assert_eq!(same[0].map(f64::to_bits), found.map(f64::to_bits));
    }
}

#[test]
fn steps_of_a_steady_turn_add_up() {
    // Constant velocities: exact, whatever the step.
    let mut pose = Pose::at([0.5, -0.5, 2.0]);
    let (velocity, spin) = ([0.2, 0.1, -0.3], AXIS.map(|k| 1.7 * k));
    let steps = 10_000;
    for _ in 0..steps {
        pose = pose.advance(velocity, spin, 1.0 / f64::from(steps));
    }
    let once = Pose::at([0.5, -0.5, 2.0]).advance(velocity, spin, 1.0);
    let off = worst((0..4).map(|a| (pose.rotation.0[a] - once.rotation.0[a]).abs()));
    assert!(off < 1e-12, "{off:e}");
    let off = worst((0..3).map(|a| (pose.center[a] - once.center[a]).abs()));
    assert!(off < 1e-12, "{off:e}");
    let plane = Pose::at([0.0; 2]).advance([1.0, 0.0], [0.0, 0.0, FRAC_PI_2], 1.0);
    assert!((plane.angle() - FRAC_PI_2).abs() < 1e-15, "{plane:?}");
    let corner = plane.apply([1.0, 0.0]);
    assert!(
        (corner[0] - 1.0).abs() < 1e-15 && (corner[1] - 1.0).abs() < 1e-15,
        "{corner:?}"
    );
    // Two turns about different axes: the second one about the space's axis.
    let first = Quaternion::from_vector([FRAC_PI_2, 0.0, 0.0]);
    let both = Quaternion::about_z(FRAC_PI_2).after(first);
    let found = both.rotate([0.0, 1.0, 0.0]);
    assert!((found[2] - 1.0).abs() < 1e-15, "{found:?}");
    let back = both.inverse().rotate(found);
    assert!((back[1] - 1.0).abs() < 1e-15, "{back:?}");
}
