//! Fluid kept around a seed, and parts thinner than a cell: counts known beforehand.

use cutlink_amr::CellRef;
use cutlink_mesher::{Surface, primitives::Shape3};
use cutlink_tests::bodies::{levels, mesh_of};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, SeedError, keep_connected, thin, validate,
};

/// A box along the axes between two corners.
fn block(lower: [f64; 3], upper: [f64; 3]) -> Surface<3> {
    let size = std::array::from_fn(|a| upper[a] - lower[a]);
    let mut surface = Shape3::Box { size }.surface(1.0).expect("a box");
    for v in &mut surface.vertices {
        for a in 0..3 {
            v[a] += 0.5 * (lower[a] + upper[a]);
        }
    }
    surface
}

fn join(parts: Vec<Surface<3>>) -> Surface<3> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().expect("at least one part");
    for part in parts {
        let first = all.vertices.len() as u32;
        all.vertices.extend(part.vertices);
        all.facets
            .extend(part.facets.iter().map(|f| f.map(|v| v + first)));
    }
    all
}

/// Fluid leaf cells, in finest cells.
fn fluid(mesh: &Mesh<3>) -> u64 {
    let counts = mesh.level_counts();
    let finest = counts.len() - 1;
    let of =
        |c: &cutlink_voxelizer::LevelCounts| (c.fluid + c.boundary) << (3 * (finest - c.level));
    counts.iter().map(of).sum()
}

/// A box of 1 x 1 x 1 with 16 root cells an edge.
fn unit() -> Frame<3> {
    Frame::new([0.0; 3], 1.0 / 16.0, [16; 3]).expect("a box")
}

/// A wall at x from 0.3 to 0.4 divides the box; either side is kept alone, at all levels.
#[test]
fn a_wall_divides_the_box() {
    let wall = block([0.3, -1.0, -1.0], [0.4, 2.0, 2.0]);
    for depth in 1..=3 {
        let n = 16u64 << (depth - 1);
        let centers = |from: f64, to: f64| {
            let center = |i: u64| (i as f64 + 0.5) / n as f64;
            let inside = |i: &u64| (from..to).contains(&center(*i));
            (0..n).filter(inside).count() as u64 * n * n
        };
        for (x, from, to) in [(0.1, 0.0, 0.3), (0.9, 0.4, 1.0)] {
            let mut mesh = mesh_of(&wall, unit(), &levels(depth));
            let before = fluid(&mesh);
            let kept = keep_connected(&mut mesh, [x, 0.5, 0.5]).expect("fluid there");
            validate(&mesh).expect("still sound");
            assert_eq!(
                fluid(&mesh),
                centers(from, to),
                "{depth} levels, seed at {x}"
            );
            assert_eq!(before, centers(0.0, 0.3) + centers(0.4, 1.0), "both sides");
            let counts = mesh.level_counts();
            let left: u64 = counts.iter().map(|c| c.fluid + c.boundary).sum();
            assert_eq!(kept.fluid, left, "as reported");
            assert!(kept.dropped > 0, "the other side");
        }
    }
}

/// A plate thinner than a cell, between two layers of centres, holds as well, and is found.
#[test]
fn a_thin_plate_divides_the_box_and_is_counted() {
    let plate = block([0.505, -1.0, -1.0], [0.508, 2.0, 2.0]);
    let mut mesh = mesh_of(&plate, unit(), &levels(1));
    assert_eq!(fluid(&mesh), 16 * 16 * 16, "no centre inside");
    let found = thin(&mesh);
    // 16 x 16 cells on each side. Links with steps (1, *, *), their other end in the box:
    // (16 + 2 * 15)^2 from one side.
    assert_eq!(found.cells, 2 * 16 * 16);
    assert_eq!(found.links, 46 * 46);
    assert_eq!(found.places.len(), 1, "one plate");
    let half = 0.5 / 16.0;
    assert_eq!(
        found.places[0].bounds,
        [
            [0.5 - half, half, half],
            [0.5 + half, 1.0 - half, 1.0 - half]
        ]
    );
    let kept = keep_connected(&mut mesh, [0.2, 0.2, 0.2]).expect("fluid there");
    validate(&mesh).expect("still sound");
    assert_eq!((kept.fluid, kept.dropped), (8 * 256, 8 * 256));
    assert_eq!(thin(&mesh).links, 0, "behind the plate all is solid now");
    assert_eq!(mesh.links.len(), 46 * 46, "its links stay");
}

