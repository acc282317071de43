//! A uniform flow stays as it is.

use crate::{Random, params, worst};
use cutlink_fr::{EulerFlow, Primitive, RungeKutta, TimeStep, kernels::Kernels};

fn stream<const D: usize>() -> Primitive<D> {
    Primitive {
        density: 1.0,
        velocity: std::array::from_fn(|a| [0.7, -0.4, 0.3][a]),
        pressure: 0.9,
    }
}

/// The largest change of an unknown, all of which are of order 1.
fn change<const D: usize, T: Kernels<D>>(
    order: usize,
    periodic: bool,
    runge_kutta: RungeKutta,
    steps: u64,
) -> f64 {
    let root = std::array::from_fn(|a| [3, 2, 2][a]);
    let leaves = Random::new(order as u64).tree::<D>(root, [periodic; D]);
    let mut params = params(order, TimeStep::Courant(0.4));
    params.runge_kutta = runge_kutta;
    params.far_field = (!periodic).then(stream);
    let upper = std::array::from_fn(|a| [1.5, 0.7, 1.1][a]);
    let mut flow = EulerFlow::<D, T>::new(&leaves, [0.0; D], upper, params).expect("a flow");
    flow.set(|_| stream());
    let before: Vec<f64> = flow.unknowns().iter().map(|u| u.wide()).collect();
    flow.advance(steps).expect("a free stream");
    let after = flow.unknowns().iter().zip(before);
    worst(after.map(|(a, b)| (a.wide() - b).abs()))
}

#[test]
fn a_free_stream_stays_on_random_meshes() {
    for order in 1..=4 {
        for periodic in [true, false] {
            for method in [RungeKutta::Rk33, RungeKutta::Rk43] {
                let two = change::<2, f64>(order, periodic, method, 200);
                let three = change::<3, f64>(order, periodic, method, 20);
                assert!(two <= 1e-13, "2D, order {order}: {two:e}");
                assert!(three <= 1e-13, "3D, order {order}: {three:e}");
            }
        }
        let single = change::<3, f32>(order, true, RungeKutta::Rk33, 20);
        assert!(single <= 2e-5, "f32, order {order}: {single:e}");
    }
}
