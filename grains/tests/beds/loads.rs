//! Forces on walls, pressure, contacts by grain, lost grains, the limit of the step, grains at random places.

use crate::worst::worst;
use crate::{SOFT, lattice, length, minus, params, start, touch};
use cutlink_grains::{
    Bed, BedWall, Grain, GrainError, GrainParams, Materials, StepLimit,
    pack::{PackSize, ScatterBlock},
};
use std::f64::consts::PI;

const G: f64 = 9.81;

fn mass(grain: &Grain) -> f64 {
    4.0 / 3.0 * PI * grain.radius.powi(3) * SOFT.density
}

fn heavy(size: [f64; 3], dt: f64) -> GrainParams {
    let mut params = params(size, touch(0.3, 0.4, 0.1), dt);
    params.gravity = [0.0, 0.0, -G];
    params
}

#[test]
fn a_grain_at_rest_presses_with_its_weight() {
    let grain = Grain::at([0.005, 0.005, 1e-3], 1e-3);
    let mut bed = start(heavy([0.01; 3], 5e-6), &[grain]);
    bed.run(40_000).expect("it comes to rest");
    assert!(bed.largest_speed() < 1e-9, "{}", bed.largest_speed());
    let loads = bed.wall_loads();
    let [load] = loads[..] else {
        panic!("one contact, not {loads:?}");
    };
    let weight = mass(&grain) * G;
    assert_eq!(load.wall, BedWall::Face(4));
    assert!((load.force[2] / -weight - 1.0).abs() < 1e-6, "{load:?}");
    assert!(worst(load.force[..2].iter().map(|f| f.abs())) < 1e-9 * weight);
    assert!(load.at[2].abs() < 1e-15, "on the wall: {load:?}");
    assert_eq!(bed.contact_counts(), [1]);
    let mut parts = Vec::new();
    bed.each_virial(|at, part| parts.push((at, part)));
    let height = bed.grains()[0].center[2];
    assert_eq!(parts.len(), 1);
    assert!(
        (parts[0].1 / (weight * height / 3.0) - 1.0).abs() < 1e-6,
        "{parts:?}"
    );
}

#[test]
fn the_pressure_of_a_bed_at_rest_is_that_of_the_virial_theorem() {
    let grains = lattice([4, 4, 4], 3);
    let mut bed = start(heavy([9e-3, 9e-3, 20e-3], 5e-6), &grains);
    bed.run(150_000).expect("it comes to rest");
    assert!(bed.largest_speed() < 1e-4, "{}", bed.largest_speed());
    // Σ F d of all contacts = - Σ m g · x + Σ f · x of the walls' loads f, as all forces are balanced.
    let grains = bed.grains();
    let weights: f64 = grains.iter().map(|g| mass(g) * G * g.center[2]).sum();
    let loads = bed.wall_loads();
    let at_walls: f64 = loads
        .iter()
        .flat_map(|l| (0..3).map(|a| l.force[a] * l.at[a]))
        .sum();
    let mut sum = 0.0;
    bed.each_virial(|_, part| sum += part);
    let expected = weights + at_walls;
    assert!(
        (3.0 * sum / expected - 1.0).abs() < 1e-2,
        "{} and {expected}",
        3.0 * sum
    );
    assert!((3.0 * sum / weights - 1.0).abs() > 0.1, "walls count");
    // The floor carries the weight, and forces on walls balance those on grains.
    let weight: f64 = grains.iter().map(|g| mass(g) * G).sum();
    let total: [f64; 3] = std::array::from_fn(|a| loads.iter().map(|l| l.force[a]).sum());
    assert!(
        (total[2] / -weight - 1.0).abs() < 1e-3,
        "{total:?} of {weight}"
    );
    let counts = bed.contact_counts();
    let all: u32 = counts.iter().sum();
    assert_eq!(all as usize, 2 * bed.touching() + bed.wall_contacts().len());
    assert_eq!(bed.strayed(), 0);
}