#[test]
fn a_thick_body_has_no_thin_part_and_a_spike_has_one() {
    let ball = Shape3::Sphere { radius: 0.3 }
        .surface(1e-3)
        .expect("a sphere");
    let frame = Frame::new([-0.5; 3], 1.0 / 16.0, [16; 3]).expect("a box");
    let cells = |surface: &Surface<3>| thin(&mesh_of(surface, frame, &levels(1))).cells;
    assert_eq!(cells(&ball), 0, "thick");
    let spike = block([0.2, -0.02, -0.05], [0.45, 0.02, -0.01]);
    // Between centres at y = ±1/32, from x = 0.3 on: two cells on each side, the first of them beside solid ones.
    assert_eq!(cells(&join(vec![ball, spike])), 2, "a spike");
    // A bump that clips one link along an axis: solid cells lie beside it.
    let bump = |top: f64| block([-0.3, -0.3, -0.3], [0.3, 0.3, top]);
    let ridge = block([0.1, -0.02, 0.2], [0.3, 0.02, 0.23]);
    let clipped = mesh_of(&join(vec![bump(0.2), ridge]), frame, &levels(1));
    let found = thin(&clipped);
    assert!(found.links > 0, "the ridge has fluid on both sides");
    assert_eq!(found.cells, 0, "it lies on a thick body");
}

/// A duct with walls, open at both ends of the box: outside, walls and lumen; the seed keeps the
/// lumen alone.
#[test]
fn a_duct_with_thick_walls_keeps_its_lumen() {
    let walls = [
        block([-1.0, 0.2, 0.2], [2.0, 0.8, 0.3]),
        block([-1.0, 0.2, 0.7], [2.0, 0.8, 0.8]),
        block([-1.0, 0.2, 0.2], [2.0, 0.3, 0.8]),
        block([-1.0, 0.7, 0.2], [2.0, 0.8, 0.8]),
    ];
    let mut mesh = mesh_of(&join(walls.to_vec()), unit(), &levels(2));
    keep_connected(&mut mesh, [0.5, 0.5, 0.5]).expect("fluid there");
    validate(&mesh).expect("still sound");
    // Of 32 centres (i + 1/2) / 32 those in 0.3 .. 0.7: i = 10 to 21.
    assert_eq!(fluid(&mesh), 32 * 12 * 12);
    // No link of the outer walls is left: all cells with links are in the lumen.
    for &row in &mesh.links.blocks {
        for cell in (0..64).filter(|c| mesh.classes.boundary[row as usize] >> c & 1 == 1) {
            let at = mesh.forest.cell_coord(CellRef { block: row, cell });
            let level = usize::from(mesh.forest.level[row as usize]);
            let [_, y, z] = mesh.frame.center(level, at);
            assert!(
                (0.3..0.7).contains(&y) && (0.3..0.7).contains(&z),
                "{y} {z}"
            );
        }
    }
}

/// One of two cavities, with the flow inside.
#[test]
fn one_of_two_cavities_is_kept() {
    let cavities = join(vec![
        block([0.1; 3], [0.4, 0.9, 0.9]),
        block([0.6, 0.1, 0.1], [0.9, 0.9, 0.9]),
    ]);
    let params = EmbedParams::new(2, 0.0, Fill::Zero);
    let mut mesh = mesh_of(&cavities, unit(), &params);
    let both = fluid(&mesh);
    keep_connected(&mut mesh, [0.7, 0.5, 0.5]).expect("fluid there");
    validate(&mesh).expect("still sound");
    assert_eq!(2 * fluid(&mesh), both, "by symmetry");
    let mesh = &mut mesh_of(&cavities, unit(), &params);
    let solid = keep_connected(mesh, [0.5, 0.5, 0.5]).expect_err("between them");
    assert!(matches!(solid, SeedError::Solid { .. }), "{solid}");
    let outside = keep_connected(mesh, [1.5, 0.5, 0.5]).expect_err("out of the box");
    assert!(matches!(outside, SeedError::Outside { .. }), "{outside}");
    assert_eq!(fluid(mesh), both, "untouched by the failures");
}
