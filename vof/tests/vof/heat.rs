//! Heat against exact profiles, its balance, and de Vahl Davis' cavity.

use crate::mesh::{self, advance, followed, levels};
use crate::worst::worst;
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, HeatParams, LiquidShape, Phases, TwoPhaseFlow, WallHeat,
};
use std::f64::consts::PI;

/// Insulated, of capacities and conductivities of 1.
fn heat<const D: usize>() -> HeatParams<D> {
    HeatParams {
        capacity: [1.0; 2],
        conductivity: [1.0; 2],
        expansion: [0.0; 2],
        reference: 0.0,
        faces: [[WallHeat::Insulated; 2]; D],
        bodies: Vec::new(),
    }
}

/// A box of 1 by 1/4 whose lower and upper end along x have some heat.
fn slab(blocks: u32, ends: [WallHeat; 2], dt: f64, liquid: &[LiquidShape<2>]) -> TwoPhaseFlow<2> {
    let mesh = mesh::mesh([blocks, blocks / 4], [false; 2], 1, |_, _| false);
    with_ends(mesh, ends, dt, liquid, [1.0; 2])
}

fn with_ends(
    mesh: FlowMesh<2>,
    ends: [WallHeat; 2],
    dt: f64,
    liquid: &[LiquidShape<2>],
    conductivity: [f64; 2],
) -> TwoPhaseFlow<2> {
    let params = FlowParams {
        longest_step: dt,
        ..mesh::params()
    };
    let heat = HeatParams {
        faces: [ends, [WallHeat::Insulated; 2]],
        conductivity,
        ..heat()
    };
    let flow = TwoPhaseFlow::new(mesh, params, liquid).expect("a flow");
    flow.with_heat(heat, |_| 0.0).expect("heat")
}

fn steps<const D: usize>(flow: &mut TwoPhaseFlow<D>, count: usize) {
    for _ in 0..count {
        flow.step(1.0e9).expect("a step");
    }
}

/// The largest difference of temperatures of fluid cells to a field.
fn off<const D: usize>(flow: &TwoPhaseFlow<D>, exact: impl Fn([f64; D]) -> Option<f64>) -> f64 {
    let temperature = flow.temperature().expect("a flow with heat");
    let cells = mesh::cells(flow.mesh());
    let compared = |&(n, at, _): &(usize, [f64; D], f64)| Some((temperature[n] - exact(at)?).abs());
    worst(cells.iter().filter_map(compared))
}

#[test]
fn a_slab_has_a_straight_profile_and_what_comes_in_leaves() {
    let ends = [WallHeat::Temperature(300.0), WallHeat::Temperature(340.0)];
    let mut flow = slab(4, ends, 1.0, &[]);
    steps(&mut flow, 14);
    let found = off(&flow, |x| Some(300.0 + 40.0 * x[0]));
    assert!(found < 1e-8, "{found:e} K");
    let before = flow.heat_account().expect("heat").through.clone();
    steps(&mut flow, 1);
    let now = &flow.heat_account().expect("heat").through;
    let power: Vec<f64> = (now.iter().zip(&before)).map(|(a, b)| a - b).collect();
    // 40 K/m through a quarter of a metre.
    assert!((power[1] - 10.0).abs() < 1e-8, "{power:?}");
    assert!((power[0] + 10.0).abs() < 1e-8, "{power:?}");
    assert!(power[2] == 0.0 && power[3] == 0.0, "{power:?}");
}

#[test]
fn a_flux_gives_its_gradient() {
    let ends = [WallHeat::Flux(7.0), WallHeat::Temperature(20.0)];
    let mut flow = slab(4, ends, 10.0, &[]);
    steps(&mut flow, 10);
    let found = off(&flow, |x| Some(20.0 + 7.0 * (1.0 - x[0])));
    assert!(found < 1e-8, "{found:e} K");
}

/// A slab of temperature 0 whose ends are held at 1 (Carslaw, Jaeger 1959, §3.3).
fn heated(x: f64, t: f64) -> f64 {
    let term = |k: u32| {
        let n = f64::from(2 * k + 1) * PI;
        4.0 / n * (n * x).sin() * (-n * n * t).exp()
    };
    1.0 - (0..40).map(term).sum::<f64>()
}

#[test]
fn a_slab_that_is_heated_follows_its_series_to_second_order() {
    let end = 0.05;
    let error = |blocks: u32| {
        let dt = 0.02 / f64::from(blocks * blocks);
        let ends = [WallHeat::Temperature(1.0); 2];
        let mut flow = slab(blocks, ends, dt, &[]);
        while flow.time() < end - 1e-12 {
            flow.step(end - flow.time()).expect("a step");
        }
        off(&flow, |x| Some(heated(x[0], end)))
    };
    let errors = [4, 8].map(error);
    assert!(errors[1] < 1.5e-3, "{errors:?}");
    assert!(errors[0] / errors[1] > 3.5, "{errors:?}");
}

