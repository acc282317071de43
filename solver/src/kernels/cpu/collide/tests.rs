//! Operators against definitions: cumulants by recursion from raw moments, the entropy by its values, strain by hand.

use super::*;
use crate::worst::worst;
use crate::{
    constants::odd,
    lattice::{D2Q9, D3Q27},
};
use bytemuck::Zeroable;

/// Pseudo-random values in -1..1.
fn noise(n: usize) -> f64 {
    (n as f64 * 12.9898 + 1.0).sin() * 43758.5453 % 1.0
}

fn relaxation(operator: OperatorKind, even: f64) -> Relaxation<f64> {
    Relaxation {
        even,
        tau: 1.0 / even,
        operator: operator as u32,
        parameter: 0.01,
        bulk: 1,
        ..Relaxation::zeroed()
    }
}

/// Populations near those of a moving fluid, less their weights.
fn populations<L: Lattice>(amplitude: f64, seed: usize) -> [f64; MOST] {
    near_fluid::<L>(1.0, amplitude, seed)
}

fn near_fluid<L: Lattice>(speed: f64, amplitude: f64, seed: usize) -> [f64; MOST] {
    let relax = relaxation(OperatorKind::Regularized, 1.0);
    let flat = L::KIND.dimensions() == 2;
    let fluid = Fluid {
        rho: 0.02,
        u: [0.06, -0.04, if flat { 0.0 } else { 0.05 }].map(|u| speed * u),
    };
    let mut f = <Regularized<false> as Operator<L, f64>>::build(&relax, 0.0, &fluid, &[0.0; 6]);
    for (q, f) in f.iter_mut().enumerate().take(L::Q) {
        *f += amplitude * L::W[q] * noise(31 * seed + q);
    }
    f
}

fn relaxed<L: Lattice, O: Operator<L, f64>>(
    f: &[f64; MOST],
    relax: &Relaxation<f64>,
) -> (Fluid<f64>, [f64; 6], [f64; MOST]) {
    let fluid = fluid::<L, f64>(f, relax);
    let stress = stress::<L, f64>(f, &fluid);
    let mut after = *f;
    O::relax(&mut after, relax, &fluid, &stress);
    (fluid, stress, after)
}

/// Density, momentum.
fn conserved<L: Lattice>(f: &[f64; MOST]) -> [f64; 4] {
    std::array::from_fn(|n| {
        let of = |q: usize| {
            if n == 0 {
                1.0
            } else {
                f64::from(L::C[q][n - 1])
            }
        };
        (0..L::Q).map(|q| of(q) * f[q]).sum()
    })
}

/// Central moments of whole populations about a velocity, divided by the density.
fn central(f: &[f64; MOST], u: [f64; 3], powers: [u32; 3]) -> f64 {
    let whole = |q: usize| f[q] + D3Q27::W[q];
    let of = |q: usize| -> f64 {
        let along = |a: usize| (f64::from(D3Q27::C[q][a]) - u[a]).powi(powers[a] as i32);
        (0..3).map(along).product()
    };
    let density: f64 = (0..27).map(whole).sum();
    (0..27).map(|q| of(q) * whole(q)).sum::<f64>() / density
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k)
        .map(|i| f64::from(n - i) / f64::from(i + 1))
        .product()
}

/// A cumulant by the recursion that takes the logarithm of the moments' generating function.
fn cumulant(f: &[f64; MOST], u: [f64; 3], powers: [u32; 3]) -> f64 {
    let Some(axis) = powers.iter().position(|&p| p > 0) else {
        return 0.0;
    };
    let mut less = powers;
    less[axis] -= 1;
    let mut value = central(f, u, powers);
    for i in 0..=less[0] {
        for j in 0..=less[1] {
            for k in 0..=less[2] {
                let part = [i, j, k];
                if part == [0; 3] {
                    continue;
                }
                let ways: f64 = (0..3).map(|a| binomial(less[a], part[a])).product();
                let rest = std::array::from_fn(|a| powers[a] - part[a]);
                value -= ways * cumulant(f, u, rest) * central(f, u, part);
            }
        }
    }
    value
}

fn near(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance, "{what}: {got} {want}");
}

