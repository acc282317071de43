//! Steps of flows.

use crate::mesh::{self, levels};
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_tests::{backend_test, worst};
use cutlink_vof::{
    Advanced, BoxFace, FlowMesh, FlowParams, InterfaceAdaptation, LiquidShape, Phases, StepDone,
    Turning, TwoPhaseError, TwoPhaseFlow,
};

#[cfg(feature = "cuda")]
use cutlink_device::cuda::Cuda;

backend_test!(
    on_gpu:
    a_falling_drop,
    a_tilted_tank_with_a_body,
    a_mesh_that_follows_the_interface,
    a_mesh_that_is_refined_as_a_whole,
    openings,
    contact_angles,
    a_box_that_turns,
    periodic_axes,
    a_saved_state,
);

pub(crate) const STEPS: usize = 20;

/// A backend that makes steps.
pub(crate) trait Steps {
    fn steps<const D: usize>(&self, flow: TwoPhaseFlow<D>) -> TwoPhaseFlow<D>;
}

/// Stands in where no kernels are built.
impl Steps for Host {
    fn steps<const D: usize>(&self, flow: TwoPhaseFlow<D>) -> TwoPhaseFlow<D> {
        flow
    }
}

#[cfg(feature = "cuda")]
impl Steps for Cuda {
    fn steps<const D: usize>(&self, flow: TwoPhaseFlow<D>) -> TwoPhaseFlow<D> {
        flow.on(self)
    }
}

/// What both have to agree on: `make` makes a flow, `go` does what is compared.
pub(crate) fn compare<const D: usize, K: Steps>(
    kernels: &K,
    make: impl Fn() -> TwoPhaseFlow<D>,
    go: impl Fn(&mut TwoPhaseFlow<D>) -> Vec<f64>,
) {
    let (mut here, mut there) = (make(), kernels.steps(make()));
    let numbers = [go(&mut here), go(&mut there)];
    let bits = numbers.map(|of| of.into_iter().map(f64::to_bits).collect::<Vec<_>>());
    same_bits(&here, &there);
    assert_eq!(bits[0], bits[1], "what steps report");
    let moved = here.velocity().iter().flatten().map(|u| u.abs());
    assert!(worst(moved) > 1e-3, "nothing moves");
}

/// Compares all fields, by the place of the first number that differs.
pub(crate) fn same_bits<const D: usize>(here: &TwoPhaseFlow<D>, there: &TwoPhaseFlow<D>) {
    let [a, b] = [here.save(), there.save()];
    assert_eq!(a.refined, b.refined, "meshes");
    let cells = here.alpha().len();
    let names = ["fraction"]
        .into_iter()
        .chain(["velocity"; D])
        .chain(["pressure"]);
    let mut first = 0;
    for name in names {
        let range = first..first + cells;
        same(name, &a.values[range.clone()], &b.values[range]);
        first += cells;
    }
    // Accelerations of cells come last.
    let pull = a.values.len() - D * cells;
    same("flux", &a.values[first..pull], &b.values[first..pull]);
    same("pull", &a.values[pull..], &b.values[pull..]);
    assert_eq!(a.time.to_bits(), b.time.to_bits(), "time");
    assert_eq!(a.path.to_bits(), b.path.to_bits(), "path");
    let [a, b] = [here, there].map(|flow| flow.save_grains().expect("memory"));
    assert!(
        a == b,
        "grains: {:?}, {:?}",
        here.grain_motions(),
        there.grain_motions()
    );
}

fn same(name: &str, a: &[f64], b: &[f64]) {
    let differ = |(a, b): (&f64, &f64)| a.to_bits() != b.to_bits();
    let count = a.iter().zip(b).filter(|&pair| differ(pair)).count();
    if let Some(i) = a.iter().zip(b).position(differ) {
        let (len, x, y) = (a.len(), a[i], b[i]);
        panic!("{name}: {count} of {len} differ, first {i}: {x:e} on the CPU, {y:e} on the GPU");
    }
}

/// Single steps, each followed by a copy to the host, then the rest by one advance.
pub(crate) fn steps<const D: usize>(flow: &mut TwoPhaseFlow<D>) -> Vec<f64> {
    let mut out = Vec::new();
    let mut add = |done: &StepDone| {
        out.extend([done.dt, done.courant, done.divergence]);
        out.extend(done.curvatures.map(|n| n as f64));
        out.push(done.pressure_iterations as f64);
        out.push(done.viscous_iterations as f64);
    };
    let mut dt = 0.0;
    for _ in 0..STEPS / 2 {
        let done = flow.step(1.0).expect("a step");
        dt = done.dt;
        add(&done);
    }
    let length = (STEPS / 2) as f64 * dt;
    let end = flow.time() + length;
    let weight = |_, _| Ok::<_, TwoPhaseError>(None);
    let each = |happened| {
        if let Advanced::Step(done) = happened {
            add(&done);
        }
    };
    flow.advance([end], length, weight, each)
        .expect("an advance");
    out
}

