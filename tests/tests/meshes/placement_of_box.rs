//! A box of another origin, size or aspect: the same cells at the same places of the body.

use cutlink_mesher::{Surface, primitives::Shape3};
use cutlink_tests::{
    bodies::{levels, mesh_of, unit_frame},
    compare::{cells, cells_through, same_cells},
};
use cutlink_voxelizer::Frame;

/// A torus off the middle of the unit box, nowhere on a cell centre but by accident; its
/// coordinates are multiples of 2^-24, so that moving the box rounds nothing.
fn torus() -> Surface<3> {
    let shape = Shape3::Torus {
        major: 0.19,
        minor: 0.071,
    };
    let mut torus = shape.surface(1e-3).expect("a torus");
    let grid = f64::from(1 << 24);
    for p in &mut torus.vertices {
        *p = [p[0] + 0.47, p[2] + 0.53, p[1] + 0.49].map(|x| (x * grid).round() / grid);
    }
    torus
}

fn moved(surface: &Surface<3>, scale: f64, shift: [f64; 3]) -> Surface<3> {
    let mut surface = surface.clone();
    for p in &mut surface.vertices {
        *p = std::array::from_fn(|a| scale * p[a] + shift[a]);
    }
    surface
}

#[test]
fn origin_and_size() {
    let unit = mesh_of(&torus(), unit_frame(32), &levels(3));
    assert!(unit.links.len() > 10_000, "{} links", unit.links.len());
    for (scale, shift) in [
        (1.0, [16.0, -8.0, 4.0]),
        (4.0, [0.0; 3]),
        (0.125, [-2.0, 1.0, 0.5]),
        (1024.0, [4096.0, -1024.0, 0.0]),
    ] {
        let frame = Frame::new(shift, scale / 32.0, [32; 3]).expect("a box");
        let other = mesh_of(&moved(&torus(), scale, shift), frame, &levels(3));
        assert_eq!(
            other.checksum(),
            unit.checksum(),
            "scale {scale}, shift {shift:?}"
        );
        assert_eq!(
            other.links.q, unit.links.q,
            "scale {scale}, shift {shift:?}"
        );
    }
    let frame = Frame::new([0.0; 3], 1.0 / 32.0, [32; 3]).expect("a box");
    let aside = moved(&torus(), 1.0, [1.0 / 4096.0, 0.0, 0.0]);
    let aside = mesh_of(&aside, frame, &levels(3));
    assert_ne!(aside.checksum(), unit.checksum(), "moved within the box");
}

#[test]
fn aspect() {
    let unit = mesh_of(&torus(), unit_frame(64), &levels(3));
    // The torus is so far from the walls that the finer levels end before them. Whole root blocks more on all sides: (below, above) an axis.
    let more = [(2u32, 1u32), (0, 3), (5, 0)];
    let dx = 1.0 / 64.0;
    let origin = more.map(|(below, _)| -f64::from(4 * below) * dx);
    let root = more.map(|(below, above)| 64 + 4 * (below + above));
    let frame = Frame::new(origin, dx, root).expect("a box");
    let wide = mesh_of(&torus(), frame, &levels(3));
    let back = |level: usize, at: [i32; 3]| {
        std::array::from_fn(|a| at[a] - ((4 * more[a].0 as i32) << level))
    };
    let wide_cells = cells_through(&wide, back, |step| step);
    let mut within = wide_cells.clone();
    within.retain(|(level, at), _| at.iter().all(|&c| c >= 0 && c < 64 << level));
    assert_eq!(
        same_cells(&cells(&unit), &within),
        Ok(()),
        "the unit box's cells"
    );
    let rest = wide_cells
        .into_iter()
        .filter(|(at, _)| !within.contains_key(at));
    for (at, state) in rest {
        assert!(
            !state.solid && !state.boundary,
            "{at:?} beyond the unit box is fluid"
        );
    }
    assert_eq!(wide.links.len(), unit.links.len(), "as many links");
}
