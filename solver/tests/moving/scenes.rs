//! Bodies that move, beyond one that goes straight on: levels, closed boxes, turns, free bodies, restarts, refusals.

use super::{on_one_thread, worst};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    primitives::Shape2,
    rigid::{Inertia, Pose, Quaternion},
};
use cutlink_solver::{
    BodyMotion, BodyPath, BodyState, Collision, FaceCondition, ForceSample, FreeMotion,
    LatticeFlow, LatticeKind, Motion, Params, PatchCondition, Plan, Precision, RigidBodies,
    SolverError, WallScheme,
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, MovingPatches, MovingSurface, Region, RegionShape, embed,
    prepare,
};
use std::{f64::consts::PI, sync::Arc};

/// A box of root cells of size 1 with one level more in a region, and circles in it.
pub(crate) struct Scene {
    pub(crate) cells: [u32; 2],
    pub(crate) levels: usize,
    pub(crate) region: [[f64; 2]; 2],
    pub(crate) periodic: bool,
    pub(crate) circles: Vec<(f64, [f64; 2])>,
}

impl Scene {
    fn surface(&self) -> Surface<2> {
        let mut all = Surface::single_patch(Vec::new(), Vec::new(), "0");
        all.patches.clear();
        for (n, &(radius, center)) in self.circles.iter().enumerate() {
            let circle = Shape2::Circle { radius }
                .surface(2e-4 * radius)
                .expect("a circle");
            let first = all.vertices.len() as u32;
            let there = |x: &[f64; 2]| [x[0] + center[0], x[1] + center[1]];
            all.vertices.extend(circle.vertices.iter().map(there));
            all.facets
                .extend(circle.facets.iter().map(|f| f.map(|v| v + first)));
            all.facet_patch.resize(all.facets.len(), n as u16);
            all.patches.push(format!("circle {n}"));
        }
        all
    }

    fn embedding(&self) -> EmbedParams {
        let [lower, upper] = self.region.map(|x| [x[0], x[1], 0.0]);
        let shape = RegionShape::Box { lower, upper };
        let region = Region {
            shape,
            levels: self.levels,
        };
        EmbedParams {
            periodic: [self.periodic, self.periodic, false],
            regions: if self.levels > 1 {
                vec![region]
            } else {
                Vec::new()
            },
            ..EmbedParams::new(self.levels, 0.0, Fill::NonZero)
        }
    }

    /// The mesh; its blocks are those of the region alone, so that they do not depend on where bodies are.
    pub(crate) fn mesh(&self) -> Mesh<2> {
        let frame = Frame::new([0.0; 2], 1.0, self.cells).expect("a box");
        let params = self.embedding();
        let nothing = Surface {
            facets: Vec::new(),
            facet_patch: Vec::new(),
            ..self.surface()
        };
        let blocks = {
            let (none, _) = prepare(&Host, &nothing, &frame, &params).expect("nothing");
            embed(&Host, &none, frame, &params, &mut ()).expect("a mesh")
        };
        let (snapped, _) = prepare(&Host, &self.surface(), &frame, &params).expect("near");
        let forest = blocks.forest;
        cutlink_voxelizer::embed_fixed(&Host, &snapped, frame, &params, forest, &mut ())
            .expect("a mesh")
    }

    pub(crate) fn params(&self, viscosity: f64) -> Params<2> {
        Params {
            precision: Precision::F64,
            collision: Collision::Regularized,
            patches: vec![PatchCondition::wall(WallScheme::Linear); self.circles.len()],
            moment_center: self.cells.map(|n| 0.5 * f64::from(n)),
            ..Params::new(LatticeKind::D2Q9, viscosity)
        }
    }

    pub(crate) fn bodies(&self, motions: Vec<BodyMotion<2>>) -> Arc<RigidBodies<2>> {
        let part = |n: usize| MovingPatches {
            name: format!("body {n}"),
            patches: vec![n],
            center: self.circles[n].1,
        };
        let parts = (0..motions.len()).map(part).collect();
        Arc::new(RigidBodies {
            surface: MovingSurface::new(&self.surface(), parts).expect("closed"),
            paths: vec![Some(Vec::new()); motions.len()],
            motions,
            embedding: self.embedding(),
            rebin: 1,
        })
    }
}

