//! Steps of flows with spheres. What the host finds is tested in `vof/tests/vof/grains.rs`.

use crate::beds::{FULL, bed, flow, followed, of_blocks, params, splash};
use crate::flows::{Steps, compare, same_bits, steps};
use crate::mesh;
use cutlink_grains::{Bed, Grain, GrainBox, GrainParams, Material, Materials, Touch};
use cutlink_tests::backend_test;
use cutlink_vof::{BoxFace, FlowMesh, GrainCoupling, TwoPhaseFlow};
use std::panic::{AssertUnwindSafe, catch_unwind};

backend_test!(
    on_gpu:
    a_sphere_that_sinks,
    a_sphere_that_turns,
    a_sphere_that_falls_through_a_surface,
    spheres_that_meet_in_a_periodic_box,
    spheres_on_a_floor,
    spheres_that_share_the_cells_they_hold,
    spheres_that_are_held,
    spheres_beside_a_body_and_openings,
    a_mesh_that_follows_spheres,
    a_saved_state_of_spheres,
);

/// Steps, whose grains are reported as well.
fn go(flow: &mut TwoPhaseFlow<3>) -> Vec<f64> {
    let mut out = steps(flow);
    for of in flow.grain_motions() {
        out.extend(of.force.into_iter().chain(of.torque));
        out.extend(of.grain.velocity.into_iter().chain(of.grain.spin));
    }
    out
}

fn a_sphere_that_sinks<K: Steps>(kernels: &K) {
    for density in [2.0, 0.1] {
        let grain = Grain::at([0.51, 0.48, 0.53], 0.15);
        let make = || {
            let bed = bed(density, false, 0.5, &[grain]);
            flow(&params(0.01, 1.0), false, bed)
        };
        compare(kernels, make, go);
    }
}

fn a_sphere_that_turns<K: Steps>(kernels: &K) {
    let mut grain = Grain::at([0.42, 0.55, 0.61], 0.16);
    grain.velocity = [0.3, -0.2, 0.1];
    grain.spin = [1.0, 4.0, -3.0];
    for viscosity in [2e-3, 0.1] {
        let make = || {
            flow(
                &params(viscosity, 1.0),
                false,
                bed(1.6, false, 0.5, &[grain]),
            )
        };
        compare(kernels, make, go);
    }
}

fn a_sphere_that_falls_through_a_surface<K: Steps>(kernels: &K) {
    compare(
        kernels,
        || splash(1.0),
        |flow| {
            let mut out = go(flow);
            while flow.grain_motions()[0].grain.center[2] > 0.6 {
                out.extend(go(flow));
            }
            out
        },
    );
}

/// Three spheres, of which two hit one another, and one is at a corner of the box.
fn spheres_that_meet_in_a_periodic_box<K: Steps>(kernels: &K) {
    let mut grains = [
        Grain::at([0.34, 0.5, 0.5], 0.14),
        Grain::at([0.62, 0.54, 0.5], 0.13),
        Grain::at([0.95, 0.1, 0.05], 0.13),
    ];
    grains[0].velocity = [0.8, 0.0, 0.0];
    grains[0].spin = [0.0, 3.0, -2.0];
    grains[2].velocity = [-0.2, 0.3, 0.1];
    let make = || flow(&params(2e-3, 0.0), true, bed(1.3, true, 0.8, &grains));
    compare(kernels, make, |flow| {
        let mut out = go(flow);
        out.extend(go(flow));
        let hit = flow.grain_motions()[1].grain.velocity;
        assert!(hit[0] > 0.02, "the second one is hit: {hit:?}");
        out
    });
}

fn spheres_on_a_floor<K: Steps>(kernels: &K) {
    let grains = [
        Grain::at([0.35, 0.47, 0.1401], 0.14),
        Grain::at([0.63, 0.5, 0.1401], 0.14),
        Grain::at([0.48, 0.52, 0.39], 0.13),
    ];
    let make = || flow(&params(0.01, 1.0), false, bed(1.8, false, 0.3, &grains));
    compare(kernels, make, |flow| {
        let mut out = go(flow);
        out.extend(go(flow));
        let touching = flow.bed().map_or(0, |bed| bed.touching());
        assert!(touching > 0, "they touch");
        out
    });
}

/// Soft spheres, so deep in one another that both hold some cells.
fn spheres_that_share_the_cells_they_hold<K: Steps>(kernels: &K) {
    let mut grains = [
        Grain::at([0.4, 0.5, 0.5], 0.2),
        Grain::at([0.63, 0.52, 0.53], 0.2),
    ];
    grains[0].spin = [0.0, 2.0, 1.0];
    let soft = Material {
        young: 1.0,
        poisson: 0.3,
        density: 1.8,
    };
    let touch = Touch {
        restitution: 0.3,
        friction: 0.3,
        rolling: 0.0,
    };
    let make = || {
        let materials = Materials::alike(&[soft], touch).expect("a material");
        let domain = GrainBox::closed([0.0; 3], [1.0; 3], 0);
        let params = GrainParams {
            max_overlap: 0.99,
            ..GrainParams::new(materials, domain, 1e-3)
        };
        let bed = Bed::start(params, None, &grains).expect("a sound start");
        flow(&crate::beds::params(0.01, 1.0), false, bed)
    };
    // Each holds these cells against the other, which drives them apart: all stages in one step.
    compare(kernels, make, |flow| {
        vec![flow.step(1.0).expect("a step").dt]
    });
}

