//! The state on a new tree: exact for polynomials, the L2 projection on parents, and conservative.

use crate::{Random, noise, params, worst};
use cutlink_amr::{Mark, checksum::mix};
use cutlink_fr::{
    Basis, EulerFlow, Primitive, TimeStep,
    kernels::{Kernels, Operators, sizes, transfer},
};

fn flow<const D: usize>(order: usize, seed: u64, basis: Basis) -> EulerFlow<D>
where
    f64: Kernels<D>,
{
    let root = std::array::from_fn(|a| [3, 2, 2][a]);
    let leaves = Random::new(seed).tree::<D>(root, [true; D]);
    let upper = std::array::from_fn(|a| [1.5, 0.7, 1.1][a]);
    let params = params(order, TimeStep::Courant(0.3));
    EulerFlow::with_basis(&leaves, [0.0; D], upper, params, basis).expect("a flow")
}

/// Adapts to random marks: of groups of siblings, two fifths are to go; of other leaves up to level `finest`, a fifth are
/// refined. Returns what was refined and coarsened.
fn adapt_randomly<const D: usize, T: Kernels<D>>(
    flow: &mut EulerFlow<D, T>,
    random: &mut Random,
    finest: u32,
) -> [u64; 2] {
    let seed = (random.unit() * 1e15) as u64;
    let leaves = flow.leaves();
    let mut mark = |leaf: u32| {
        let level = leaves.level(leaf);
        let parent = leaves.coord(leaf).map(|c| c as u64 >> 1);
        let word = parent
            .into_iter()
            .fold(seed ^ u64::from(level), |w, c| mix(w ^ c));
        if word % 5 < 2 {
            Mark::Coarsen
        } else if level < finest && random.unit() < 0.2 {
            Mark::Refine
        } else {
            Mark::Keep
        }
    };
    let mut marks: Vec<u8> = (0..leaves.len() as u32).map(|i| mark(i) as u8).collect();
    let changes = flow.adapt_to(&mut marks).expect("an adaptation");
    [changes.refined, changes.coarsened]
}

/// A polynomial of degree `order` on each axis, between 0.5 and 1.5.
fn polynomial<const D: usize>(order: usize, x: [f64; D]) -> Primitive<D> {
    let along = |a: usize| (0..=order as i32).map(move |m| x[a].powi(m) / 3f64.powi(m + a as i32));
    let density = 1.0 + 0.1 * (0..D).map(|a| along(a).sum::<f64>()).product::<f64>();
    Primitive {
        density,
        velocity: std::array::from_fn(|a| [0.5, -0.25, 0.125][a]),
        pressure: 1.0 + 0.5 * density,
    }
}

fn polynomials_stay<const D: usize>(order: usize)
where
    f64: Kernels<D>,
{
    let mut flow = flow::<D>(order, 3, Basis::new(order));
    let mut random = Random::new(7);
    flow.set(|x| polynomial(order, x));
    let mut changed = [0; 2];
    for _ in 0..15 {
        let changes = adapt_randomly(&mut flow, &mut random, 3);
        changed = [changed[0] + changes[0], changed[1] + changes[1]];
    }
    assert!(changed[0] > 20 && changed[1] > 10, "{changed:?}");
    let after = flow.unknowns().to_vec();
    flow.set(|x| polynomial(order, x));
    let pairs = after.iter().zip(flow.unknowns());
    let worst = worst(pairs.map(|(a, b)| (a - b).abs()));
    assert!(worst < 1e-13, "{D}D, order {order}: {worst:e}");
}

#[test]
fn polynomials_are_exact_on_every_new_mesh() {
    for order in 1..=4 {
        polynomials_stay::<2>(order);
        polynomials_stay::<3>(order);
    }
}

fn comes_back<const D: usize>(order: usize)
where
    f64: Kernels<D>,
{
    let mut flow = flow::<D>(order, 4, Basis::new(order));
    flow.set(|x| noise(2, x));
    let (before, keys) = (flow.unknowns().to_vec(), flow.leaves().keys().clone());
    for mark in [Mark::Refine, Mark::Coarsen] {
        let mut marks = vec![mark as u8; flow.leaves().len()];
        flow.adapt_to(&mut marks).expect("an adaptation");
    }
    assert_eq!(flow.leaves().keys(), &keys);
    let pairs = before.iter().zip(flow.unknowns());
    let worst = worst(pairs.map(|(a, b)| (a - b).abs()));
    assert!(worst < 2e-14, "{D}D, order {order}: {worst:e}");
}