pub(crate) fn along(of: impl Fn(f64) -> BodyState<2> + Send + Sync + 'static) -> BodyMotion<2> {
    let path: BodyPath<2> = Arc::new(move |time| Ok(of(time)));
    BodyMotion::Prescribed(path)
}

/// Oscillates about a place along x: amplitude, period, and the amplitude of an angle with it.
fn oscillation(center: [f64; 2], amplitude: f64, period: f64, turn: f64) -> BodyMotion<2> {
    along(move |time| {
        let (sin, cos) = (2.0 * PI * time / period).sin_cos();
        let rate = 2.0 * PI / period;
        BodyState {
            pose: Pose {
                center: [center[0] + amplitude * sin, center[1]],
                rotation: Quaternion::about_z(turn * sin),
            },
            velocity: [amplitude * rate * cos, 0.0],
            spin: [0.0, 0.0, turn * rate * cos],
        }
    })
}

fn oscillating() -> (Scene, Arc<RigidBodies<2>>, Params<2>) {
    let scene = Scene {
        cells: [64, 48],
        levels: 2,
        region: [[16.0, 12.0], [48.0, 36.0]],
        periodic: false,
        circles: vec![(4.07, [31.9, 24.3])],
    };
    // Keulegan-Carpenter number 5: the amplitude is 5/2π diameters.
    let bodies = scene.bodies(vec![oscillation([31.9, 24.3], 6.4, 800.0, 0.3)]);
    let params = Params {
        faces: [[FaceCondition::Velocity([0.0; 2]); 2]; 2],
        ..scene.params(0.004)
    };
    (scene, bodies, params)
}

pub(crate) fn start<'a>(
    mesh: &'a Mesh<2>,
    params: &Params<2>,
    bodies: &Arc<RigidBodies<2>>,
) -> Box<dyn LatticeFlow<2> + 'a> {
    let plan = Plan::new(mesh, params.clone()).expect("a flow");
    let plan = plan.with_bodies(bodies.clone()).expect("bodies");
    plan.start(&Host).expect("a flow")
}

/// The state and the last forces after a hundred steps on so many threads, saved and restored in another flow after `stop` of them.
pub(crate) fn hundred_steps(
    mesh: &Mesh<2>,
    params: &Params<2>,
    bodies: &Arc<RigidBodies<2>>,
    threads: usize,
    stop: Option<u64>,
) -> (Vec<u8>, Option<ForceSample>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().expect("threads").install(|| {
        let mut flow = start(mesh, params, bodies);
        let mut state = Vec::new();
        if let Some(stop) = stop {
            flow.advance(stop).expect("steps");
            flow.save(&mut state).expect("a state");
            flow = start(mesh, params, bodies);
            flow.restore(&mut &state[..]).expect("a state");
            flow.validate().expect("tables of the state");
            state.clear();
        }
        flow.advance(100 - flow.steps()).expect("steps");
        flow.save(&mut state).expect("a state");
        (state, flow.take_forces().expect("forces").pop())
    })
}

#[test]
fn a_closed_box_keeps_its_mass() {
    on_one_thread(|| {
        let (scene, bodies, params) = oscillating();
        let mesh = scene.mesh();
        let mut flow = start(&mesh, &params, &bodies);
        flow.advance(1600).expect("two periods");
        flow.check().expect("finite");
        flow.validate().expect("tables of the last pose");
        let lost = flow.mass_reset();
        assert!(lost.abs() < 2e-3 && lost != 0.0, "{lost}");
        let snapshot = flow.snapshot().expect("values");
        let now = flow.mesh().expect("a mesh");
        let (mut mass, mut volume) = (0.0, 0.0);
        for id in now.forest.leaves() {
            let size = 0.25f64.powi(i32::from(now.forest.level[id as usize]));
            for cell in 0..16 {
                if now.classes.solid[id as usize] >> cell & 1 == 0 {
                    mass += size * f64::from(snapshot.density[16 * id as usize + cell]);
                    volume += size;
                }
            }
        }
        // At the last correction, 0 steps ago.
        let mean: f64 = mass / volume;
        assert!((mean - 1.0).abs() < 1e-5, "{mean}");
    });
}

