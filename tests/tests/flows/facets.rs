//! Pressure and shear on the facets of a wall, against what is known there and against the forces by momentum exchange.

use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_solver::{
    FaceCondition, Motion, Params, PatchCondition, Snapshot, WallScheme,
    fields::{WallPlace, wall_state},
    kernels::FlowKernels,
};
use cutlink_tests::{
    backend_test, bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

backend_test!(
    shear_between_cylinders,
    force_on_a_circle,
    force_on_a_sphere
);

/// Middle, outward normal and measure of each facet, in root cells.
fn places<const D: usize>(surface: &Surface<D>) -> Vec<(WallPlace<D>, f64)> {
    let place = |f: usize| {
        let corners = surface.corners(f);
        let edge =
            |k: usize| -> [f64; D] { std::array::from_fn(|a| corners[k][a] - corners[0][a]) };
        let mut area: [f64; D] = [0.0; D];
        if D == 2 {
            (area[0], area[1]) = (edge(1)[1], -edge(1)[0]);
        } else {
            let (e, g) = (edge(1), edge(D - 1));
            for a in 0..D {
                let (b, c) = ((a + 1) % D, (a + 2) % D);
                area[a] = 0.5 * (e[b] * g[c] - e[c] * g[b]);
            }
        }
        let size = area.iter().map(|x| x * x).sum::<f64>().sqrt();
        let at = std::array::from_fn(|a| corners.iter().map(|p| p[a]).sum::<f64>() / D as f64);
        let normal = area.map(|x| x / size);
        (WallPlace { at, normal }, size)
    };
    (0..surface.facets.len()).map(place).collect()
}

/// The force of pressure, and that of shear.
fn integral<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    surface: &Surface<D>,
    viscosity: f64,
) -> [[f64; D]; 2] {
    let mut sum = [[0.0; D]; 2];
    for (place, size) in places(surface) {
        let state = wall_state(mesh, snapshot, viscosity, &place, |_| [0.0; D], false);
        let state = state.expect("fluid in front of the body");
        for a in 0..D {
            sum[0][a] -= size * place.normal[a] * (state.density - 1.0) / 3.0;
            sum[1][a] += size * state.shear[a];
        }
    }
    sum
}

/// Circular Couette flow between a rotating inner cylinder and an outer one at rest: shear 2 ρ ν ω R₁² R₂² / (R₂² - R₁²) / r².
fn shear_between_cylinders<K: AnyFlow>(kernels: &K) {
    let error = |cells: u32| {
        let n = f64::from(cells);
        let (inner, outer, omega) = (0.2 * n, 0.43 * n, 0.4 / n / n);
        let middle = [0.5 * n + 0.13, 0.5 * n - 0.21];
        let ring = |radius: f64, turned: bool| {
            let mut circle = Shape2::Circle { radius }.body(0.01).expect("a circle");
            for p in &mut circle.vertices {
                *p = [p[0] + middle[0], p[1] + middle[1]];
            }
            if turned {
                circle.facets.iter_mut().for_each(|f| f.swap(0, 1));
            }
            circle
        };
        let [hub, shell] = [ring(inner, true), ring(outer, false)];
        let mut both = shell.clone();
        let first = both.vertices.len() as u32;
        both.vertices.extend(&hub.vertices);
        both.facet_patch = vec![0; both.facets.len()];
        both.facets
            .extend(hub.facets.iter().map(|f| f.map(|v| v + first)));
        both.facet_patch.resize(both.facets.len(), 1);
        both.patches = vec!["shell".into(), "hub".into()];
        let frame = Frame::new([0.0; 2], 1.0, [cells; 2]).expect("a box");
        let mesh = bodies::mesh_of(&both, frame, &EmbedParams::new(1, 0.0, Fill::Zero));
        let mut params = flows::params(&mesh, 0.1);
        let viscosity = params.viscosity;
        let scheme = WallScheme::Linear;
        let motion = Motion::Rotation {
            center: middle,
            omega: [0.0, 0.0, omega],
        };
        params.patches = vec![
            PatchCondition::wall(scheme),
            PatchCondition::Wall { scheme, motion },
        ];
        let (r, s) = (inner * inner, outer * outer);
        let swirl = omega * r / (s - r);
        let exact = |x: [f64; 2]| {
            let arm = [x[0] - middle[0], x[1] - middle[1]];
            let rate = swirl * (s / (arm[0] * arm[0] + arm[1] * arm[1]) - 1.0);
            [-rate * arm[1], rate * arm[0]]
        };
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|x| (1.0, exact(x))).expect("a start");
        flow.advance((2.0 * n * n / viscosity * 0.05) as u64)
            .expect("steps");
        let snapshot = flow.snapshot().expect("a snapshot");
        let mut most = [0.0; 2];
        for (k, (wall, motion)) in [(&shell, Motion::Uniform([0.0; 2])), (&hub, motion)]
            .into_iter()
            .enumerate()
        {
            for (mut place, _) in places(wall) {
                // The fluid is on the inner side of both chains.
                place.normal = place.normal.map(|x| -x);
                let moves = |x| motion.velocity_at(x);
                let state = wall_state(&mesh, &snapshot, viscosity, &place, moves, false);
                let state = state.expect("fluid in front of the wall");
                let radius = if k == 0 { outer } else { inner };
                let truth = 2.0 * viscosity * swirl * s / (radius * radius);
                // With the rotation on the shell, against it on the hub.
                let along = [-place.normal[1], place.normal[0]];
                let found = state.shear[0] * along[0] + state.shear[1] * along[1];
                most[k] = worst([most[k], (found / state.density / truth + 1.0).abs()]);
            }
        }
        most
    };
    let [coarse, fine] = [error(32), error(64)];
    assert!(fine[0] < 0.025 && fine[1] < 0.025, "{coarse:?} {fine:?}");
    assert!(
        fine[0] < 0.7 * coarse[0] && fine[1] < 0.7 * coarse[1],
        "{coarse:?} {fine:?}"
    );
}

