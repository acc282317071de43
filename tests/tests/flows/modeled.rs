//! Walls that follow the law of the wall.

use super::inclined::{channel, channel_of};
use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_solver::{
    Collision, FaceCondition, LatticeFlow, LatticeKind, Les, Motion, Params, PatchCondition, Plan,
    WallScheme, friction_velocity,
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

cutlink_tests::backend_test!(
    on_one_thread:
    friction_is_that_of_the_law_whatever_the_angle,
    a_stream_around_a_circle_keeps_its_speed,
    a_sublayer_has_the_stress_that_drives_it,
    a_coarse_sphere_at_a_high_reynolds_number_runs_on_after_a_restart,
    walls_that_cannot_be_modelled_are_refused
);

/// Drag of a uniform stream along the inclined walls of a channel in a box of so many cells by 16, over the area.
fn stress_of_a_stream<K: AnyFlow>(
    kernels: &K,
    length: u32,
    collision: Collision,
    scheme: WallScheme,
    moving: f64,
) -> f64 {
    let scale = if length > 60 { 1 } else { 2 };
    let mesh = channel_of(scale, length);
    let slope = 16.0 / f64::from(length);
    let along = [1.0, slope].map(|c| c / 1f64.hypot(slope));
    let mut params = flows::params(&mesh, VISCOSITY);
    params.collision = collision;
    let motion = Motion::Uniform(along.map(|c| c * moving));
    params.patches = vec![PatchCondition::Wall { scheme, motion }; 2];
    (params.modeled, params.forces) = (vec![0, 1], true);
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|_| (1.0, along.map(|c| c * (SPEED + moving))))
        .expect("a start");
    // The start has waves, of which the drag is free after a while; the stream is slower by 1e-5 then.
    flow.advance(300).expect("steps");
    let samples = flow.take_forces().expect("forces");
    let area = 2.0 * f64::from(length * scale) / along[0];
    let drag = |sums: &[f64; 6]| sums[0] * along[0] + sums[1] * along[1];
    let of = |n: usize| samples[n].patches.iter().map(drag).sum::<f64>() / area;
    (100..300).map(of).sum::<f64>() / 200.0
}

/// Mean speed along the front of a circle in the cells beside it, over that of the potential flow, after the time in which the stream
/// covers a radius from the potential flow on.
fn start_around_a_circle<K: AnyFlow>(kernels: &K, is_modeled: bool) -> f64 {
    let (radius, speed, count) = (24.0, 0.05, 400);
    let middle = [0.5 * f64::from(count) + 0.41, 0.5 * f64::from(count) - 0.17];
    let surface = Shape2::Circle { radius }.surface(1e-3).expect("a circle");
    let frame = Frame::new(middle.map(|x| -x), 1.0, [count; 2]).expect("a box");
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(1, 0.0, Fill::NonZero));
    let mut params = flows::params(&mesh, 1e-5);
    params.collision = Collision::Regularized;
    let far = FaceCondition::FarField {
        velocity: [speed, 0.0],
        density: 1.0,
    };
    params.faces = [[far; 2]; 2];
    params.patches = vec![PatchCondition::wall(WallScheme::Linear)];
    params.modeled = Vec::from_iter(is_modeled.then_some(0));
    let potential = |x: [f64; 2]| {
        let [x, y] = [x[0] - middle[0], x[1] - middle[1]];
        let square = (x * x + y * y).max(radius * radius);
        let share = radius * radius / (square * square);
        [
            speed * (1.0 - share * (x * x - y * y)),
            -speed * 2.0 * share * x * y,
        ]
    };
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|x| {
        let u = potential(x);
        let square = u[0] * u[0] + u[1] * u[1];
        (1.0 + 1.5 * (speed * speed - square), u)
    })
    .expect("a start");
    flow.advance((radius / speed) as u64).expect("steps");
    flow.check().expect("no divergence");
    let (mut found, mut exact) = (0.0, 0.0);
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(&mesh, &snapshot, |center, _, _, u| {
        let [x, y] = [center[0] - middle[0], center[1] - middle[1]];
        let away = x.hypot(y);
        if away < radius + 1.0 && x < 0.0 {
            let along = |u: [f64; 2]| (u[0] * y - u[1] * x).abs() / away;
            found += along(u);
            exact += along(potential(center));
        }
    });
    found / exact
}

