//! Openings beside no-slip walls: the pressure that they hold, the flow that they let pass, and the corners.

use cutlink_solver::{Collision, FaceCondition, LatticeKind, Params, Place, Space, Variation};
use cutlink_tests::{
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{Mesh, Region, RegionShape};
use std::sync::Arc;

cutlink_tests::backend_test!(
    on_one_thread:
    outlets_hold_their_pressure_beside_walls,
    inlets_deliver_their_mass_flow_beside_walls,
    pressures_drive_the_flow_that_they_should,
    corners_of_inlets_and_walls_are_stable,
    parabolas_enter_as_they_are,
    levels_end_at_outlets,
    edges_of_inlets_are_stable
);

const WALLS: [FaceCondition<2>; 2] = [FaceCondition::Velocity([0.0; 2]); 2];

/// A channel of so many cells along and across, between no-slip walls.
fn channel(
    cells: [u32; 2],
    viscosity: f64,
    collision: Collision,
    ends: [FaceCondition<2>; 2],
) -> (Mesh<2>, Params<2>) {
    let mesh = flows::empty_box(cells, 1, Vec::new());
    let mut params = flows::params(&mesh, viscosity);
    params.collision = collision;
    params.faces = [ends, WALLS];
    (mesh, params)
}

/// Of each column of cells: mean density, mean velocity, mass flow.
fn columns<K: AnyFlow>(
    kernels: &K,
    (mesh, params): &(Mesh<2>, Params<2>),
    start: &(dyn Fn([f64; 2]) -> (f64, [f64; 2]) + Sync),
    steps: u64,
) -> Vec<[f64; 3]> {
    let mut flow = flows::start(kernels, mesh, params.clone());
    flow.set(start).expect("a start");
    flow.advance(steps).expect("steps");
    flow.check().expect("no divergence");
    let [length, height] = mesh.frame.root_cells;
    let mut means = vec![[0.0; 3]; length as usize];
    let share = 1.0 / f64::from(height);
    flows::each_cell(
        mesh,
        &flow.snapshot().expect("a snapshot"),
        |x, _, rho, u| {
            let column = &mut means[x[0] as usize];
            column[0] += share * rho;
            column[1] += share * u[0];
            column[2] += share * rho * u[0];
        },
    );
    means
}

const U: f64 = 0.05;
const INLET: FaceCondition<2> = FaceCondition::Velocity([U, 0.0]);

/// A channel of 24 x 12 cells behind a uniform inlet, by the Reynolds number of its height.
fn behind_an_inlet<K: AnyFlow>(
    kernels: &K,
    re: f64,
    outlet: FaceCondition<2>,
    steps: u64,
) -> Vec<[f64; 3]> {
    let viscosity = U * 12.0 / re;
    let channel = channel([24, 12], viscosity, Collision::Regularized, [INLET, outlet]);
    columns(kernels, &channel, &|_| (1.0, [U, 0.0]), steps)
}

fn outlets_hold_their_pressure_beside_walls<K: AnyFlow>(kernels: &K) {
    for outlet in [FaceCondition::Outflow, FaceCondition::Pressure(1.0)] {
        for (re, steps) in [(360.0, 6000), (12.0, 5000)] {
            let columns = behind_an_inlet(kernels, re, outlet, steps);
            // Over rho U², at the face: half a cell further on than the last column.
            let [before, last] = [22, 23].map(|n| columns[n][0] - 1.0);
            let pressure = (1.5 * last - 0.5 * before) / 3.0 / (U * U);
            // Before decision 045 it was 6 behind an outflow at Re 360.
            assert!(pressure.abs() < 0.3, "{outlet:?}, Re {re}: {pressure}");
            let mean = columns.iter().map(|c| c[0] / 24.0).sum::<f64>() - 1.0;
            let drop = columns[0][0] - last - 1.0;
            assert!(
                mean.abs() < 0.7 * drop + 1e-3,
                "{outlet:?}, Re {re}: {mean} at a drop of {drop}"
            );
        }
    }
}

fn inlets_deliver_their_mass_flow_beside_walls<K: AnyFlow>(kernels: &K) {
    for (re, steps) in [(360.0, 6000), (12.0, 5000)] {
        for outlet in [FaceCondition::Outflow, FaceCondition::Pressure(1.0)] {
            for [_, _, flow] in behind_an_inlet(kernels, re, outlet, steps) {
                assert!((flow / U - 1.0).abs() < 1e-3, "{outlet:?}, Re {re}: {flow}");
            }
        }
    }
}

/// Channels of four heights between two pressures, against Poiseuille flow less what the walls of the collision cost
/// (Ginzburg & d'Humières 2003): (16 Λ - 3) / (2 N²) of the flow for N cells.
fn pressures_drive_the_flow_that_they_should<K: AnyFlow>(kernels: &K) {
    for (height, re, u) in [(8u32, 1.0, 0.0046), (8, 10.0, 0.014), (16, 10.0, 0.014)] {
        let n = f64::from(height);
        let viscosity = u * n / re;
        let half_step = 3.0 * viscosity;
        // Pressure drop over rho c²: 12 nu U L / H² with L = 4 H.
        let delta = 3.0 * 48.0 / re * u * u;
        let trt = Collision::Trt { magic: 3.0 / 16.0 };
        for (collision, magic) in [(trt, 3.0 / 16.0), (Collision::Regularized, 0.5 * half_step)] {
            if collision == trt && half_step < 0.035 {
                // Odd moments that live longer than open faces take: the program refuses it.
                continue;
            }
            let ends = [1.0 + delta, 1.0].map(FaceCondition::Pressure);
            let channel = channel([4 * height, height], viscosity, collision, ends);
            let start = |x: [f64; 2]| {
                let (along, y) = (x[0] / (4.0 * n), x[1] / n);
                (1.0 + delta * (1.0 - along), [6.0 * u * y * (1.0 - y), 0.0])
            };
            let steps = (3.0 * n * n / half_step) as u64;
            let columns = columns(kernels, &channel, &start, steps);
            let middle = columns[2 * height as usize][1] / u - 1.0 + 0.5 * delta;
            let walls = (16.0 * magic - 3.0) / (2.0 * n * n);
            assert!(
                (middle - walls).abs() < 0.01,
                "{height} cells, Re {re}, {collision:?}: {middle}, of which walls {walls}"
            );
        }
    }
}

/// A uniform stream that meets walls, at a cell Reynolds number of 333.
fn corners_of_inlets_and_walls_are_stable<K: AnyFlow>(kernels: &K) {
    let viscosity = U * 12.0 / 4000.0;
    for outlet in [
        FaceCondition::Outflow,
        FaceCondition::Pressure(1.0),
        FaceCondition::FarField {
            velocity: [U, 0.0],
            density: 1.0,
        },
    ] {
        let channel = channel([24, 12], viscosity, Collision::Regularized, [INLET, outlet]);
        let columns = columns(kernels, &channel, &|_| (1.0, [U, 0.0]), 12_000);
        for [density, _, flow] in columns {
            assert!(
                (flow / U - 1.0).abs() < 0.01 && (density - 1.0).abs() < 0.01,
                "{outlet:?}: {flow}, {density}"
            );
        }
    }
}

/// An inlet with the velocity of a function of the height.
fn inlet_of(exact: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Variation<2> {
    Variation {
        place: Place::Face(0, 0),
        name: "the inlet".into(),
        key: "a profile".into(),
        space: Space::Steady(Arc::new(move |x| Ok([exact(x[1]), 0.0]))),
        time: None,
    }
}

/// A parabola of this height, with the mean U.
fn parabola(height: f64) -> impl Fn(f64) -> f64 + Copy + Send + Sync + 'static {
    move |y| 6.0 * U * y / height * (1.0 - y / height)
}

/// A parabola between walls at cell Reynolds numbers of 10 and 100 stays one: the shear beside the walls is that of the parabola.
fn parabolas_enter_as_they_are<K: AnyFlow>(kernels: &K) {
    let exact = parabola(12.0);
    for cell_re in [10.0, 100.0] {
        let ends = [INLET, FaceCondition::Pressure(1.0)];
        let (mesh, mut params) = channel([12, 12], U / cell_re, Collision::Regularized, ends);
        params.variations = vec![inlet_of(exact)];
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|x| (1.0, [exact(x[1]), 0.0])).expect("a start");
        flow.advance(6000).expect("steps");
        let snapshot = flow.snapshot().expect("a snapshot");
        let mut farthest = 0.0;
        flows::each_cell(&mesh, &snapshot, |x, _, rho, u| {
            let off = (rho * u[0] - exact(x[1])).abs();
            farthest = worst([farthest, off / U, u[1].abs() / U]);
        });
        // Without the shear 0.06 and 0.1.
        assert!(farthest < 0.02, "u dx / nu {cell_re}: {farthest}");
    }
}

