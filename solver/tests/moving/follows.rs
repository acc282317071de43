//! A mesh that follows a body, against one that has the finest level along the whole path.

use crate::{
    on_one_thread,
    scenes::{Scene, along, hundred_steps, start},
    worst,
};
use cutlink_amr::dims;
use cutlink_mesher::rigid::{Pose, Quaternion};
use cutlink_solver::{
    BodyMotion, BodyState, FaceCondition, FreeMotion, LatticeFlow, Params, RigidBodies,
};
use cutlink_voxelizer::{EmbedParams, Mesh};
use std::sync::Arc;

const SPEED: f64 = 0.04;

/// A circle of 8.1 finest cells that crosses the box, and turns as it goes.
pub(crate) fn crossing() -> BodyMotion<2> {
    along(|time| BodyState {
        pose: Pose {
            center: [74.0 - SPEED * time, 24.3 + 0.01 * time],
            rotation: Quaternion::about_z(0.001 * time),
        },
        velocity: [-SPEED, 0.01],
        spin: [0.0, 0.0, 0.001],
    })
}

/// The scene with a region around the path or nothing but blocks around the body; and the bodies in it.
pub(crate) fn scene(
    follows: bool,
    motion: BodyMotion<2>,
) -> (Scene, Arc<RigidBodies<2>>, Params<2>) {
    let scene = Scene {
        cells: [96, 48],
        levels: 3,
        region: match follows {
            true => [[0.0; 2]; 2],
            false => [[24.0, 12.0], [84.0, 40.0]],
        },
        periodic: false,
        circles: vec![(2.03, [74.0, 24.3])],
    };
    let bodies = scene.bodies(vec![motion]);
    let bodies = match follows {
        true => RigidBodies {
            paths: vec![None],
            embedding: EmbedParams {
                regions: Vec::new(),
                ..bodies.embedding.clone()
            },
            ..(*bodies).clone()
        },
        false => (*bodies).clone(),
    };
    let params = Params {
        faces: [[FaceCondition::Velocity([0.0; 2]); 2]; 2],
        ..scene.params(0.008)
    };
    (scene, Arc::new(bodies), params)
}

pub(crate) fn mesh(scene: &Scene, bodies: &RigidBodies<2>) -> Mesh<2> {
    match bodies.is_followed() {
        true => bodies.first_mesh(scene.mesh().frame).expect("a mesh"),
        false => scene.mesh(),
    }
}

pub(crate) fn leaf_cells(flow: &dyn LatticeFlow<2>) -> usize {
    flow.mesh().expect("a mesh").forest.leaves().count() * dims::cells(2)
}

#[test]
fn the_drag_is_that_of_a_mesh_with_the_whole_path() {
    on_one_thread(|| {
        let drag = |follows: bool| {
            let (scene, bodies, params) = scene(follows, crossing());
            let mesh = mesh(&scene, &bodies);
            let mut flow = start(&mesh, &params, &bodies);
            let first = leaf_cells(flow.as_ref());
            flow.advance(800).expect("steps");
            flow.check().expect("finite");
            flow.validate().expect("tables of the last pose");
            let last = leaf_cells(flow.as_ref());
            let forces = flow.take_forces().expect("forces");
            // What moves bodies is what is written: the means over the steps of the finest level, and the last of these. Loads of the start, which
            // are large, move the body, and are before the first patches' ones.
            let motion = flow.take_motion();
            let [of_body, of_patch] = [
                motion[8..].iter().map(|of| of.forces[0][0]).sum::<f64>(),
                forces[8..].iter().map(|of| of.patches[0][0]).sum::<f64>(),
            ];
            assert!(
                (of_body / of_patch - 1.0).abs() < 0.01,
                "{of_body}, {of_patch}"
            );
            // The last three quarters, averaged over a cell of path each.
            let per_cell: Vec<f64> = (forces[200..].chunks(25))
                .map(|of| of.iter().map(|f| f.patches[0][0]).sum::<f64>() / of.len() as f64)
                .collect();
            (per_cell, first, last, flow.take_looks())
        };
        let (path, cells, still, looks) = drag(false);
        assert!(looks.is_empty() && cells == still);
        let (followed, first, last, looks) = drag(true);
        let mean = path.iter().sum::<f64>() / path.len() as f64;
        assert!(mean > 0.0, "the drag is against the motion: {mean}");
        // The force is noisy at 16 cells a diameter: means, and what is left of single values.
        let against = |factor: f64| {
            let off: Vec<f64> = (path.iter().zip(&followed))
                .map(|(a, b)| (factor * b - a) / mean)
                .collect();
            let count = off.len() as f64;
            let bias = off.iter().sum::<f64>() / count;
            [
                bias.abs(),
                (off.iter().map(|x| x * x).sum::<f64>() / count).sqrt(),
            ]
        };
        let [bias, rms] = against(1.0);
        assert!(bias < 0.01 && rms < 0.03, "{bias}, {rms}");
        // Another body's drag is seen, and so is no number.
        assert!(against(1.05)[0] > 0.03);
        assert!(worst(against(f64::NAN)).is_nan());
        // 33 root cells of path are 132 finest ones, of which three at most are in each change.
        assert!(looks.len() > 44 && looks.len() < 90, "{}", looks.len());
        let refined: u64 = looks.iter().map(|look| look.refined).sum();
        let coarsened: u64 = looks.iter().map(|look| look.coarsened).sum();
        assert!(refined > 50 && coarsened > 50, "{refined}, {coarsened}");
        assert!(
            4 * last < cells * 3 && last < 2 * first,
            "{first}, {last} of {cells}"
        );
        let leaves = looks.last().expect("looks").leaves.iter().sum::<u64>();
        assert_eq!(leaves as usize * dims::cells(2), last);
    });
}

