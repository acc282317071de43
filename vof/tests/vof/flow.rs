//! Falling drop at 1000 : 1, a sloshing wave, rest under gravity across level jumps, resume, threads.

use crate::mesh;
use crate::worst::worst;
use cutlink_vof::{BoxFace, FlowMesh, FlowParams, LiquidShape, Phases, TwoPhaseFlow};
use std::f64::consts::PI;

fn inviscid(ratio: f64) -> FlowParams<2> {
    FlowParams {
        phases: Phases {
            density: [1.0, 1.0 / ratio],
            viscosity: [0.0; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0, -1.0],
        courant: 0.3,
        longest_step: 4e-3,
        ..mesh::params()
    }
}

#[test]
fn v10c_a_falling_drop_stays_together() {
    let h = 1.0 / 96.0;
    let mesh = mesh::mesh([24; 2], [false; 2], 1, |_, _| false);
    let drop = LiquidShape::Ball {
        centre: [0.503, 0.8],
        radius: 8.0 * h,
    };
    let mut flow = TwoPhaseFlow::new(mesh, inviscid(1000.0), &[drop]).expect("a flow");
    let start = flow.integrals();
    // One diameter and a half.
    let end = 0.7;
    let mut iterations = 0;
    while flow.time() < end - 1e-12 {
        iterations += flow
            .step(end - flow.time())
            .expect("a step")
            .pressure_iterations;
    }
    let mean = iterations as f64 / flow.steps() as f64;
    assert!(mean < 12.0, "{mean} iterations a step");
    let now = flow.integrals();
    let fallen = start.centre[1] - now.centre[1];
    // Buoyancy and added mass of a circle.
    let g = (1.0 - 1e-3) / (1.0 + 1e-3);
    let theory = 0.5 * g * end * end;
    let size: [f64; 2] = std::array::from_fn(|a| (now.extent[1][a] - now.extent[0][a]) / h);
    assert!((fallen / theory - 1.0).abs() < 0.002, "fallen {fallen}");
    assert!(
        (-now.mean_velocity[1] / (g * end) - 1.0).abs() < 0.003,
        "speed {}",
        now.mean_velocity[1]
    );
    assert!(
        size.iter().all(|n| (n - 16.0).abs() < 1.5),
        "{size:?} cells"
    );
    assert!(
        now.largest_velocity < 1.1 * g * end,
        "{}",
        now.largest_velocity
    );
    assert!(
        (now.volume[0] / start.volume[0] - 1.0).abs() < 1e-12,
        "volume"
    );
}

/// A tank of which the middle layer, with the surface, is fine.
fn tank(levels: usize) -> FlowMesh<2> {
    mesh::mesh([4, 4], [false; 2], levels, |c, h| {
        (c[1] - 0.5).abs() < 0.09 + h
    })
}

#[test]
fn water_under_air_is_at_rest_across_level_jumps() {
    let params = FlowParams {
        phases: Phases {
            density: [1000.0, 1.0],
            viscosity: [1e-3, 2e-5],
            surface_tension: 0.0,
        },
        gravity: [0.0, -9.81],
        tolerance: 1e-12,
        longest_step: 1e-2,
        ..mesh::params()
    };
    let water = LiquidShape::HalfSpace {
        normal: [0.0, 1.0],
        offset: 0.513,
    };
    let mut flow = TwoPhaseFlow::new(tank(3), params, &[water]).expect("a flow");
    for _ in 0..20 {
        flow.step(1.0).expect("a step");
    }
    let found = flow.integrals().largest_velocity;
    assert!(found < 1e-10, "{found:e} m/s");
}

#[test]
fn v10b_a_standing_wave_loses_energy_and_keeps_its_period() {
    let mut params = inviscid(1000.0);
    params.longest_step = 1e-2;
    // Linear waves, deep on both sides: ω² = g k (ρ1 − ρ2) / (ρ1 + ρ2), tanh(k d) of both.
    let k = PI;
    let omega = (k * (k * 0.5).tanh() * (1.0 - 1e-3) / (1.0 + 1e-3)).sqrt();
    let mesh = tank(3);
    let flat = LiquidShape::HalfSpace {
        normal: [0.0, 1.0],
        offset: 0.5,
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[flat]).expect("a flow");
    // Started by velocities of the wave's potential, at 0.03 of height.
    let u0 = 0.03 * omega / (k * 0.5).sinh();
    flow.set_velocity(|[x, y]| {
        let depth = if y < 0.5 { y } else { 1.0 - y };
        let side = if y < 0.5 { 1.0 } else { -1.0 };
        [
            -side * u0 * (k * x).sin() * (k * depth).cosh(),
            u0 * (k * x).cos() * (k * depth).sinh(),
        ]
    })
    .expect("a projection");
    // Potential energy from the surface's height in each column: of a level surface in mixed cells, not at their centres.
    let energy = |flow: &TwoPhaseFlow<2>| {
        let fine = 1.0 / 64.0;
        let mut heights = [0.0; 64];
        for (n, at, h) in mesh::cells(flow.mesh()) {
            let first = ((at[0] - 0.5 * h) / fine).round() as usize;
            for column in &mut heights[first..first + (h / fine).round() as usize] {
                *column += h * flow.alpha()[n];
            }
        }
        let potential = |h: &f64| 0.5 * (1.0 - 1e-3) * fine * h * h;
        flow.integrals().kinetic + heights.iter().map(potential).sum::<f64>()
    };
    let rest = energy(&flow) - flow.integrals().kinetic;
    let first = energy(&flow) - rest;
    let (mut last, mut crossings, mut before) = (first, Vec::new(), 0.0);
    let mut growth: f64 = 0.0;
    // The first moment of the surface: the wave's amplitude.
    let moment = |flow: &TwoPhaseFlow<2>| -> f64 {
        mesh::cells(flow.mesh())
            .iter()
            .map(|&(n, c, h)| h * h * flow.alpha()[n] * (k * c[0]).cos())
            .sum()
    };
    let period = 2.0 * PI / omega;
    while flow.time() < 1.6 * period {
        let dt = flow.step(1.0).expect("a step").dt;
        let now = moment(&flow);
        if before * now < 0.0 {
            crossings.push(flow.time() - dt * now / (now - before));
        }
        before = now;
        let e = energy(&flow) - rest;
        growth = worst([growth, (e - last) / first]);
        last = e;
    }
    let found = 2.0 * (crossings[1] - crossings[0]);
    assert!(
        (found / period - 1.0).abs() < 0.02,
        "period {found} of {period}"
    );
    assert!(last / first < 1.0 + 1e-3, "energy {}", last / first);
}

#[test]
fn resume_and_threads_give_the_same_bits() {
    let params = FlowParams {
        phases: Phases {
            density: [1000.0, 1.0],
            viscosity: [1e-3, 2e-5],
            surface_tension: 0.07,
        },
        gravity: [0.0, -9.81],
        faces: [
            [BoxFace::NoSlip, BoxFace::Slip],
            [
                BoxFace::NoSlip,
                BoxFace::Pressure {
                    value: 0.0,
                    liquid: 0.0,
                },
            ],
        ],
        ..mesh::params()
    };
    let column = LiquidShape::Box([[0.0, 0.0], [0.31, 0.52]]);
    let fine = |c: [f64; 2], h: f64| c[0] < 0.6 + h && c[1] < 0.6 + h;
    let new = || {
        let mesh = mesh::mesh([4; 2], [false; 2], 2, fine);
        TwoPhaseFlow::new(mesh, params.clone(), std::slice::from_ref(&column)).expect("a flow")
    };
    let mut whole = new();
    for _ in 0..4 {
        whole.step(1.0).expect("a step");
    }
    let half = whole.save();
    for _ in 0..4 {
        whole.step(1.0).expect("a step");
    }
    let bits = |flow: &TwoPhaseFlow<2>| {
        flow.save()
            .values
            .iter()
            .map(|v| v.to_bits())
            .collect::<Vec<_>>()
    };
    let mut resumed = new();
    resumed.restore(&half).expect("the same flow");
    for _ in 0..4 {
        resumed.step(1.0).expect("a step");
    }
    assert!(bits(&resumed) == bits(&whole), "resumed");
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let found = pool.install(|| {
            let mut flow = new();
            for _ in 0..8 {
                flow.step(1.0).expect("a step");
            }
            bits(&flow)
        });
        assert!(found == bits(&whole), "{threads} threads");
    }
    assert!(
        whole.divergence() * 1e-3 < 1e-6,
        "divergence {:e}",
        whole.divergence()
    );
}