/// Poiseuille flow through levels that end at an outlet, a block before it, or beside it.
fn levels_end_at_outlets<K: AnyFlow>(kernels: &K) {
    let exact = parabola(16.0);
    let regions = [
        ([20.0, 0.0], [32.0, 16.0]),
        ([8.0, 0.0], [28.0, 16.0]),
        ([12.0, 0.0], [32.0, 8.0]),
    ];
    for (lower, upper) in regions {
        let [lower, upper] = [lower, upper].map(|[x, y]| [x, y, 0.0]);
        let shape = RegionShape::Box { lower, upper };
        let mesh = flows::empty_box([32, 16], 2, vec![Region { shape, levels: 2 }]);
        for re in [40.0, 400.0] {
            for outlet in [FaceCondition::Outflow, FaceCondition::Pressure(1.0)] {
                let viscosity = U * 16.0 / re;
                let mut params = flows::params(&mesh, viscosity);
                params.collision = Collision::Regularized;
                params.faces = [[INLET, outlet], WALLS];
                params.variations = vec![inlet_of(exact)];
                let mut flow = flows::start(kernels, &mesh, params);
                // With the pressure of Poiseuille flow, so that there is no sound: 12 nu U / H² a cell.
                let slope = 36.0 * viscosity * U / 256.0;
                let start = |x: [f64; 2]| (1.0 + slope * (32.0 - x[0]), [exact(x[1]), 0.0]);
                flow.set(&start).expect("a start");
                flow.advance(2000).expect("steps");
                flow.check().expect("no divergence");
                let snapshot = flow.snapshot().expect("a snapshot");
                let (mut through, mut farthest, mut last) = ([0.0; 32], 0.0, 0.0);
                flows::each_cell(&mesh, &snapshot, |x, volume, rho, u| {
                    through[x[0] as usize] += volume * rho * u[0] / 16.0 / U;
                    farthest = worst([farthest, (rho * u[0] - exact(x[1])).abs() / U]);
                    last += f64::from(u8::from(x[0] > 31.0)) * volume * (rho - 1.0) / 16.0;
                });
                let off = worst(through.map(|flow| (flow - 1.0).abs()));
                let pressure = last / 3.0 / (U * U);
                assert!(
                    off < 5e-3 && farthest < 0.03 && pressure.abs() < 0.1,
                    "{lower:?} {upper:?}, Re {re}, {outlet:?}: flow {off}, velocity {farthest}, pressure {pressure}"
                );
            }
        }
    }
}

