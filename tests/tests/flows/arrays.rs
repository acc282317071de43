//! Creeping flow through a cubic array of spheres, and the force by who moves.

use cutlink_mesher::{
    Surface,
    primitives::{Shape2, Shape3},
};
use cutlink_solver::{Motion, PatchCondition, WallScheme};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame};
use std::f64::consts::PI;

cutlink_tests::backend_test!(
    on_one_thread:
    drag_of_spheres_in_a_cubic_array if slow_tests,
    force_does_not_ask_who_moves
);

/// Moves a surface.
fn moved<const D: usize>(mut surface: Surface<D>, by: [f64; D]) -> Surface<D> {
    for vertex in &mut surface.vertices {
        for a in 0..D {
            vertex[a] += by[a];
        }
    }
    surface
}

/// Drag of a sphere in a periodic cube of `n` cells over 6 pi mu a U, U the mean of the velocity over the whole cube; and the force on it
/// over the one that drives the fluid.
fn sphere<K: AnyFlow>(kernels: &K, n: u32, share: f64, scheme: WallScheme) -> [f64; 2] {
    let side = f64::from(n);
    let radius = side * (0.75 * share / PI).cbrt();
    let shape = Shape3::Sphere { radius }.surface(0.01).expect("a sphere");
    let frame = Frame::new([0.0; 3], 1.0, [n; 3]).expect("a box");
    let surface = moved(
        shape,
        [0.5 * side + 0.13, 0.5 * side - 0.21, 0.5 * side + 0.07],
    );
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(1, 0.0, Fill::NonZero));
    let mut params = flows::params(&mesh, 0.2);
    params.patches = vec![PatchCondition::wall(scheme)];
    params.forces = true;
    let (viscosity, volume) = (params.viscosity, side.powi(3));
    // About 1e-3: Re below 0.1.
    let drive = 6.0 * PI * viscosity * radius * 3.0 * 1e-3 / volume;
    params.acceleration = [drive, 0.0, 0.0];
    let mut flow = flows::start(kernels, &mesh, params);
    flow.advance((0.7 * side * side / viscosity) as u64)
        .expect("steps");
    flow.check().expect("no divergence");
    let (mut flux, mut fluid) = (0.0, 0.0);
    flows::each_cell(
        &mesh,
        &flow.snapshot().expect("a snapshot"),
        |_, v, _, u| {
            flux += v * u[0];
            fluid += v;
        },
    );
    let last = flow.take_forces().expect("forces").pop().expect("a sample");
    // The mean pressure gradient would act on the sphere's volume too: the drag is of the whole cube.
    let drag = drive * volume;
    [
        drag / (6.0 * PI * viscosity * radius * flux / volume),
        last.patches[0][0] / (drive * fluid),
    ]
}

fn drag_of_spheres_in_a_cubic_array<K: AnyFlow>(kernels: &K) {
    // Zick & Homsy, J. Fluid Mech. 115 (1982) 13, table 2.
    for (share, expected) in [(0.064, 2.810), (0.216, 7.442)] {
        let wrong = |n, scheme| {
            let [drag, balance] = sphere(kernels, n, share, scheme);
            assert!((balance - 1.0).abs() < 2e-3, "{scheme} {n}: {balance}");
            (drag / expected - 1.0).abs()
        };
        let [coarse, fine] = [12, 24].map(|n| wrong(n, WallScheme::Linear));
        let order = (coarse / fine).log2();
        assert!(
            fine < 0.02 && order > 1.6,
            "{share}: order {order}: {coarse} {fine}"
        );
    }
}

/// Force on a circle when it and the fluid of a periodic square begin to move against one another, by who does.
fn pushed<K: AnyFlow>(kernels: &K, speed: f64, body_moves: bool) -> f64 {
    let circle = Shape2::Circle { radius: 6.3 }
        .surface(1e-3)
        .expect("a circle");
    let frame = Frame::new([0.0; 2], 1.0, [48; 2]).expect("a box");
    let surface = moved(circle, [24.13, 23.79]);
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(1, 0.0, Fill::NonZero));
    let mut params = flows::params(&mesh, 0.05);
    let (wind, wall) = if body_moves {
        (0.0, -speed)
    } else {
        (speed, 0.0)
    };
    params.patches = vec![PatchCondition::Wall {
        scheme: WallScheme::Linear,
        motion: Motion::Uniform([wall, 0.0]),
    }];
    params.forces = true;
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|_| (1.0, [wind, 0.0])).expect("a start");
    flow.advance(20).expect("steps");
    let forces = flow.take_forces().expect("forces");
    forces.iter().map(|f| f.patches[0][0]).sum::<f64>() / (forces.len() as f64 * speed)
}

fn force_does_not_ask_who_moves<K: AnyFlow>(kernels: &K) {
    let apart = [0.04, 0.01].map(|speed| {
        let [wind, body] = [false, true].map(|moves| pushed(kernels, speed, moves));
        assert!(wind > 0.0, "{wind}");
        (body / wind - 1.0).abs()
    });
    assert!(apart[1] < 0.01 && apart[0] < 0.04, "{apart:?}");
}
