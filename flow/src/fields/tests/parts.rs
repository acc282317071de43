//! Forces on the facets of a body in flows with known pressure and friction.

use super::snapshot;
use crate::fields::{Body, WallForce};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};
use cutlink_meshing::mesh::build::embedded;
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, Les, Params, PatchCondition, Precision,
    Snapshot, WallScheme,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};
use std::f64::consts::PI;

const VISCOSITY: f64 = 0.1;

/// The forces on a body in a box of root cells of 0.25 m, and the facets that they are of.
fn forces<const D: usize>(
    mut surface: Surface<D>,
    cells: u32,
    most: usize,
    flow: impl Fn(&Mesh<D>) -> Snapshot<D>,
) -> (WallForce, usize)
where
    Facet<D>: Exact<D>,
{
    for p in &mut surface.vertices {
        *p = p.map(|x| 0.25 * (x + 0.5 * f64::from(cells)));
    }
    let frame = Frame::new([0.0; D], 0.25, [cells; D]).expect("a box");
    let mut params = EmbedParams::new(2, 0.5, Fill::NonZero);
    params.robust = false;
    let (mesh, snapped) = embedded(&surface, frame, &params).expect("a mesh");
    let params = Params {
        lattice: if D == 2 {
            LatticeKind::D2Q9
        } else {
            LatticeKind::D3Q19
        },
        collision: Collision::Bgk,
        les: Les::None,
        precision: Precision::F32,
        viscosity: VISCOSITY,
        acceleration: [0.0; D],
        faces: [[FaceCondition::FreeSlip; 2]; D],
        modeled: Vec::new(),
        patches: vec![PatchCondition::wall(WallScheme::Linear)],
        interpolation: Interpolation::Cubic,
        moment_center: [0.0; D],
        forces: true,
        variations: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
    };
    let body = Body::new(&mesh, &snapped, &params, most);
    (body.forces(&mesh, &flow(&mesh))[0], body.facets().1.len())
}

fn near(found: f64, wanted: f64, off: f64) {
    assert!((found - wanted).abs() < off, "{found} is not {wanted}");
}

/// One third of the drag 6 π μ R U of a sphere in creeping flow is pressure (Stokes 1851), with fewer facets too.
#[test]
fn a_third_of_stokes_drag_is_pressure() {
    let all = stokes_drag(usize::MAX);
    let few = stokes_drag(all / 4);
    assert!(few < all / 2, "{few} of {all}");
}

/// Checks the drag in creeping flow. Returns the number of facets.
fn stokes_drag(most: usize) -> usize {
    let (radius, speed, cells) = (5.0, 1e-3, 24);
    let sphere = Shape3::Sphere { radius }.body(0.025).expect("a sphere");
    let (force, facets) = forces(sphere, cells, most, |mesh| {
        snapshot(mesh, 1, |x| {
            let r = x.map(|x| x - 0.5 * f64::from(cells));
            let far = r.iter().map(|x| x * x).sum::<f64>().sqrt();
            let k = radius / far;
            let own = 1.0 - 0.75 * k - 0.25 * k.powi(3);
            let along = 0.75 * (k.powi(3) - k) * r[0] / (far * far);
            let u: [f64; 3] =
                std::array::from_fn(|a| speed * (if a == 0 { own } else { 0.0 } + along * r[a]));
            let pressure = -1.5 * VISCOSITY * speed * radius * r[0] / far.powi(3);
            (1.0 + 3.0 * pressure, u)
        })
    });
    let unit = PI * VISCOSITY * radius * speed;
    near(force.pressure[0] / unit, 2.0, 0.06);
    near(force.friction[0] / unit, 4.0, 0.16);
    for a in 1..3 {
        near(force.pressure[a] / unit, 0.0, 0.01);
        near(force.friction[a] / unit, 0.0, 0.01);
    }
    near(force.area / (4.0 * PI * radius * radius), 1.0, 0.01);
    facets
}

/// A pressure that increases along x exerts a force on a circle of its slope times the area (Gauss); a velocity along x
/// that increases by κ with the distance from the circle exerts a friction of ρ ν κ times the extent of the facets
/// along x: π R of 2 π R.
#[test]
fn a_circle_has_the_forces_computed_by_hand() {
    let (radius, cells, slope, rise) = (6.0, 32, 1e-3, 1e-3);
    let circle = Shape2::Circle { radius }.body(0.01).expect("a circle");
    let (force, _) = forces(circle, cells, usize::MAX, |mesh| {
        snapshot(mesh, 1, |x| {
            let r = x.map(|x| x - 0.5 * f64::from(cells));
            let far = r[0].hypot(r[1]);
            (1.0 + 3.0 * slope * r[1], [rise * (far - radius), 0.0])
        })
    });
    near(
        force.pressure[1] / (-slope * PI * radius * radius),
        1.0,
        5e-3,
    );
    near(force.pressure[0], 0.0, 1e-4);
    near(
        force.friction[0] / (VISCOSITY * rise * PI * radius),
        1.0,
        0.01,
    );
    near(force.friction[1], 0.0, 1e-5);
    near(force.area / (2.0 * PI * radius), 1.0, 1e-3);
}