#[test]
fn any_number_of_threads_and_a_restart_give_the_same_bits() {
    let (scene, bodies, params) = oscillating();
    for rebin in [1, 3] {
        let bodies = Arc::new(RigidBodies {
            rebin,
            ..(*bodies).clone()
        });
        let mesh = scene.mesh();
        let run = |threads, stop| hundred_steps(&mesh, &params, &bodies, threads, stop);
        let expected = run(1, None);
        assert!(run(3, None) == expected, "threads, rebin {rebin}");
        assert!(run(2, Some(37)) == expected, "a restart, rebin {rebin}");
        assert!(run(1, None).0[200] == expected.0[200]);
        let mut off = expected.0.clone();
        off[200] ^= 1;
        assert!(off != expected.0, "a bit is seen");
        let mut flow = start(&mesh, &params, &bodies);
        let found = flow.restore(&mut &expected.0[..100]);
        assert!(matches!(found, Err(SolverError::Io(_))), "{found:?}");
    }
}

#[test]
fn a_restarted_flow_begins_again() {
    let (scene, bodies, params) = oscillating();
    let mesh = scene.mesh();
    let mut flow = start(&mesh, &params, &bodies);
    let go = |flow: &mut dyn LatticeFlow<2>| {
        flow.set_uniform(1.0, [0.0; 2]).expect("a state");
        flow.advance(20).expect("steps");
        let motion = flow.take_motion();
        (flow.take_forces().expect("forces"), motion)
    };
    let first = go(flow.as_mut());
    assert!(go(flow.as_mut()) == first);
    let last = first.1.last().expect("samples");
    assert_eq!((first.1.len(), last.step), (20, 20));
    let expected = 31.9 + 6.4 * (2.0 * PI * 20.0 / 800.0).sin();
    assert!(
        (last.bodies[0].pose.center[0] - expected).abs() < 1e-12,
        "{last:?}"
    );
    assert_eq!(flow.bodies(), &last.bodies[..]);
}

#[test]
fn a_circle_that_turns_is_one_whose_wall_turns() {
    let scene = Scene {
        cells: [48, 48],
        levels: 2,
        region: [[10.0, 10.0], [38.0, 38.0]],
        periodic: false,
        circles: vec![(5.3, [24.2, 23.9])],
    };
    let (center, spin) = ([24.2, 23.9], [0.0, 0.0, 0.006]);
    let faces = [[FaceCondition::Velocity([0.0; 2]); 2]; 2];
    let still = Params {
        faces,
        moment_center: center,
        ..scene.params(0.05)
    };
    let turning = Params {
        patches: vec![PatchCondition::Wall {
            scheme: WallScheme::Linear,
            motion: Motion::Rotation {
                center,
                omega: spin,
            },
        }],
        ..still.clone()
    };
    let mesh = scene.mesh();
    let mut patch = Plan::new(&mesh, turning)
        .expect("a flow")
        .start(&Host)
        .expect("a flow");
    let body = along(move |time| BodyState {
        pose: Pose {
            center,
            rotation: Quaternion::about_z(spin[2] * time),
        },
        velocity: [0.0; 2],
        spin,
    });
    let mut body = start(&mesh, &still, &scene.bodies(vec![body]));
    let torque = |flow: &mut dyn LatticeFlow<2>| {
        flow.advance(400).expect("steps");
        let samples = flow.take_forces().expect("forces");
        let last = samples[200..].iter().map(|sample| sample.patches[0][5]);
        last.sum::<f64>() / 200.0
    };
    let [patch, body] = [torque(patch.as_mut()), torque(body.as_mut())];
    assert!((body / patch - 1.0).abs() < 5e-3, "{body} {patch}");
}