#[test]
fn cumulants_relax_as_they_are_defined() {
    let undamped = 1.0 / 0.50005;
    for (seed, even) in [(1, 1.9), (2, 1.99), (3, 1.2), (4, 0.7), (5, undamped)] {
        let relax = relaxation(OperatorKind::Cumulant, even);
        let f = populations::<D3Q27>(0.01, seed);
        let (fluid, _, after) = relaxed::<D3Q27, Cumulant>(&f, &relax);
        let of = |f: &[f64; MOST], powers| cumulant(f, fluid.u, powers);
        for powers in [[1, 1, 0], [1, 0, 1], [0, 1, 1]] {
            let before = of(&f, powers);
            assert!(before.abs() > 1e-7, "{powers:?} should not be 0: {before}");
            near(of(&after, powers), (1.0 - even) * before, 1e-15, "shear");
        }
        for powers in [[2, 2, 1], [2, 1, 2], [1, 2, 2], [2, 2, 2]] {
            assert!(of(&f, powers).abs() > 1e-6, "{powers:?} should not be 0");
            near(of(&after, powers), 0.0, 1e-15, "fifth and sixth order");
        }
        let (third, fourth) = ([1, 1, 1], [2, 2, 0]);
        let ratio = of(&after, third) / of(&f, third);
        if even < 1.75 {
            near(ratio, 0.0, 1e-12, "xyz with all rates 1");
            near(
                of(&after, fourth),
                0.0,
                1e-15,
                "fourth order with all rates 1",
            );
        } else {
            let w = even;
            let rate = 24.0
                * (w - 2.0)
                * (4.0 * w * w + w * (18.0 - 13.0 * w) + 2.0 + w * (6.0 * w - 11.0))
                / (16.0 * w * w * (w - 6.0) - 2.0 * w * (216.0 + 5.0 * w * (9.0 * w - 46.0))
                    + (w * (3.0 * w - 10.0) * (15.0 * w - 28.0) - 48.0));
            // τ - 1/2 = 5e-5: nine tenths.
            let rate = if even == undamped { 0.9 } else { rate };
            let size = (1.0 + fluid.rho) * of(&f, third).abs();
            let limited = rate + (1.0 - rate) * size / (0.01 * (1.0 + fluid.rho) + size);
            near(ratio, 1.0 - limited, 1e-11, "xyz with the optimized rate");
            // By a factor that is the viscosity's.
            assert!(
                of(&after, fourth).abs() > if even == undamped { 1e-12 } else { 1e-8 },
                "the fourth order should follow the strain"
            );
        }
    }
}

/// A state without non-equilibrium stays as it is; mass and momentum always do, less what the acceleration adds.
fn keeps<L: Lattice, O: Operator<L, f64>>(operator: OperatorKind, name: &str) {
    let d = L::KIND.dimensions();
    for pushed in [false, true] {
        let mut relax = relaxation(operator, 1.85);
        if pushed {
            (0..d).for_each(|a| relax.acceleration[a] = 1e-3 * (a as f64 + 1.0));
        }
        let f = populations::<L>(0.02, 7);
        let (fluid, _, after) = relaxed::<L, O>(&f, &relax);
        let [before, now] = [&f, &after].map(conserved::<L>);
        near(now[0], before[0], 1e-15, name);
        for a in 0..d {
            let added = (1.0 + fluid.rho) * relax.acceleration[a];
            near(now[1 + a], before[1 + a] + added, 1e-15, name);
        }
    }
    let relax = relaxation(operator, 1.85);
    let fluid = Fluid {
        rho: -0.01,
        u: [0.03, 0.07, if d == 2 { 0.0 } else { -0.05 }],
    };
    let still = O::build(&relax, 1.0 - 1.85, &fluid, &[0.0; 6]);
    let (same, stress, after) = relaxed::<L, O>(&still, &relax);
    near(same.rho, fluid.rho, 1e-15, name);
    (0..d).for_each(|a| near(same.u[a], fluid.u[a], 1e-15, name));
    (0..6).for_each(|n| near(stress[n], 0.0, 1e-15, name));
    (0..L::Q).for_each(|q| near(after[q], still[q], 1e-15, name));
}

#[test]
fn operators_conserve_mass_and_momentum() {
    keeps::<D3Q27, Cumulant>(OperatorKind::Cumulant, "cumulant");
    keeps::<D3Q27, Kbc>(OperatorKind::Kbc, "kbc in 3D");
    keeps::<D2Q9, Kbc>(OperatorKind::Kbc, "kbc in 2D");
}