#[test]
fn flow_between_walls_is_a_parabola() {
    // One fluid, in by a plug, out by a pressure: at the outlet the parabola of Poiseuille.
    let params = FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [0.1; 2],
            surface_tension: 0.0,
        },
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
            [BoxFace::NoSlip; 2],
        ],
        longest_step: 5e-3,
        ..mesh::params()
    };
    let mesh = mesh::mesh([8, 2], [false; 2], 1, |_, _| false);
    let mut flow = TwoPhaseFlow::new(mesh, params, &[]).expect("a flow");
    while flow.time() < 0.6 {
        flow.step(1.0).expect("a step");
    }
    let (h, height) = (1.0 / 32.0, 0.25);
    let last = mesh::cells(flow.mesh())
        .into_iter()
        .filter(|c| c.1[0] > 1.0 - 2.0 * h && c.1[0] < 1.0 - h);
    let difference = last.map(|(n, at, _)| {
        let y = at[1] / height;
        (flow.velocity()[0][n] - 6.0 * y * (1.0 - y)).abs()
    });
    let found = worst(difference);
    assert!(found < 0.03, "{found}");
}

#[test]
fn a_body_of_solid_cells_does_not_leak() {
    let forest = mesh::forest([4, 4], [false; 2], 1, |_, _| false);
    // A wall across the box: blocks of the third column are solid.
    let solid = (0..forest.capacity())
        .map(|b| if forest.coord[b][0] == 2 { 0xffff } else { 0 })
        .collect();
    let mesh = FlowMesh::new(&forest, [0.0; 2], 1.0 / 16.0, solid).expect("a mesh");
    let column = LiquidShape::Box([[0.0, 0.0], [0.21, 0.71]]);
    let mut flow = TwoPhaseFlow::new(mesh, inviscid(1000.0), &[column]).expect("a flow");
    let before = flow.integrals().volume[0];
    for _ in 0..260 {
        flow.step(1.0).expect("a step");
    }
    let now = flow.integrals();
    assert!(
        now.extent[1][0] > 0.45 && now.extent[1][0] <= 0.5,
        "the wall holds: {:?}",
        now.extent
    );
    assert!(
        (now.volume[0] / before - 1.0).abs() < 1e-12,
        "volume {:e}",
        now.volume[0] / before - 1.0
    );
}