#[test]
fn a_free_circle_turns_half_as_fast_as_the_shear() {
    on_one_thread(|| {
        let scene = Scene {
            cells: [96, 96],
            levels: 1,
            region: [[0.0; 2]; 2],
            periodic: false,
            circles: vec![(5.1, [48.1, 47.9])],
        };
        let center = [48.1, 47.9];
        let (rate, viscosity) = (4e-4, 0.1);
        let wall = 48.0 * rate;
        let mut params = Params {
            moment_center: center,
            ..scene.params(viscosity)
        };
        params.faces[1] = [
            FaceCondition::Velocity([-wall, 0.0]),
            FaceCondition::Velocity([wall, 0.0]),
        ];
        let still = BodyState {
            pose: Pose::at(center),
            velocity: [0.0; 2],
            spin: [0.0; 3],
        };
        let inertia = Inertia::of(&scene.surface(), 1.5).expect("closed");
        let free = FreeMotion {
            mass: inertia.mass,
            displaced: inertia.volume,
            inertia: inertia.tensor,
            force: [0.0; 2],
            locked: [true, true, false, false, false, false],
            springs: [0.0; 6],
            dampers: [0.0; 6],
            start: still,
        };
        let scene = Scene {
            periodic: false,
            ..scene
        };
        let bodies = scene.bodies(vec![BodyMotion::Free(Box::new(free))]);
        let mesh = scene.mesh();
        let mut flow = start(&mesh, &params, &bodies);
        flow.set(&|x| (1.0, [rate * (x[1] - 48.0), 0.0]))
            .expect("a state");
        flow.advance(4000).expect("steps");
        flow.check().expect("finite");
        let spin = flow.bodies()[0].spin[2];
        assert!((spin / (-0.5 * rate) - 1.0).abs() < 0.03, "{spin}");
        assert_eq!(flow.bodies()[0].velocity, [0.0; 2]);
    });
}

#[test]
fn a_heavy_body_falls_as_newton_says() {
    // A body of a thousand times the fluid's density: the fluid hardly counts in the first steps.
    let (scene, ..) = oscillating();
    let inertia = Inertia::of(&scene.surface(), 1000.0).expect("closed");
    let center = scene.circles[0].1;
    let weight = -1e-5 * (inertia.mass - inertia.volume);
    let free = FreeMotion {
        mass: inertia.mass,
        displaced: inertia.volume,
        inertia: inertia.tensor,
        force: [0.0, weight],
        locked: [false; 6],
        springs: [0.0; 6],
        dampers: [0.0; 6],
        start: BodyState {
            pose: Pose::at(center),
            velocity: [0.01, 0.0],
            spin: [0.0, 0.0, 1e-3],
        },
    };
    let params = scene.params(0.01);
    let params = Params {
        faces: [[FaceCondition::Velocity([0.0; 2]); 2]; 2],
        ..params
    };
    let mesh = scene.mesh();
    let mut flow = start(
        &mesh,
        &params,
        &scene.bodies(vec![BodyMotion::Free(Box::new(free))]),
    );
    flow.advance(200).expect("steps");
    let state = flow.bodies()[0];
    let expected = [0.01, weight / inertia.mass * 200.0];
    let off = worst((0..2).map(|a| (state.velocity[a] / expected[a] - 1.0).abs()));
    assert!(off < 0.02, "{state:?} {expected:?}");
    let fallen = state.pose.center[1] - center[1];
    assert!(
        (fallen / (0.5 * expected[1] * 200.0) - 1.0).abs() < 0.02,
        "{fallen}"
    );
    assert!((state.pose.angle() / 0.2 - 1.0).abs() < 0.02, "{state:?}");
}

