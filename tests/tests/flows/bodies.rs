//! The steady wake of a circle at Re 20 and 40 in a small box, by refinement at the surface.

use cutlink_mesher::primitives::Shape2;
use cutlink_solver::{FaceCondition, PatchCondition, WallScheme};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame};

cutlink_tests::backend_test!(
    on_one_thread:
    circle_at_20, circle_at_40 if slow_tests
);

const DIAMETER: f64 = 8.0;
const SPEED: f64 = 0.1;

/// Drag coefficient, and how far behind the circle the fluid flows back, in diameters.
fn wake<K: AnyFlow>(kernels: &K, reynolds: f64, levels: usize, scheme: WallScheme) -> [f64; 2] {
    let mut surface = Shape2::Circle {
        radius: 0.5 * DIAMETER,
    }
    .surface(1e-3)
    .expect("a circle");
    let center = [20.13, 24.0];
    for vertex in &mut surface.vertices {
        *vertex = [vertex[0] + center[0], vertex[1] + center[1]];
    }
    let frame = Frame::new([0.0; 2], 1.0, [80, 48]).expect("a box");
    let mesh = bodies::mesh_of(
        &surface,
        frame,
        &EmbedParams::new(levels, 0.25 * DIAMETER, Fill::NonZero),
    );
    let mut params = flows::params(&mesh, SPEED * DIAMETER / reynolds);
    params.faces = [
        [
            FaceCondition::Velocity([SPEED, 0.0]),
            FaceCondition::Outflow,
        ],
        [FaceCondition::FreeSlip; 2],
    ];
    params.patches = vec![PatchCondition::wall(scheme)];
    params.forces = true;
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|_| (1.0, [SPEED, 0.0])).expect("a start");
    flow.advance((30.0 * DIAMETER / SPEED) as u64)
        .expect("steps");
    flow.check().expect("no divergence");
    let forces = flow.take_forces().expect("forces");
    let late = &forces[forces.len() * 4 / 5..];
    let force = late.iter().map(|f| f.patches[0][0]).sum::<f64>() / late.len() as f64;
    // Where the velocity along the middle line changes its sign, between the two cells about it.
    let mut line = Vec::new();
    flows::each_cell(
        &mesh,
        &flow.snapshot().expect("a snapshot"),
        |x, volume, _, u| {
            if (x[1] - center[1]).abs() < volume.sqrt() && x[0] > center[0] {
                line.push((x[0], u[0]));
            }
        },
    );
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = line.iter().rposition(|p| p.1 < 0.0).map_or(0.0, |i| {
        let ((x, u), (y, v)) = (line[i], line[i + 1]);
        x + (y - x) * u / (u - v)
    });
    [
        2.0 * force / (SPEED * SPEED * DIAMETER),
        (last - center[0]) / DIAMETER - 0.5,
    ]
}

/// Refined once against twice, and bounce-back beside it. Unbounded, C_D and the length are as given (Dennis & Chang, J. Fluid Mech. 42
/// (1970) 471); this box is six diameters high, which adds to the drag
/// and shortens the wake.
fn compare<K: AnyFlow>(kernels: &K, reynolds: f64, unbounded: [f64; 2]) {
    let fine = wake(kernels, reynolds, 3, WallScheme::Linear);
    let coarse = wake(kernels, reynolds, 2, WallScheme::Linear);
    let simple = wake(kernels, reynolds, 2, WallScheme::BounceBack);
    let all = format!("fine {fine:?}, coarse {coarse:?}, bounce-back {simple:?}");
    let apart = |found: [f64; 2]| [0, 1].map(|i| (found[i] / fine[i] - 1.0).abs());
    let (linear, halfway) = (apart(coarse), apart(simple));
    assert!(linear[0] < 0.012 && linear[1] < 0.02, "{all}");
    assert!(halfway[0] < 0.04 && halfway[1] < 0.08, "{all}");
    assert!(
        linear[0] < 0.5 * halfway[0] && linear[1] < 0.5 * halfway[1],
        "{all}"
    );
    assert!((1.2..1.6).contains(&(fine[0] / unbounded[0])), "{all}");
    assert!((fine[1] / unbounded[1] - 1.0).abs() < 0.2, "{all}");
}

fn circle_at_20<K: AnyFlow>(kernels: &K) {
    compare(kernels, 20.0, [2.045, 0.94]);
}

fn circle_at_40<K: AnyFlow>(kernels: &K) {
    compare(kernels, 40.0, [1.522, 2.345]);
}
