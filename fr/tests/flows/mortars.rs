//! The flux through a hanging face is the same on both sides, by quadrature with weights in closed form; and traces on
//! sub-faces are exact.

use crate::{Random, worst};
use cutlink_fr::{
    Basis,
    kernels::{Operators, mortar, sizes},
};

/// Gauss weights of so many points (Abramowitz & Stegun, table 25.4), in closed form.
fn weights(points: usize) -> Vec<f64> {
    let [root30, root70] = [30.0f64.sqrt(), 70.0f64.sqrt()];
    match points {
        2 => vec![1.0; 2],
        3 => vec![5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0],
        4 => {
            let (near, far) = ((18.0 + root30) / 36.0, (18.0 - root30) / 36.0);
            vec![far, near, near, far]
        }
        _ => {
            let near = (322.0 + 13.0 * root70) / 900.0;
            let far = (322.0 - 13.0 * root70) / 900.0;
            vec![far, near, 128.0 / 225.0, near, far]
        }
    }
}

/// The weight of a point of a face.
fn weight<const D: usize>(weights: &[f64], point: usize) -> f64 {
    let q = weights.len();
    (0..D as u32 - 1)
        .map(|a| weights[point / q.pow(a) % q])
        .product()
}

/// How far the integrals of a random flux on the coarse and the fine side differ, in ulp (2^-52) of the sum of the fine
/// side's magnitudes: the largest of the unknowns.
fn imbalance<const D: usize, const Q: usize>(basis: &Basis, seed: u64) -> f64 {
    let (all, points) = (sizes::trace(D, Q), sizes::face(D, Q));
    let parts = sizes::parts(D);
    let mut random = Random::new(seed);
    let fine: Vec<f64> = (0..parts * all).map(|_| random.unit() - 0.5).collect();
    let mut coarse = vec![0.0; all];
    mortar::gather::<D, Q, f64>(&Operators::of(basis), &fine, &mut coarse);
    let weights = weights(Q);
    let mut most = 0.0;
    for v in 0..sizes::unknowns(D) {
        let (mut of_coarse, mut of_fine, mut magnitude) = (0.0, 0.0, 0.0);
        for point in 0..points {
            let weight = weight::<D>(&weights, point);
            of_coarse += weight * coarse[v * points + point];
            for part in 0..parts {
                // A sub-face has a part of the area.
                let flux = weight / parts as f64 * fine[part * all + v * points + point];
                of_fine += flux;
                magnitude += flux.abs();
            }
        }
        most = worst([
            most,
            (of_coarse - of_fine).abs() / (magnitude * f64::EPSILON),
        ]);
    }
    most
}

/// The worst of many fluxes.
fn worst_of_many<const D: usize, const Q: usize>(basis: &Basis) -> f64 {
    worst((0..100).map(|seed| imbalance::<D, Q>(basis, seed)))
}

fn all_orders(changed: impl Fn(&mut Basis)) -> [f64; 8] {
    let basis = |order: usize| {
        let mut basis = Basis::new(order);
        changed(&mut basis);
        basis
    };
    [
        worst_of_many::<2, 2>(&basis(1)),
        worst_of_many::<2, 3>(&basis(2)),
        worst_of_many::<2, 4>(&basis(3)),
        worst_of_many::<2, 5>(&basis(4)),
        worst_of_many::<3, 2>(&basis(1)),
        worst_of_many::<3, 3>(&basis(2)),
        worst_of_many::<3, 4>(&basis(3)),
        worst_of_many::<3, 5>(&basis(4)),
    ]
}

#[test]
fn what_leaves_one_side_enters_the_other() {
    let ulps = all_orders(|_| {});
    assert!(ulps.iter().all(|&ulp| ulp <= 4.0), "{ulps:?}");
}

#[test]
fn one_changed_weight_is_seen() {
    let ulps = all_orders(|basis| basis.projections[0][0] *= 1.0 + 1e-13);
    assert!(ulps.iter().all(|&ulp| ulp > 4.0), "{ulps:?}");
}

/// A polynomial of degree Q - 1 on each axis of a face, at the points of a sub-face, against its formula.
fn sub_faces_are_exact<const D: usize, const Q: usize>() {
    let basis = Basis::new(Q - 1);
    let polynomial = |v: usize, at: [f64; 2]| {
        let along = |x: f64, a: usize| -> f64 {
            let term = |m: usize| x.powi(m as i32) * (1 + m + v + a) as f64;
            (0..Q).map(term).sum()
        };
        along(at[0], 0) * along(at[1], D)
    };
    // The middle and half the edge of a part of the face.
    let fill = |middle: [f64; 2], half: f64| -> Vec<f64> {
        let value = |i: usize| {
            let (v, point) = (i / sizes::face(D, Q), i % sizes::face(D, Q));
            let x = |a: usize| middle[a] + half * basis.points[point / Q.pow(a as u32) % Q];
            polynomial(v, [x(0), if D == 3 { x(1) } else { 0.0 }])
        };
        (0..sizes::trace(D, Q)).map(value).collect()
    };
    let coarse = fill([0.0; 2], 1.0);
    let largest = worst(coarse.iter().map(|x| x.abs()));
    for part in 0..sizes::parts(D) {
        let mut fine = vec![0.0; sizes::trace(D, Q)];
        mortar::to_sub_face::<D, Q, f64>(&Operators::of(&basis), part, &coarse, &mut fine);
        let middle = [0, 1].map(|a: usize| if part >> a & 1 == 1 { 0.5 } else { -0.5 });
        for (found, exact) in fine.iter().zip(fill(middle, 0.5)) {
            assert!((found - exact).abs() < 1e-14 * largest, "{D}D, {Q} points");
        }
    }
}

#[test]
fn traces_on_sub_faces_are_exact() {
    sub_faces_are_exact::<2, 2>();
    sub_faces_are_exact::<2, 3>();
    sub_faces_are_exact::<2, 4>();
    sub_faces_are_exact::<2, 5>();
    sub_faces_are_exact::<3, 2>();
    sub_faces_are_exact::<3, 3>();
    sub_faces_are_exact::<3, 4>();
    sub_faces_are_exact::<3, 5>();
}