#[test]
fn two_layers_have_the_exact_profile() {
    // Neither at a face nor in the middle of a cell.
    let at = 0.513;
    let liquid = LiquidShape::HalfSpace {
        normal: [1.0, 0.0],
        offset: at,
    };
    for kappa in [[1.0, 100.0], [100.0, 1.0]] {
        let ends = [WallHeat::Temperature(0.0), WallHeat::Temperature(1.0)];
        let grid = mesh::mesh([4, 1], [false; 2], 1, |_, _| false);
        let mut flow = with_ends(grid, ends, 100.0, std::slice::from_ref(&liquid), kappa);
        steps(&mut flow, 10);
        let flux = 1.0 / (at / kappa[0] + (1.0 - at) / kappa[1]);
        let found = off(&flow, |x| {
            let is_pure = (x[0] - at).abs() > 1.0 / 16.0;
            is_pure.then(|| match x[0] < at {
                true => flux * x[0] / kappa[0],
                false => 1.0 - flux * (1.0 - x[0]) / kappa[1],
            })
        });
        assert!(found < 1e-9, "{kappa:?}: {found:e} K");
    }
}

#[test]
fn a_body_holds_its_temperature() {
    // The left quarter is solid.
    let forest = mesh::forest([4, 1], [false; 2], 1, |_, _| false);
    let solid = vec![u64::from(u16::MAX), 0, 0, 0];
    let grid = FlowMesh::new(&forest, [0.0; 2], 1.0 / 16.0, solid).expect("a mesh");
    let params = FlowParams {
        longest_step: 10.0,
        ..mesh::params()
    };
    for (body, at) in [
        (WallHeat::Temperature(50.0), [50.0, 10.0]),
        (WallHeat::Flux(8.0), [16.0, 10.0]),
        (WallHeat::Insulated, [10.0, 10.0]),
    ] {
        let heat = HeatParams {
            faces: [
                [WallHeat::Insulated, WallHeat::Temperature(10.0)],
                [WallHeat::Insulated; 2],
            ],
            bodies: vec![WallHeat::Insulated, body],
            ..heat()
        };
        let grid = grid.clone().with_bodies(vec![2; 64]);
        let flow = TwoPhaseFlow::new(grid, params.clone(), &[]).expect("a flow");
        let mut flow = flow.with_heat(heat, |_| 10.0).expect("heat");
        steps(&mut flow, 10);
        let found = off(&flow, |x| {
            let part = (x[0] - 0.25) / 0.75;
            (part > 0.0).then(|| at[0] + (at[1] - at[0]) * part)
        });
        assert!(found < 1e-8, "{body:?}: {found:e} K");
        let account = flow.heat_account().expect("heat");
        let change = account.heat - 10.0 * account.capacity;
        let came: f64 = account.through.iter().sum();
        assert!((change - came).abs() < 1e-9 * account.heat, "{account:?}");
    }
}

/// Water and air, with heat.
fn water(conductivity: [f64; 2]) -> (FlowParams<2>, HeatParams<2>) {
    let params = FlowParams {
        phases: Phases {
            density: [1000.0, 1.2],
            viscosity: [1e-3, 2e-5],
            surface_tension: 0.07,
        },
        gravity: [0.0, -9.81],
        courant: 0.4,
        ..mesh::params()
    };
    let heat = HeatParams {
        capacity: [4180.0, 1005.0],
        conductivity,
        ..heat()
    };
    (params, heat)
}

/// A column that breaks, on a mesh that follows it or stays.
fn column(
    is_followed: bool,
    conductivity: [f64; 2],
    temperature: impl Fn([f64; 2]) -> f64 + Sync,
) -> TwoPhaseFlow<2> {
    let (params, heat) = water(conductivity);
    let column = LiquidShape::Box([[-1.0, -1.0], [0.31, 0.52]]);
    let flow = if is_followed {
        followed([3; 2], params, &[column], levels(3))
    } else {
        let mesh = mesh::mesh([3; 2], [false; 2], 3, |_, _| true);
        TwoPhaseFlow::new(mesh, params, &[column]).expect("a flow")
    };
    flow.with_heat(heat, temperature).expect("heat")
}

#[test]
fn a_uniform_temperature_stays_in_a_splash() {
    for is_followed in [false, true] {
        let mut flow = column(is_followed, [0.6, 0.026], |_| 300.0);
        let changes = advance(&mut flow, 0.2);
        assert_eq!(changes > 4, is_followed, "{changes} changes of the mesh");
        let found = off(&flow, |_| Some(300.0));
        assert!(found < 300.0 * 1e-12, "{is_followed}: {found:e} K");
    }
}

