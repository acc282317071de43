//! Impacts: Hertz's duration, restitution, oblique impacts on a wall.

use crate::worst::worst;
use crate::{SOFT, length, params, start, touch};
use cutlink_grains::{Bed, Grain, GrainBox, GrainParams, Material, Materials, Touch};
use std::f64::consts::PI;

/// 2 ∫ dx / √(1 − x^(5/2)) from 0 to 1, by Simpson's rule after x = sin(φ^(5/4))^(4/5), which leaves no singularity.
fn hertz_constant() -> f64 {
    let end = (0.5 * PI).powf(0.8);
    let value = |phi: f64| match phi {
        0.0 => 1.0,
        phi => phi.powf(1.25).sin().powf(-0.2) * phi.powf(0.25),
    };
    let n = 2000;
    let h = end / f64::from(n);
    let sum: f64 = (0..=n)
        .map(|i| {
            let weight = match i {
                0 => 1.0,
                i if i == n => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * value(h * f64::from(i))
        })
        .sum();
    2.0 * 0.8 * 1.25 * sum * h / 3.0
}

/// Effective modulus, from its definition.
fn effective(a: &Material, b: &Material) -> f64 {
    1.0 / ((1.0 - a.poisson.powi(2)) / a.young + (1.0 - b.poisson.powi(2)) / b.young)
}

fn mass(radius: f64, material: &Material) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3) * material.density
}

/// Duration of an elastic impact: k δ^(3/2) with k = 4/3 E √R, the deepest point from the energy.
fn duration(young: f64, radius: f64, mass: f64, speed: f64) -> f64 {
    let k = 4.0 / 3.0 * young * radius.sqrt();
    let depth = (1.25 * mass * speed * speed / k).powf(0.4);
    hertz_constant() * depth / speed
}

/// Two spheres that have just met, head on along a diagonal.
fn pair(materials: [Material; 2], radii: [f64; 2], speed: f64, e: f64, share: f64) -> (Bed, f64) {
    let n = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
    let materials = Materials::alike(&materials, touch(e, 0.5, 0.0)).expect("materials");
    let young = effective(&materials.list()[0], &materials.list()[1]);
    let masses = [0, 1].map(|i| mass(radii[i], &materials.list()[i]));
    let reduced = masses[0] * masses[1] / (masses[0] + masses[1]);
    let radius = radii[0] * radii[1] / (radii[0] + radii[1]);
    let time = duration(young, radius, reduced, speed);
    let grain = |i: usize, sign: f64| {
        let at = n.map(|n| 0.02 + sign * radii[i] * n);
        let mut grain = Grain::at(at, radii[i]);
        grain.velocity = n.map(|n| -sign * n * speed * reduced / masses[i]);
        grain.material = i as u8;
        grain
    };
    let domain = GrainBox::closed([0.0; 3], [0.04; 3], 0);
    let params = GrainParams::new(materials, domain, time * share);
    (start(params, &[grain(0, -1.0), grain(1, 1.0)]), time)
}

fn gap(bed: &Bed) -> f64 {
    let g = bed.grains();
    length(std::array::from_fn(|a| g[1].center[a] - g[0].center[a])) - g[0].radius - g[1].radius
}

fn speed(bed: &Bed) -> f64 {
    let g = bed.grains();
    length(std::array::from_fn(|a| g[1].velocity[a] - g[0].velocity[a]))
}

#[test]
fn the_constant_of_hertz_is_that_of_the_literature() {
    // Johnson 1985, eq. 11.24: 2.94; by gamma functions 4/5 √π Γ(2/5) / Γ(9/10).
    let by_gamma = 0.8 * PI.sqrt() * 2.218_159_543_757_688 / 1.068_628_702_119_319;
    assert!(
        (hertz_constant() - by_gamma).abs() < 1e-8,
        "{} {by_gamma}",
        hertz_constant()
    );
}

#[test]
fn an_elastic_impact_takes_the_time_of_hertz() {
    let hard = Material {
        young: 2e7,
        poisson: 0.2,
        density: 7800.0,
    };
    let cases = [
        ([SOFT, SOFT], [1e-3, 1e-3], 0.1),
        ([SOFT, SOFT], [1e-3, 2.5e-3], 1.0),
        ([SOFT, hard], [1.5e-3, 1e-3], 0.4),
    ];
    for (materials, radii, v) in cases {
        let (mut bed, time) = pair(materials, radii, v, 1.0, 1.0 / 1000.0);
        bed.run(1).expect("a step");
        while bed.touching() > 0 {
            bed.run(1).expect("a step");
        }
        // Back to the moment at which they parted.
        let took = bed.time() - gap(&bed) / speed(&bed);
        assert!((took / time - 1.0).abs() < 1e-3, "{took} against {time}");
        assert!((speed(&bed) / v - 1.0).abs() < 1e-5, "{}", speed(&bed) / v);
        assert_eq!(bed.validate(), Ok(()));
    }
}

