//! Holes: closed up to a size, found where fluid leaks out.

use super::kit::{around, centers, distance, faces, flipped, fluid, join, sheet, sheltered};
use cutlink_mesher::{Surface, primitives::Shape3};
use cutlink_tests::bodies::unit_frame;
use cutlink_voxelizer::{EmbedParams, Fill, SeedError, finest_reach};
use std::f64::consts::PI;

const CENTER: [f64; 3] = [0.5, 0.5, 0.5];
const RADIUS: f64 = 0.3;
/// Where the hole is.
const TO_HOLE: [f64; 3] = [0.48, 0.6, 0.64];

/// A sphere without the facets within an angle of a direction; the radius of the hole and its centre.
fn shell(hole: f64) -> (Surface<3>, [f64; 3]) {
    let mut shell = Shape3::Sphere { radius: RADIUS }
        .surface(1e-4)
        .expect("a sphere");
    let length = distance(TO_HOLE, &[0.0; 3]);
    let angle = (hole / RADIUS).asin();
    let vertices = shell.vertices.clone();
    shell.facets.retain(|f| {
        // A facet stays whose corners all do.
        f.iter().all(|&v| {
            let p = vertices[v as usize];
            let along = (0..3).map(|a| p[a] * TO_HOLE[a]).sum::<f64>() / length;
            along < distance(p, &[0.0; 3]) * angle.cos()
        })
    });
    for v in &mut shell.vertices {
        for a in 0..3 {
            v[a] += CENTER[a];
        }
    }
    let out = RADIUS * angle.cos() / length;
    (shell, std::array::from_fn(|a| CENTER[a] + out * TO_HOLE[a]))
}

#[test]
fn a_shell_with_a_hole_leaks_there_and_is_closed_by_size() {
    let (levels, n) = (3, 64u64);
    let dx = 1.0 / n as f64;
    let ball = 4.0 / 3.0 * PI * RADIUS.powi(3);
    for hole in [3.0 * dx, 5.0 * dx] {
        let (shell, place_of_hole) = shell(hole);
        let shell = flipped(&shell, 7);
        let leak = around(&shell, unit_frame(16), &sheltered(levels), CENTER, None);
        let Err(SeedError::Leak {
            place, width, size, ..
        }) = leak
        else {
            panic!("{leak:?}");
        };
        let off = distance(place_of_hole, &place) / dx;
        assert!(
            off < 1.0,
            "the place is {off} cells from the centre of the hole"
        );
        assert!(
            (width / (2.0 * hole) - 1.0).abs() < 0.5 * dx / hole + 0.1,
            "{width} of {hole}"
        );
        // By the size that the error names.
        for size in [size, 2.0 * hole] {
            let made = around(
                &shell,
                unit_frame(16),
                &sheltered(levels),
                CENTER,
                Some(size),
            );
            let (mesh, kept) = made.expect("closed");
            let volume = fluid(&mesh, levels - 1) as f64 * dx.powi(3);
            // A hole closed by its disc lacks a cap.
            assert!((volume / ball - 1.0).abs() < 0.01, "{volume} of {ball}");
            assert_eq!(kept.gaps.len(), 1, "one hole");
            let area = PI * hole * hole;
            assert!(
                (kept.gaps[0].area / area - 1.0).abs() < 0.25,
                "{} of {area}",
                kept.gaps[0].area
            );
            assert!(
                distance(place_of_hole, &kept.gaps[0].center) < 1.5 * dx,
                "{:?}",
                kept.gaps[0]
            );
            assert_eq!(mesh.patches.last().map(String::as_str), Some("gap-1"));
            assert_eq!(mesh.patch_links().last(), Some(&kept.gaps[0].links));
            let halfway = mesh
                .links()
                .filter(|link| usize::from(link.patch) + 1 == mesh.patches.len());
            assert!(halfway.into_iter().all(|link| link.q == 0.5), "cut halfway");
            assert!(!mesh.graded, "on the finest level");
        }
        // Five cells wider than the size.
        let small = 2.0 * hole - 5.0 * dx;
        let leak = around(
            &shell,
            unit_frame(16),
            &sheltered(levels),
            CENTER,
            Some(small),
        );
        assert!(matches!(leak, Err(SeedError::Leak { .. })), "{leak:?}");
    }
}

