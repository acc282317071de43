//! The same bits for any number of threads.

use crate::{Random, noise, params};
use cutlink_fr::{EulerFlow, RungeKutta, TimeStep, kernels::Kernels};
use rayon::ThreadPoolBuilder;

/// The state and integrals after some steps, as bits.
fn bits<const D: usize, T: Kernels<D>>(order: usize, threads: usize, seed: u64) -> Vec<u64> {
    let run = || {
        let root = std::array::from_fn(|a| [4, 3, 2][a]);
        let leaves = Random::new(5).tree::<D>(root, [true; D]);
        let mut params = params(order, TimeStep::Courant(0.3));
        params.runge_kutta = RungeKutta::Rk43;
        let mut flow = EulerFlow::<D, T>::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow");
        flow.set(|x| noise(seed, x));
        flow.advance(10).expect("a flow");
        let totals = flow.totals();
        let state = flow.unknowns().iter().map(|u| u.wide());
        state
            .chain([totals.mass, totals.energy, flow.time()])
            .map(f64::to_bits)
            .collect()
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(run)
}

fn same_bits<const D: usize, T: Kernels<D>>() {
    for order in 1..=4 {
        let one = bits::<D, T>(order, 1, 1);
        for threads in [2, 3] {
            assert!(
                one == bits::<D, T>(order, threads, 1),
                "{D}D, order {order}, {threads} threads"
            );
        }
        assert!(one != bits::<D, T>(order, 1, 2), "another state is seen");
    }
}

#[test]
fn states_are_the_same_bits_for_any_number_of_threads() {
    same_bits::<2, f64>();
    same_bits::<3, f64>();
    same_bits::<3, f32>();
}
