//! A density wave in 3D, carried by a uniform flow: an exact solution.

use crate::{on_one_thread, params};
use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_fr::{EulerFlow, Primitive, RungeKutta, TimeStep};
use std::f64::consts::TAU;

/// Supersonic: with a far larger speed of sound, Rusanov's flux damps the wave so much that meshes have to be finer to show
/// their order.
const VELOCITY: [f64; 3] = [1.0; 3];

fn wave(time: f64, x: [f64; 3]) -> Primitive<3> {
    let phase: f64 = (0..3).map(|a| x[a] - VELOCITY[a] * time).sum();
    Primitive {
        density: 1.0 + 0.2 * (TAU * phase).sin(),
        velocity: VELOCITY,
        pressure: 0.05,
    }
}

/// Root leaves; if requested, those of a quarter of the box refined.
fn mesh(root: u32, is_hanging: bool) -> Leaves<3> {
    let grid = Grid::new([root; 3], [true; 3]).expect("a root grid");
    let mut leaves = Leaves::new(&Host, grid).expect("root leaves");
    if is_hanging {
        let mark = |leaf: u32| {
            let at = leaves.coord(leaf);
            let is_inside = at[0] < root as i32 / 2 && at[1] < root as i32 / 2;
            if is_inside { Mark::Refine } else { Mark::Keep }
        };
        let mut marks: Vec<u8> = (0..leaves.len() as u32).map(|i| mark(i) as u8).collect();
        leaves.adapt(&Host, &mut marks).expect("an adaptation");
    }
    leaves
}

/// The L2 error of the density at time 0.05, after 0.15 of a period.
fn error(order: usize, root: u32, is_hanging: bool) -> f64 {
    // Short enough for errors of time to stay below those of space.
    let step = [0.6, 0.6, 0.4, 0.3][order - 1];
    let mut params = params(order, TimeStep::Courant(step));
    params.runge_kutta = RungeKutta::Rk43;
    let leaves = mesh(root, is_hanging);
    let mut flow = EulerFlow::<3>::new(&leaves, [0.0; 3], [1.0; 3], params).expect("a flow");
    flow.set(|x| wave(0.0, x));
    flow.advance_to(0.05).expect("a wave");
    flow.density_error(|x| wave(0.05, x).density)
}

#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn has_its_order(is_hanging: bool) {
    for (order, roots) in (1..).zip([[8, 16], [6, 12], [4, 8], [4, 8]]) {
        let [coarse, fine] = roots.map(|root| error(order, root, is_hanging));
        let found = (coarse / fine).log2();
        println!("p{order}, hanging {is_hanging}: {coarse:.2e}, {fine:.2e}, order {found:.2}");
        assert!(
            found >= order as f64 + 0.7,
            "p{order}, hanging {is_hanging}: {coarse:e}, {fine:e}, order {found:.2}"
        );
    }
}

#[test]
fn a_density_wave_has_its_order_on_uniform_meshes() {
    on_one_thread(|| has_its_order(false));
}

#[test]
fn a_density_wave_has_its_order_on_hanging_meshes() {
    on_one_thread(|| has_its_order(true));
}
