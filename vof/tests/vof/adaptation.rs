//! A mesh that follows the interface: what a transfer keeps, flows as on a uniform mesh, resume.

use crate::mesh::{self, advance, followed, levels};
use crate::worst::worst;
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, InterfaceAdaptation, LiquidShape, Phases, TwoPhaseFlow,
};
use std::f64::consts::PI;

fn copy<const D: usize>(forest: &Forest<D>) -> Forest<D> {
    forest.download(&Host).expect("memory")
}

fn momentum<const D: usize>(flow: &TwoPhaseFlow<D>) -> [f64; D] {
    let [liquid, gas] = flow.params().phases.density;
    let mut sum = [0.0; D];
    for (n, _, h) in mesh::cells(flow.mesh()) {
        let mass = (gas + (liquid - gas) * flow.alpha()[n]) * h.powi(D as i32);
        for (sum, u) in sum.iter_mut().zip(flow.velocity()) {
            *sum += mass * u[n];
        }
    }
    sum
}

/// A flow on one level is refined as a whole, and coarsened again.
fn there_and_back<const D: usize>(root: [u32; D], shape: LiquidShape<D>, most: f64) {
    let mut params = mesh::params::<D>();
    params.phases.density = [1000.0, 1.0];
    let forest = mesh::forest(root, [false; D], 1, |_, _| false);
    let floor = mesh::forest(root, [false; D], 2, |_, _| true);
    let width = 0.25 / f64::from(root[0]);
    let mesh = FlowMesh::new(&forest, [0.0; D], width, Vec::new()).expect("a mesh");
    let mut flow = TwoPhaseFlow::new(mesh, params, std::slice::from_ref(&shape)).expect("a flow");
    flow.set_velocity(|x| std::array::from_fn(|a| (3.0 * x[(a + 1) % D]).sin() + x[a]))
        .expect("a projection");
    let (start, volume, sum) = (flow.save(), flow.integrals().volume[0], momentum(&flow));
    let divergence = flow.divergence();
    flow.follow(copy(&forest), floor, levels(2))
        .expect("a flow that is followed");
    let look = flow.adapt().expect("a look");
    assert_eq!(look.leaves, [0, forest.capacity() as u64 * (1 << D)]);
    let changed = flow.integrals().volume[0] / volume - 1.0;
    assert!(changed.abs() < 1e-13, "volume {changed:e}");
    let lost = (0..D).map(|a| (momentum(&flow)[a] - sum[a]) / sum[a].abs().max(1.0));
    assert!(worst(lost.map(f64::abs)) < 1e-12, "momentum");
    // Differences are over half the width.
    assert!(
        flow.divergence() < 2.5 * divergence + 1e-11,
        "divergence {:e} of {divergence:e}",
        flow.divergence()
    );
    // At faces of the box planes are upright.
    let inner = |c: &(usize, [f64; D], f64)| (0..D).all(|a| (c.1[a] - 0.5).abs() < 0.5 - 4.0 * c.2);
    let cells = mesh::cells(flow.mesh()).into_iter().filter(inner);
    let wrong = cells.map(|(n, at, h)| {
        let exact = shape.fraction(at.map(|x| x - 0.5 * h), h);
        (flow.alpha()[n] - exact).abs()
    });
    let wrong = worst(wrong);
    assert!(wrong < most, "fractions {wrong:e}");
    assert_eq!(flow.adapt().expect("a look").refined, 0, "a second look");

    let floor = mesh::forest(root, [false; D], 1, |_, _| false);
    let fine = copy(flow.forest().expect("a forest"));
    flow.follow(fine, floor, levels(1))
        .expect("a flow that is followed");
    let look = flow.adapt().expect("a look");
    assert_eq!(look.coarsened, forest.capacity() as u64);
    let end = flow.save();
    assert_eq!(start.values.len(), end.values.len());
    // The pressure starts the next solution.
    let pairs = start.values.iter().zip(&end.values);
    let found = worst(pairs.map(|(a, b)| (a - b).abs()));
    assert!(found < 1e-12, "{found:e}");
}

