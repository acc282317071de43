//! Flows with bodies that move, on every backend, against the same in f64 on one thread of the host.

use super::{
    adapting::by,
    twins::{bounds, difference},
};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    primitives::{Shape2, Shape3},
    rigid::{Inertia, Pose, Quaternion},
};
use cutlink_solver::{
    Adaptation, AdaptationLook, BodyMotion, BodyState, Collision, FaceCondition, FreeMotion,
    Indicator, LatticeFlow, LatticeKind, Params, PatchCondition, Plan, Precision, RigidBodies,
    WallScheme, kernels::FlowKernels,
};
use cutlink_tests::{
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, MovingPatches, MovingSurface};
use std::sync::Arc;

cutlink_tests::backend_test!(
    on_one_thread:
    bodies_in_the_plane_are_those_of_the_host,
    bodies_in_d3q19_are_those_of_the_host,
    bodies_in_d3q27_are_those_of_the_host,
    blocks_follow_as_on_the_host,
    free_bodies_fall_as_on_the_host,
    a_state_with_bodies_passes_to_any_backend
);

/// A mesh with a body in it, and how the body moves.
struct Scene<const D: usize> {
    mesh: Mesh<D>,
    bodies: Arc<RigidBodies<D>>,
}

/// A body with all components of velocity and spin, in lengths of root cells.
fn passing<const D: usize>(center: [f64; D], speed: f64) -> BodyMotion<D> {
    let velocity: [f64; D] = std::array::from_fn(|a| speed * [1.0, -0.4, 0.3][a]);
    let spin = match D {
        2 => [0.0, 0.0, 0.01],
        _ => [0.004, -0.003, 0.01],
    };
    BodyMotion::Prescribed(Arc::new(move |time| {
        Ok(BodyState {
            pose: Pose {
                center: std::array::from_fn(|a| center[a] + time * velocity[a]),
                rotation: Quaternion::from_vector(spin.map(|w| w * time)),
            },
            velocity,
            spin,
        })
    }))
}

impl<const D: usize> Scene<D> {
    /// A body, its surface about the origin, on the blocks of its path over so many root steps, or on blocks that follow it.
    fn new(
        mut surface: Surface<D>,
        (cells, levels): ([u32; D], usize),
        center: [f64; D],
        motion: BodyMotion<D>,
        path: Option<u64>,
    ) -> Self {
        for vertex in &mut surface.vertices {
            *vertex = std::array::from_fn(|a| vertex[a] + center[a]);
        }
        let path = path.map(|steps| {
            let BodyMotion::Prescribed(path) = &motion else {
                panic!("a free body has no path");
            };
            let pose = |step: u64| path(step as f64).expect("a place").pose;
            (0..=steps).map(pose).collect()
        });
        let part = MovingPatches {
            name: "body".into(),
            patches: (0..surface.patches.len()).collect(),
            center,
        };
        let bodies = RigidBodies {
            surface: MovingSurface::new(&surface, vec![part]).expect("closed"),
            motions: vec![motion],
            paths: vec![path],
            embedding: EmbedParams::new(levels, 0.0, Fill::NonZero),
            rebin: 1,
        };
        let frame = Frame::new([0.0; D], 1.0, cells).expect("a box");
        Self {
            mesh: bodies.first_mesh(frame).expect("a mesh"),
            bodies: Arc::new(bodies),
        }
    }

    fn start<K: FlowKernels<D>>(
        &self,
        kernels: &K,
        params: &Params<D>,
    ) -> Box<dyn LatticeFlow<D> + '_> {
        let plan = Plan::new(&self.mesh, params.clone()).expect("a flow");
        let plan = plan.with_bodies(self.bodies.clone()).expect("bodies");
        plan.start(kernels).unwrap_or_else(|e| panic!("{e}"))
    }

    /// A closed box, whose mean density is held, or one with an inlet and an outlet and an acceleration.
    fn params(&self, collision: Collision, scheme: WallScheme, is_closed: bool) -> Params<D> {
        let mut params = flows::params(&self.mesh, 0.02);
        (params.collision, params.forces) = (collision, true);
        params.patches.fill(PatchCondition::wall(scheme));
        params.faces = [[FaceCondition::Velocity([0.0; D]); 2]; D];
        if !is_closed {
            let inflow = std::array::from_fn(|a| [0.02, 0.0, 0.0][a]);
            params.faces[0] = [FaceCondition::Velocity(inflow), FaceCondition::Outflow];
            params.acceleration = std::array::from_fn(|a| [1e-6, -2e-6, 3e-6][a]);
        }
        params
    }
}

/// An ellipse of 18 by 11 finest cells on three levels.
fn ellipse(motion: impl Fn([f64; 2]) -> BodyMotion<2>, path: Option<u64>) -> Scene<2> {
    let radii = [2.23, 1.41];
    let surface = Shape2::Ellipse { radii }.surface(1e-3).expect("an ellipse");
    let center = [11.9, 8.3];
    Scene::new(surface, ([28, 16], 3), center, motion(center), path)
}