fn ball<const D: usize>() -> LiquidShape<D> {
    LiquidShape::Ball {
        centre: std::array::from_fn(|a| [0.503, 0.61, 0.49][a]),
        radius: 0.17,
    }
}

/// Liquid below a plane at an angle to the cells.
fn pool<const D: usize>() -> LiquidShape<D> {
    let normal: [f64; D] = std::array::from_fn(|a| [0.3, 1.0, 0.2][a]);
    LiquidShape::HalfSpace {
        normal,
        offset: 0.5,
    }
}

/// Water and air with all forces.
fn params<const D: usize>() -> FlowParams<D> {
    let mut gravity = [0.0; D];
    (gravity[0], gravity[1]) = (-2.0, -9.0);
    FlowParams {
        phases: Phases {
            density: [1000.0, 1.0],
            viscosity: [1e-1, 2e-3],
            surface_tension: 0.7,
        },
        gravity,
        faces: [[BoxFace::NoSlip; 2]; D],
        courant: 0.3,
        ..mesh::params()
    }
}

/// A box of one level, with a body of solid cells if wanted.
fn uniform<const D: usize>(root: u32, has_body: bool) -> FlowMesh<D> {
    let forest: Forest<D> = mesh::forest([root; D], [false; D], 1, |_, _| false);
    let mut solid = vec![0; forest.capacity()];
    if has_body {
        for id in 0..forest.capacity() {
            let at = forest.coord[id];
            // A block in the lower part, and half of the one beside it.
            if at[1] == 0 && at[0] == root as i32 / 2 {
                solid[id] = if D == 2 { 0xffff } else { u64::MAX };
            } else if at[1] == 0 && at[0] == root as i32 / 2 - 1 {
                solid[id] = 0xcccc_cccc_cccc_cccc & if D == 2 { 0xffff } else { u64::MAX };
            }
        }
    }
    FlowMesh::new(&forest, [0.0; D], 0.25 / f64::from(root), solid).expect("a mesh")
}

/// Levels that are fine where the liquid's surface may be.
fn adaptation() -> InterfaceAdaptation {
    InterfaceAdaptation {
        vorticity: Some(0.05),
        ..levels(3)
    }
}

fn falling<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let make = || TwoPhaseFlow::new(uniform(root, false), params(), &[ball()]).expect("a flow");
    compare::<D, K>(kernels, make, steps);
}

fn tilted<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let make = || TwoPhaseFlow::new(uniform(root, true), params(), &[pool()]).expect("a flow");
    compare::<D, K>(kernels, make, steps);
}

fn followed<const D: usize, K: Steps>(kernels: &K, root: u32, adaptation: InterfaceAdaptation) {
    let make = || {
        let mut flow = mesh::followed([root; D], params(), &[ball()], adaptation.clone());
        let swirl = |x: [f64; D]| std::array::from_fn(|a| (5.0 * x[(a + 1) % D]).sin());
        flow.set_velocity(swirl).expect("a projection");
        flow
    };
    compare::<D, K>(kernels, make, |flow| {
        let look = flow.adapt().expect("a look");
        let mut out = steps(flow);
        let again = flow.adapt().expect("a look");
        for look in [look, again] {
            out.extend(look.leaves.iter().map(|&n| n as f64));
        }
        out.extend(steps(flow));
        out
    });
}

/// Cells of both fluids and solid ones become finer, and coarse again.
fn refined<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let make = || {
        let mut flow = TwoPhaseFlow::new(uniform(root, true), params(), &[ball()]).expect("a flow");
        let swirl = |x: [f64; D]| std::array::from_fn(|a| (5.0 * x[(a + 1) % D]).sin());
        flow.set_velocity(swirl).expect("a projection");
        flow
    };
    let forest = |levels, is_fine| -> Forest<D> {
        mesh::forest([root; D], [false; D], levels, |_, _| is_fine)
    };
    compare::<D, K>(kernels, make, |flow| {
        let mut out = steps(flow);
        let (coarse, fine) = (forest(1, false), forest(2, true));
        flow.follow(coarse, fine, levels(2)).expect("the forest");
        let look = flow.adapt().expect("a look");
        assert_eq!(look.refined, u64::from(root).pow(D as u32), "all blocks");
        out.extend(steps(flow));
        let (fine, coarse) = (forest(2, true), forest(1, false));
        flow.follow(fine, coarse, levels(1)).expect("the forest");
        let look = flow.adapt().expect("a look");
        assert_eq!(look.coarsened, u64::from(root).pow(D as u32), "all blocks");
        out.extend(steps(flow));
        out
    });
}