#[test]
fn a_transfer_keeps_volume_momentum_and_divergence() {
    // The plane of a straight line is exact; that of a curve to second order.
    let line = LiquidShape::HalfSpace {
        normal: [0.5, 1.0],
        offset: 0.71,
    };
    there_and_back([4; 2], line, 1e-12);
    let disc = LiquidShape::Ball {
        centre: [0.51, 0.48],
        radius: 0.3,
    };
    // By the height of the arc over a cell: h² / 8 R, in cells of the half width.
    there_and_back([4; 2], disc, 6e-2);
    let sphere = LiquidShape::Ball {
        centre: [0.51, 0.48, 0.53],
        radius: 0.3,
    };
    there_and_back([3; 3], sphere, 0.15);
}

#[test]
fn a_linear_flow_through_faces_is_kept() {
    // Without divergence, and not zero at walls.
    let of = |[x, y]: [f64; 2], axis: usize| {
        if axis == 0 {
            1.0 + x + 2.0 * y
        } else {
            3.0 * x - y
        }
    };
    let mut params = mesh::params();
    let open = BoxFace::Pressure {
        value: 0.0,
        liquid: 0.0,
    };
    params.faces = [[open; 2]; 2];
    let forest = mesh::forest([4; 2], [false; 2], 1, |_, _| false);
    let floor = mesh::forest([4; 2], [false; 2], 2, |c, _| c[0] + 0.3 * c[1] < 0.6);
    let mesh = FlowMesh::new(&forest, [0.0; 2], 1.0 / 16.0, Vec::new()).expect("a mesh");
    let mut flow = TwoPhaseFlow::new(mesh, params, &[]).expect("a flow");
    flow.set_flux(|at, axis, _| of(at, axis));
    flow.follow(forest, floor, levels(2))
        .expect("a flow that is followed");
    assert!(flow.adapt().expect("a look").refined > 0);
    let found = flow.save();
    flow.set_flux(|at, axis, _| of(at, axis));
    let exact = flow.save();
    let pairs = found.values.iter().zip(&exact.values);
    let found = worst(pairs.map(|(a, b)| (a - b).abs()));
    assert!(found < 1e-13, "{found:e}");
}

#[test]
fn the_vorticity_refines_within_the_budget() {
    let forest = mesh::forest([8; 2], [false; 2], 1, |_, _| false);
    let new = |vorticity: Option<f64>, max_cells: u64| {
        let mesh = FlowMesh::new(&forest, [0.0; 2], 1.0 / 32.0, Vec::new()).expect("a mesh");
        let mut flow = TwoPhaseFlow::new(mesh, mesh::params(), &[]).expect("a flow");
        // A vortex in the lower left corner: ω = 2 exp(−r²/s²) (1 − r²/s²).
        flow.set_velocity(|[x, y]| {
            let (x, y) = (x - 0.25, y - 0.25);
            let e = (-(x * x + y * y) / 0.01).exp();
            [-y * e, x * e]
        })
        .expect("a projection");
        let adaptation = InterfaceAdaptation {
            vorticity,
            max_cells,
            ..levels(2)
        };
        flow.follow(copy(&forest), copy(&forest), adaptation)
            .expect("a flow that is followed");
        let look = flow.adapt().expect("a look");
        (flow, look)
    };
    // Largest over a cell: 2 / 32.
    let (_, look) = new(Some(0.07), u64::MAX);
    assert_eq!(look.refined, 0);
    let (flow, look) = new(Some(0.02), u64::MAX);
    assert!(look.refined > 0 && look.raised == 1.0, "{look:?}");
    for (_, at, h) in mesh::cells(flow.mesh()) {
        let r = (at[0] - 0.25).hypot(at[1] - 0.25);
        assert!(h < 0.02 || r > 0.05, "the middle is fine: {at:?}");
        assert!(h > 0.02 || r < 0.4, "what is far is coarse: {at:?}");
    }
    let all = look.leaves.iter().sum::<u64>() * 16;
    let (_, look) = new(Some(0.02), all - 1);
    assert!(look.raised > 1.0 && look.withheld > 0, "{look:?}");
}

