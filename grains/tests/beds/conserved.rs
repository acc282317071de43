//! Momentum, angular momentum and energy; pairs by brute force.

use crate::worst::worst;
use crate::{SOFT, lattice, length, minus, params, start, touch};
use cutlink_grains::{Bed, BoxAxis, Grain, GrainParams};

fn gas(periodic: bool, e: f64, mu: f64, dt: f64) -> (GrainParams, Vec<Grain>) {
    let count = [6, 6, 6];
    let mut params = params([6.0 * 2.2e-3; 3], touch(e, mu, 0.0), dt);
    if periodic {
        params.domain.axes = [BoxAxis::Periodic; 3];
    }
    let mut grains = lattice(count, 11);
    for grain in &mut grains {
        grain.velocity = grain.velocity.map(|v| 5.0 * v);
    }
    (params, grains)
}

/// The sum of the sizes of all momenta.
fn scale(bed: &Bed) -> f64 {
    let mass = |g: &Grain| 4.0 / 3.0 * std::f64::consts::PI * g.radius.powi(3) * SOFT.density;
    bed.grains()
        .iter()
        .map(|g| mass(g) * length(g.velocity))
        .sum()
}

#[test]
fn momentum_is_kept_to_rounding() {
    for (e, mu) in [(1.0, 0.0), (0.7, 0.4)] {
        let (params, grains) = gas(true, e, mu, 5e-6);
        let mut bed = start(params, &grains);
        let (before, scale) = (bed.momentum(), scale(&bed));
        let mut met = 0;
        for _ in 0..20 {
            bed.run(100).expect("steps");
            met += bed.touching();
        }
        assert!(met > 100, "{met} contacts seen");
        assert!(bed.sorts() > 3, "{} sorts", bed.sorts());
        assert_eq!(bed.validate(), Ok(()));
        let off = length(minus(bed.momentum(), before)) / scale;
        assert!(off < 1e-13, "{off:e}");
    }
}

#[test]
fn angular_momentum_is_kept_in_an_oblique_impact() {
    let mut grains = [
        Grain::at([4e-3, 5e-3, 5e-3], 1e-3),
        Grain::at([6.5e-3, 5.7e-3, 5.3e-3], 1.4e-3),
    ];
    grains[0].velocity = [1.0, 0.1, -0.2];
    grains[1].spin = [30.0, -200.0, 100.0];
    let mut bed = start(params([1e-2; 3], touch(0.6, 0.4, 0.05), 1e-6), &grains);
    let (before, spin) = (bed.angular_momentum(), bed.energy().spin);
    bed.run(900).expect("steps");
    assert!((bed.energy().spin / spin - 1.0).abs() > 0.01, "they met");
    assert!(bed.wall_contacts().is_empty(), "and nothing else");
    let off = length(minus(bed.angular_momentum(), before)) / length(before);
    assert!(off < 1e-13, "{off:e}");
}

#[test]
fn energy_is_kept_in_a_closed_box_without_friction() {
    let (mut params, grains) = gas(false, 1.0, 0.0, 1e-6);
    params.gravity = [0.0, 0.0, -9.81];
    let mut bed = start(params, &grains);
    let before = bed.energy().total();
    let mut off = Vec::new();
    let mut elastic = Vec::new();
    for _ in 0..40 {
        bed.run(200).expect("steps");
        off.push((bed.energy().total() / before - 1.0).abs());
        elastic.push(bed.energy().elastic / before);
    }
    assert!(worst(off.clone()) < 1e-6, "{:e}", worst(off));
    assert!(worst(elastic) > 1e-3, "grains met");
    // Friction takes energy.
    let (params, grains) = gas(false, 0.9, 0.3, 2e-6);
    let mut bed = start(params, &grains);
    let before = bed.energy().total();
    bed.run(2000).expect("steps");
    assert!(bed.energy().total() < 0.99 * before);
}

#[test]
fn all_pairs_that_touch_are_found() {
    // Of three sizes, closely together, in a periodic box.
    let (mut params, mut grains) = gas(true, 1.0, 0.0, 1e-6);
    params.max_overlap = 0.99;
    for (i, grain) in grains.iter_mut().enumerate() {
        grain.radius *= [0.4, 1.0, 1.5][i % 3];
        grain.velocity = [0.0; 3];
    }
    let size = params.domain.length(0);
    let mut want = 0;
    for (i, a) in grains.iter().enumerate() {
        for b in &grains[..i] {
            let d = minus(a.center, b.center).map(|d| d - size * (d / size).round());
            want += usize::from(length(d) < a.radius + b.radius);
        }
    }
    assert!(want > 100, "{want}");
    for skin in [0.01, 0.3, 0.9] {
        params.skin = skin;
        assert_eq!(start(params.clone(), &grains).touching(), want);
    }
}