fn open<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let mut params = params::<D>();
    let mut velocity = [0.0; D];
    velocity[0] = 0.7;
    params.faces[0] = [
        BoxFace::Inflow {
            velocity,
            liquid: 1.0,
        },
        BoxFace::Pressure {
            value: 3.0,
            liquid: 0.0,
        },
    ];
    params.faces[1][1] = BoxFace::Slip;
    let make = || {
        let mesh = uniform(root, false);
        TwoPhaseFlow::new(mesh, params.clone(), &[pool()]).expect("a flow")
    };
    compare::<D, K>(kernels, make, steps);
}

fn wetting<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let mut params = params::<D>();
    params.contact_angles[1][0] = 60f64.to_radians();
    params.contact_angles[0][1] = 130f64.to_radians();
    let mut centre = [0.513; D];
    centre[1] = 0.0;
    let cap = LiquidShape::Ball {
        centre,
        radius: 0.3,
    };
    let make = || {
        let mesh = uniform(root, false);
        TwoPhaseFlow::new(mesh, params.clone(), std::slice::from_ref(&cap)).expect("a flow")
    };
    compare::<D, K>(kernels, make, steps);
}

fn turning<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let mut params = params::<D>();
    params.turning = Some(Turning {
        center: [0.4; D],
        spin: if D == 2 {
            [0.0, 0.0, 1.3]
        } else {
            [0.4, -0.7, 1.1]
        },
        rate: if D == 2 {
            [0.0, 0.0, -2.0]
        } else {
            [0.3, 1.0, -2.0]
        },
    });
    let make = || {
        let mesh = uniform(root, false);
        TwoPhaseFlow::new(mesh, params.clone(), &[pool()]).expect("a flow")
    };
    compare::<D, K>(kernels, make, steps);
}

/// Periodic axes, on two levels.
fn periodic<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let make = || {
        let near = |c: [f64; D], half: f64| (c[1] - 0.5).abs() < 0.26 + half;
        let mesh = mesh::mesh([root; D], std::array::from_fn(|a| a != 1), 2, near);
        let mut gravity = [0.0; D];
        gravity[1] = -9.0;
        let params = FlowParams {
            gravity,
            ..params()
        };
        let mut flow = TwoPhaseFlow::new(mesh, params, &[layer()]).expect("a flow");
        let shear = |x: [f64; D]| std::array::from_fn(|a| if a == 1 { 0.0 } else { 6.0 * x[1] });
        flow.set_velocity(shear).expect("a projection");
        flow
    };
    compare::<D, K>(kernels, make, steps);
}

/// A layer of liquid in the middle.
fn layer<const D: usize>() -> LiquidShape<D> {
    let mut corners = [[-1.0; D], [2.0; D]];
    (corners[0][1], corners[1][1]) = (0.4, 0.61);
    LiquidShape::Box(corners)
}

/// A flow goes on from a saved state, and with other weight.
fn resumed<const D: usize, K: Steps>(kernels: &K, root: u32) {
    let make = || TwoPhaseFlow::new(uniform(root, false), params(), &[ball()]).expect("a flow");
    compare::<D, K>(kernels, make, |flow| {
        let saved = flow.save();
        let mut out = steps(flow);
        flow.restore(&saved).expect("a saved state");
        flow.set_weight([1.0; D], None).expect("numbers");
        out.extend(steps(flow));
        out
    });
}

fn a_falling_drop<K: Steps>(kernels: &K) {
    falling::<2, K>(kernels, 6);
    falling::<3, K>(kernels, 4);
}

fn a_tilted_tank_with_a_body<K: Steps>(kernels: &K) {
    tilted::<2, K>(kernels, 6);
    tilted::<3, K>(kernels, 4);
}

fn a_mesh_that_follows_the_interface<K: Steps>(kernels: &K) {
    for of in [adaptation(), levels(3)] {
        followed::<2, K>(kernels, 4, of.clone());
        followed::<3, K>(kernels, 2, of);
    }
}

fn a_mesh_that_is_refined_as_a_whole<K: Steps>(kernels: &K) {
    refined::<2, K>(kernels, 6);
    refined::<3, K>(kernels, 4);
}

fn openings<K: Steps>(kernels: &K) {
    open::<2, K>(kernels, 6);
    open::<3, K>(kernels, 4);
}

fn contact_angles<K: Steps>(kernels: &K) {
    wetting::<2, K>(kernels, 6);
    wetting::<3, K>(kernels, 4);
}

fn a_box_that_turns<K: Steps>(kernels: &K) {
    turning::<2, K>(kernels, 6);
    turning::<3, K>(kernels, 4);
}

fn a_saved_state<K: Steps>(kernels: &K) {
    resumed::<2, K>(kernels, 6);
    resumed::<3, K>(kernels, 4);
}

fn periodic_axes<K: Steps>(kernels: &K) {
    periodic::<2, K>(kernels, 4);
    periodic::<3, K>(kernels, 2);
}