#[test]
fn a_budget_that_the_interface_exceeds_is_named() {
    let disc = LiquidShape::Ball {
        centre: [0.5; 2],
        radius: 0.2,
    };
    let adaptation = InterfaceAdaptation {
        max_cells: 100,
        ..levels(2)
    };
    let mut flow = followed([8; 2], mesh::params(), &[disc], adaptation);
    let error = flow.adapt().expect_err("a budget").to_string();
    assert!(error.contains("may have 100"), "{error}");
}

/// Gas turns above a disc of liquid that is at rest: a look is due when the gas could have moved by 16 cells, and finds
/// nothing to change. By the margin of 4 cells of the fastest fluid one was due in the fifth step.
#[test]
fn fast_gas_asks_for_no_looks() {
    let disc = LiquidShape::Ball {
        centre: [0.5, 0.3],
        radius: 0.12,
    };
    let mut flow = followed([4; 2], mesh::params(), &[disc], levels(3));
    flow.adapt().expect("a look");
    let psi = |x: f64, y: f64| {
        let up = ((y - 0.6) / 0.4).max(0.0);
        (PI * x).sin().powi(2) * (PI * up).sin().powi(2)
    };
    flow.set_flux(|[x, y], axis, h| {
        let d = 0.5 * h;
        if axis == 0 {
            (psi(x, y + d) - psi(x, y - d)) / h
        } else {
            (psi(x - d, y) - psi(x + d, y)) / h
        }
    });
    let start = flow.save();
    for step in 0..32 {
        let look = flow.adapt_if_due().expect("a look");
        assert!(look.is_none(), "step {step}: {look:?}");
        // Half a cell of the fastest gas.
        flow.advect(flow.allowed_step()).expect("a step");
    }
    let look = flow
        .adapt_if_due()
        .expect("a look")
        .expect("after 16 cells");
    assert_eq!(look.refined + look.coarsened, 0, "{look:?}");
    assert_eq!(flow.save().refined, start.refined);
}

/// A disc moves by half a cell a step: the interface never comes closer to coarse leaves than a cell of the finest level, and
/// looks are as many as blocks that it enters ask for.
#[test]
fn looks_come_before_the_interface_leaves_the_margin() {
    let disc = LiquidShape::Ball {
        centre: [0.25, 0.5],
        radius: 0.12,
    };
    let mut params = mesh::params();
    params.faces[0] = [BoxFace::Pressure {
        value: 0.0,
        liquid: 0.0,
    }; 2];
    let mut flow = followed([8; 2], params, &[disc], levels(3));
    let (mut looks, mut steps) = (0, 0);
    while flow.time() < 0.5 {
        looks += usize::from(flow.adapt_if_due().expect("a look").is_some());
        flow.set_flux(|_, axis, _| if axis == 0 { 1.0 } else { 0.0 });
        // Of the finest cells.
        flow.advect(0.5 / 128.0).expect("a step");
        steps += 1;
        let leaves = mesh::cells(flow.mesh());
        let finest = 1.0 / 128.0;
        let is_mixed = |n: usize| (1e-9..=1.0 - 1e-9).contains(&flow.alpha()[n]);
        for (_, coarse, h) in leaves.iter().filter(|c| c.2 > 1.5 * finest) {
            let reach = 0.5 * h + 1.1 * finest;
            let near = |at: &[f64; 2]| (0..2).all(|a| (at[a] - coarse[a]).abs() < reach);
            let found = leaves.iter().find(|(n, at, _)| near(at) && is_mixed(*n));
            assert!(found.is_none(), "step {steps}: {found:?} beside {coarse:?}");
        }
    }
    assert!(
        (4..steps / 4).contains(&looks),
        "{looks} looks in {steps} steps"
    );
}

