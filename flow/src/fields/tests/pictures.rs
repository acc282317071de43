//! Pictures against the cells they show.

use super::*;
use crate::fields::colours::LEVELS;
use cutlink_mesher::primitives::Shape2;
use cutlink_mesher::snap::Snapped;
use cutlink_meshing::mesh::build::embedded;
use cutlink_pictures::cut::Cut;
use cutlink_voxelizer::{EmbedParams, Fill, Frame};

/// Width, height and colours of a PNG.
fn pixels(path: &PathBuf) -> ([usize; 2], Vec<[u8; 3]>) {
    crate::png_kit::decoded(&std::fs::read(path).expect("a picture"))
}

#[test]
fn pictures_show_the_value_of_the_cell_at_each_pixel() {
    let mesh = ball_mesh([4, 4], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let spec = parsed(
        "kind = \"picture\"\naxes = false\nwidth = 524\nquantity = \"velocity-y\"\nrange = [-1.0, 1.0]",
    );
    let scale = 0.1 / 3.0 / 1e-3;
    let flow = snapshot(&mesh, 0, |x| {
        (
            1.0,
            [
                0.0,
                if x[0] < 4.0 {
                    -2.0
                } else if x[0] > 12.0 {
                    2.0
                } else {
                    0.0
                } / scale,
            ],
        )
    });
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    let files = writer
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    let ([width, _], pixels) = pixels(&files[0]);
    let map = colours::colours(colours::Map::Diverging);
    // The frame begins right of 6 and below 20 pixels; 512 pixels are 16 root cells.
    let mut seen = [0; 4];
    for y in (1..512).step_by(3) {
        for x in (1..511).step_by(3) {
            let at = [(x as f64 + 0.5) / 32.0, 16.0 - (y as f64 + 0.5) / 32.0];
            let cell = mesh.forest.leaf_at(at).expect("in the box");
            let solid = mesh.classes.solid[cell.block as usize] >> cell.cell & 1 == 1;
            let found = pixels[(y + 20) * width + x + 6];
            let (what, expected) = match at[0] {
                _ if solid => (0, [[128, 134, 142], [34, 40, 49]]),
                x if x < 4.0 => (1, [map[0]; 2]),
                x if x > 12.0 => (2, [map[255]; 2]),
                _ => (3, [map[127], map[128]]),
            };
            seen[what] += 1;
            assert!(
                expected.contains(&found),
                "pixel {x}, {y}: {found:?}, not {expected:?}"
            );
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "all are seen: {seen:?}");
}

#[test]
fn smooth_pictures_of_linear_fields_are_linear() {
    let mesh = ball_mesh([4, 4], 1);
    let folder = tempfile::tempdir().expect("a folder");
    let spec = parsed(
        "kind = \"picture\"\naxes = false\nwidth = 524\nsmooth = true\nquantity = \"speed\"\nrange = [0.0, 16.0]",
    );
    let scale = 0.1 / 3.0 / 1e-3;
    let flow = snapshot(&mesh, 0, |x| (1.0, [x[0] / scale, 0.0]));
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    let files = writer
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    let ([width, _], pixels) = pixels(&files[0]);
    let map = colours::colours(colours::Map::Sequential);
    // Below the ball, one cell from the walls, where corners have cells on all sides.
    for x in 40..470 {
        let found = pixels[(20 + 512 - 60) * width + x + 6];
        let share = (x as f64 + 0.5) / 32.0 / 16.0 * 255.0;
        let near = [
            share.floor() - 1.0,
            share.floor(),
            share.ceil(),
            share.ceil() + 1.0,
        ];
        assert!(
            near.iter().any(|&i| map[i as usize] == found),
            "pixel {x}: {found:?}"
        );
    }
}

/// A circle of radius 1 in the middle of a box of edge 4, with cells of 1/8 and 1/16 at it.
fn circle() -> (Mesh<2>, Snapped<2>) {
    let surface = Shape2::Circle { radius: 1.0 }.body(1e-4).expect("a circle");
    let frame = Frame::new([-2.0; 2], 0.125, [32; 2]).expect("a box");
    let params = EmbedParams::new(2, 0.5, Fill::NonZero);
    embedded(&surface, frame, &params).expect("a mesh")
}

/// The colours of a picture of a uniform flow around the circle, 500 pixels wide without margins, row by row.
fn drawn(with_surface: bool, text: &str) -> Vec<[u8; 3]> {
    let (mesh, surface) = circle();
    let folder = tempfile::tempdir().expect("a folder");
    let spec = parsed(&format!(
        "kind = \"picture\"\naxes = false\nwidth = 512\nrange = [0.0, 1.0]\n{text}"
    ));
    let scale = 0.1 / 3.0 / 1e-3;
    let flow = snapshot(&mesh, 0, |_| (1.0, [1.0 / scale, 0.0]));
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    if with_surface {
        writer = writer.with_surface(&mesh, &surface);
    }
    let files = writer
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    let ([width, _], pixels) = pixels(&files[0]);
    let row = |y: usize| pixels[(y + 20) * width + 6..][..500].to_vec();
    (0..500).flat_map(row).collect()
}

/// Share of body in a pixel, from its red: grey is 128, the flow 253, the outline 34.
fn body_area(pixels: &[[u8; 3]], edge: f64) -> f64 {
    let inside = pixels.iter().filter(|p| p[0] < 190).count();
    inside as f64 * edge * edge
}

#[test]
fn the_body_has_the_area_and_the_place_of_its_surface() {
    let edge = 4.0f64 / 500.0;
    // Half of the outline, 1.4 pixels wide, is outside of the circle.
    let exact = std::f64::consts::PI * (1.0 + 0.7 * edge).powi(2);
    for smooth in ["", "smooth = true"] {
        let pixels = drawn(true, smooth);
        let area = body_area(&pixels, edge);
        assert!((area / exact - 1.0).abs() < 0.01, "{area}, not {exact}");
        let map = colours::colours(colours::Map::Sequential);
        for (i, pixel) in pixels.iter().enumerate() {
            let [x, y] = [i % 500, i / 500].map(|n| (n as f64 + 0.5) * edge - 2.0);
            let off = (x.hypot(y) - 1.0) / edge;
            let expected = if off < 0.0 { [128, 134, 142] } else { map[255] };
            assert!(
                off.abs() < 2.0 || *pixel == expected,
                "{pixel:?} {off} pixels off the circle"
            );
        }
    }
    // The comparator sees the cells of a picture without the surface.
    let cells = drawn(false, "");
    let map = colours::colours(colours::Map::Sequential);
    let beyond = (0..cells.len()).filter(|&i| {
        let [x, y] = [i % 500, i / 500].map(|n| (n as f64 + 0.5) * edge - 2.0);
        x.hypot(y) < 1.0 - 1.5 * edge && cells[i] == map[255]
    });
    assert!(beyond.count() > 100, "cells inside of the circle are fluid");
}

#[test]
fn a_flow_inside_of_the_surface_fills_it() {
    let (mut mesh, surface) = circle();
    for mask in &mut mesh.classes.solid {
        *mask = !*mask & 0xffff;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let spec = parsed("kind = \"picture\"\naxes = false\nwidth = 512\nrange = [0.0, 1.0]");
    let scale = 0.1 / 3.0 / 1e-3;
    let flow = snapshot(&mesh, 0, |_| (1.0, [1.0 / scale, 0.0]));
    let mut writer = fresh(folder.path(), &[spec], &mesh).with_surface(&mesh, &surface);
    let files = writer
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    let map = colours::colours(colours::Map::Sequential);
    let (_, pixels) = pixels(&files[0]);
    // The colour bar ends in the same colour; the circle is above it.
    let inside = pixels[..512 * 500]
        .iter()
        .filter(|p| **p == map[255])
        .count();
    let exact = std::f64::consts::PI * (125.0f64 - 1.2).powi(2);
    assert!(
        (inside as f64 / exact - 1.0).abs() < 0.01,
        "{inside}, not {exact}"
    );
}

#[test]
fn a_surface_that_is_not_closed_is_a_line_over_the_cells() {
    let (mesh, mut surface) = circle();
    let half = surface.facets.len() / 2;
    surface.facets.truncate(half);
    let cut = Cut::new(&mesh, &surface, None, [0, 1]);
    assert_eq!(cut.walls.len(), half, "every segment");
    assert!(!cut.is_closed, "half of a circle");
    let folder = tempfile::tempdir().expect("a folder");
    let flow = snapshot(&mesh, 0, |_| (1.0, [0.01, 0.0]));
    let image = |open: Option<&Snapped<2>>, name: &str| {
        let spec = parsed(&format!(
            "kind = \"picture\"\nname = \"{name}\"\naxes = false\nwidth = 512"
        ));
        let mut writer = fresh(folder.path(), &[spec], &mesh);
        if let Some(surface) = open {
            writer = writer.with_surface(&mesh, surface);
        }
        pixels(
            &writer
                .write(&mesh, &flow.clone().into(), Moment::End)
                .expect("written")[0],
        )
        .1
    };
    let (cells, lines) = (image(None, "cells"), image(Some(&surface), "lines"));
    let width = 512;
    for (i, (cell, line)) in cells.iter().zip(&lines).enumerate() {
        let [x, y] = [i % width, i / width];
        let at = [
            (x as f64 - 5.5) / 125.0 - 2.0,
            (y as f64 - 19.5) / 125.0 - 2.0,
        ];
        let off = (at[0].hypot(at[1]) - 1.0).abs() * 125.0;
        let outlined = *cell == [34, 40, 49];
        assert!(
            outlined || off < 2.0 || cell == line,
            "pixel {x}, {y}: {cell:?}, {line:?}"
        );
    }
}

#[test]
fn memory_of_a_picture_grows_with_its_pixels() {
    let mesh = ball_mesh([4, 4], 2);
    let bytes = |width: usize| {
        let spec = parsed(&format!("kind = \"picture\"\nwidth = {width}"));
        memory(&[spec], false, &mesh)
    };
    // A square box: a value and a grid line take 12 bytes a pixel, shares of body and outline 8, a colour 3.
    let least = 23 * 8000 * 8000;
    assert!(bytes(8000) > least, "{}", bytes(8000));
    assert!(bytes(8000) < 2 * least, "{}", bytes(8000));
}

#[test]
fn the_outline_of_each_level_is_drawn_however_small_its_cells_are() {
    let mesh = ball_mesh([8, 8], 4);
    let folder = tempfile::tempdir().expect("a folder");
    let text = "kind = \"picture\"\naxes = false\ngrid = true\nwidth = 212\nrange = [0.0, 9.0]";
    let mut writer = fresh(folder.path(), &[parsed(text)], &mesh);
    let flow = around_ball(&mesh, 0);
    let files = writer
        .write(&mesh, &flow.into(), Moment::End)
        .expect("written");
    let ([width, _], pixels) = pixels(&files[0]);
    // A cell of the finest level is less than a pixel wide.
    let frame = pixels.len().min(200 * width);
    for (level, colour) in LEVELS.iter().enumerate().take(4).skip(1) {
        let drawn = pixels[..frame].iter().filter(|p| *p == colour).count();
        assert!(drawn > 100, "level {level}: {drawn} pixels");
    }
}