#[test]
fn heat_is_kept_in_a_splash_and_temperatures_stay_in_their_range() {
    let hot = |x: [f64; 2]| {
        if x[0] < 0.31 && x[1] < 0.52 {
            350.0
        } else {
            290.0
        }
    };
    for is_followed in [false, true] {
        for conductivity in [[1e-12; 2], [0.6, 0.026]] {
            let mut flow = column(is_followed, conductivity, hot);
            let before = flow.heat().expect("heat");
            let changes = advance(&mut flow, 0.3);
            assert_eq!(changes > 4, is_followed, "{changes} changes of the mesh");
            let drift = flow.heat().expect("heat") / before - 1.0;
            assert!(drift.abs() < 1e-12, "{is_followed}: {drift:e}");
            let account = flow.heat_account().expect("heat");
            // What the pressure's tolerance leaves, against the heat that the water has more than air.
            let made = account.defect / (60.0 * account.capacity);
            assert!(
                made.abs() < 1e-5,
                "{is_followed}, {conductivity:?}: {made:e}"
            );
            let [low, high] = account.extremes;
            assert!(low > 289.0 && high < 351.0, "{:?}", account.extremes);
        }
    }
}

#[test]
fn a_profile_is_carried_to_second_order() {
    let error = |blocks: u32| {
        let grid = mesh::mesh([blocks, 1], [true, false], 1, |_, _| false);
        let flow = TwoPhaseFlow::new(grid, mesh::params(), &[]).expect("a flow");
        let heat = HeatParams {
            conductivity: [1e-12; 2],
            ..heat()
        };
        let wave = |x: [f64; 2]| (2.0 * PI * x[0]).sin();
        let mut flow = flow.with_heat(heat, wave).expect("heat");
        flow.set_flux(|_, axis, _| if axis == 0 { 1.0 } else { 0.0 });
        let count = 8 * blocks;
        for _ in 0..count {
            flow.advect(1.0 / f64::from(count)).expect("a step");
        }
        let temperature = flow.temperature().expect("heat");
        let cells = mesh::cells(flow.mesh());
        let sum: f64 = (cells
            .iter()
            .map(|(n, x, _)| (temperature[*n] - wave(*x)).abs()))
        .sum();
        sum / cells.len() as f64
    };
    let errors = [8, 16, 32].map(error);
    let orders = [0, 1].map(|i| (errors[i] / errors[i + 1]).log2());
    assert!(orders.iter().all(|&of| of > 1.75), "{errors:?}: {orders:?}");
    assert!(errors[2] < 1e-3, "{errors:?}");
}

/// A layer of warm fluid over cold fluid.
fn stratified(mesh: FlowMesh<2>) -> TwoPhaseFlow<2> {
    let params = FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [1e-3; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0, -1.0],
        faces: [[BoxFace::NoSlip; 2]; 2],
        longest_step: 0.02,
        tolerance: 1e-12,
        ..mesh::params()
    };
    let heat = HeatParams {
        conductivity: [1e-3; 2],
        expansion: [0.1; 2],
        faces: [
            [WallHeat::Insulated; 2],
            [WallHeat::Temperature(0.0), WallHeat::Temperature(1.0)],
        ],
        ..heat()
    };
    let flow = TwoPhaseFlow::new(mesh, params, &[]).expect("a flow");
    flow.with_heat(heat, |x| x[1]).expect("heat")
}

#[test]
fn warm_fluid_over_cold_fluid_is_at_rest() {
    let grid = mesh::mesh([4; 2], [false; 2], 1, |_, _| false);
    let mut flow = stratified(grid);
    steps(&mut flow, 20);
    let found = flow.integrals().largest_velocity;
    assert!(found < 1e-10, "{found:e} m/s");
    // Beside finer cells the centres are at other heights: a flow of the error there.
    for axis in [0, 1] {
        let grid = mesh::mesh([4; 2], [false; 2], 2, |c, _| c[axis] > 0.5);
        let mut flow = stratified(grid);
        steps(&mut flow, 20);
        let found = flow.integrals().largest_velocity;
        assert!(found < 2e-3, "{axis}: {found:e} m/s");
    }
}

