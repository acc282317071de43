//! Lids and turning bodies with bounce-back conserve mass: what holding the mean density takes away is rounding. What other
//! moving walls gain is told.

use cutlink_mesher::primitives::Shape2;
use cutlink_solver::{
    Collision, FaceCondition, HOLD_EVERY, LatticeFlow, Motion, Params, PatchCondition, Precision,
    WallScheme,
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

cutlink_tests::backend_test!(
    on_one_thread:
    a_turning_circle_keeps_the_mass_of_its_box,
    what_interpolated_walls_gain_is_told,
    a_lid_keeps_the_mass_of_its_box,
    a_turning_circle_is_no_source_of_a_stream,
    what_is_taken_away_goes_on_with_a_state
);

/// Steps that are a whole number of times that the density is held.
const STEPS: u64 = 16 * HOLD_EVERY;
/// Of the mass in 1000 steps; five times that in 16 bits, whose rounding is a walk of 4e-6 (decision 025).
const BOUND: f64 = 1e-5;

/// A circle off the cells' symmetry in a box of so many cells, on two levels.
fn circle(cells: [u32; 2]) -> Mesh<2> {
    let circle = Shape2::Circle { radius: 3.2 }.surface(1e-3);
    let mut surface = circle.expect("a circle");
    for vertex in &mut surface.vertices {
        *vertex = [vertex[0] + 8.13, vertex[1] + 7.79];
    }
    let frame = Frame::new([0.0; 2], 1.0, cells).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(2, 2.0, Fill::NonZero))
}

fn turning(scheme: WallScheme) -> PatchCondition<2> {
    let motion = Motion::Rotation {
        center: [8.13, 7.79],
        omega: [0.0, 0.0, 0.05 / 3.2],
    };
    PatchCondition::Wall { scheme, motion }
}

/// A box at rest around what moves in it: u Δx / ν = 12.5.
fn closed(mesh: &Mesh<2>, collision: Collision) -> Params<2> {
    let mut params = flows::params(mesh, 0.004);
    params.faces = [[FaceCondition::Velocity([0.0; 2]); 2]; 2];
    params.collision = collision;
    params
}

/// The mean density of a flow, less 1.
fn excess(mesh: &Mesh<2>, flow: &dyn LatticeFlow<2>) -> f64 {
    let (mut mass, mut all) = (0.0, 0.0);
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(mesh, &snapshot, |_, volume, density, _| {
        mass += volume * (density - 1.0);
        all += volume;
    });
    mass / all
}

/// Of the fluid, in root cells.
fn volume(mesh: &Mesh<2>, flow: &dyn LatticeFlow<2>) -> f64 {
    let mut all = 0.0;
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(mesh, &snapshot, |_, volume, _, _| all += volume);
    all
}

fn keeps(kernels: &impl AnyFlow, mesh: &Mesh<2>, params: Params<2>, what: &str) {
    let bound = match params.precision {
        Precision::F16 => 5.0 * BOUND,
        _ => BOUND,
    };
    let mut flow = flows::start(kernels, mesh, params);
    flow.advance(STEPS).expect("steps");
    flow.check().expect("no divergence");
    let taken = flow.mass_reset() * 1000.0 / STEPS as f64;
    assert!(taken.abs() < bound, "{what}: {taken:e} were taken away");
    // Between two times that it is held, nothing hides it.
    flow.advance(HOLD_EVERY - 1).expect("steps");
    let excess = excess(mesh, &*flow);
    assert!(excess.abs() < bound, "{what}: {excess:e}");
}

fn a_turning_circle_keeps_the_mass_of_its_box<K: AnyFlow>(kernels: &K) {
    let mesh = circle([16; 2]);
    for collision in [Collision::Trt { magic: 0.1875 }, Collision::Regularized] {
        let mut params = closed(&mesh, collision);
        params.patches = vec![turning(WallScheme::BounceBack)];
        keeps(kernels, &mesh, params, &format!("{collision:?}"));
    }
}