/// The friction of the law slows the cells beside the wall by some percent in this time. Behind, the boundary layer thickens.
fn a_stream_around_a_circle_keeps_its_speed<K: AnyFlow>(kernels: &K) {
    let speed = start_around_a_circle(kernels, true);
    assert!((0.93..1.0).contains(&speed), "{speed}");
    let slow = start_around_a_circle(kernels, false);
    assert!(slow < 0.7, "without a model: {slow}");
}

/// y⁺ is 10⁵.
const SPEED: f64 = 1e-3;
const VISCOSITY: f64 = 2e-9;

/// Slopes from 1 in 10 to 1 in 1. The sampled cells are 2.4 to 3.4 cells from the wall, within which the law's stress changes by 5 %.
/// Regularized collision has no odd ghost modes, in which others hide what links exchange. A force on the cells with links alone
/// had 0.4 to 0.6 of the friction, and slip velocities that carry it themselves from -6 to 4.5 times.
fn friction_is_that_of_the_law_whatever_the_angle<K: AnyFlow>(kernels: &K) {
    let law = |height: f64| friction_velocity(SPEED, height, VISCOSITY).powi(2);
    let wanted = law(2.9);
    assert!(law(2.4) < 1.04 * wanted && wanted < 1.04 * law(3.4));
    let check = |length, collision, scheme, moving, most: f64| {
        let found = stress_of_a_stream(kernels, length, collision, scheme, moving);
        assert!(
            (found / wanted - 1.0).abs() < most,
            "{collision:?}, {scheme}, walls at {moving}, 16 by {length}: {}",
            found / wanted
        );
    };
    for length in [160, 88, 72, 60, 44, 28, 20, 16] {
        check(
            length,
            Collision::Regularized,
            WallScheme::Linear,
            0.0,
            0.08,
        );
    }
    for length in [60, 28] {
        check(
            length,
            Collision::Regularized,
            WallScheme::Quadratic,
            4e-4,
            0.08,
        );
        check(
            length,
            Collision::Trt { magic: 3.0 / 16.0 },
            WallScheme::Linear,
            4e-4,
            0.08,
        );
    }
}

/// A steady channel that a force drives, with the viscosity so large that the sampled cells are in the sublayer: there the
/// velocity is what has the driving force as its stress at the wall. Between walls at 0.3 of a cell, on two lattices.
fn a_sublayer_has_the_stress_that_drives_it<K: AnyFlow>(kernels: &K) {
    for lattice in [LatticeKind::D3Q19, LatticeKind::D3Q27] {
        let (mesh, height) = slit();
        let (viscosity, drive) = (0.2, 1e-5);
        let mut params = Params {
            lattice,
            acceleration: [drive, 0.0, 0.0],
            ..flows::params(&mesh, viscosity)
        };
        (params.modeled, params.forces) = ((0..mesh.patches.len()).collect(), true);
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance((2.0 * height * height / viscosity) as u64)
            .expect("steps");
        flow.check().expect("no divergence");
        // The stress of the law is that of a straight line from the wall to the sampled cell, the fourth one. So the fluid is faster
        // than beside a resolved wall by what the parabola bends until there.
        let sampled = 2.5 - LOW + 3.0;
        let snapshot = flow.snapshot().expect("fields");
        let (mut wrong, mut count) = (0.0, 0);
        flows::each_cell(&mesh, &snapshot, |x, _, _, u| {
            let y = x[1] - LOW;
            if !(3.0..height - 3.0).contains(&y) {
                return;
            }
            let parabola = |y: f64| 0.5 * drive / viscosity * y * (height - y);
            let stress = 0.5 * drive * height;
            let u_tau = stress.sqrt();
            let y_plus = sampled * u_tau / viscosity;
            assert!(y_plus < 0.2, "{y_plus}");
            let wanted = stress * sampled / viscosity + parabola(y) - parabola(sampled);
            wrong = worst([wrong, (u[0] / wanted - 1.0).abs()]);
            count += 1;
        });
        assert!(count > 100 && wrong < 0.03, "{lattice}: {wrong} of {count}");
        let last = flow.take_forces().expect("forces").pop().expect("a sample");
        let drag: f64 = last.patches.iter().map(|sums| sums[0]).sum();
        // Twenty cells are between the walls.
        let driving = drive * 20.0 * 64.0;
        assert!(
            (drag / driving - 1.0).abs() < 0.02,
            "{lattice}: {drag} {driving}"
        );
    }
}