#[test]
fn closing_changes_nothing_where_there_is_no_hole() {
    let (lower, upper) = ([0.203, 0.211, 0.193], [0.797, 0.803, 0.789]);
    let surface = join(vec![("wall", faces(lower, upper))]);
    let inside: u64 = (0..3).map(|a| centers(64, lower[a], upper[a])).product();
    for size in [0.001, 0.05, 0.1, 0.2] {
        let made = around(
            &surface,
            unit_frame(16),
            &sheltered(3),
            [0.5; 3],
            Some(size),
        );
        let (mesh, kept) = made.expect("closed");
        assert_eq!(fluid(&mesh, 2), inside, "corners stay, size {size}");
        assert_eq!(kept.gaps, [], "size {size}");
    }
    let narrow = around(
        &surface,
        unit_frame(16),
        &sheltered(3),
        [0.25, 0.5, 0.5],
        Some(0.2),
    );
    assert!(
        matches!(narrow, Err(SeedError::Narrow { .. })),
        "{narrow:?}"
    );
}

/// A wall at x = 0.5 with a square hole of an edge around (0.5, 0.5).
fn wall(edge: f64) -> Vec<Surface<3>> {
    let (low, high) = (0.5 - 0.5 * edge, 0.5 + 0.5 * edge);
    let part = |y: [f64; 2], z: [f64; 2]| {
        sheet(
            [0.5, y[0], z[0]],
            [0.0, y[1] - y[0], 0.0],
            [0.0, 0.0, z[1] - z[0]],
        )
    };
    vec![
        part([-0.1, low], [-0.1, 1.1]),
        part([high, 1.1], [-0.1, 1.1]),
        part([low, high], [-0.1, low]),
        part([low, high], [high, 1.1]),
    ]
}

#[test]
fn a_hole_between_two_rooms_is_closed_in_the_wall() {
    // Both sides reach the faces of the box, which is no leak here.
    for (levels, root) in [(1, 32), (2, 16), (3, 8)] {
        let dx = 1.0 / 32.0;
        let surface = join(vec![("wall", wall(6.0 * dx))]);
        let params = EmbedParams::new(levels, 0.0, Fill::Sheets);
        let seed = [0.2, 0.5, 0.5];
        let (mesh, _) = around(&surface, unit_frame(root), &params, seed, None).expect("fluid");
        assert_eq!(fluid(&mesh, levels - 1), 32 * 32 * 32, "through the hole");
        let near = EmbedParams {
            wall_distance: 2.0 * finest_reach(6.0 * dx, dx),
            ..params
        };
        let closed = around(&surface, unit_frame(root), &near, seed, Some(6.0 * dx));
        let (mesh, kept) = closed.expect("closed");
        let left = centers(32, 0.0, 0.5) * 32 * 32;
        let kept_cells = fluid(&mesh, levels - 1);
        // The hole is closed between the centres on both sides of the wall.
        assert_eq!(kept_cells, left, "{levels} levels");
        assert_eq!(kept.gaps.len(), 1);
        let across = centers(32, 0.5 - 3.0 * dx, 0.5 + 3.0 * dx).pow(2) as f64;
        assert!(
            (kept.gaps[0].area - across * dx * dx).abs() < 1e-12,
            "{:?}",
            kept.gaps
        );
        // A size five cells smaller does not close it.
        let open = around(&surface, unit_frame(root), &near, seed, Some(dx)).expect("fluid");
        assert_eq!(fluid(&open.0, levels - 1), 32 * 32 * 32, "through the hole");
        assert_eq!(open.1.gaps, []);
    }
}

#[test]
fn holes_are_patches_in_descending_order() {
    let dx = 1.0 / 64.0;
    let (lower, upper) = ([0.2; 3], [0.8; 3]);
    // The walls at x = 0.2 and 0.8 have a square hole each; one is larger.
    let holed = |x: f64, edge: f64| {
        let (low, high) = (0.5 - 0.5 * edge, 0.5 + 0.5 * edge);
        let part = |y: [f64; 2], z: [f64; 2]| {
            sheet(
                [x, y[0], z[0]],
                [0.0, y[1] - y[0], 0.0],
                [0.0, 0.0, z[1] - z[0]],
            )
        };
        vec![
            part([0.2, low], [0.2, 0.8]),
            part([high, 0.8], [0.2, 0.8]),
            part([low, high], [0.2, low]),
            part([low, high], [high, 0.8]),
        ]
    };
    let mut sheets: Vec<Surface<3>> = faces(lower, upper).into_iter().skip(2).collect();
    sheets.extend(holed(0.2, 3.0 * dx));
    sheets.extend(holed(0.8, 6.0 * dx));
    let surface = flipped(&join(vec![("wall", sheets)]), 5);
    let made = around(
        &surface,
        unit_frame(16),
        &sheltered(3),
        [0.5; 3],
        Some(6.0 * dx),
    );
    let (mesh, kept) = made.expect("closed");
    assert_eq!(mesh.patches, ["wall", "gap-1", "gap-2"]);
    let [large, small] = &kept.gaps[..] else {
        panic!("{:?}", kept.gaps);
    };
    assert!(
        large.center[0] > 0.7 && small.center[0] < 0.3,
        "{:?}",
        kept.gaps
    );
    assert_eq!((large.patch, small.patch), (1, 2));
    let inside = centers(64, 0.2, 0.8).pow(3);
    let off = fluid(&mesh, 2).abs_diff(inside);
    assert!(
        off <= 49 + 16,
        "holes closed within a cell of the walls: {off}"
    );
}

