//! What elements do not resolve, against waves whose damping is measured.

use crate::params;
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{EulerFlow, Primitive, TimeStep};
use std::f64::consts::TAU;

/// A wave of sound of this amplitude along x, of so many elements.
fn sound(order: usize, elements: u32, amplitude: f64) -> EulerFlow<2> {
    let grid = Grid::new([elements, 2], [true; 2]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("root leaves");
    let upper = [1.0, 2.0 / f64::from(elements)];
    let params = params(order, TimeStep::Courant(0.25));
    let gamma = params.gamma;
    let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], upper, params).expect("a flow");
    flow.set(|x| {
        let wave = amplitude * (TAU * x[0]).sin();
        Primitive {
            density: 1.0 + wave,
            velocity: [wave, 0.0],
            pressure: 1.0 / gamma + wave,
        }
    });
    flow
}

/// The root of the kinetic energy, which falls with the amplitude.
fn size(flow: &EulerFlow<2>) -> f64 {
    flow.energies().kinetic.sqrt()
}

#[test]
fn the_damping_of_a_wave_is_foretold() {
    for (order, elements) in [(1, 8), (1, 16), (2, 4), (2, 6), (3, 3)] {
        let mut flow = sound(order, elements, 1e-4);
        let (said, before) = (flow.unresolved(), size(&flow));
        assert!((said.deviation / 1e-4 - 1.0).abs() < 0.05, "{said:?}");
        flow.advance_to(1.0).expect("a flow");
        let measured = 1.0 - size(&flow) / before;
        // Coarse waves bend the law of small k h.
        let ratio = said.rate / measured;
        assert!(
            (0.5..2.0).contains(&ratio),
            "order {order}, {elements} elements: {said:?}, measured {measured:.2e}"
        );
    }
}

#[test]
fn a_wave_of_two_elements_is_no_exception() {
    // A sine whose zeros are at faces has no cubic mode.
    let [two, three] = [2, 3].map(|elements| sound(3, elements, 1e-4).unresolved());
    assert!(two.rate > 5.0 * three.rate, "{two:?}, {three:?}");
}

#[test]
fn a_uniform_flow_has_nothing_unresolved() {
    let said = sound(2, 4, 0.0).unresolved();
    assert_eq!([said.now, said.rate], [0.0; 2], "{said:?}");
}