/// A uniform stream into square ducts, at a cell Reynolds number of 1000: edges where two walls meet the inlet. Before they took
/// the shear of the given velocities, they diverged at 333 within 3,000 steps, on both lattices.
fn edges_of_inlets_are_stable<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([16, 8, 8], 1, Vec::new());
    for lattice in [LatticeKind::D3Q19, LatticeKind::D3Q27] {
        for outlet in [FaceCondition::Outflow, FaceCondition::Pressure(1.0)] {
            let mut params = flows::params(&mesh, U / 1000.0);
            params.lattice = lattice;
            params.collision = Collision::Regularized;
            let wall = FaceCondition::Velocity([0.0; 3]);
            let inlet = FaceCondition::Velocity([U, 0.0, 0.0]);
            params.faces = [[inlet, outlet], [wall; 2], [wall; 2]];
            let mut flow = flows::start(kernels, &mesh, params);
            flow.set(&|_| (1.0, [U, 0.0, 0.0])).expect("a start");
            flow.advance(5000).expect("steps");
            flow.check().expect("no divergence");
            let (mut through, mut fastest, mut mean) = ([0.0; 16], 0.0, 0.0);
            let snapshot = flow.snapshot().expect("a snapshot");
            flows::each_cell(&mesh, &snapshot, |x, _, rho, u| {
                through[x[0] as usize] += rho * u[0] / 64.0 / U;
                fastest = worst([fastest, u[0].abs() / U, u[1].abs() / U, u[2].abs() / U]);
                mean += (rho - 1.0) / 1024.0;
            });
            // Continuity: what is given enters, and passes each plane.
            for flow in through {
                assert!((flow - 1.0).abs() < 5e-3, "{lattice} {outlet:?}: {flow}");
            }
            // A developed square duct has 2.1 in the middle.
            assert!(fastest < 2.1, "{lattice} {outlet:?}: {fastest}");
            assert!(mean.abs() < 0.015, "{lattice} {outlet:?}: {mean}");
        }
    }
}
