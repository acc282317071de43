//! The area of the interface: of discs and balls, and of levels along faces of cells.

use crate::mesh;
use cutlink_vof::{LiquidShape, TwoPhaseFlow};
use std::f64::consts::PI;

fn area<const D: usize>(mesh: cutlink_vof::FlowMesh<D>, liquid: LiquidShape<D>) -> f64 {
    let flow = TwoPhaseFlow::new(mesh, mesh::params(), &[liquid]).expect("a flow");
    flow.interface_area()
}

fn uniform<const D: usize>(n: u32) -> cutlink_vof::FlowMesh<D> {
    mesh::mesh([n / 4; D], [false; D], 1, |_, _| false)
}

/// The error of a ball of radius 0.3, over its area.
fn of_ball<const D: usize>(n: u32) -> f64 {
    let ball = LiquidShape::Ball {
        centre: [0.51; D],
        radius: 0.3,
    };
    let exact = if D == 2 { 0.6 * PI } else { 0.36 * PI };
    area::<D>(uniform(n), ball) / exact - 1.0
}

#[test]
fn discs_and_balls_have_their_area() {
    let [coarse, fine] = [of_ball::<2>(32), of_ball::<2>(64)];
    assert!(
        coarse.abs() < 3e-3 && fine.abs() < 2e-3,
        "{coarse:e} {fine:e}"
    );
    let [coarse, fine] = [of_ball::<3>(16), of_ball::<3>(32)];
    assert!(
        coarse.abs() < 2.5e-2 && fine.abs() < 5e-3,
        "{coarse:e} {fine:e}"
    );
}

#[test]
fn levels_along_faces_of_cells_count() {
    let level = |offset: f64| LiquidShape::HalfSpace {
        normal: [0.0, 1.0],
        offset,
    };
    // Between cells, at a face of a block, and within cells.
    for offset in [0.5, 0.53125, 0.51] {
        let found = area(uniform::<2>(32), level(offset));
        assert!((found - 1.0).abs() < 1e-12, "{offset}: {found}");
    }
    // At a jump of the level: coarse cells above.
    let mesh = mesh::mesh([4; 2], [false; 2], 2, |c, _| c[1] < 0.5);
    let found = area(mesh, level(0.5));
    assert!((found - 1.0).abs() < 1e-12, "{found}");
}

#[test]
fn slanted_planes_have_their_area() {
    for angle in [0.1, 0.3, 0.5, 0.7] {
        // Walls meet the plane at an angle: all but the ends of a periodic box are far from them.
        let normal = [f64::sin(angle), f64::cos(angle)];
        let plane = LiquidShape::HalfSpace {
            normal,
            offset: 0.5 * (normal[0] + normal[1]),
        };
        let [coarse, fine] = [32, 128].map(|n| area(uniform::<2>(n), plane.clone()));
        // What walls change falls with the cells.
        let exact = 1.0 / f64::cos(angle);
        assert!((fine / exact - 1.0).abs() < 0.01, "{angle}: {fine} {exact}");
        assert!(
            (coarse / exact - 1.0).abs() < 0.03,
            "{angle}: {coarse} {exact}"
        );
    }
}
