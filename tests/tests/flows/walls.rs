use cutlink_mesher::{Surface, primitives::Shape2};
use cutlink_solver::{Collision, FaceCondition, Motion, PatchCondition, WallScheme};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, Region, RegionShape};
use std::f64::consts::PI;

cutlink_tests::backend_test!(
    on_one_thread:
    poiseuille_between_faces_is_exact,
    couette_between_faces_is_exact,
    channels_refined_along_one_wall if slow_tests,
    circular_couette_by_scheme if slow_tests
);

fn poiseuille_between_faces_is_exact<K: AnyFlow>(kernels: &K) {
    // With the magic parameter 3/16 the walls are halfway for any viscosity (Ginzburg & d'Humières 2003).
    let mesh = flows::empty_box([4, 16], 1, Vec::new());
    for (collision, bound) in [
        (Collision::Trt { magic: 3.0 / 16.0 }, 1e-5),
        (Collision::Bgk, 0.1),
    ] {
        let mut params = flows::params(&mesh, 0.3);
        params.collision = collision;
        params.faces[1] = [FaceCondition::Velocity([0.0; 2]); 2];
        let (h, speed) = (16.0, 0.01);
        params.acceleration = [8.0 * params.viscosity * speed / (h * h), 0.0];
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(6000).expect("steps");
        let exact = |x: [f64; 2]| [4.0 * speed * x[1] * (h - x[1]) / (h * h), 0.0];
        let (error, ..) = flows::errors(&mesh, &flow.snapshot().expect("a snapshot"), exact);
        assert!(error < bound, "{collision:?}: {error}");
        assert_eq!(
            error < 1e-5,
            collision != Collision::Bgk,
            "BGK's walls depend on viscosity: {error}"
        );
    }
}

fn couette_between_faces_is_exact<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([4, 4, 16], 1, Vec::new());
    let mut params = flows::params(&mesh, 0.2);
    params.faces[2] = [
        FaceCondition::Velocity([0.0; 3]),
        FaceCondition::Velocity([0.02, -0.01, 0.0]),
    ];
    let mut flow = flows::start(kernels, &mesh, params);
    flow.advance(5000).expect("steps");
    let exact = |x: [f64; 3]| [0.02 * x[2] / 16.0, -0.01 * x[2] / 16.0, 0.0];
    let (error, ..) = flows::errors(&mesh, &flow.snapshot().expect("a snapshot"), exact);
    assert!(error < 1e-6, "{error}");
}

fn channels_refined_along_one_wall<K: AnyFlow>(kernels: &K) {
    // The lower half is refined. Shear is exact, ghost cells included, and the parabola of the second order.
    let channel = |n: u32, couette: bool| {
        let h = f64::from(n);
        let shape = RegionShape::Box {
            lower: [0.0; 3],
            upper: [h, 0.25 * h, 1.0],
        };
        let mesh = flows::empty_box([n; 2], 2, vec![Region { shape, levels: 2 }]);
        let mut params = flows::params(&mesh, 0.05);
        let speed = 0.32 / h;
        let lid = if couette { speed } else { 0.0 };
        params.faces[1] = [
            FaceCondition::Velocity([0.0; 2]),
            FaceCondition::Velocity([lid, 0.0]),
        ];
        if !couette {
            params.acceleration = [8.0 * params.viscosity * speed / (h * h), 0.0];
        }
        let mut flow = flows::start(kernels, &mesh, params);
        let exact = |x: [f64; 2]| {
            let y = x[1] / h;
            [speed * if couette { y } else { 4.0 * y * (1.0 - y) }, 0.0]
        };
        flow.set(&|x| (1.0, exact(x))).expect("a start");
        flow.advance(u64::from(n * n) * 20).expect("steps");
        flows::errors(&mesh, &flow.snapshot().expect("a snapshot"), exact).0
    };
    let shear = channel(16, true);
    assert!(shear < 1e-6, "shear: {shear}");
    let [coarse, fine] = [16, 32].map(|n| channel(n, false));
    let order = (coarse / fine).log2();
    assert!(
        order > 1.8 && coarse < 5e-3,
        "order {order}: {coarse} {fine}"
    );
}