/// Water in a tank that is turned about an axis out of the plane, and in 3D about another one: at rest, whatever the angle.
/// Normals that are not smoothed would make errors of rounding 10⁻⁹ m/s in the longest run.
#[test]
fn v10d_water_in_a_tilted_tank_is_at_rest() {
    let at_rest = |angle: f64, blocks: u32, steps: usize| {
        let (sin, cos) = angle.sin_cos();
        let params = FlowParams {
            gravity: [9.81 * sin, -9.81 * cos],
            ..tilted()
        };
        let water = LiquidShape::HalfSpace {
            normal: [-sin, cos],
            offset: 0.5 * (cos - sin),
        };
        let mesh = mesh::mesh([blocks; 2], [false; 2], 1, |_, _| false);
        let flow = TwoPhaseFlow::new(mesh, params, &[water]).expect("a flow");
        largest_after(flow, steps)
    };
    for (angle, blocks, steps) in [(0.05, 8, 20), (0.35, 16, 450), (-0.7, 8, 20), (2.0, 8, 20)] {
        let u = at_rest(angle, blocks, steps);
        assert!(u < 1e-10, "{u:e} m/s at {angle}");
    }
    let up = [-0.3f64, 0.2, 0.87];
    let size = up.iter().map(|n| n * n).sum::<f64>().sqrt();
    let up = up.map(|n| n / size);
    let params = FlowParams {
        gravity: up.map(|n| -9.81 * n),
        ..tilted()
    };
    let water = LiquidShape::HalfSpace {
        normal: up,
        offset: 0.5 * up.iter().sum::<f64>(),
    };
    let mesh = mesh::mesh([4; 3], [false; 3], 1, |_, _| false);
    let flow = TwoPhaseFlow::new(mesh, params, &[water]).expect("a flow");
    let u = largest_after(flow, 20);
    assert!(u < 1e-10, "{u:e} m/s in 3D");
}

/// Water and air without viscosity, which stops nothing.
fn tilted<const D: usize>() -> FlowParams<D> {
    FlowParams {
        phases: Phases {
            density: [1000.0, 1.0],
            viscosity: [0.0; 2],
            surface_tension: 0.0,
        },
        tolerance: 1e-12,
        longest_step: 1e-2,
        ..mesh::params()
    }
}

/// The largest velocity after some steps.
fn largest_after<const D: usize>(mut flow: TwoPhaseFlow<D>, steps: usize) -> f64 {
    for _ in 0..steps {
        flow.step(1.0).expect("a step");
    }
    flow.integrals().largest_velocity
}