#[test]
fn in_2d_a_circle_with_a_gap() {
    let n = 128u64;
    let dx = 1.0 / n as f64;
    let arc = |gap: f64| {
        let half = (0.5 * gap / RADIUS).asin();
        let count = 400;
        let at = |i: u32| {
            let angle = 0.7 + half + (2.0 * PI - 2.0 * half) * f64::from(i) / f64::from(count);
            [0.5 + RADIUS * angle.cos(), 0.5 + RADIUS * angle.sin()]
        };
        let vertices = (0..=count).map(at).collect();
        let facets = (0..count).map(|i| if i % 3 == 0 { [i, i + 1] } else { [i + 1, i] });
        Surface::single_patch(vertices, facets.collect(), "arc")
    };
    let chord = |gap: f64| {
        let out = (RADIUS * RADIUS - 0.25 * gap * gap).sqrt();
        [0.5 + out * 0.7f64.cos(), 0.5 + out * 0.7f64.sin()]
    };
    let disc = PI * RADIUS * RADIUS;
    for gap in [4.0 * dx, 9.0 * dx] {
        let surface = arc(gap);
        let leak = around(&surface, unit_frame(32), &sheltered(3), [0.45, 0.5], None);
        let Err(SeedError::Leak { place, size, .. }) = leak else {
            panic!("{leak:?}");
        };
        let off = distance(chord(gap), &place) / dx;
        assert!(off < 1.0, "{off} cells from the middle of the gap");
        for size in [gap, size] {
            let made = around(
                &surface,
                unit_frame(32),
                &sheltered(3),
                [0.45, 0.5],
                Some(size),
            );
            let (mesh, kept) = made.expect("closed");
            let area = fluid(&mesh, 2) as f64 * dx * dx;
            assert!((area / disc - 1.0).abs() < 0.01, "{area} of {disc}");
            assert_eq!(kept.gaps.len(), 1);
            assert!(
                (kept.gaps[0].area - gap).abs() < 2.0 * dx,
                "{:?} of {gap}",
                kept.gaps
            );
        }
    }
    let leak = around(
        &arc(9.0 * dx),
        unit_frame(32),
        &sheltered(3),
        [0.45, 0.5],
        Some(5.0 * dx),
    );
    assert!(matches!(leak, Err(SeedError::Leak { .. })), "{leak:?}");
}

#[test]
fn a_slot_thinner_than_a_cell_is_found_and_closed() {
    // Four walls of a box meet the fifth not quite: a slot of a fifth of a cell.
    let dx = 1.0 / 64.0;
    let (lower, upper) = ([0.2; 3], [0.8; 3]);
    let mut sheets = faces(lower, upper);
    sheets[1] = sheet([0.8, 0.2, 0.2], [0.0, 0.6 - 0.2 * dx, 0.0], [0.0, 0.0, 0.6]);
    let surface = join(vec![("wall", sheets)]);
    match around(&surface, unit_frame(16), &sheltered(3), [0.5; 3], None) {
        Ok((mesh, _)) => assert_eq!(
            fluid(&mesh, 2),
            centers(64, 0.2, 0.8).pow(3),
            "no link meets it"
        ),
        Err(SeedError::Leak { place, .. }) => {
            assert!(
                (place[0] - 0.8).abs() < 1.5 * dx && (place[1] - 0.8).abs() < 1.5 * dx,
                "{place:?}"
            );
        }
        Err(other) => panic!("{other}"),
    }
    let made = around(
        &surface,
        unit_frame(16),
        &sheltered(3),
        [0.5; 3],
        Some(0.5 * dx),
    );
    let (mesh, _) = made.expect("closed");
    let off = fluid(&mesh, 2).abs_diff(centers(64, 0.2, 0.8).pow(3));
    assert!(off <= 2 * 39, "at the edge only: {off}");
}