/// Interpolated walls that turn gain mass; what resets take away is what is gained between two of them.
fn what_interpolated_walls_gain_is_told<K: AnyFlow>(kernels: &K) {
    let mesh = circle([16; 2]);
    for scheme in [WallScheme::Linear, WallScheme::Quadratic, WallScheme::Local] {
        let mut params = closed(&mesh, Collision::Regularized);
        params.patches = vec![turning(scheme)];
        params.forces = true;
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(4 * STEPS).expect("steps");
        let taken = flow.mass_reset();
        flow.take_forces().expect("forces");
        flow.advance(HOLD_EVERY - 1).expect("steps");
        let gained = excess(&mesh, &*flow);
        let samples = flow.take_forces().expect("forces");
        let entered: f64 = samples.iter().map(|sample| sample.inflow[0]).sum();
        let entered = entered / volume(&mesh, &*flow);
        // What the patch reports is what the box gains.
        assert!(
            (entered / gained - 1.0).abs() < 0.05,
            "{scheme}: {entered:e} entered of {gained:e}"
        );
        flow.advance(1).expect("a step");
        let last = flow.mass_reset() - taken;
        assert!(
            gained > 5e-5,
            "{scheme}: {gained:e}, else nothing is compared"
        );
        let share = last / gained * (HOLD_EVERY - 1) as f64 / HOLD_EVERY as f64;
        assert!(
            (share - 1.0).abs() < 0.05,
            "{scheme}: {last:e} of {gained:e}"
        );
    }
}

fn a_lid_keeps_the_mass_of_its_box<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([16; 2], 1, Vec::new());
    for precision in [Precision::F16, Precision::F32, Precision::F64] {
        for collision in [Collision::Trt { magic: 0.1875 }, Collision::Regularized] {
            let mut params = closed(&mesh, collision);
            params.precision = precision;
            params.faces[1][1] = FaceCondition::Velocity([0.05, 0.0]);
            keeps(
                kernels,
                &mesh,
                params,
                &format!("{precision} {collision:?}"),
            );
        }
    }
}

/// In a stream between far fields: what passes behind the circle is what passes before it, and the circle reports nothing.
fn a_turning_circle_is_no_source_of_a_stream<K: AnyFlow>(kernels: &K) {
    let mesh = circle([32, 16]);
    let mut params = flows::params(&mesh, 0.02);
    let far = FaceCondition::FarField {
        velocity: [0.05, 0.0],
        density: 1.0,
    };
    params.faces = [[far; 2], [FaceCondition::FreeSlip; 2]];
    params.patches = vec![turning(WallScheme::BounceBack)];
    params.forces = true;
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|_| (1.0, [0.05, 0.0])).expect("a start");
    flow.advance(6000).expect("steps");
    let inflow = flow
        .take_forces()
        .expect("forces")
        .pop()
        .expect("a sample")
        .inflow[0];
    let through = 0.05 * 16.0;
    assert!(inflow.abs() < 1e-12 * through, "{inflow:e} of {through}");
    // The flux of mass before and behind the circle, where cells are of the root level.
    let flux = |at: f64| {
        let mut sum = 0.0;
        let snapshot = flow.snapshot().expect("a snapshot");
        flows::each_cell(&mesh, &snapshot, |x, volume, density, u| {
            if x[0].floor() == at {
                sum += volume * density * u[0];
            }
        });
        sum
    };
    let gained = flux(24.0) / flux(1.0) - 1.0;
    // Before walls kept their mass it was 1.5e-3 to 2.3e-3.
    assert!(gained.abs() < 1e-4, "{gained:e}");
    assert_eq!(flow.mass_reset(), 0.0, "an open box");
}

/// A lid of cut links that does not fit its box: the counter's oracle is the flux that the census tells.
fn what_is_taken_away_goes_on_with_a_state<K: AnyFlow>(kernels: &K) {
    let mesh = flows::inside_of_rectangle([16.0; 2], [12.0; 2], [24; 2]);
    let mut params = closed(&mesh, Collision::Trt { magic: 0.1875 });
    let of_patch = |name: &String| match name.as_str() {
        "y+" => PatchCondition::Wall {
            scheme: WallScheme::Linear,
            motion: Motion::Uniform([0.05, 0.0]),
        },
        _ => PatchCondition::wall(WallScheme::Linear),
    };
    params.patches = mesh.patches.iter().map(of_patch).collect();
    let plan = cutlink_solver::Plan::new(&mesh, params.clone()).expect("a plan");
    let expected = plan.census.inflow * STEPS as f64 / plan.census.volume;
    assert!(
        expected.abs() > 0.01,
        "the comparator can fail: {expected:e}"
    );
    let mut flow = flows::start(kernels, &mesh, params.clone());
    flow.advance(STEPS).expect("steps");
    let taken = flow.mass_reset();
    assert!(
        (taken / expected - 1.0).abs() < 0.03,
        "{taken:e} {expected:e}"
    );
    let mut state = Vec::new();
    flow.save(&mut state).expect("a state");
    let mut other = flows::start(kernels, &mesh, params);
    other.restore(&mut &state[..]).expect("the state");
    assert_eq!(other.mass_reset(), taken);
    for flow in [&mut flow, &mut other] {
        flow.advance(HOLD_EVERY).expect("steps");
    }
    assert_eq!(other.mass_reset(), flow.mass_reset());
    assert!(flow.mass_reset().abs() > taken.abs());
}