/// A body in a stream along x in a box of slip walls: the integral's and the momentum exchange's force, and the share of shear.
fn forces<const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    cells: [u32; D],
    surface: &Surface<D>,
    reynolds: f64,
    diameter: f64,
) -> ([f64; D], [f64; D], f64)
where
    Facet<D>: Exact<D>,
{
    let frame = Frame::new([0.0; D], 1.0, cells).expect("a box");
    let mesh = bodies::mesh_of(surface, frame, &EmbedParams::new(1, 0.0, Fill::NonZero));
    let speed = 0.05;
    let stream: [f64; D] = std::array::from_fn(|a| if a == 0 { speed } else { 0.0 });
    let mut faces = [[FaceCondition::FreeSlip; 2]; D];
    faces[0] = [
        FaceCondition::Velocity(stream),
        FaceCondition::Pressure(1.0),
    ];
    let params = Params {
        faces,
        forces: true,
        ..flows::params(&mesh, speed * diameter / reynolds)
    };
    let viscosity = params.viscosity;
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|_| (1.0, stream)).expect("a start");
    let steps = (2.5 * f64::from(cells[0]) / speed) as u64;
    flow.advance(steps.next_multiple_of(64)).expect("steps");
    flow.check().expect("no divergence");
    // What sound is left swings about the mean.
    let all = flow.take_forces().expect("forces");
    let last = all.last().expect("a sample").patches[0];
    let [pressure, shear] = integral(
        &mesh,
        &flow.snapshot().expect("a snapshot"),
        surface,
        viscosity,
    );
    let sum = std::array::from_fn(|a| pressure[a] + shear[a]);
    (sum, std::array::from_fn(|a| last[a]), shear[0] / sum[0])
}

fn force_on_a_circle<K: AnyFlow>(kernels: &K) {
    let mut circle = Shape2::Circle { radius: 7.0 }.body(0.02).expect("a circle");
    for p in &mut circle.vertices {
        *p = [p[0] + 30.3, p[1] + 23.9];
    }
    let (sum, exchanged, share) = forces(kernels, [96, 48], &circle, 20.0, 14.0);
    assert!(
        (sum[0] / exchanged[0] - 1.0).abs() < 0.02,
        "{sum:?} {exchanged:?}"
    );
    // Of the drag at Re 20, shear is some 40 % (Dennis & Chang, J. Fluid Mech. 42 (1970) 471: 0.812 of 2.045).
    assert!((0.33..0.45).contains(&share), "share of shear {share}");
}

fn force_on_a_sphere<K: AnyFlow>(kernels: &K) {
    let mut sphere = Shape3::Sphere { radius: 6.0 }.body(0.02).expect("a sphere");
    for p in &mut sphere.vertices {
        *p = [p[0] + 13.2, p[1] + 11.9, p[2] + 12.3];
    }
    let (sum, exchanged, share) = forces(kernels, [32, 24, 24], &sphere, 10.0, 12.0);
    assert!(
        (sum[0] / exchanged[0] - 1.0).abs() < 0.06,
        "{sum:?} {exchanged:?}"
    );
    // Two thirds in creeping flow, less with inertia.
    assert!((0.5..0.67).contains(&share), "share of shear {share}");
}