#[test]
fn restitution_is_what_was_asked_for_at_any_speed() {
    for e in [0.9, 0.6, 0.3] {
        for (v, radii) in [(0.02, [1e-3, 1e-3]), (1.0, [2e-3, 1e-3])] {
            let (mut bed, _) = pair([SOFT, SOFT], radii, v, e, 1.0 / 500.0);
            bed.run(1).expect("a step");
            while bed.touching() > 0 {
                bed.run(1).expect("a step");
            }
            let found = speed(&bed) / v;
            assert!((found / e - 1.0).abs() < 1e-3, "{found} for {e}");
        }
    }
}

/// A sphere on the lower face of a box: speed and angle before, `touch`.
fn oblique(angle: f64, touch: Touch) -> (Grain, f64) {
    let (r, v) = (1e-3, 0.02);
    let time = duration(effective(&SOFT, &SOFT), r, mass(r, &SOFT), v * angle.cos());
    let mut grain = Grain::at([5e-3, 5e-3, r], r);
    grain.velocity = [v * angle.sin(), 0.0, -v * angle.cos()];
    let mut bed = start(params([1e-2; 3], touch, time.min(1e-4) / 1000.0), &[grain]);
    bed.run(1).expect("a step");
    while !bed.wall_contacts().is_empty() {
        bed.run(1).expect("a step");
    }
    (bed.grains()[0], v)
}

/// The same impact, of scalars, by Runge-Kutta's method on the definitions: overlap, tangential displacement, their
/// velocities and the spin. The spring
/// is kept within Coulomb's limit after each step.
fn scalar(angle: f64, e: f64, mu: f64) -> [f64; 3] {
    let (r, v) = (1e-3, 0.02);
    let m = mass(r, &SOFT);
    let young = effective(&SOFT, &SOFT);
    let shear = SOFT.young / (2.0 * (1.0 + SOFT.poisson)) / (2.0 * (2.0 - SOFT.poisson));
    let beta = -e.ln() / (PI * PI + e.ln().powi(2)).sqrt();
    // [overlap, its rate, displacement, vx, spin about y]
    let forces = |s: &[f64; 5]| {
        let root = (r * s[0].max(0.0)).sqrt();
        let (sn, st) = (2.0 * young * root, 8.0 * shear * root);
        let damp = |k: f64| 2.0 * (5.0f64 / 6.0).sqrt() * beta * (k * m).sqrt();
        let normal = 2.0 / 3.0 * sn * s[0] + damp(sn) * s[1];
        let slip = s[3] - s[4] * (r - s[0]);
        let trial = -st * s[2] - damp(st) * slip;
        let limit = mu * normal.max(0.0);
        (normal, trial.clamp(-limit, limit), slip, limit / st)
    };
    let rate = |s: &[f64; 5]| {
        let (normal, tangential, slip, ..) = forces(s);
        let arm = r - s[0];
        [
            s[1],
            -normal / m,
            slip,
            tangential / m,
            -tangential * arm / (0.4 * m * r * r),
        ]
    };
    let dt = 1e-8;
    let mut s = [0.0, v * angle.cos(), 0.0, v * angle.sin(), 0.0];
    loop {
        let at = |k: &[f64; 5], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
        let k1 = rate(&s);
        let k2 = rate(&at(&k1, 0.5 * dt));
        let k3 = rate(&at(&k2, 0.5 * dt));
        let k4 = rate(&at(&k3, dt));
        s = std::array::from_fn(|i| s[i] + dt / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        if s[0] <= 0.0 {
            return [s[3], s[4], -s[1]];
        }
        let (.., most) = forces(&s);
        s[2] = s[2].clamp(-most, most);
    }
}

#[test]
fn oblique_impacts_slide_and_stick_as_they_should() {
    let (e, mu) = (0.8, 0.2);
    for degrees in [10.0f64, 25.0, 40.0, 60.0, 75.0] {
        let angle = degrees.to_radians();
        let (grain, v) = oblique(angle, touch(e, mu, 0.0));
        let found = [grain.velocity[0], grain.spin[1], grain.velocity[2]];
        let want = scalar(angle, e, mu);
        let off = worst((0..3).map(|k| {
            let scale = if k == 1 { v / 1e-3 } else { v };
            (found[k] - want[k]).abs() / scale
        }));
        assert!(off < 2e-3, "{degrees}: {found:?} against {want:?}");
        if degrees >= 60.0 {
            // Slides throughout: the impulse of friction is mu times the normal one (Foerster et al. 1994, eq. 9).
            let impulse = mu * (1.0 + e) * v * angle.cos();
            let sliding = [v * angle.sin() - impulse, 2.5 * impulse / 1e-3];
            assert!(
                (found[0] / sliding[0] - 1.0).abs() < 0.02,
                "{degrees}: {found:?}"
            );
            assert!(
                (found[1] / sliding[1] - 1.0).abs() < 0.02,
                "{degrees}: {found:?} {sliding:?}"
            );
        }
    }
}

#[test]
fn a_wrong_friction_would_be_seen() {
    let angle = 60f64.to_radians();
    let (grain, _) = oblique(angle, touch(0.8, 0.22, 0.0));
    let want = scalar(angle, 0.8, 0.2);
    assert!(
        (grain.velocity[0] - want[0]).abs() > 1e-2 * 0.02,
        "{grain:?} {want:?}"
    );
}
