//! What outputs see of a flow.

use super::*;
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{EulerParams, GasWalls, Primitive, RungeKutta, TimeStep};
use cutlink_solver::fields::{gradient, vorticity};
use std::f64::consts::TAU;

/// A shear flow on two levels, as outputs have it: its vorticity is -du/dy.
#[test]
fn outputs_see_the_flow() {
    let grid = Grid::<2>::new([8, 8], [true; 2]).expect("a root grid");
    let mut leaves = Leaves::new(&Host, grid).expect("leaves");
    let mut marks: Vec<u8> = (0..64).map(|i| u8::from(i % 3 == 0)).collect();
    leaves.adapt(&Host, &mut marks).expect("an adaptation");
    let params = EulerParams {
        order: 3,
        gamma: 1.4,
        runge_kutta: RungeKutta::Rk33,
        time_step: TimeStep::Fixed(1e-3),
        far_field: None,
        viscosity: None,
        walls: GasWalls::default(),
    };
    let edge = 2.0;
    let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [edge; 2], params).expect("a flow");
    flow.set(|x| Primitive {
        density: 1.0 + 0.1 * (TAU * x[0] / edge).cos(),
        velocity: [(TAU * x[1] / edge).sin(), 0.0],
        pressure: 3.0 + 0.2 * (TAU * x[1] / edge).sin(),
    });
    let root = cutlink_meshing::options::Root::Cells(vec![32, 32]);
    let base = cutlink_meshing::mesh::build::bare_periodic::<2>(
        &[0.0, 0.0, edge, edge],
        &root,
        [true, true, false],
    );
    let base = base.expect("a box");
    let scene = Scene::new(&base, &flow).expect("a scene");
    let mut now = FlowState::default();
    states(&flow, &scene, None, &mut now).expect("values");
    let (mesh, snapshot) = (&scene.mesh, &now.snapshot);
    let pressure = now.pressure.as_ref().expect("a pressure");
    let mut seen = 0;
    for id in (0..mesh.forest.capacity() as u32).filter(|&id| mesh.forest.is_leaf(id)) {
        let h = edge / 32.0 / f64::from(1u32 << mesh.forest.level[id as usize]);
        for cell in 0..16 {
            let at = cutlink_amr::CellRef { block: id, cell };
            let x = mesh.forest.cell_coord(at).map(|c| h * (f64::from(c) + 0.5));
            let i = id as usize * 16 + cell as usize;
            let near = |found: f32, exact: f64, tolerance: f64| {
                let error = (f64::from(found) - exact).abs();
                assert!(error < tolerance, "{x:?}: {found}, {exact}");
            };
            near(
                snapshot.density[i],
                1.0 + 0.1 * (TAU * x[0] / edge).cos(),
                1e-4,
            );
            near(snapshot.velocity[0][i], (TAU * x[1] / edge).sin(), 1e-3);
            near(pressure[i], 3.0 + 0.2 * (TAU * x[1] / edge).sin(), 1e-3);
            let slope = gradient(mesh, &snapshot.velocity, at);
            let exact = -TAU / edge * (TAU * x[1] / edge).cos();
            near((vorticity(&slope)[2] / base.frame.dx) as f32, exact, 0.05);
            seen += 1;
        }
    }
    assert!(seen > 1500, "{seen}");
    // Some blocks are the same numbers, and the others stay as they are.
    let blocks: Vec<u32> = (0..mesh.forest.capacity() as u32).step_by(7).collect();
    let mut some = FlowState::default();
    states(&flow, &scene, Some(&blocks), &mut some).expect("values");
    let some_pressure = some.pressure.as_ref().expect("a pressure");
    for id in 0..mesh.forest.capacity() {
        let cells = 16 * id..16 * id + 16;
        let is_asked = id % 7 == 0;
        let same = some.snapshot.density[cells.clone()] == snapshot.density[cells.clone()]
            && some.snapshot.velocity[0][cells.clone()] == snapshot.velocity[0][cells.clone()]
            && some_pressure[cells.clone()] == pressure[cells.clone()];
        let untouched = some.snapshot.density[cells].iter().all(|&x| x == 1.0);
        assert!(if is_asked { same } else { untouched }, "block {id}");
    }
}