#[test]
fn what_bodies_may_not_do_is_refused_by_name() {
    let (scene, _, params) = oscillating();
    let mesh = scene.mesh();
    let refused = |motion: BodyMotion<2>, steps: u64| -> String {
        let plan = Plan::new(&mesh, params.clone()).expect("a flow");
        let plan = match plan.with_bodies(scene.bodies(vec![motion])) {
            Ok(plan) => plan,
            Err(error) => return error.to_string(),
        };
        let mut flow = plan.start(&Host).expect("a flow");
        match flow.advance(steps) {
            Err(error @ SolverError::Body { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let go = |velocity: [f64; 2]| {
        along(move |time| BodyState {
            pose: Pose::at([31.9 + velocity[0] * time, 24.3 + velocity[1] * time]),
            velocity,
            spin: [0.0; 3],
        })
    };
    let text = refused(go([0.2, 0.0]), 1);
    assert!(
        text.contains("body 0") && text.contains("0.2000 cells a step"),
        "{text}"
    );
    let text = refused(go([f64::NAN, 0.0]), 1);
    assert!(text.contains("speed of NaN"), "{text}");
    let text = refused(go([0.0, 0.1]), 200);
    assert!(
        text.contains("coarser level") && text.contains("refine a region"),
        "{text}"
    );
    // A jump that its velocity does not tell.
    let jump = along(|time| BodyState {
        pose: Pose::at([31.9 + if time > 3.0 { 2.0 } else { 0.0 }, 24.3]),
        velocity: [0.0; 2],
        spin: [0.0; 3],
    });
    let text = refused(jump, 10);
    assert!(text.contains("4.000 cells of the finest level"), "{text}");
    let light = FreeMotion {
        mass: 1.0,
        displaced: 1.0,
        inertia: [[1.0; 3]; 3],
        force: [0.0; 2],
        locked: [false; 6],
        springs: [0.0; 6],
        dampers: [0.0; 6],
        start: BodyState {
            pose: Pose::at([31.9, 24.3]),
            velocity: [0.0; 2],
            spin: [0.0; 3],
        },
    };
    let text = refused(BodyMotion::Free(Box::new(light)), 1);
    assert!(text.contains("1.000 times the mass"), "{text}");
    let failing: BodyPath<2> = Arc::new(|_| Err("there is no number".into()));
    let text = refused(BodyMotion::Prescribed(failing), 1);
    assert!(text.contains("root step 0: there is no number"), "{text}");
    // Several ranks, a mesh that follows the flow, a patch with a motion of its own.
    let with = |params: &Params<2>| {
        let plan = Plan::new(&mesh, params.clone()).expect("a flow");
        plan.with_bodies(scene.bodies(vec![go([0.01, 0.0])]))
    };
    let plan = with(&params).expect("a flow");
    let Err(error) = plan.start_ranks(&[Host, Host]) else {
        panic!("ranks should be refused");
    };
    assert!(error.to_string().contains("one rank"), "{error}");
    let mut own = params.clone();
    let PatchCondition::Wall { motion, .. } = &mut own.patches[0] else {
        panic!("a wall");
    };
    *motion = Motion::Uniform([0.01, 0.0]);
    let error = with(&own).expect_err("refused").to_string();
    assert!(
        error.contains("circle 0") && error.contains("wall at rest"),
        "{error}"
    );
}

#[test]
fn bodies_that_meet_or_leave_are_refused() {
    let scene = Scene {
        cells: [64, 32],
        levels: 1,
        region: [[0.0; 2]; 2],
        periodic: false,
        circles: vec![(4.0, [12.1, 16.2]), (4.0, [26.3, 16.4])],
    };
    let faces = [[FaceCondition::Velocity([0.0; 2]); 2]; 2];
    let params = Params {
        faces,
        ..scene.params(0.02)
    };
    let mesh = scene.mesh();
    let go = |center: [f64; 2], velocity: [f64; 2]| {
        along(move |time| BodyState {
            pose: Pose::at(std::array::from_fn(|a| center[a] + velocity[a] * time)),
            velocity,
            spin: [0.0; 3],
        })
    };
    let end = |motions: Vec<BodyMotion<2>>| {
        let mut flow = start(&mesh, &params, &scene.bodies(motions));
        match flow.advance(1000) {
            Err(error @ SolverError::Body { .. }) => (error.to_string(), flow.steps()),
            other => panic!("{other:?}"),
        }
    };
    // The gap of 6.2 cells closes by 0.1 a step.
    let both = vec![
        go([12.1, 16.2], [0.05, 0.0]),
        go([26.3, 16.4], [-0.05, 0.0]),
    ];
    let (text, steps) = end(both);
    assert!(text.contains("between it and body 1"), "{text}");
    assert!((40..60).contains(&steps), "{steps}");
    // The second circle stays.
    let (text, _) = end(vec![go([12.1, 16.2], [0.05, 0.0])]);
    assert!(text.contains("what is at rest"), "{text}");
    let (text, steps) = end(vec![go([12.1, 16.2], [-0.05, 0.0])]);
    assert!(text.contains("the face x-"), "{text}");
    assert!((155..170).contains(&steps), "{steps}");
}
