//! Mass, momentum and energy stay on random 2:1 meshes, from a state that is noise.

use crate::{Random, noise, params, worst};
use cutlink_fr::{Basis, EulerFlow, RungeKutta, TimeStep, Totals, kernels::Kernels};

/// The largest relative change of an integral.
fn drift<const D: usize>(order: usize, runge_kutta: RungeKutta, steps: u64, basis: Basis) -> f64
where
    f64: Kernels<D>,
{
    let root = std::array::from_fn(|a| [3, 2, 2][a]);
    let leaves = Random::new(10 + order as u64).tree::<D>(root, [true; D]);
    let mut params = params(order, TimeStep::Courant(0.3));
    params.runge_kutta = runge_kutta;
    let upper = std::array::from_fn(|a| [1.5, 0.7, 1.1][a]);
    let mut flow =
        EulerFlow::<D>::with_basis(&leaves, [0.0; D], upper, params, basis).expect("a flow");
    flow.set(|x| noise(1, x));
    let (before, start) = (flow.totals(), flow.unknowns().to_vec());
    flow.advance(steps).expect("a flow");
    let moved = flow.unknowns().iter().zip(&start);
    let moved = worst(moved.map(|(a, b)| (a - b).abs()));
    assert!(moved > 0.01, "the flow should change: {moved:e}");
    relative(&flow.totals(), &before)
}

/// The largest relative change of an integral.
pub(crate) fn relative<const D: usize>(after: &Totals<D>, before: &Totals<D>) -> f64 {
    let of = |after: f64, before: f64| ((after - before) / before).abs();
    worst(
        (0..D)
            .map(|a| of(after.momentum[a], before.momentum[a]))
            .chain([of(after.mass, before.mass), of(after.energy, before.energy)]),
    )
}

#[test]
fn integrals_stay_on_random_meshes() {
    for order in 1..=4 {
        for method in [RungeKutta::Rk33, RungeKutta::Rk43] {
            let two = drift::<2>(order, method, 100, Basis::new(order));
            let three = drift::<3>(order, method, 10, Basis::new(order));
            assert!(two <= 1e-13, "2D, order {order}: {two:e}");
            assert!(three <= 1e-13, "3D, order {order}: {three:e}");
        }
    }
}

/// One weight of the projection to the coarse side changed by a ten-thousandth.
#[test]
fn a_mortar_that_does_not_conserve_is_seen() {
    for order in 1..=4 {
        let mut basis = Basis::new(order);
        basis.projections[1][0] *= 1.0 + 1e-4;
        let two = drift::<2>(order, RungeKutta::Rk33, 100, basis.clone());
        let three = drift::<3>(order, RungeKutta::Rk33, 10, basis);
        assert!(two > 1e-12, "2D, order {order}: {two:e}");
        assert!(three > 1e-12, "3D, order {order}: {three:e}");
    }
}
