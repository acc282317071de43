//! Grains in a flow: rest, balances, drag of a periodic array, a free surface, resume.

use crate::beds::{FULL, bed, flow, followed, of_blocks, params, splash};
use crate::mesh;
use crate::worst::worst;
use cutlink_grains::{Bed, Grain};
use cutlink_vof::{BoxFace, FlowParams, GrainCoupling, TwoPhaseError, TwoPhaseFlow};
use std::f64::consts::PI;

fn mass(radius: f64, density: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3) * density
}

#[test]
fn a_grain_that_weighs_as_much_as_the_fluid_is_at_rest() {
    let at = |density: f64| {
        let grain = Grain::at([0.51, 0.48, 0.53], 0.15);
        let mut flow = flow(
            &params(0.01, 1.0),
            false,
            bed(density, false, 0.5, &[grain]),
        );
        for _ in 0..5 {
            flow.step(1.0).expect("a step");
        }
        let fluid = flow.integrals().largest_velocity;
        (flow.grain_motions()[0].grain.velocity[2], fluid)
    };
    let (velocity, fluid) = at(1.0);
    assert!(
        velocity.abs() < 1e-12 && fluid < 1e-12,
        "{velocity:e}, fluid {fluid:e}"
    );
    // Others sink and rise; added mass of a half bounds the speed.
    let (velocity, _) = at(1.5);
    assert!((-0.1 * 0.5 / 2.0..-0.01).contains(&velocity), "{velocity}");
    let (velocity, _) = at(0.2);
    assert!((0.01..0.1 * 0.8 / 0.7).contains(&velocity), "{velocity}");
}

/// The first steps of a grain in a fluid without viscosity: `(ρ_s − ρ_f) g / (ρ_s + ρ_f / 2)`. The surface is smeared over a cell or
/// two, so that at eight cells a diameter a seventh is missing; less at more. A grain lighter than its added mass is no exception.
#[test]
fn added_mass_is_that_of_a_sphere() {
    for density in [0.1, 1.15, 8.0] {
        let radius = 0.13;
        let grain = Grain::at([0.5, 0.5, 0.5], radius);
        let params = FlowParams {
            faces: [[BoxFace::Slip; 2]; 3],
            longest_step: 1e-3,
            ..params(0.0, 1.0)
        };
        let mut flow = of_blocks(8, &params, false, bed(density, false, 0.5, &[grain]));
        for _ in 0..3 {
            flow.step(1.0).expect("a step");
        }
        let found = flow.grain_motions()[0].grain.velocity[2] / flow.time();
        let wanted = -(density - 1.0) / (density + 0.5);
        let off = (found / wanted - 1.0).abs();
        assert!(off < 0.16, "{density}: {found} of {wanted}");
    }
}

#[test]
fn momentum_of_fluid_and_grains_is_kept() {
    let mut grains = [
        Grain::at([0.3, 0.5, 0.5], 0.14),
        Grain::at([0.6, 0.54, 0.5], 0.13),
        Grain::at([0.95, 0.1, 0.05], 0.13),
    ];
    grains[0].velocity = [0.8, 0.0, 0.0];
    grains[0].spin = [0.0, 3.0, -2.0];
    grains[2].velocity = [-0.2, 0.3, 0.1];
    let params = FlowParams {
        tolerance: 1e-11,
        ..params(2e-3, 0.0)
    };
    let mut flow = flow(&params, true, bed(1.3, true, 0.8, &grains));
    let scale = mass(0.14, 1.3) * 0.8;
    // Cells of grains have the grains' velocities once there was a step.
    flow.step(1.0).expect("a step");
    let before = flow.momentum().expect("memory");
    let (mut off, mut met) = (Vec::new(), false);
    for _ in 0..25 {
        flow.step(1.0).expect("a step");
        let now = flow.momentum().expect("memory");
        off.extend((0..3).map(|a| (now[a] - before[a]).abs() / scale));
        met |= flow.bed().is_some_and(|bed| bed.touching() > 0);
    }
    let grains = flow.grain_motions();
    assert!(
        grains[1].grain.velocity[0] > 0.02,
        "the second one was hit: {grains:?}"
    );
    assert!(
        grains[0].grain.velocity[0] < 0.6,
        "the first one was slowed"
    );
    assert!(met || grains[1].grain.velocity[0] > 0.1);
    assert!(worst(off.clone()) < 1e-10, "{:e}", worst(off));
}