#[test]
fn blocks_are_those_of_the_pose_alone() {
    let (scene, bodies, params) = scene(true, crossing());
    let mesh = mesh(&scene, &bodies);
    let mut flow = start(&mesh, &params, &bodies);
    let mut changes = 0;
    for step in 1..=120u64 {
        flow.advance(1).expect("a step");
        if flow.take_looks().is_empty() {
            continue;
        }
        changes += 1;
        let now = flow.mesh().expect("a mesh");
        let pose = flow.bodies()[0].pose;
        let scratch = bodies.blocks(mesh.frame, &[pose]).expect("blocks");
        assert_eq!(now.forest.checksum(), scratch.checksum(), "step {step}");
        assert_eq!(now.forest.first_child, scratch.first_child, "step {step}");
    }
    assert!(changes > 4, "{changes}");
}

#[test]
fn a_restart_and_another_begin_give_the_same_bits() {
    let (scene, bodies, params) = scene(true, crossing());
    let mesh = mesh(&scene, &bodies);
    let run = |threads, stop| hundred_steps(&mesh, &params, &bodies, threads, stop);
    let expected = run(1, None);
    assert!(run(3, None) == expected, "threads");
    for stop in [33, 60, 61] {
        assert!(run(2, Some(stop)) == expected, "a restart at {stop}");
    }
    let mut flow = start(&mesh, &params, &bodies);
    let mut states = Vec::new();
    for _ in 0..2 {
        flow.set_uniform(1.0, [0.0; 2]).expect("a state");
        flow.advance(100).expect("steps");
        let mut state = Vec::new();
        flow.save(&mut state).expect("a state");
        states.push(state);
    }
    assert!(states[0] == states[1], "another begin");
    assert!(states[0] == expected.0);
}

#[test]
fn a_free_body_takes_its_blocks_along() {
    on_one_thread(|| {
        let mass = 3.0 * std::f64::consts::PI * 2.03 * 2.03;
        let free = FreeMotion {
            mass,
            displaced: mass / 3.0,
            inertia: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0 * mass]],
            force: [-mass * 1e-4, 0.0],
            locked: [false; 6],
            springs: [0.0; 6],
            dampers: [0.0; 6],
            start: BodyState {
                pose: Pose::at([74.0, 24.3]),
                velocity: [0.0; 2],
                spin: [0.0; 3],
            },
        };
        let go = |follows: bool| {
            let motion = BodyMotion::Free(Box::new(free.clone()));
            let (scene, bodies, params) = scene(follows, motion);
            let mesh = mesh(&scene, &bodies);
            let mut flow = start(&mesh, &params, &bodies);
            flow.advance(500).expect("steps");
            flow.bodies()[0]
        };
        let [fixed, followed] = [go(false), go(true)];
        let path = 74.0 - fixed.pose.center[0];
        assert!(path > 4.0, "{fixed:?}");
        let off =
            worst((0..2).map(|a| (fixed.pose.center[a] - followed.pose.center[a]).abs() / path));
        assert!(off < 0.01, "{off}: {fixed:?} {followed:?}");
    });
}
