//! The surface as a wall: distances, sides, and contacts that are counted once.

use crate::worst::worst;
use crate::{Numbers, SOFT, length, minus, params, touch};
use cutlink_grains::{Bed, Grain, GrainSide, Materials, SurfaceWall};
use cutlink_mesher::Surface;
use cutlink_mesher::primitives::Shape3;

/// A plane at this height of 600 squares, each cut into two triangles, with vertices moved about within the plane.
fn plane(height: f64, welded: bool) -> Surface<3> {
    let (nx, ny, step) = (30, 20, 0.37e-3);
    let mut numbers = Numbers(5);
    let mut vertices = Vec::new();
    for j in 0..=ny {
        for i in 0..=nx {
            let inner = i > 0 && i < nx && j > 0 && j < ny;
            let shift = if inner { 0.5 * step } else { 0.0 };
            let x = f64::from(i) * step + shift * (numbers.next() - 0.5);
            let y = f64::from(j) * step + shift * (numbers.next() - 0.5);
            vertices.push([x, y, height]);
        }
    }
    let mut facets = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let v = (j * (nx + 1) + i) as u32;
            let w = v + nx as u32 + 1;
            facets.push([v, v + 1, w + 1]);
            facets.push([v, w + 1, w]);
        }
    }
    let mut surface = Surface::single_patch(vertices, facets, "plane");
    if !welded {
        let corners: Vec<[f64; 3]> = (0..surface.facets.len())
            .flat_map(|f| surface.corners(f))
            .collect();
        let facets = (0..surface.facets.len() as u32).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]);
        surface = Surface::single_patch(corners, facets.collect(), "plane");
    }
    surface
}

fn slide(surface: Option<SurfaceWall>, floor: f64, steps: u64) -> (Bed, usize) {
    let mut params = params([0.011, 0.0074, 0.01], touch(0.7, 0.3, 0.02), 2e-6);
    params.domain.lower[2] = floor;
    params.gravity = [0.0, 0.0, -9.81];
    let mut grain = Grain::at([2e-3, 3.1e-3, 2.05e-3], 1e-3);
    grain.velocity = [0.15, 0.02, -0.2];
    grain.spin = [10.0, -50.0, 20.0];
    let mut bed = Bed::start(params, surface, &[grain]).expect("a start");
    let mut most = 0;
    for _ in 0..steps / 50 {
        bed.run(50).expect("steps");
        most = most.max(bed.wall_contacts().len());
        assert_eq!(bed.validate(), Ok(()));
    }
    (bed, most)
}

#[test]
fn a_triangulated_plane_is_the_face_of_the_box() {
    let height = 1e-3;
    let (flat, most) = slide(None, height, 12_000);
    assert_eq!(most, 1);
    let want = flat.grains()[0];
    assert!(want.center[0] > 3.5e-3, "it crossed triangles: {want:?}");
    for welded in [true, false] {
        let wall = SurfaceWall::new(&plane(height, welded), 0, None).expect("a wall");
        let (bed, most) = slide(Some(wall), 0.0, 12_000);
        assert_eq!(most, 1, "each contact once");
        let found = bed.grains()[0];
        let off = worst([
            length(minus(found.center, want.center)) / length(want.center),
            length(minus(found.velocity, want.velocity)) / 0.15,
            length(minus(found.spin, want.spin)) / 150.0,
        ]);
        assert!(off < 1e-12, "{off:e}");
    }
}

/// The speed after a fall on a body, and the steps of contact, relative to the same on a face of the box.
fn drop_on(body: &Surface<3>, at: [f64; 3], direction: [f64; 3]) -> (f64, u64) {
    let wall = SurfaceWall::new(body, 0, Some(GrainSide::Outside)).expect("closed");
    let mut params = params([0.1; 3], touch(0.8, 0.3, 0.0), 2e-6);
    params.domain.lower = [-0.1; 3];
    let mut grain = Grain::at(
        std::array::from_fn(|a| at[a] - 1.01e-3 * direction[a]),
        1e-3,
    );
    grain.velocity = direction.map(|n| 0.3 * n);
    let mut bed = Bed::start(params, Some(wall), &[grain]).expect("a start");
    let mut steps = 0;
    for _ in 0..4000 {
        bed.run(1).expect("a step");
        assert!(bed.wall_contacts().len() <= 1, "{:?}", bed.wall_contacts());
        steps += bed.wall_contacts().len() as u64;
    }
    let v = bed.grains()[0].velocity;
    let back: f64 = -(0..3).map(|a| v[a] * direction[a]).sum::<f64>();
    assert!(
        (back / length(v) - 1.0).abs() < 1e-6,
        "straight back: {v:?}"
    );
    (back / 0.3, steps)
}

#[test]
fn edges_and_vertices_count_once() {
    let body = Shape3::Box {
        size: [0.02, 0.03, 0.04],
    }
    .surface(1.0)
    .expect("a box");
    let face = drop_on(&body, [0.003, 0.004, 0.02], [0.0, 0.0, -1.0]);
    assert!((face.0 / 0.8 - 1.0).abs() < 1e-3, "{face:?}");
    let s = 0.5f64.sqrt();
    let t = (1.0f64 / 3.0).sqrt();
    for (at, direction) in [
        // The diagonal of a face, an edge, a corner.
        ([0.0, 0.0, 0.02], [0.0, 0.0, -1.0]),
        ([0.01, 0.004, 0.02], [-s, 0.0, -s]),
        ([0.01, 0.015, 0.02], [-t, -t, -t]),
    ] {
        let (speed, steps) = drop_on(&body, at, direction);
        assert!((speed / face.0 - 1.0).abs() < 1e-3, "{at:?}: {speed}");
        assert!(
            steps.abs_diff(face.1) <= 1,
            "{at:?}: {steps} against {}",
            face.1
        );
    }
}