/// Net weight is what a grain at rest bears on the floor, and the fluid is at rest.
#[test]
fn a_grain_that_lies_on_the_floor_is_at_rest() {
    let (radius, density) = (0.14, 1.4);
    let grain = Grain::at([0.5, 0.47, radius + 1e-4], radius);
    let mut flow = flow(
        &params(0.01, 1.0),
        false,
        bed(density, false, 0.2, &[grain]),
    );
    for _ in 0..60 {
        flow.step(1.0).expect("a step");
    }
    let found = flow.grain_motions()[0];
    let weight = mass(radius, density - 1.0);
    assert!(
        (found.force[2] / weight + 1.0).abs() < 5e-3,
        "{:?} of {weight}",
        found.force
    );
    let fluid = flow.integrals().largest_velocity;
    assert!(fluid < 1e-2, "{fluid:e} m/s");
}

/// The drag of a simple cubic array of spheres in Stokes flow: Zick and Homsy, J. Fluid Mech. 115 (1982) 13, table 2.
#[test]
fn drag_of_a_cubic_array_is_that_of_stokes_flow() {
    // Volume fraction, `F / (6 π μ r U)` with the mean velocity of the box. Eight spheres: beds have no shorter periods.
    for (share, wanted) in [(0.064, 2.810)] {
        let radius = 0.5 * f64::cbrt(share * 3.0 / (4.0 * PI));
        let centers =
            (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|i| 0.25 + 0.5 * f64::from(i)));
        let grains: Vec<Grain> = centers.map(|c| Grain::at(c, radius)).collect();
        let mesh = mesh::mesh([6; 3], [true; 3], 1, |_, _| false);
        let params = FlowParams {
            longest_step: 3.0 / (24.0f64 * 24.0),
            ..params(1.0, 0.0)
        };
        let flow = TwoPhaseFlow::new(mesh, params, &[FULL]).expect("a flow");
        let coupling = GrainCoupling {
            held: true,
            drive: [0.01, 0.0, 0.0],
        };
        let bed = bed(1.0, true, 0.5, &grains);
        let mut flow = flow.with_grains(bed, coupling).expect("grains in a flow");
        for _ in 0..40 {
            flow.step(1.0).expect("a step");
        }
        let u = &flow.velocity()[0];
        let mean = u.iter().sum::<f64>() / u.len() as f64;
        for of in flow.grain_motions() {
            let force = of.force[0];
            assert!(
                (force / (0.01 / 8.0) - 1.0).abs() < 1e-2,
                "{force:e}: all of the drive"
            );
            let found = force / (6.0 * PI * radius * mean);
            let off = found / wanted - 1.0;
            assert!(off.abs() < 0.08, "share {share}: {found} of {wanted}");
        }
    }
}

#[test]
fn a_grain_falls_through_the_surface() {
    let mut flow = splash(1.0);
    let before = flow.integrals().volume[0];
    while flow.time() < 0.3 {
        flow.step(1.0).expect("a step");
    }
    let grain = flow.grain_motions()[0].grain;
    assert!(
        grain.center[2] < 0.45,
        "it is in the water: {:?}",
        grain.center
    );
    assert!(
        grain.velocity[2] > -2.5 && grain.velocity[2] < 0.0,
        "{:?}",
        grain.velocity
    );
    let now = flow.integrals();
    let off = now.volume[0] / before - 1.0;
    assert!(off.abs() < 1e-12, "volume {off:e}");
    assert!(now.largest_velocity < 6.0, "{}", now.largest_velocity);
}

