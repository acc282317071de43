//! A saved state goes on as if there had been no pause; and what cells of elements have.

use crate::params;
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{
    ElementAdaptation, EulerFlow, EulerParams, FrError, IsentropicVortex, Primitive, RungeKutta,
    Sensor, TimeStep,
};

fn vortex() -> EulerFlow<2, f32> {
    let grid = Grid::new([8; 2], [true; 2]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("leaves");
    let mut params = params(2, TimeStep::Courant(0.5));
    params.runge_kutta = RungeKutta::Rk43;
    let mut flow = EulerFlow::new(&leaves, [-12.5; 2], [12.5; 2], params).expect("a flow");
    let adaptation = ElementAdaptation {
        every: 3,
        sensor: Sensor::Modal {
            refine_above: 0.1,
            coarsen_below: 0.01,
            momentum: 1.0,
            floor: 1e-5,
        },
        levels: [0, 2],
        buffer: 0,
        most_elements: usize::MAX,
        at_bodies: 0,
        places: Vec::new(),
    };
    flow.follow(Some(adaptation)).expect("an adaptation");
    let vortex = IsentropicVortex::w24(25.0);
    flow.set_adapted(|x| vortex.at(0.0, x)).expect("a vortex");
    flow
}

#[test]
fn a_restored_flow_goes_on_with_the_same_bits() {
    let mut whole = vortex();
    whole.advance(50).expect("a vortex");
    let saved = (whole.leaves().clone(), whole.unknowns().to_vec());
    let (time, steps) = (whole.time(), whole.steps());
    whole.advance(50).expect("a vortex");
    let mut other = vortex();
    let few = other.restore(saved.0.clone(), &saved.1[1..], time, steps);
    assert!(matches!(few, Err(FrError::Saved { .. })), "{few:?}");
    other
        .restore(saved.0, &saved.1, time, steps)
        .expect("a saved state");
    other.advance(50).expect("a vortex");
    assert_eq!(other.leaves().keys(), whole.leaves().keys());
    assert_ne!(
        other.leaves().keys(),
        vortex().leaves().keys(),
        "it changes"
    );
    assert!(other.unknowns() == whole.unknowns());
    assert_eq!((other.time(), other.steps()), (whole.time(), whole.steps()));
}

/// A density of degree p an axis, at the centres of cells of leaves of several levels.
#[test]
fn cells_have_the_polynomial_at_their_centres() {
    let leaves = crate::Random::new(3).tree::<3>([2, 3, 2], [true; 3]);
    for order in 1..=4 {
        let params = params(order, TimeStep::Courant(0.5));
        let mut flow =
            EulerFlow::<3>::new(&leaves, [0.0; 3], [2.0, 3.0, 2.0], params).expect("a flow");
        let state = |x: [f64; 3]| Primitive {
            density: 1.0 + 0.01 * x[0].powi(order as i32) * x[1] * (3.0 - x[2]),
            velocity: [0.5, -0.25, 0.125],
            pressure: 2.0,
        };
        flow.set(state);
        let cells = flow.cells();
        for leaf in 0..leaves.len() as u32 {
            let edge = 1.0 / f64::from(1u32 << leaves.level(leaf));
            for cell in 0..64 {
                let x = std::array::from_fn(|a| {
                    let place = f64::from(cell >> (2 * a) & 3) + 0.5;
                    edge * (f64::from(leaves.coord(leaf)[a]) + 0.25 * place)
                });
                let (found, exact) = (cells[leaf as usize * 64 + cell as usize], state(x));
                let error = (found.density - exact.density).abs()
                    + (found.velocity[1] - exact.velocity[1]).abs()
                    + (found.pressure - exact.pressure).abs();
                assert!(error < 1e-13, "p{order}, {x:?}: {error:e}");
            }
        }
    }
}

/// The same density at random points, on faces and edges of the box too; nothing outside of it.
#[test]
fn states_at_points_are_those_of_the_polynomials() {
    let mut random = crate::Random::new(7);
    let leaves = random.tree::<3>([2, 3, 2], [false; 3]);
    let sizes = [1.0, 1.5, 1.0];
    for order in 1..=4 {
        let params = EulerParams {
            far_field: Some(FAR),
            ..params(order, TimeStep::Courant(0.5))
        };
        let lower = [-0.5, 0.25, 1.0];
        let upper = std::array::from_fn(|a| lower[a] + sizes[a]);
        let mut flow = EulerFlow::<3>::new(&leaves, lower, upper, params).expect("a flow");
        let state = |x: [f64; 3]| Primitive {
            density: 1.0 + 0.1 * x[0].powi(order as i32) * x[1] * (3.0 - x[2]),
            ..FAR
        };
        flow.set(state);
        for sample in 0..500 {
            let x: [f64; 3] = std::array::from_fn(|a| {
                // Every fifth is on a face of elements or of the box.
                let share = match (sample + a) % 5 {
                    0 => (random.unit() * 5.0).floor() / 4.0,
                    _ => random.unit(),
                };
                lower[a] + sizes[a] * share.min(1.0)
            });
            let (found, exact) = (flow.state_at(x).expect("a state"), state(x));
            let error = (found.density - exact.density).abs()
                + (found.velocity[1] - exact.velocity[1]).abs()
                + (found.pressure - exact.pressure).abs();
            assert!(error < 1e-12, "p{order}, {x:?}: {error:e}");
        }
        for outside in [[-0.51, 1.0, 1.5], [0.0, 1.76, 1.5], [0.0, 1.0, f64::NAN]] {
            assert!(flow.state_at(outside).is_none(), "{outside:?}");
        }
    }
}

/// A state far away.
const FAR: Primitive<3> = Primitive {
    density: 1.0,
    velocity: [0.5, -0.25, 0.125],
    pressure: 2.0,
};