/// The deviatoric stress after collision is 1 - ω of that before, and `build` makes it of that before. Cumulants add
/// terms of the third order in the velocity.
fn relaxes_stress<L: Lattice, O: Operator<L, f64>>(operator: OperatorKind, tolerance: f64) {
    let relax = relaxation(operator, 1.6);
    let f = populations::<L>(1e-3, 11);
    let (fluid, before, after) = relaxed::<L, O>(&f, &relax);
    let built = O::build(&relax, 1.0 - 1.6, &fluid, &before);
    for (f, what) in [(after, "relax"), (built, "build")] {
        let stress = stress::<L, f64>(&f, &fluid);
        let [got, want] = [stress, before].map(|s| without_trace::<L, f64>(&s, 1.0));
        for n in 0..6 {
            near(got[n], (1.0 - 1.6) * want[n], tolerance, what);
        }
    }
}

#[test]
fn stress_relaxes_with_the_rate_of_the_viscosity() {
    relaxes_stress::<D3Q27, Cumulant>(OperatorKind::Cumulant, 1e-5);
    relaxes_stress::<D3Q27, Kbc>(OperatorKind::Kbc, 1e-15);
    relaxes_stress::<D2Q9, Kbc>(OperatorKind::Kbc, 1e-15);
}

/// Σ f ln(f / w).
fn entropy<L: Lattice>(f: &[f64; MOST]) -> f64 {
    let of = |q: usize| (f[q] + L::W[q]) * (1.0 + f[q] / L::W[q]).ln();
    (0..L::Q).map(of).sum()
}

/// Of all states with another share of the higher order, that after collision has the most entropy; its share.
fn entropic_share<L: Lattice>(seed: usize) -> f64 {
    let relax = relaxation(OperatorKind::Kbc, 1.95);
    let f = near_fluid::<L>(0.1, 1e-3, seed);
    let (fluid, before, after) = relaxed::<L, Kbc>(&f, &relax);
    // Along what is neither conserved nor deviatoric stress.
    let none = <Kbc as Operator<L, f64>>::build(&relax, 0.0, &fluid, &[0.0; 6]);
    let deviator = without_trace::<L, f64>(&before, 1.0);
    let shear: [f64; MOST] = std::array::from_fn(|q| match q < L::Q {
        true => kbc::shear::<L, f64>(q, &deviator),
        false => 0.0,
    });
    let trace = before[0] + before[3] + before[5];
    let sound = |q: usize| L::W[q] * isotropic::<L, f64>(q) * trace;
    let rest: [f64; MOST] = std::array::from_fn(|q| match q < L::Q {
        true => f[q] - none[q] - shear[q] - sound(q),
        false => 0.0,
    });
    let kept: [f64; MOST] = std::array::from_fn(|q| none[q] + (1.0 - 1.95) * shear[q]);
    let shares = |q: usize| (after[q] - kept[q]) / rest[q];
    let share = shares(1);
    (2..L::Q).for_each(|q| near(shares(q), share, 1e-6, "one direction"));
    let at = |share: f64| {
        let f = std::array::from_fn(|q| kept[q] + share * rest[q]);
        entropy::<L>(&f) - entropy::<L>(&none)
    };
    // The minimum of H by its parabola.
    let h = 0.5;
    let [low, middle, high] = [share - h, share, share + h].map(at);
    let offset = 0.5 * h * (low - high) / (low - 2.0 * middle + high);
    near(offset, 0.0, 0.005, "distance from the most entropy");
    share
}

#[test]
fn kbc_has_the_most_entropy() {
    let most = (0..6).map(|seed| entropic_share::<D3Q27>(seed).abs());
    let most = worst(most);
    assert!(most > 0.05, "a share should not be 0: {most}");
    // On D2Q9 the two parts are orthogonal at u = 0, so the share is of the order of u.
    (0..6).for_each(|seed| {
        entropic_share::<D2Q9>(seed);
    });
}

/// The product of Hermite polynomials of a velocity, of the orders `n` along the axes (Shan, Yuan & Chen 2006, §2).
fn hermite(c: [i32; 3], n: [usize; 3]) -> f64 {
    let of = |c: i32, n: usize| [1.0, f64::from(c), f64::from(c * c) - 1.0 / 3.0][n];
    of(c[0], n[0]) * of(c[1], n[1]) * of(c[2], n[2])
}

