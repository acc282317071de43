//! The isentropic vortex of Wang, Witherden & Jameson, J. Comput. Phys. 502 (2024) 112823: errors after one period, as
//! printed in its table 1 (box of 25, uniform meshes).

use crate::params;
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{EulerFlow, IsentropicVortex, TimeStep};

/// The L2 error of the density after a period of the box of 25, on a uniform mesh.
fn error(order: usize, elements: u32, step: f64) -> f64 {
    let vortex = IsentropicVortex::w24(25.0);
    let grid = Grid::new([elements; 2], [true; 2]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("leaves");
    // Steps longer than the paper's 0.001, and its errors all the same: those of space dominate.
    let params = params(order, TimeStep::Fixed(step));
    let mut flow = EulerFlow::<2>::new(&leaves, [-12.5; 2], [12.5; 2], params).expect("a flow");
    flow.set(|x| vortex.at(0.0, x));
    flow.advance_to(25.0).expect("a vortex");
    flow.density_error(|x| vortex.at(25.0, x).density)
}

/// The error with three digits is the printed one.
#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn is_as_printed(order: usize, elements: u32, step: f64, printed: &str) {
    let found = error(order, elements, step);
    println!("p{order}, {elements}²: {found:.4e}, W24 {printed}");
    assert_eq!(format!("{found:.2e}"), printed, "p{order}, {elements}²");
}

#[test]
fn errors_are_those_printed() {
    is_as_printed(1, 64, 0.01, "1.75e-2");
    if crate::is_slow() {
        is_as_printed(2, 64, 0.005, "4.30e-4");
    }
}

#[test]
#[ignore = "it takes minutes"]
fn the_error_of_a_finer_mesh_is_that_printed() {
    is_as_printed(1, 128, 0.005, "2.68e-3");
}
