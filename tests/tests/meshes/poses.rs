//! Volume errors do not depend on the pose of the body.

use cutlink_mesher::{
    Surface, health,
    placement::{Axis, Fit, Placement, Rotation},
    primitives::Shape3,
    snap::snap,
};
use cutlink_tests::{
    bodies::{levels, mesh, six_volumes, unit_frame},
    scans, worst,
};

const DEPTH: usize = 3;
const ANGLES: [f64; 5] = [0.0, 30.0, 45.0, 90.0, 180.0];

/// The surface turned and put off the middle of the unit box.
fn posed(surface: &Surface<3>, axes: &[Axis], degrees: f64) -> Surface<3> {
    let placement = Placement {
        rotate: axes
            .iter()
            .map(|&axis| Rotation { axis, degrees })
            .collect(),
        translate: vec![0.5023, 0.4971, 0.5009],
        ..Placement::default()
    };
    let map = placement.resolve_surface(surface).expect("a rotation");
    let mut turned = surface.clone();
    map.apply_surface(&mut turned);
    turned
}

/// Volume error over area and finest spacing: 1 would be a layer of cells too many.
fn layers(surface: &Surface<3>, volume: f64) -> f64 {
    let frame = unit_frame(32);
    let health = health::check(surface);
    assert!(health.closed(), "the body is closed");
    let snapped = snap(surface, frame.lattice(DEPTH)).expect("in the box");
    let exact = six_volumes(&snapped) as f64 / 6.0 * frame.lattice(DEPTH).unit.powi(3);
    assert!(
        (exact / health.volume - 1.0).abs() < 1e-3,
        "snapping keeps the volume"
    );
    let mesh = mesh(&snapped, frame, &levels(DEPTH));
    let dx = frame.dx_at(DEPTH - 1);
    (mesh.solid_at(DEPTH - 1) as f64 * dx.powi(3) - volume) / (health.area * dx)
}

/// Errors in ten poses: about one axis, and about two.
fn errors(surface: &Surface<3>) -> Vec<f64> {
    let volume = health::check(surface).volume;
    let mut all = Vec::new();
    for axes in [&[Axis::Z][..], &[Axis::X, Axis::Y]] {
        for degrees in ANGLES {
            all.push(layers(&posed(surface, axes, degrees), volume));
        }
    }
    all
}

/// In every pose less than so much of a layer of cells is in error.
fn assert_below(errors: &[f64], limit: f64) {
    let worst = worst(errors.iter().map(|e| e.abs()));
    assert!(worst <= limit, "{worst} of a layer of cells: {errors:?}");
}

fn cube(edge: f64) -> Surface<3> {
    Shape3::Box { size: [edge; 3] }
        .surface(1e-4)
        .expect("a cube")
}

/// A tenth of a layer is 1 % of this cube's volume.
const LIMIT: f64 = 0.1;

#[test]
fn a_cube() {
    assert_below(&errors(&cube(0.5)), LIMIT);
}

#[test]
fn a_sphere() {
    let sphere = Shape3::Sphere { radius: 0.3 }
        .surface(1e-5)
        .expect("a sphere");
    assert_below(&errors(&sphere), 0.005);
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn a_machined_part() {
    let mut part = scans::read("broken/manifold__72214.stl");
    let fit = Placement {
        fit: Some(Fit::Longest(0.5)),
        ..Placement::default()
    };
    let map = fit.resolve_surface(&part).expect("a part");
    map.apply_surface(&mut part);
    assert_below(&errors(&part), LIMIT);
}

#[test]
#[should_panic(expected = "of a layer of cells")]
fn a_quarter_of_a_layer_too_many_is_noticed() {
    let grown = cube(0.5 + 0.5 * unit_frame::<3>(32).dx_at(DEPTH - 1));
    assert_below(&[layers(&posed(&grown, &[Axis::Z], 30.0), 0.125)], LIMIT);
}