/// Where levels meet, KBC keeps the deviatoric stress, and no other Hermite moment of the non-equilibrium.
fn leaves_hermite_stress<L: Lattice>() {
    let relax = Relaxation {
        odd: 1.0,
        ..relaxation(OperatorKind::Kbc, 1.95)
    };
    let f = populations::<L>(0.02, 5);
    let (fluid, stress, after) = relaxed::<L, Kbc>(&f, &relax);
    let built = <Kbc as Operator<L, f64>>::build(&relax, 1.0 - 1.95, &fluid, &stress);
    let still = <Kbc as Operator<L, f64>>::build(&relax, 0.0, &fluid, &[0.0; 6]);
    (0..L::Q).for_each(|q| near(after[q], built[q], 1e-16, "collided, built"));
    let orders = if L::KIND.dimensions() == 2 { 1 } else { 3 };
    let mut largest = 0.0;
    for n in 0..9 * orders {
        let n = [n % 3, n / 3 % 3, n / 9];
        let of = |q: usize| hermite(L::C[q], n) * (after[q] - still[q]);
        let moment: f64 = (0..L::Q).map(of).sum();
        match n.iter().sum() {
            2 => largest = worst([largest, moment.abs()]),
            _ => near(moment, 0.0, 1e-16, "a moment"),
        }
    }
    assert!(largest > 1e-4, "a stress should be left: {largest}");
}

#[test]
fn kbc_leaves_hermite_stress_where_levels_meet() {
    leaves_hermite_stress::<D2Q9>();
    leaves_hermite_stress::<D3Q27>();
}

/// τ of a stress is the one that a given strain has by the model's definition.
#[test]
fn eddy_viscosity_is_that_of_the_strain() {
    let (rho, tau, density) = (0.03, 0.502, 1.03);
    for (seed, model) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (6, 2)] {
        let [xx, yy, xy, xz, yz] = std::array::from_fn(|n| 0.01 * noise(7 * seed + n));
        let s = [[xx, xy, xz], [xy, yy, yz], [xz, yz, -xx - yy]];
        let square: f64 = s.iter().flatten().map(|s| s * s).sum();
        let cube: f64 = (0..27)
            .map(|n| s[n % 3][n / 3 % 3] * s[n / 3 % 3][n / 9] * s[n / 9][n % 3])
            .sum();
        let constant = 0.17;
        let (eddy, nu) = match model {
            1 => (
                2f64.sqrt() * constant * constant,
                constant * constant * (2.0 * square).sqrt(),
            ),
            _ => (constant, constant * (-cube / 3.0).max(0.0) / (0.5 * square)),
        };
        let relax = Relaxation {
            tau,
            eddy,
            closure: model,
            ..relaxation(OperatorKind::Cumulant, 1.0 / tau)
        };
        let want = tau + 3.0 * nu;
        let stress_with = |tau: f64| {
            let of = |a: usize, b: usize| -2.0 / 3.0 * density * tau * s[a][b];
            [of(0, 0), of(0, 1), of(0, 2), of(1, 1), of(1, 2), of(2, 2)]
        };
        let got = closure::tau::<D3Q27, f64>(&relax, 1.0 + rho, &stress_with(want));
        near(got, want, 1e-14, "of the stress");
        let got = closure::tau_of_strain::<D3Q27, f64>(&relax, density, &stress_with(tau));
        near(got, want, 1e-14, "of the strain");
        if model == 1 {
            assert!(want > tau + 1e-4, "{want}");
        }
    }
    // QR: nothing in plane flow, and where vortices are not stretched.
    let relax = Relaxation {
        tau,
        eddy: 0.152,
        closure: model::QR,
        ..relaxation(OperatorKind::Trt, 1.0 / tau)
    };
    let plane = closure::tau::<D3Q27, f64>(&relax, density, &[0.01, 0.02, 0.0, -0.01, 0.0, 0.0]);
    near(plane, tau, 1e-12, "plane flow");
    let rates = closure::rates(
        &Relaxation {
            odd_by: odd::MAGIC,
            parameter: 0.25,
            ..relax
        },
        0.7,
    );
    near(
        (1.0 / rates.odd - 0.5) * (0.7 - 0.5),
        0.25,
        1e-14,
        "the magic parameter",
    );
}
