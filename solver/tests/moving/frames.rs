//! A circle that moves, against the same flow in the frame where it is at rest: the drag is the same at all times.

use super::on_one_thread;
use cutlink_device::Host;
use cutlink_mesher::{Surface, primitives::Shape2, rigid::Pose};
use cutlink_solver::{
    BodyMotion, BodyState, Collision, LatticeFlow, LatticeKind, Params, PatchCondition, Plan,
    Precision, RigidBodies, WallScheme,
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, MovingPatches, MovingSurface, embed, prepare,
};
use std::sync::Arc;

/// A circle in a periodic box of root cells of size 1.
struct Case {
    diameter: f64,
    cells: [u32; 2],
    center: [f64; 2],
    speed: f64,
    angle: f64,
    rebin: u32,
    scheme: WallScheme,
    collision: Collision,
}

impl Case {
    /// A circle of a diameter of 16.3 cells in a box of 120 by 80, Reynolds number 40, impulsively started; `fold` times as many cells.
    fn new(fold: u32) -> Self {
        let scale = f64::from(fold);
        Self {
            diameter: 16.3 * scale,
            cells: [120 * fold, 80 * fold],
            center: [100.13 * scale, 60.29 * scale],
            speed: 0.05,
            angle: 0.4,
            rebin: 1,
            scheme: WallScheme::Linear,
            collision: Collision::Regularized,
        }
    }

    fn direction(&self) -> [f64; 2] {
        [self.angle.cos(), self.angle.sin()]
    }

    fn circle(&self) -> Surface<2> {
        let radius = 0.5 * self.diameter;
        let circle = Shape2::Circle { radius }.surface(1e-4 * radius);
        let mut circle = circle.expect("a circle");
        for x in &mut circle.vertices {
            *x = std::array::from_fn(|a| x[a] + self.center[a]);
        }
        circle
    }

    fn embedding(&self) -> EmbedParams {
        EmbedParams {
            periodic: [true, true, false],
            ..EmbedParams::new(1, 0.0, Fill::NonZero)
        }
    }

    fn mesh(&self) -> Mesh<2> {
        let frame = Frame::new([0.0; 2], 1.0, self.cells).expect("a box");
        let params = self.embedding();
        let (snapped, _) = prepare(&Host, &self.circle(), &frame, &params).expect("near");
        embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh")
    }

    fn params(&self) -> Params<2> {
        Params {
            precision: Precision::F64,
            collision: self.collision,
            patches: vec![PatchCondition::wall(self.scheme)],
            ..Params::new(LatticeKind::D2Q9, self.speed * self.diameter / 40.0)
        }
    }

    /// The circle moves along a straight line against the direction.
    fn bodies(&self) -> Arc<RigidBodies<2>> {
        let [center, direction, speed] = [self.center, self.direction(), [self.speed; 2]];
        let velocity: [f64; 2] = std::array::from_fn(|a| -speed[a] * direction[a]);
        let path = move |time: f64| {
            Ok(BodyState {
                pose: Pose::at(std::array::from_fn(|a| center[a] + time * velocity[a])),
                velocity,
                spin: [0.0; 3],
            })
        };
        let part = MovingPatches {
            name: "circle".into(),
            patches: vec![0],
            center,
        };
        Arc::new(RigidBodies {
            surface: MovingSurface::new(&self.circle(), vec![part]).expect("closed"),
            motions: vec![BodyMotion::Prescribed(Arc::new(path))],
            paths: vec![Some(Vec::new())],
            embedding: self.embedding(),
            rebin: self.rebin,
        })
    }

    /// Drag by step: of the circle at rest in a stream, and of the circle that moves in fluid at rest.
    fn drags(&self, steps: u64) -> [Vec<f64>; 2] {
        let mesh = self.mesh();
        let direction = self.direction();
        let stream = direction.map(|c| self.speed * c);
        let drag = |flow: &mut dyn LatticeFlow<2>| {
            let mut all = Vec::new();
            for _ in 0..steps.div_ceil(400) {
                let left = steps - all.len() as u64;
                flow.advance(left.min(400)).expect("steps");
                let samples = flow.take_forces().expect("forces");
                let along = |force: &[f64; 6]| direction[0] * force[0] + direction[1] * force[1];
                all.extend(samples.iter().map(|sample| along(&sample.patches[0])));
            }
            flow.check().expect("finite");
            all
        };
        let plan = Plan::new(&mesh, self.params()).expect("a flow");
        let mut rest = plan.start(&Host).expect("a flow");
        rest.set_uniform(1.0, stream).expect("a state");
        let plan = Plan::new(&mesh, self.params()).expect("a flow");
        let plan = plan.with_bodies(self.bodies()).expect("bodies");
        let mut moving = plan.start(&Host).expect("a flow");
        let drags = [drag(rest.as_mut()), drag(moving.as_mut())];
        moving.validate().expect("tables of the last pose");
        drags
    }

    /// The mean of the difference of the drags after a while, and the root mean square of what is left of it about its mean over two
    /// cells of path, each over the mean drag.
    fn bias_and_noise(&self, steps: u64, from: usize) -> [f64; 2] {
        let [rest, moving] = self.drags(steps);
        statistics(&rest, &moving, from, (1.0 / self.speed) as usize)
    }
}

fn statistics(rest: &[f64], moving: &[f64], from: usize, per_cell: usize) -> [f64; 2] {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let drag = mean(&rest[from..]);
    let difference: Vec<f64> = rest.iter().zip(moving).map(|(r, m)| m - r).collect();
    let inside = from..difference.len() - per_cell;
    let count = inside.len() as f64;
    let square = inside.map(|t| {
        let around = mean(&difference[t - per_cell..t + per_cell]);
        (difference[t] - around).powi(2)
    });
    let noise = (square.sum::<f64>() / count).sqrt();
    [mean(&difference[from..]) / drag, noise / drag]
}

#[test]
fn the_drag_is_the_same_in_both_frames() {
    on_one_thread(|| {
        // Measured: -0.9 % and 2.0 %; embedded each fourth step -2.3 % and 18 %; twice as many cells -0.4 % and 0.72 %.
        let [bias, noise] = Case::new(1).bias_and_noise(1600, 400);
        assert!(bias.abs() < 0.01 && noise < 0.03, "{bias} {noise}");
        let seldom = Case {
            rebin: 4,
            ..Case::new(1)
        };
        let [_, of_four] = seldom.bias_and_noise(900, 400);
        assert!(
            of_four > 3.0 * noise,
            "the noise of walls that lag is seen: {of_four}"
        );
        let [fine_bias, fine] = Case::new(2).bias_and_noise(1800, 800);
        assert!(
            fine_bias.abs() < 0.007 && fine < 0.013,
            "{fine_bias} {fine}"
        );
        assert!(noise > 2.0 * fine, "{noise} {fine}");
        let mut seen = vec![1.0; 200];
        let rest = seen.clone();
        seen[120] = f64::NAN;
        let [bias, noise] = statistics(&rest, &seen, 50, 20);
        assert!(bias.is_nan() && noise.is_nan(), "NaN is seen");
        seen[120] = 3.0;
        let [bias, noise] = statistics(&rest, &seen, 50, 20);
        assert!(
            (bias - 2.0 / 150.0).abs() < 1e-12 && noise > 0.1,
            "{bias} {noise}"
        );
    });
}