#[test]
fn loads_are_the_forces_on_grains_in_motion() {
    let grains = lattice([3, 3, 3], 5);
    let mut bed = start(heavy([6.8e-3, 6.8e-3, 10e-3], 1e-6), &grains);
    let mut compared = 0;
    for _ in 0..40 {
        bed.run(500).expect("steps");
        let forces = bed.contact_forces();
        let of_grains: [f64; 3] = std::array::from_fn(|a| forces.iter().map(|f| f[a]).sum());
        let loads = bed.wall_loads();
        let of_walls: [f64; 3] = std::array::from_fn(|a| loads.iter().map(|l| l.force[a]).sum());
        let size: f64 = loads.iter().map(|l| length(l.force)).sum();
        if size > 1e-5 {
            compared += 1;
            let off = length(minus(of_grains, of_walls.map(|f| -f)));
            assert!(off < 0.02 * size, "{of_grains:?} and {of_walls:?}");
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn a_grain_beyond_a_wall_has_strayed() {
    let soft = cutlink_grains::Material { young: 2e3, ..SOFT };
    let materials = Materials::alike(&[soft], touch(0.9, 0.0, 0.0)).expect("a material");
    let domain = cutlink_grains::GrainBox::closed([0.0; 3], [0.02; 3], 0);
    let mut grain = Grain::at([0.01, 0.01, 1.2e-3], 1e-3);
    grain.velocity = [0.0, 0.0, -2.0];
    let limit = StepLimit::of(&materials, &[grain], 2.0).expect("a grain");
    let mut bed = start(
        GrainParams::new(materials, domain, 0.5 * limit.limit),
        &[grain],
    );
    let (mut most, mut lowest) = (0, f64::INFINITY);
    for _ in 0..400 {
        bed.run(1).expect("a step");
        lowest = lowest.min(bed.grains()[0].center[2]);
        most = most.max(bed.strayed());
        let z = bed.grains()[0].center[2];
        assert_eq!(bed.strayed() == 1, !(0.0..=0.02).contains(&z));
    }
    assert!(lowest < 0.0 && most == 1, "{lowest}");
}

#[test]
fn the_limit_is_the_one_that_a_start_refuses() {
    let materials = Materials::alike(&[SOFT], touch(0.5, 0.3, 0.0)).expect("a material");
    let mut grains = lattice([2, 2, 2], 9);
    for speed in [0.0, 3.0] {
        grains[5].velocity = [0.0, speed, 0.0];
        let fastest = worst(grains.iter().map(|g| length(g.velocity)));
        let limit = StepLimit::of(&materials, &grains, fastest).expect("grains");
        let at = |dt: f64| Bed::start(params([0.01; 3], touch(0.5, 0.3, 0.0), dt), None, &grains);
        at(limit.limit).expect("the limit itself");
        match at(limit.limit * (1.0 + 1e-12)) {
            Err(GrainError::TimeStep {
                rule,
                limit: refused,
                id,
                ..
            }) => {
                assert_eq!((rule, refused, id), (limit.rule, limit.limit, limit.id));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(StepLimit::of(&materials, &[], 1.0), None);
}

#[test]
fn scattered_grains_do_not_overlap_and_have_their_shares() {
    let size = |diameter: f64, share: f64| PackSize { diameter, share };
    let block = ScatterBlock {
        lower: [0.0, 0.0, 0.01],
        upper: [0.01, 0.01, 0.03],
        periodic: [true, false, false],
        sizes: vec![size(1e-3, 3.0), size(1.6e-3, 1.0)],
        count: 240,
        seed: 4,
    };
    let there = [Grain::at([0.005, 0.005, 0.0085], 2e-3)];
    // A wall at y = 0.004: only what is beyond it.
    let is_clear = |x: [f64; 3], r: f64| x[1] - r > 0.004;
    let found = block.scatter(&there, &is_clear).expect("a block");
    assert_eq!(found.len(), 240);
    assert_eq!(found, block.scatter(&there, &is_clear).expect("the same"));
    let small = found.iter().filter(|g| g.radius == 0.5e-3).count();
    assert!(small.abs_diff(180) <= 1, "{small}");
    let all: Vec<&Grain> = found.iter().chain(&there).collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[..i] {
            let mut d = minus(a.center, b.center);
            d[0] -= 0.01 * (d[0] / 0.01).round();
            assert!(length(d) >= (a.radius + b.radius) * (1.0 - 1e-12));
        }
    }
    for g in &found {
        assert!(g.center[1] - g.radius > 0.004 && g.center[1] + g.radius <= 0.01 + 1e-15);
        assert!(g.center[2] - g.radius >= 0.01 - 1e-15 && g.center[2] + g.radius <= 0.03 + 1e-15);
    }
    assert!(
        found.iter().any(|g| g.center[0] < 0.3e-3),
        "through the ends of a period"
    );
    let more = ScatterBlock {
        count: 5000,
        ..block.clone()
    };
    let full = more.scatter(&there, &is_clear).expect("fewer");
    let volume: f64 = full.iter().map(|g| mass(g) / SOFT.density).sum();
    let fraction = volume / (0.01 * 0.006 * 0.02);
    assert!(
        full.len() < 5000 && (0.2..0.42).contains(&fraction),
        "{fraction}"
    );
    let bad = ScatterBlock {
        upper: block.lower,
        ..block
    };
    assert!(matches!(
        bad.scatter(&[], &is_clear),
        Err(GrainError::Box { .. })
    ));
}