#[test]
fn a_corner_inside_a_box_has_three_contacts() {
    let body = Shape3::Box { size: [0.02; 3] }.surface(1.0).expect("a box");
    let wall = SurfaceWall::new(&body, 0, Some(GrainSide::Inside)).expect("closed");
    let mut params = params([0.01; 3], touch(0.5, 0.0, 0.0), 2e-6);
    params.domain.lower = [-0.01; 3];
    params.domain.axes = [cutlink_grains::BoxAxis::Walls([None; 2]); 3];
    params.gravity = [-3.0, -4.0, -5.0];
    let grain = Grain::at([-0.0089; 3], 1e-3);
    let mut bed = Bed::start(params, Some(wall), &[grain]).expect("a start");
    bed.run(100_000).expect("steps");
    assert_eq!(bed.wall_contacts().len(), 3);
    // Each holds its part of the weight: δ = (F / (4/3 E √r))^(2/3).
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 1e-9 * SOFT.density;
    let young = SOFT.young / (2.0 * (1.0 - SOFT.poisson.powi(2)));
    for (a, g) in [3.0, 4.0, 5.0].into_iter().enumerate() {
        let depth = (mass * g / (4.0 / 3.0 * young * 1e-3f64.sqrt())).powf(2.0 / 3.0);
        let found = -0.009 - bed.grains()[0].center[a];
        assert!(
            (found / depth - 1.0).abs() < 0.02,
            "axis {a}: {found} against {depth}"
        );
    }
}

/// A rotation by Euler's angles 0.3, 0.7, 1.1, from the definition.
fn turned(p: [f64; 3]) -> [f64; 3] {
    let turn = |p: [f64; 3], a: usize, angle: f64| {
        let (i, j) = ((a + 1) % 3, (a + 2) % 3);
        let mut q = p;
        q[i] = angle.cos() * p[i] - angle.sin() * p[j];
        q[j] = angle.sin() * p[i] + angle.cos() * p[j];
        q
    };
    turn(turn(turn(p, 0, 0.3), 1, 0.7), 2, 1.1)
}

#[test]
fn distances_and_sides_are_those_of_a_turned_box() {
    let half = [1.0, 0.6, 0.4];
    let mut body = Shape3::Box {
        size: half.map(|h| 2.0 * h),
    }
    .surface(1.0)
    .expect("a box");
    body.vertices.iter_mut().for_each(|p| *p = turned(*p));
    let wall = SurfaceWall::new(&body, 0, Some(GrainSide::Inside)).expect("closed");
    let mut numbers = Numbers(3);
    let (mut off, mut inside) = (Vec::new(), 0);
    for _ in 0..3000 {
        let p = numbers.vector().map(|x| 3.0 * (x - 0.5));
        let out: [f64; 3] = std::array::from_fn(|a| p[a].abs() - half[a]);
        let outer = length(out.map(|d| d.max(0.0)));
        let inner = out
            .into_iter()
            .fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
        let is_inside = inner < 0.0;
        let want = if is_inside { -inner } else { outer };
        let q = turned(p);
        assert_eq!(wall.winding(q), i32::from(is_inside), "{p:?}");
        assert_eq!(wall.is_free(q), is_inside);
        inside += i32::from(is_inside);
        match wall.distance(q, 0.5) {
            Some(found) => off.push((found - want).abs()),
            None => assert!(want > 0.5 - 1e-12, "{p:?} is {want} away"),
        }
    }
    assert!(inside > 100 && off.len() > 1000, "{inside} {}", off.len());
    assert!(worst(off.clone()) < 1e-14, "{:e}", worst(off));
}

#[test]
fn the_axis_of_a_sphere_is_inside() {
    // Rays along the axis meet the pole, a vertex of many facets, and edges below it.
    let sphere = Shape3::Sphere { radius: 1.0 }
        .surface(0.01)
        .expect("a sphere");
    let wall = SurfaceWall::new(&sphere, 0, Some(GrainSide::Outside)).expect("closed");
    for i in 0..200 {
        let at = f64::from(i) / 100.0 - 0.995;
        for p in [[0.0, 0.0, at], [at, 0.0, 0.0], [0.0, at, 0.0]] {
            assert_eq!(wall.winding(p), 1, "{p:?}");
        }
        assert_eq!(wall.winding([0.0, 0.0, 1.01 + at.abs()]), 0);
    }
}

#[test]
fn an_open_surface_has_no_side() {
    let open = plane(0.0, true);
    let error = SurfaceWall::new(&open, 0, Some(GrainSide::Inside)).expect_err("open");
    assert!(error.to_string().contains("100 edges"), "{error}");
    assert!(Materials::alike(&[SOFT], touch(1.0, 0.0, 0.0)).is_ok());
}