/// The ring between two circles about the middle of a square of `n` cells: radii in cells.
fn ring(n: u32, radii: [f64; 2]) -> Mesh<2> {
    let mut all = Surface::<2>::single_patch(Vec::new(), Vec::new(), "inner");
    all.patches.push("outer".into());
    for (patch, radius) in radii.into_iter().enumerate() {
        let circle = Shape2::Circle { radius }.surface(1e-3).expect("a circle");
        let first = all.vertices.len() as u32;
        // Off the cells' symmetry, so that cut distances vary.
        let middle = [0.5 * f64::from(n) + 0.13, 0.5 * f64::from(n) - 0.21];
        all.vertices.extend(
            circle
                .vertices
                .iter()
                .map(|p| [p[0] + middle[0], p[1] + middle[1]]),
        );
        all.facets
            .extend(circle.facets.iter().map(|f| f.map(|v| v + first)));
        all.facet_patch
            .extend(circle.facets.iter().map(|_| patch as u16));
    }
    let frame = Frame::new([0.0; 2], 1.0, [n; 2]).expect("a box");
    bodies::mesh_of(&all, frame, &EmbedParams::new(1, 0.0, Fill::Even))
}

/// Circular Couette flow, the inner circle turning: errors of velocity and of the torques on both circles.
fn turning<K: AnyFlow>(kernels: &K, n: u32, scheme: WallScheme) -> [f64; 3] {
    let scale = f64::from(n) / 32.0;
    let radii = [6.3 * scale, 13.7 * scale];
    let mesh = ring(n, radii);
    let (viscosity, speed) = (0.1, 0.02 / scale);
    let omega = speed / radii[0];
    let mut params = flows::params(&mesh, viscosity);
    params.faces = [[FaceCondition::Velocity([0.0; 2]); 2]; 2];
    let center = [0.5 * f64::from(n) + 0.13, 0.5 * f64::from(n) - 0.21];
    let motion = Motion::Rotation {
        center,
        omega: [0.0, 0.0, omega],
    };
    params.patches = vec![
        PatchCondition::Wall { scheme, motion },
        PatchCondition::wall(scheme),
    ];
    (params.moment_center, params.forces) = (center, true);
    let mut flow = flows::start(kernels, &mesh, params);
    // 36 times the time in which the slowest mode falls by e.
    flow.advance((2000.0 * scale * scale) as u64)
        .expect("steps");
    flow.check().expect("no divergence");
    let [a, b] = radii;
    let exact = |x: [f64; 2]| {
        let d = [x[0] - center[0], x[1] - center[1]];
        let r = d[0].hypot(d[1]);
        let turn = omega * a * a / (b * b - a * a) * (b * b / (r * r) - 1.0);
        [-turn * d[1], turn * d[0]]
    };
    let (error, ..) = flows::errors(&mesh, &flow.snapshot().expect("a snapshot"), exact);
    let torque = 4.0 * PI * viscosity * omega * a * a * b * b / (b * b - a * a);
    let last = flow.take_forces().expect("forces").pop().expect("a sample");
    let [inner, outer] = [last.patches[0][5], last.patches[1][5]];
    [
        error,
        (inner / -torque - 1.0).abs(),
        (outer / torque - 1.0).abs(),
    ]
}

fn circular_couette_by_scheme<K: AnyFlow>(kernels: &K) {
    let simple = [32, 64].map(|n| turning(kernels, n, WallScheme::BounceBack));
    for scheme in [WallScheme::Linear, WallScheme::Quadratic, WallScheme::Local] {
        let errors = [32, 64].map(|n| turning(kernels, n, scheme));
        let order = (errors[0][0] / errors[1][0]).log2();
        assert!(order > 1.7, "{scheme}: order {order}: {errors:?}");
        assert!(
            errors[1][1] < 5e-3 && errors[1][2] < 5e-3,
            "{scheme}: torques: {errors:?}"
        );
        assert!(
            errors[1][0] < 0.3 * simple[1][0],
            "{scheme} beats bounce-back: {errors:?} {simple:?}"
        );
    }
}
