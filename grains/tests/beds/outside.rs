//! Loads from outside, and time that is given.

use crate::worst::worst;
use crate::{SOFT, length, minus, params, start, touch};
use cutlink_grains::{Bed, BoxAxis, Grain, GrainError};
use std::f64::consts::PI;

fn mass(r: f64) -> f64 {
    4.0 / 3.0 * PI * r.powi(3) * SOFT.density
}

fn free(dt: f64) -> Bed {
    let mut params = params([0.1; 3], touch(0.6, 0.4, 0.0), dt);
    params.domain.axes = [BoxAxis::Periodic; 3];
    let grains = [
        Grain::at([0.02, 0.05, 0.05], 1e-3),
        Grain::at([0.07, 0.05, 0.05], 2e-3),
        Grain::at([0.05, 0.02, 0.08], 1.5e-3),
    ];
    start(params, &grains)
}

/// A constant force and torque: uniform acceleration, which the method integrates exactly.
#[test]
fn loads_accelerate_uniformly() {
    let mut bed = free(1e-5);
    let forces = [[2e-5, 0.0, -1e-5], [-2e-5, 1e-5, 0.0], [0.0, -1e-5, 1e-5]];
    let torques = [[1e-9, 0.0, 0.0], [0.0, -2e-9, 0.0], [0.0, 0.0, 3e-9]];
    bed.set_loads(&forces, &torques).expect("loads");
    let (before, time) = (bed.grains(), 0.0123);
    bed.advance(time).expect("steps");
    assert!((bed.time() / time - 1.0).abs() < 1e-15, "{}", bed.time());
    assert_eq!(bed.steps(), 1230);
    let mut off = Vec::new();
    for (i, (now, was)) in bed.grains().iter().zip(&before).enumerate() {
        let m = mass(was.radius);
        let inertia = 0.4 * m * was.radius * was.radius;
        for a in 0..3 {
            let f = forces[i][a] / m;
            off.push((now.velocity[a] - f * time).abs() / (length(forces[i]) / m * time));
            let moved = now.center[a] - was.center[a] - 0.5 * f * time * time;
            off.push(moved.abs() / (length(forces[i]) / m * time * time));
            let turn = torques[i][a] / inertia * time;
            off.push((now.spin[a] - turn).abs() / (length(torques[i]) / inertia * time));
        }
    }
    assert!(worst(off.clone()) < 1e-11, "{:e}", worst(off));
    // The forces add up to zero, and so does the momentum.
    let scale = mass(2e-3) * length(bed.grains()[1].velocity);
    assert!(length(minus(bed.momentum(), [0.0; 3])) < 1e-12 * scale);
}

/// Loads that are the weight do what gravity does, to rounding, contacts included; their sum is the change of momentum.
#[test]
fn weight_as_a_load_is_gravity() {
    let grains: Vec<Grain> = (0..27)
        .map(|k| {
            let at = [k % 3, k / 3 % 3, k / 9].map(|i| 2.2e-3 * (f64::from(i) + 0.6));
            Grain::at(at, 1e-3)
        })
        .collect();
    let gravity = [0.3, 0.0, -9.81];
    let run = |by_load: bool| {
        let mut params = params([7e-3; 3], touch(0.5, 0.4, 0.0), 5e-6);
        if !by_load {
            params.gravity = gravity;
        }
        let mut bed = start(params, &grains);
        if by_load {
            let m = bed.masses();
            let forces: Vec<[f64; 3]> = m.iter().map(|m| gravity.map(|g| m * g)).collect();
            bed.set_loads(&forces, &vec![[0.0; 3]; m.len()])
                .expect("loads");
        }
        let mut met = 0;
        for _ in 0..30 {
            bed.run(100).expect("steps");
            met += bed.wall_contacts().len();
        }
        assert!(met > 5, "{met} contacts seen");
        bed
    };
    let (by_load, by_gravity) = (run(true), run(false));
    let pairs = by_load.grains().into_iter().zip(by_gravity.grains());
    let off = worst(pairs.map(|(a, b)| length(minus(a.center, b.center))));
    assert!(off < 1e-8 * 1e-3, "{off:e}");
    assert_eq!(by_load.validate(), Ok(()));
}

/// Saved, restored and gone on: the same bits, with loads that change place when grains are sorted.
#[test]
fn loads_are_saved() {
    let begin = || {
        let mut bed = free(1e-5);
        let forces = [[2e-4, 0.0, 0.0], [-1e-3, 0.0, 0.0], [0.0, 1e-4, 3e-4]];
        bed.set_loads(&forces, &[[0.0, 1e-8, 0.0]; 3])
            .expect("loads");
        bed.advance(0.0307).expect("steps");
        bed
    };
    let mut whole = begin();
    let bytes = whole.save().expect("memory");
    let mut resumed = Bed::restore(whole.params().clone(), None, &bytes).expect("a state");
    assert_eq!(resumed.loads(), whole.loads());
    for bed in [&mut whole, &mut resumed] {
        bed.advance(0.02).expect("steps");
        bed.run(10).expect("steps");
    }
    assert!(whole.sorts() > 2, "{} sorts", whole.sorts());
    assert_eq!(resumed.time().to_bits(), whole.time().to_bits());
    assert_eq!(resumed.save(), whole.save());
    // Without the loads it goes elsewhere: the comparison can fail.
    let mut other = Bed::restore(whole.params().clone(), None, &bytes).expect("a state");
    other
        .set_loads(&[[0.0; 3]; 3], &[[0.0; 3]; 3])
        .expect("loads");
    other.advance(0.02).expect("steps");
    assert_ne!(other.grains(), whole.grains());
}

#[test]
fn loads_that_are_none_are_refused() {
    let mut bed = free(1e-5);
    let short = bed.set_loads(&[[0.0; 3]; 2], &[[0.0; 3]; 3]);
    let what = "forces on grains";
    let (got, expected) = (2, 3);
    assert_eq!(
        short,
        Err(GrainError::Length {
            what,
            got,
            expected
        })
    );
    let mut torques = [[0.0; 3]; 3];
    torques[1][2] = f64::NAN;
    let wrong = bed.set_loads(&[[0.0; 3]; 3], &torques);
    assert!(matches!(
        wrong,
        Err(GrainError::Value {
            what: "torques on grains",
            ..
        })
    ));
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(bed.advance(time), Err(GrainError::Value { .. })));
    }
}