#[test]
fn what_is_refined_and_coarsened_is_as_it_was() {
    for order in 1..=4 {
        comes_back::<2>(order);
        comes_back::<3>(order);
    }
}

/// The largest integral, over all monomials of degree up to Q - 1 on each axis, of the monomial times the difference of the
/// parent's state and its children's: by quadrature on the children, where products are of degree 2 (Q - 1).
fn residual<const D: usize, const Q: usize>(basis: &Basis) -> f64 {
    let (one, nodes) = (sizes::element(D, Q), sizes::nodes(D, Q));
    let mut random = Random::new(Q as u64);
    let children: Vec<f64> = (0..one << D).map(|_| random.unit() - 0.5).collect();
    let (mut parent, mut there) = (vec![0.0; one], vec![0.0; one]);
    let operators = Operators::of(basis);
    transfer::to_parent::<D, Q, f64>(&operators, &children, &mut parent);
    let fresh = Operators::of(&Basis::new(Q - 1));
    let mut sums = vec![0.0; nodes];
    for child in 0..1 << D {
        transfer::to_child::<D, Q, f64>(&fresh, child, &parent, &mut there);
        for node in 0..nodes {
            let place = |a: usize| node / Q.pow(a as u32) % Q;
            let difference = there[node] - children[child * one + node];
            let weight: f64 = (0..D).map(|a| 0.5 * basis.weights[place(a)]).product();
            for (degree, sum) in sums.iter_mut().enumerate() {
                let power = |a: usize| {
                    let side = if child >> a & 1 == 1 { 0.5 } else { -0.5 };
                    let x = side + 0.5 * basis.points[place(a)];
                    x.powi((degree / Q.pow(a as u32) % Q) as i32)
                };
                *sum += weight * difference * (0..D).map(power).product::<f64>();
            }
        }
    }
    worst(sums.into_iter().map(f64::abs))
}

#[test]
fn parents_have_the_l2_projection() {
    let all = |change: f64| {
        let basis = |order: usize| {
            let mut basis = Basis::new(order);
            basis.projections[1][1] += change;
            basis
        };
        [
            residual::<2, 2>(&basis(1)),
            residual::<2, 3>(&basis(2)),
            residual::<2, 4>(&basis(3)),
            residual::<2, 5>(&basis(4)),
            residual::<3, 2>(&basis(1)),
            residual::<3, 3>(&basis(2)),
            residual::<3, 4>(&basis(3)),
            residual::<3, 5>(&basis(4)),
        ]
    };
    assert!(all(0.0).iter().all(|&r| r < 1e-14), "{:?}", all(0.0));
    assert!(all(1e-10).iter().all(|&r| r > 1e-13), "a change is seen");
}

/// The largest relative change of an integral in 1,000 steps with random adaptations after every 5.
fn drift<const D: usize>(order: usize, steps: u64, basis: Basis) -> f64
where
    f64: Kernels<D>,
{
    let mut flow = flow::<D>(order, 5, basis);
    flow.set(|x| noise(1, x));
    let before = flow.totals();
    let mut random = Random::new(9);
    let mut changed = [0; 2];
    for _ in 0..steps / 5 {
        flow.advance(5).expect("a flow");
        let changes = adapt_randomly(&mut flow, &mut random, 2);
        changed = [changed[0] + changes[0], changed[1] + changes[1]];
    }
    let enough = steps / 10;
    assert!(changed.iter().all(|&n| n > enough), "{changed:?}");
    crate::conservation::relative(&flow.totals(), &before)
}

#[test]
fn integrals_stay_while_meshes_change() {
    for order in 1..=4 {
        let steps = if order == 2 { 1000 } else { 100 };
        let two = drift::<2>(order, steps, Basis::new(order));
        assert!(two <= 1e-13, "2D, order {order}: {two:e}");
        let three = drift::<3>(order, 25, Basis::new(order));
        assert!(three <= 1e-13, "3D, order {order}: {three:e}");
    }
}

/// One weight of the projection changed by a ten-thousandth.
#[test]
fn a_projection_that_does_not_conserve_is_seen() {
    let mut basis = Basis::new(2);
    basis.projections[1][0] *= 1.0 + 1e-4;
    let two = drift::<2>(2, 25, basis.clone());
    let three = drift::<3>(2, 10, basis);
    assert!(two > 1e-12 && three > 1e-12, "{two:e}, {three:e}");
}