/// An ellipsoid of 6 by 5 by 4 finest cells on two levels.
fn ellipsoid(steps: u64) -> Scene<3> {
    let radii = [1.51, 1.23, 1.08];
    let surface = Shape3::Ellipsoid { radii }.surface(1e-2);
    let center = [5.6, 6.2, 5.9];
    let motion = passing(center, 0.07);
    let surface = surface.expect("an ellipsoid");
    Scene::new(surface, ([12; 3], 2), center, motion, Some(steps))
}

/// Steps of a flow that is checked on the way, against the same in f64 on the host.
fn compare<const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    scene: &Scene<D>,
    params: &Params<D>,
    steps: &[u64],
) {
    let wide = Params {
        precision: Precision::F64,
        ..params.clone()
    };
    let mut reference = scene.start(&Host, &wide);
    let mut flow = scene.start(kernels, params);
    let launches = kernels.launches();
    for &steps in steps {
        reference.advance(steps).expect("steps");
        flow.advance(steps).expect("steps");
        flow.check().expect("finite");
        // All integer tables and cut distances are those that the host makes of the pose.
        flow.validate().expect("tables of the last pose");
        assert_eq!(flow.bodies(), reference.bodies());
        let what = format!("{params:?} after {}", flow.steps());
        let [of_fields, of_forces] = bounds(params.collision, params.precision);
        let wrong = difference(&*flow, &*reference);
        assert!(wrong <= of_fields, "{what}: {wrong}");
        let [got, want] = [&mut flow, &mut reference].map(|of| of.take_motion());
        assert_eq!(got.len() as u64, steps, "{what}");
        for (got, want) in got.iter().zip(&want) {
            let size = worst(want.forces[0].iter().map(|f| f.abs()));
            let off = (0..6).map(|n| (got.forces[0][n] - want.forces[0][n]).abs());
            let wrong = worst(off) / size;
            assert!(wrong <= of_forces, "{what}, loads: {wrong}");
        }
    }
    if launches.is_some() {
        assert!(kernels.launches() > launches, "nothing was launched");
    }
    // The comparator can fail: another viscosity is another flow.
    let mut other = params.clone();
    other.viscosity *= 1.1;
    let mut other = scene.start(kernels, &other);
    other.advance(flow.steps()).expect("steps");
    assert!(difference(&*other, &*reference) > 1e-5);
}

/// Collisions, wall schemes, and whether the box is closed.
fn variants(lattice: LatticeKind) -> Vec<(Collision, WallScheme, bool)> {
    let all = [
        (Collision::Regularized, WallScheme::Linear, true),
        (Collision::Trt { magic: 0.25 }, WallScheme::Quadratic, false),
        (Collision::Bgk, WallScheme::BounceBack, true),
        (Collision::CUMULANT, WallScheme::Local, false),
        (Collision::Kbc, WallScheme::Linear, true),
    ];
    let fits = all.into_iter().filter(|(of, ..)| of.fits(lattice));
    fits.collect()
}

fn all<const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    scene: &Scene<D>,
    lattice: LatticeKind,
    steps: &[u64],
) {
    for (n, (collision, scheme, is_closed)) in variants(lattice).into_iter().enumerate() {
        let params = Params {
            lattice,
            ..scene.params(collision, scheme, is_closed)
        };
        // The bounds of 16 bits hold where viscosity damps what rounding adds.
        let precisions = [Precision::F64, Precision::F32, Precision::F16];
        for &precision in &precisions[..if n == 0 { 3 } else { 2 }] {
            let mut params = params.clone();
            params.precision = precision;
            if precision == Precision::F16 {
                params.viscosity = 0.05;
            }
            compare(kernels, scene, &params, steps);
        }
    }
}

fn bodies_in_the_plane_are_those_of_the_host<K: AnyFlow>(kernels: &K) {
    let scene = ellipse(|center| passing(center, 0.05), Some(30));
    all(kernels, &scene, LatticeKind::D2Q9, &[1, 8, 21]);
}

fn bodies_in_d3q19_are_those_of_the_host<K: AnyFlow>(kernels: &K) {
    all(kernels, &ellipsoid(10), LatticeKind::D3Q19, &[1, 9]);
}

fn bodies_in_d3q27_are_those_of_the_host<K: AnyFlow>(kernels: &K) {
    all(kernels, &ellipsoid(10), LatticeKind::D3Q27, &[1, 9]);
}