/// A column of liquid leaves a box through its open end, a hundred metres from the origin: both fluids have the pressure of the
/// gas there, and the liquid keeps its speed but for the weight.
#[test]
fn liquid_leaves_through_an_opening_into_gas() {
    let forest = mesh::forest([4, 4], [false; 2], 1, |_, _| false);
    let far = FlowMesh::new(&forest, [0.0, 100.0], 1.0 / 16.0, Vec::new()).expect("a mesh");
    let open = BoxFace::Pressure {
        value: 0.0,
        liquid: 0.0,
    };
    let params = FlowParams {
        gravity: [0.0, -1.0],
        faces: [[BoxFace::Slip; 2], [BoxFace::Slip, open]],
        ..inviscid(1000.0)
    };
    let params = FlowParams {
        faces: [params.faces[0], [open, open]],
        ..params
    };
    let block = LiquidShape::Box([[-1.0, 100.25], [2.0, 100.75]]);
    let mut flow = TwoPhaseFlow::new(far, params, &[block]).expect("a flow");
    flow.set_velocity(|_| [0.0, 2.0]).expect("a velocity");
    let end = 0.25;
    while flow.time() < end - 1e-12 {
        flow.step(end - flow.time()).expect("a step");
    }
    let now = flow.integrals();
    // A quarter of the box is filled still, of a half.
    let left = 0.5 - (2.0 * end - 0.5 * end * end - 0.25);
    assert!(
        (now.volume[0] / left - 1.0).abs() < 0.01,
        "{} {left}",
        now.volume[0]
    );
    let speed = 2.0 - end;
    assert!(
        (now.mean_velocity[1] / speed - 1.0).abs() < 0.01,
        "{:?} {speed}",
        now.mean_velocity
    );
}

/// Gas that streams in through an opening comes from rest and brings no energy: what is lost is at least what leaves.
#[test]
fn gas_streams_in_from_rest() {
    let open = BoxFace::Pressure {
        value: 0.0,
        liquid: 0.0,
    };
    let params = FlowParams {
        gravity: [0.0; 2],
        faces: [[BoxFace::Slip; 2], [BoxFace::Slip, open]],
        ..inviscid(1000.0)
    };
    let mesh = mesh::mesh([8; 2], [false; 2], 1, |_, _| false);
    let mut flow = TwoPhaseFlow::new(mesh, params, &[]).expect("a flow");
    // A jet down the middle, up at the sides.
    let jet = |[x, y]: [f64; 2]| {
        let (x, y) = (2.0 * PI * x, PI * y);
        [0.5 * x.sin() * (0.5 * y).cos(), x.cos() * (0.5 * y).sin()]
    };
    flow.set_velocity(jet).expect("a velocity");
    let start = flow.integrals().kinetic;
    let cells = mesh::cells(flow.mesh()).into_iter();
    let top: Vec<_> = cells.filter(|(_, at, h)| at[1] > 1.0 - h).collect();
    let (mut left, rho) = (0.0, flow.params().phases.density[1]);
    while flow.time() < 1.0 {
        let dt = flow.step(1.0).expect("a step").dt;
        // What the gas that leaves takes with it.
        let [u, v] = flow.velocity();
        let each = |&(i, _, h): &(usize, [f64; 2], f64)| {
            h * 0.5 * rho * (u[i] * u[i] + v[i] * v[i]) * v[i].max(0.0)
        };
        left += dt * top.iter().map(each).sum::<f64>();
    }
    let lost = start - flow.integrals().kinetic;
    assert!(left > 0.2 * start, "{left} of {start}");
    assert!(lost > 0.9 * left && lost < 1.2 * left, "{lost} {left}");
}

/// A slab of liquid moves along x, with a velocity across that changes along x: what it leaves behind keeps a velocity of the range at the
/// start, however little that is.
#[test]
fn a_slab_leaves_no_fast_gas_behind() {
    let mesh = mesh::mesh([16, 4], [true; 2], 1, |_, _| false);
    let slab = LiquidShape::Box([[0.2, -1.0], [0.53, 1.0]]);
    let params = FlowParams {
        gravity: [0.0; 2],
        ..inviscid(1000.0)
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[slab]).expect("a flow");
    let across = |x: f64| (2.0 * PI * x).sin();
    flow.set_velocity(|x| [1.0, across(x[0])])
        .expect("a velocity");
    let largest = |flow: &TwoPhaseFlow<2>| {
        let each = flow.velocity()[1].iter();
        worst(each.map(|v| v.abs()))
    };
    let start = largest(&flow);
    let mut found = vec![];
    while flow.time() < 1.0 {
        flow.step(0.0061).expect("a step");
        found.push(largest(&flow));
    }
    let found = worst(found);
    assert!(found <= start * (1.0 + 1e-9), "{found} after {start}");
}
