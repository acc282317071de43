//! A mesh that follows the flow beside bodies that move: nowhere coarser than the bodies need it, finer where the flow asks.

use crate::{
    follows::{crossing, leaf_cells, mesh, scene},
    on_one_thread,
    scenes::{hundred_steps, start},
    worst,
};
use cutlink_device::Host;
use cutlink_solver::{Adaptation, Criterion, Indicator, Params};

/// By vorticity, on all levels of the body.
fn by_vorticity(refine: f64) -> Adaptation<2> {
    Adaptation {
        every: 8,
        levels: 3,
        max_cells: 1 << 20,
        buffer: 1,
        criteria: vec![Criterion {
            indicator: Indicator::Vorticity,
            refine,
            coarsen: 0.5,
            within: None,
            from_step: 0,
        }],
        limits: Vec::new(),
    }
}

fn adaptive(refine: f64, params: Params<2>) -> Params<2> {
    Params {
        adaptation: Some(by_vorticity(refine)),
        ..params
    }
}

/// The velocity along x behind the body, at the end of the path: the wake, at places two diameters apart.
const WAKE: [[f64; 2]; 3] = [[54.0, 28.0], [58.0, 28.0], [62.0, 27.0]];

#[test]
fn the_wake_is_that_of_the_finest_mesh() {
    on_one_thread(|| {
        let run = |follows: bool, refine: Option<f64>| {
            let (scene, bodies, params) = scene(follows, crossing());
            let params = refine.map_or(params.clone(), |refine| adaptive(refine, params));
            let mesh = mesh(&scene, &bodies);
            let mut flow = start(&mesh, &params, &bodies);
            flow.advance(800).expect("steps");
            flow.check().expect("finite");
            flow.validate().expect("tables of the last pose");
            let snapshot = flow.snapshot().expect("values");
            let at = |x: [f64; 2]| {
                let mesh = flow.mesh().expect("a mesh");
                let found = cutlink_solver::fields::velocity_at(mesh, &snapshot, x);
                found.expect("fluid").1[0]
            };
            let wake = WAKE.map(at);
            let forces = flow.take_forces().expect("forces");
            let drag = forces[200..].iter().map(|f| f.patches[0][0]).sum::<f64>();
            (wake, drag, leaf_cells(flow.as_ref()))
        };
        let (whole, drag, cells) = run(false, None);
        let (followed, _, fewer) = run(true, None);
        let (adapted, of_adapted, some) = run(true, Some(5e-4));
        let largest = worst(whole.map(f64::abs));
        assert!(largest > 0.1 * 0.04, "there is a wake: {whole:?}");
        let off = |of: [f64; 3]| worst((0..3).map(|n| (of[n] - whole[n]).abs() / largest));
        let (without, with) = (off(followed), off(adapted));
        assert!(with < 0.02 && with < 0.5 * without, "{with}, {without}");
        assert!((of_adapted / drag - 1.0).abs() < 0.01);
        assert!(fewer < some && some < cells, "{fewer}, {some}, {cells}");
        assert!(off([f64::NAN; 3]).is_nan());
    });
}

#[test]
fn the_mesh_is_never_coarser_than_bodies_need_it() {
    for follows in [true, false] {
        let (scene, bodies, params) = scene(follows, crossing());
        let params = adaptive(5e-4, params);
        let mesh = mesh(&scene, &bodies);
        let mut flow = start(&mesh, &params, &bodies);
        let (mut changes, mut refined, mut coarsened) = (0, 0, 0);
        for step in 1..=160u64 {
            flow.advance(1).expect("a step");
            let looks = flow.take_looks();
            if looks.is_empty() {
                continue;
            }
            flow.validate().expect("tables");
            changes += looks.len();
            refined += looks.iter().map(|look| look.refined).sum::<u64>();
            coarsened += looks.iter().map(|look| look.coarsened).sum::<u64>();
            let now = &flow.mesh().expect("a mesh").forest;
            now.validate().expect("a forest");
            let needed = match follows {
                true => {
                    let pose = flow.bodies()[0].pose;
                    bodies.blocks(mesh.frame, &[pose]).expect("blocks")
                }
                false => mesh.forest.download(&Host).expect("a copy"),
            };
            assert!(now.covers(&needed), "step {step}");
            let leaves = looks.last().expect("looks").leaves.iter().sum::<u64>();
            assert_eq!(leaves as usize, now.leaves().count(), "step {step}");
        }
        assert!(changes >= 20 && refined > 20, "{changes}, {refined}");
        assert!(!follows || coarsened > 20, "{coarsened}");
    }
}

#[test]
fn a_restart_and_another_begin_give_the_same_bits() {
    for follows in [true, false] {
        let (scene, bodies, params) = scene(follows, crossing());
        let params = adaptive(5e-4, params);
        let mesh = mesh(&scene, &bodies);
        let run = |threads, stop| hundred_steps(&mesh, &params, &bodies, threads, stop);
        let expected = run(1, None);
        assert!(run(3, None) == expected, "threads");
        for stop in [33, 60, 64] {
            assert!(run(2, Some(stop)) == expected, "a restart at {stop}");
        }
        let mut flow = start(&mesh, &params, &bodies);
        for _ in 0..2 {
            flow.set_uniform(1.0, [0.0; 2]).expect("a state");
            flow.advance(100).expect("steps");
            let mut state = Vec::new();
            flow.save(&mut state).expect("a state");
            assert!(state == expected.0, "another begin");
        }
    }
}

#[test]
fn levels_beyond_those_of_the_bodies_are_refused() {
    let (scene, bodies, params) = scene(true, crossing());
    let mut params = adaptive(5e-4, params);
    if let Some(of) = &mut params.adaptation {
        of.levels = 4;
    }
    let mesh = mesh(&scene, &bodies);
    let plan = cutlink_solver::Plan::new(&mesh, params).expect("a plan");
    let refused = plan.with_bodies(bodies).expect_err("four levels of three");
    assert!(refused.to_string().contains("4 levels"), "{refused}");
}