fn blocks_follow_as_on_the_host<K: AnyFlow>(kernels: &K) {
    for (path, adaptation) in ways() {
        let scene = ellipse(|center| passing(center, 0.05), path);
        let mut params = scene.params(Collision::Regularized, WallScheme::Linear, true);
        params.adaptation = adaptation;
        let mut reference = scene.start(&Host, &params);
        let mut flow = scene.start(kernels, &params);
        let mut changes = 0;
        for _ in 0..8 {
            reference.advance(6).expect("steps");
            flow.advance(6).expect("steps");
            flow.validate().expect("tables of the last pose");
            let [ours, theirs] = [&flow, &reference].map(|of| of.mesh().expect("a mesh"));
            assert_eq!(ours.checksum(), theirs.checksum());
            let wrong = difference(&*flow, &*reference);
            let [bound, _] = bounds(params.collision, params.precision);
            assert!(wrong <= bound, "after {}: {wrong}", flow.steps());
            let [ours, theirs] = [&mut flow, &mut reference].map(|of| of.take_looks());
            assert_eq!(ours.len(), theirs.len());
            let is_change = |look: &&AdaptationLook| look.refined + look.coarsened > 0;
            changes += ours.iter().filter(is_change).count();
        }
        let least = if path.is_none() || params.adaptation.is_some() {
            3
        } else {
            0
        };
        assert!(changes >= least, "{changes} of {path:?}");
    }
}

/// What the mesh follows: nothing on blocks of a path, the body, the flow, both.
fn ways() -> [(Option<u64>, Option<Adaptation<2>>); 4] {
    let by_vorticity = || by(Indicator::Vorticity, 3, 2e-3);
    [
        (Some(60), None),
        (None, None),
        (Some(60), Some(by_vorticity())),
        (None, Some(by_vorticity())),
    ]
}

fn free_bodies_fall_as_on_the_host<K: AnyFlow>(kernels: &K) {
    let radii = [2.23, 1.41];
    let surface = Shape2::Ellipse { radii }.surface(1e-3).expect("an ellipse");
    let inertia = Inertia::of(&surface, 2.0).expect("closed");
    let free = |center: [f64; 2]| {
        BodyMotion::Free(Box::new(FreeMotion {
            mass: inertia.mass,
            displaced: inertia.volume,
            inertia: inertia.tensor,
            force: [5e-4 * inertia.mass, -1e-4 * inertia.mass],
            locked: [false; 6],
            springs: [0.0; 6],
            dampers: [0.0; 6],
            start: BodyState {
                pose: Pose::at(center),
                velocity: [0.01, 0.0],
                spin: [0.0, 0.0, 0.004],
            },
        }))
    };
    let scene = ellipse(free, None);
    let params = scene.params(Collision::Regularized, WallScheme::Linear, true);
    let run = |mut flow: Box<dyn LatticeFlow<2> + '_>| {
        flow.advance(120).expect("steps");
        flow.validate().expect("tables of the last pose");
        let looks = flow.take_looks().len();
        (flow.bodies()[0], looks)
    };
    let (expected, _) = run(scene.start(&Host, &params));
    let (found, looks) = run(scene.start(kernels, &params));
    assert!(looks > 0, "the blocks follow");
    let numbers = |of: &BodyState<2>| [of.pose.center, of.velocity, [of.pose.angle(), of.spin[2]]];
    let apart = |a: &BodyState<2>, b: &BodyState<2>| {
        let [a, b] = [a, b].map(|of| numbers(of).concat());
        worst(a.iter().zip(b).map(|(a, b)| (a - b).abs()))
    };
    let wrong = apart(&found, &expected);
    assert!(wrong < 1e-11, "{wrong}: {found:?} {expected:?}");
    let path = found.pose.center[0] - 11.9;
    assert!(path > 0.7, "{found:?}");
    // Another mass is another path.
    let mut off = expected;
    off.velocity[1] += 1e-9;
    assert!(apart(&off, &expected) > 1e-10);
    off.spin[2] = f64::NAN;
    assert!(apart(&off, &expected).is_nan());
}

fn a_state_with_bodies_passes_to_any_backend<K: AnyFlow>(kernels: &K) {
    for (path, adaptation) in ways() {
        let scene = ellipse(|center| passing(center, 0.05), path);
        let mut params = scene.params(Collision::Regularized, WallScheme::Linear, true);
        params.adaptation = adaptation;
        let state = |flow: &dyn LatticeFlow<2>| {
            let mut bytes = Vec::new();
            flow.save(&mut bytes).expect("a state");
            bytes
        };
        let mut host = scene.start(&Host, &params);
        host.advance(19).expect("steps");
        let of_host = state(&*host);
        let mut flow = scene.start(kernels, &params);
        flow.restore(&mut &of_host[..]).expect("a state");
        flow.validate().expect("tables of the state");
        assert!(state(&*flow) == of_host, "the state itself");
        // Ended and resumed, and all at once.
        let end = |stop: Option<u64>| {
            let mut flow = scene.start(kernels, &params);
            if let Some(stop) = stop {
                flow.advance(stop).expect("steps");
                let bytes = state(&*flow);
                flow = scene.start(kernels, &params);
                flow.restore(&mut &bytes[..]).expect("a state");
            }
            flow.advance(29 - flow.steps()).expect("steps");
            state(&*flow)
        };
        let expected = end(None);
        assert!(end(None) == expected, "every time");
        assert!(end(Some(17)) == expected, "after a restart");
        assert!(end(Some(17))[..] != of_host[..]);
    }
}