/// Eight spheres that stay where they are in a flow that is driven.
fn spheres_that_are_held<K: Steps>(kernels: &K) {
    let centres = (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|i| 0.27 + 0.5 * f64::from(i)));
    let grains: Vec<Grain> = centres.map(|c| Grain::at(c, 0.13)).collect();
    let make = || {
        let mesh = mesh::mesh([4; 3], [true; 3], 1, |_, _| false);
        let flow = TwoPhaseFlow::new(mesh, params(0.05, 0.0), &[FULL]).expect("a flow");
        let coupling = GrainCoupling {
            held: true,
            drive: [1.0, 0.2, 0.0],
        };
        let bed = bed(1.0, true, 0.5, &grains);
        flow.with_grains(bed, coupling).expect("grains in a flow")
    };
    compare(kernels, make, go);
}

/// A sphere half of whose lower neighbourhood is solid, between an inlet and an outlet.
fn spheres_beside_a_body_and_openings<K: Steps>(kernels: &K) {
    let mut params = params(0.01, 1.0);
    params.faces[0] = [
        BoxFace::Inflow {
            velocity: [0.7, 0.0, 0.0],
            liquid: 1.0,
        },
        BoxFace::Pressure {
            value: 0.2,
            liquid: 1.0,
        },
    ];
    let grains = [
        Grain::at([0.53, 0.5, 0.42], 0.15),
        Grain::at([0.83, 0.5, 0.5], 0.14),
    ];
    let make = || {
        let forest = mesh::forest([4; 3], [false; 3], 1, |_, _| false);
        let mut solid = vec![0; forest.capacity()];
        for (solid, at) in solid.iter_mut().zip(&forest.coord) {
            if at[2] == 0 && at[0] == 2 {
                *solid = u64::MAX;
            } else if at[2] == 1 && at[0] == 1 && at[1] == 2 {
                *solid = 0xcccc_cccc_cccc_cccc;
            }
        }
        let mesh = FlowMesh::new(&forest, [0.0; 3], 1.0 / 16.0, solid).expect("a mesh");
        let flow = TwoPhaseFlow::new(mesh, params.clone(), &[FULL]).expect("a flow");
        let bed = bed(2.5, false, 0.5, &grains);
        (flow.with_grains(bed, GrainCoupling::default())).expect("grains in a flow")
    };
    compare(kernels, make, go);
}

fn a_mesh_that_follows_spheres<K: Steps>(kernels: &K) {
    let make = || {
        let mut flow = followed();
        let swirl = |x: [f64; 3]| std::array::from_fn(|a| 0.3 * (5.0 * x[(a + 1) % 3]).sin());
        flow.set_velocity(swirl).expect("a projection");
        flow
    };
    compare(kernels, make, |flow| {
        let (mut out, mut changes) = (Vec::new(), 0);
        for _ in 0..50 {
            if let Some(look) = flow.adapt_if_due().expect("a mesh") {
                changes += usize::from(look.refined + look.coarsened > 0);
                out.extend(look.leaves.iter().map(|&n| n as f64));
            }
            out.push(flow.step(1.0).expect("a step").dt);
        }
        assert!(changes > 1, "the mesh changes");
        out
    });
}

/// A flow goes on from its own state, and the one of the host.
fn a_saved_state_of_spheres<K: Steps>(kernels: &K) {
    let mut host = splash(1.0);
    go(&mut host);
    let of_host = (host.save(), host.save_grains().expect("memory"));
    compare(
        kernels,
        || splash(1.0),
        |flow| {
            let mut out = go(flow);
            assert!(of_host.0 == flow.save(), "fields");
            assert!(of_host.1 == flow.save_grains().expect("memory"), "grains");
            out.extend(go(flow));
            flow.restore(&of_host.0).expect("the same flow");
            flow.restore_grains(&of_host.1).expect("the same grains");
            out.extend(go(flow));
            out
        },
    );
}

/// The comparison fails for one bit of a field, a number that is none, and one bit of the grains.
#[test]
fn a_changed_bit_is_seen() {
    let grain = Grain::at([0.5, 0.48, 0.53], 0.2);
    let make = || {
        let bed = bed(2.0, false, 0.5, &[grain]);
        let mut flow = of_blocks(3, &params(0.01, 1.0), false, bed);
        flow.step(1.0).expect("a step");
        flow
    };
    let with = |change: &dyn Fn(&mut Vec<f64>, &mut Vec<u8>)| {
        let (here, mut there) = (make(), make());
        let (mut state, mut grains) = (there.save(), there.save_grains().expect("memory"));
        change(&mut state.values, &mut grains);
        there.restore(&state).expect("the same flow");
        there.restore_grains(&grains).expect("the same grains");
        catch_unwind(AssertUnwindSafe(|| same_bits(&here, &there))).is_ok()
    };
    assert!(with(&|_, _| ()), "no change");
    let bit = |x: &mut f64| *x = f64::from_bits(x.to_bits() ^ 1);
    assert!(!with(&|values, _| bit(&mut values[2000])));
    assert!(!with(&|values, _| values[2000] = f64::NAN));
    // A place of the grain.
    assert!(!with(&|_, grains| grains[8] ^= 1));
}