/// De Vahl Davis' cavity: the mean Nusselt number of the hot wall.
fn nusselt(rayleigh: f64, blocks: u32, end: f64) -> f64 {
    let prandtl = 0.71;
    // Diffusivity and length 1: g β ΔT = Ra Pr, shared so that steps are those of convection.
    let g = 100.0 * prandtl;
    let params = FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [prandtl; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0, -g],
        faces: [[BoxFace::NoSlip; 2]; 2],
        longest_step: 2e-3,
        ..mesh::params()
    };
    let heat = HeatParams {
        expansion: [rayleigh * prandtl / g; 2],
        reference: 0.5,
        faces: [
            [WallHeat::Temperature(1.0), WallHeat::Temperature(0.0)],
            [WallHeat::Insulated; 2],
        ],
        ..heat()
    };
    let grid = mesh::mesh([blocks; 2], [false; 2], 1, |_, _| false);
    let flow = TwoPhaseFlow::new(grid, params, &[]).expect("a flow");
    let mut flow = flow.with_heat(heat, |x| 1.0 - x[0]).expect("heat");
    while flow.time() < end - 1e-12 {
        flow.step(end - flow.time()).expect("a step");
    }
    let came = |flow: &TwoPhaseFlow<2>| flow.heat_account().expect("heat").through.clone();
    let (before, time) = (came(&flow), flow.time());
    flow.step(1.0).expect("a step");
    let now = came(&flow);
    let power = |side: usize| (now[side] - before[side]) / (flow.time() - time);
    assert!((power(0) + power(1)).abs() < 1e-3, "it is not steady");
    power(0)
}

#[test]
fn de_vahl_davis_cavity_has_its_nusselt_number() {
    // De Vahl Davis 1983, table I: 1.118.
    let found = nusselt(1e3, 5, 1.0);
    assert!((found / 1.118 - 1.0).abs() < 5e-3, "{found}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads").install(|| {
            let mut flow = column(true, [0.6, 0.026], |x| 290.0 + 50.0 * x[0]);
            advance(&mut flow, 0.05);
            flow.save().values
        })
    };
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert!(bits(run(1)) == bits(run(3)), "bits differ");
}

#[test]
fn a_flow_with_heat_resumes_to_the_bit() {
    let make = || column(true, [0.6, 0.026], |x| 290.0 + 50.0 * x[0]);
    let mut whole = make();
    advance(&mut whole, 0.1);
    let half = whole.save();
    advance(&mut whole, 0.16);
    let mut resumed = make();
    resumed.restore(&half).expect("the same flow");
    advance(&mut resumed, 0.16);
    let bits = |flow: &TwoPhaseFlow<2>| {
        let values = flow.save().values.into_iter();
        values.map(f64::to_bits).collect::<Vec<_>>()
    };
    assert!(half.refined != whole.save().refined, "the mesh follows");
    assert!(bits(&resumed) == bits(&whole), "resumed");
}

#[test]
fn what_flows_in_brings_its_heat() {
    let params = FlowParams {
        faces: [
            [
                BoxFace::Inflow {
                    velocity: [1.0, 0.0],
                    liquid: 0.0,
                },
                BoxFace::Pressure {
                    value: 0.0,
                    liquid: 0.0,
                },
            ],
            [BoxFace::Slip; 2],
        ],
        longest_step: 0.02,
        ..mesh::params()
    };
    let heat = HeatParams {
        conductivity: [1e-12; 2],
        faces: [
            [WallHeat::Temperature(350.0), WallHeat::Insulated],
            [WallHeat::Insulated; 2],
        ],
        ..heat()
    };
    let grid = mesh::mesh([4, 1], [false; 2], 1, |_, _| false);
    let flow = TwoPhaseFlow::new(grid, params.clone(), &[]).expect("a flow");
    let mut flow = flow.with_heat(heat, |_| 300.0).expect("heat");
    flow.set_velocity(|_| [1.0, 0.0]).expect("a velocity");
    let before = flow.heat().expect("heat");
    while flow.time() < 0.4 - 1e-12 {
        flow.step(0.4 - flow.time()).expect("a step");
    }
    let account = flow.heat_account().expect("heat");
    // Half of the last step is to come: 0.39 m of fluid, a quarter of a metre wide.
    assert!(
        (account.through[0] / (0.39 * 0.25 * 350.0) - 1.0).abs() < 1e-9,
        "{account:?}"
    );
    let change = flow.heat().expect("heat") - before;
    let came: f64 = account.through.iter().sum();
    assert!((change - came).abs() < 1e-9 * before, "{change} of {came}");
    // The front is there.
    let found = off(&flow, |x| match x[0] {
        x if x < 0.25 => Some(350.0),
        x if x > 0.6 => Some(300.0),
        _ => None,
    });
    assert!(found < 0.5, "{found} K");
    let cold = TwoPhaseFlow::new(flow.mesh().clone(), params, &[]).expect("a flow");
    let text = cold
        .with_heat(self::heat(), |_| 300.0)
        .expect_err("no temperature");
    assert!(text.to_string().contains("inflow"), "{text}");
}