#[test]
fn resume_and_threads_give_the_same_bits_with_grains() {
    let bits = |flow: &TwoPhaseFlow<3>| {
        let numbers: Vec<u64> = flow.save().values.iter().map(|v| v.to_bits()).collect();
        (numbers, flow.save_grains().expect("memory"))
    };
    let mut whole = splash(1.0);
    let steps = |flow: &mut TwoPhaseFlow<3>| {
        for _ in 0..4 {
            flow.step(1.0).expect("a step");
        }
    };
    steps(&mut whole);
    let half = (whole.save(), whole.save_grains().expect("memory"));
    steps(&mut whole);
    let mut resumed = splash(1.0);
    resumed.restore(&half.0).expect("the same flow");
    resumed.restore_grains(&half.1).expect("the same grains");
    steps(&mut resumed);
    assert!(bits(&resumed) == bits(&whole), "resumed");
    // Without the grains' state it is another flow: the comparison can fail.
    let mut other = splash(1.0);
    other.restore(&half.0).expect("the same flow");
    steps(&mut other);
    assert!(bits(&other) != bits(&whole));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let found = pool.install(|| {
            let mut flow = splash(1.0);
            for _ in 0..8 {
                flow.step(1.0).expect("a step");
            }
            bits(&flow)
        });
        assert!(found == bits(&whole), "{threads} threads");
    }
    // Damaged bytes, and those of another bed.
    for bytes in [&half.1[..40], &half.1[1..], &[]] {
        assert!(splash(1.0).restore_grains(bytes).is_err());
    }
}

#[test]
fn a_mesh_follows_its_grains_and_goes_on_from_a_state() {
    let go = |flow: &mut TwoPhaseFlow<3>, end: f64| {
        let mut looks = 0;
        while flow.time() < end {
            looks += usize::from(flow.adapt_if_due().expect("a mesh").is_some());
            flow.step(1.0).expect("a step");
        }
        looks
    };
    let mut whole = followed();
    let first = go(&mut whole, 0.5);
    let half = (whole.save(), whole.save_grains().expect("memory"));
    let looks = first + go(&mut whole, 0.76);
    let z = whole.grain_motions()[0].grain.center[2];
    assert!(z < 0.63 && looks > 1, "{z} after {looks} looks");
    // All of the box at the finest level would have 216 blocks.
    let fine = whole.mesh().blocks().range(1).len();
    assert!(fine < 216, "{fine} fine blocks");
    let mut resumed = followed();
    resumed.restore(&half.0).expect("the same flow");
    resumed.restore_grains(&half.1).expect("the same grains");
    go(&mut resumed, 0.76);
    assert!(resumed.save() == whole.save(), "fields");
    assert!(resumed.save_grains() == whole.save_grains(), "grains");
}

#[test]
fn what_grains_cannot_have_is_refused() {
    let try_with = |params: FlowParams<3>, levels: usize, bed: Bed| {
        let mesh = mesh::mesh([3; 3], [false; 3], levels, |c, _| c[0] < 0.4);
        let flow = TwoPhaseFlow::new(mesh, params, &[FULL]).expect("a flow");
        flow.with_grains(bed, GrainCoupling::default()).map(|_| ())
    };
    let words = |error: Result<(), TwoPhaseError>| error.expect_err("refused").to_string();
    let good = || bed(2.0, false, 0.5, &[Grain::at([0.5; 3], 0.3)]);
    let plain = params(0.1, 1.0);
    assert_eq!(try_with(plain.clone(), 1, good()), Ok(()));
    let small = bed(2.0, false, 0.5, &[Grain::at([0.5; 3], 0.12)]);
    let small = words(try_with(plain.clone(), 1, small));
    assert!(small.contains("radius of a grain"), "{small}");
    let coarse = words(try_with(plain.clone(), 2, good()));
    assert!(coarse.contains("level 0"), "{coarse}");
    let periodic = words(try_with(
        plain.clone(),
        1,
        bed(2.0, true, 0.5, &[Grain::at([0.5; 3], 0.14)]),
    ));
    assert!(periodic.contains("box of a bed"), "{periodic}");
    let turning = cutlink_vof::Turning {
        center: [0.5; 3],
        spin: [0.0, 0.0, 1.0],
        rate: [0.0; 3],
    };
    let turned = FlowParams {
        turning: Some(turning),
        ..plain
    };
    let turned = words(try_with(turned, 1, good()));
    assert!(turned.contains("turning"), "{turned}");
    let mut heavy = good().params().clone();
    heavy.gravity = [0.0, 0.0, -1.0];
    let heavy = Bed::start(heavy, None, &[Grain::at([0.5; 3], 0.3)]).expect("a bed");
    let heavy = words(try_with(params(0.1, 1.0), 1, heavy));
    assert!(heavy.contains("gravity of a bed"), "{heavy}");
}