/// Where the lower wall of the slit is.
const LOW: f64 = 2.3;

/// A slit between two slabs that fill the rest of a periodic box, and its height.
fn slit() -> (Mesh<3>, f64) {
    let high = 21.7;
    let mut slab = Shape3::Box {
        size: [24.0, 24.0 - high + LOW, 24.0],
    }
    .surface(1.0)
    .expect("a slab");
    for v in &mut slab.vertices {
        v[1] += 0.5 * (LOW + high - 24.0);
    }
    let mut both = slab.clone();
    let count = both.vertices.len() as u32;
    both.vertices
        .extend(slab.vertices.iter().map(|v| [v[0], v[1] + 24.0, v[2]]));
    both.facets
        .extend(slab.facets.iter().map(|f| f.map(|v| v + count)));
    both.facet_patch.extend(slab.facet_patch);
    let frame = Frame::new([-4.0, 0.0, -4.0], 1.0, [8, 24, 8]).expect("a box");
    let params = EmbedParams {
        periodic: [true; 3],
        ..EmbedParams::new(1, 0.0, Fill::NonZero)
    };
    (bodies::mesh_of(&both, frame, &params), high - LOW)
}

/// A sphere at a Reynolds number of 4 million, 8 cells a diameter, on three levels: no divergence, a drag, and the same bits after a
/// restart.
fn a_coarse_sphere_at_a_high_reynolds_number_runs_on_after_a_restart<K: AnyFlow>(kernels: &K) {
    let surface = Shape3::Sphere { radius: 1.0 }
        .surface(1e-2)
        .expect("a sphere");
    let frame = Frame::new([-6.0, -8.1, -7.9], 1.0, [20, 16, 16]).expect("a box");
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(3, 0.5, Fill::NonZero));
    let mut params = Params {
        lattice: LatticeKind::D3Q27,
        collision: Collision::CUMULANT,
        les: Les::QR,
        ..flows::params(&mesh, 0.05 * 2.0 / 4e6)
    };
    params.faces = [[FaceCondition::FreeSlip; 2]; 3];
    params.faces[0] = [
        FaceCondition::Velocity([0.05, 0.0, 0.0]),
        FaceCondition::Outflow,
    ];
    (params.modeled, params.forces) = (vec![0], true);
    let begin = || {
        let plan = Plan::new(&mesh, params.clone()).expect("a plan");
        let mut flow = plan.start(kernels).expect("a start");
        flow.set(&|_| (1.0, [0.05, 0.001, 0.0])).expect("a stream");
        flow
    };
    let state = |flow: &dyn LatticeFlow<3>| {
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        bytes
    };
    let mut whole = begin();
    whole.advance(90).expect("steps");
    let middle = state(&*whole);
    whole.advance(30).expect("steps");
    whole.check().expect("no divergence");
    let forces = whole.take_forces().expect("forces");
    assert!(
        forces
            .iter()
            .all(|f| f.patches[0].iter().all(|x| x.is_finite()))
    );
    let drag = forces[forces.len() - 1].patches[0][0];
    assert!(drag > 0.0, "{drag}");
    let mut second = begin();
    second.restore(&mut &middle[..]).expect("a state");
    second.advance(30).expect("steps");
    assert!(state(&*second) == state(&*whole), "the same bits");
    let again = second.take_forces().expect("forces");
    assert_eq!(again.last(), forces.last());
}

fn walls_that_cannot_be_modelled_are_refused<K: AnyFlow>(_kernels: &K) {
    let mesh = channel(1);
    let refused = |change: &dyn Fn(&mut Params<2>)| {
        let mut params = flows::params(&mesh, 0.1);
        params.modeled = vec![1];
        change(&mut params);
        Plan::new(&mesh, params).err().map(|e| e.to_string())
    };
    assert_eq!(refused(&|_| {}), None);
    let halfway =
        refused(&|params| params.patches[1] = PatchCondition::wall(WallScheme::BounceBack));
    assert!(halfway.is_some_and(|text| text.contains("linear")));
    let open = refused(&|params| params.patches[1] = PatchCondition::Pressure(1.0));
    assert!(open.is_some_and(|text| text.contains("it is no wall")));
    let none = refused(&|params| params.modeled = vec![2]);
    assert!(none.is_some_and(|text| text.contains("no such patch")));
}