/// A column of water, on a mesh that follows it or a uniform one of 48 cells along the edge.
fn column(is_followed: bool) -> TwoPhaseFlow<2> {
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
    let column = LiquidShape::Box([[-1.0, -1.0], [0.31, 0.52]]);
    if is_followed {
        return followed([3; 2], params, &[column], levels(3));
    }
    let mesh = mesh::mesh([3; 2], [false; 2], 3, |_, _| true);
    TwoPhaseFlow::new(mesh, params, &[column]).expect("a flow")
}

#[test]
fn a_dam_breaks_as_on_a_uniform_mesh() {
    let [mut uniform, mut adaptive] = [false, true].map(column);
    let before = adaptive.integrals().volume[0];
    advance(&mut uniform, 0.22);
    let changes = advance(&mut adaptive, 0.22);
    assert!(changes > 4, "the mesh follows: {changes}");
    let [a, b] = [&uniform, &adaptive].map(TwoPhaseFlow::integrals);
    let apart = (0..2).map(|k| (a.centre[k] - b.centre[k]).abs());
    assert!(worst(apart) < 5e-4, "{:?} {:?}", a.centre, b.centre);
    let front = (a.extent[1][0] - b.extent[1][0]).abs();
    assert!(front < 1.1 / 48.0, "{front}");
    let energy = b.kinetic / a.kinetic - 1.0;
    assert!(energy.abs() < 1e-2, "kinetic energy {energy}");
    let cells = mesh::cells(adaptive.mesh()).len();
    assert!(cells < 2304 / 2, "{cells} of 2304 cells");
    let drift = adaptive.integrals().volume[0] / before - 1.0;
    assert!(drift.abs() < 1e-12, "volume {drift:e}");
}

#[test]
fn a_followed_flow_resumes_to_the_bit() {
    let bits = |flow: &TwoPhaseFlow<2>| {
        let state = flow.save();
        let bits = state.values.iter().map(|v| v.to_bits());
        (
            bits.collect::<Vec<_>>(),
            state.refined,
            state.path.to_bits(),
        )
    };
    let mut whole = column(true);
    advance(&mut whole, 0.1);
    let half = whole.save();
    advance(&mut whole, 0.16);
    let mut resumed = column(true);
    resumed.restore(&half).expect("the same flow");
    advance(&mut resumed, 0.16);
    assert!(half.refined != whole.save().refined, "the mesh follows");
    assert!(bits(&resumed) == bits(&whole), "resumed");
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .expect("threads");
    let other = pool.install(|| {
        let mut flow = column(true);
        advance(&mut flow, 0.1);
        advance(&mut flow, 0.16);
        bits(&flow)
    });
    assert!(other == bits(&whole), "3 threads");
    let mut broken = half.clone();
    broken.refined[0] ^= 1;
    let error = column(true)
        .restore(&broken)
        .expect_err("another forest")
        .to_string();
    assert!(
        error.contains("mesh") || error.contains("values"),
        "{error}"
    );
    broken = half;
    broken.refined.clear();
    column(true).restore(&broken).expect_err("no forest");
}

#[test]
fn liquid_that_flows_in_meets_fine_cells() {
    let mut params = mesh::params();
    params.faces[0] = [
        BoxFace::Inflow {
            velocity: [1.0, 0.0],
            liquid: 1.0,
        },
        BoxFace::Pressure {
            value: 0.0,
            liquid: 0.0,
        },
    ];
    let mut flow = followed([4; 2], params, &[], levels(3));
    for _ in 0..40 {
        flow.adapt_if_due().expect("a look");
        flow.step(0.01).expect("a step");
    }
    let found = flow.integrals();
    // A plug: what has flowed in, from the velocity that the first step's projection made.
    let expected = flow.time() - 0.01;
    assert!(
        (found.volume[0] - expected).abs() < 0.011,
        "{} of {expected}",
        found.volume[0]
    );
    let blocks = flow.mesh().blocks();
    assert!(
        blocks.range(0).any(|b| blocks.is_leaf(b)),
        "far from it cells are coarse"
    );
}
