//! Layers of prisms, against plates, spheres, boxes and gaps.

use crate::snap::{Point, area, around, ball, castellated, norm, snap};
use crate::worst;
use cutlink_hex::{
    LayerCounts, LayerLength, LayerRule, LayerThickness, Layers, PolyMesh, PolyPatch, QualityLimits,
};
use std::collections::BTreeSet;

fn rule(layers: u32, thickness: LayerThickness) -> LayerRule {
    LayerRule {
        layers,
        expansion: 1.2,
        thickness,
        angle: 130.0,
        least: 0.1,
    }
}

fn total(share: f64) -> LayerThickness {
    LayerThickness::Total(LayerLength::OfCell(share))
}

/// Layers on the patches of some names; every invariant holds after.
fn add(mesh: &mut PolyMesh, names: &[&str], rule: LayerRule) -> Layers {
    let has = |name: &str| names.contains(&name);
    let rules: Vec<Option<LayerRule>> = mesh
        .patches
        .iter()
        .map(|patch| has(&patch.name).then_some(rule))
        .collect();
    let before = mesh.clone();
    let layers = mesh
        .add_layers(&rules, &QualityLimits::default())
        .expect("memory");
    assert_eq!(mesh.validate(), Ok(()), "closed cells of positive volume");
    assert_eq!(mesh.cells, before.cells + layers.parent.len(), "cells");
    // Faces of a cell that become one change the volume where they are not in one plane.
    let (exact, near) = (layers.merged == 0, 1e-3);
    let volumes = [&before, mesh].map(|mesh| mesh.quality().volume);
    let off = (volumes[1] / volumes[0] - 1.0).abs();
    assert!(off < if exact { 1e-12 } else { near }, "volume {volumes:?}");
    for (old, new) in before.patches.iter().zip(&mesh.patches) {
        assert_eq!(old.name, new.name);
        if !has(&old.name) {
            continue;
        }
        let [a, b] = [(&before, old), (mesh, new)].map(|(mesh, patch)| faces_of(mesh, patch));
        if exact {
            assert_eq!(a, b, "the wall has the same faces, {}", old.name);
        }
        let points = |faces: &[Vec<Point>]| -> BTreeSet<[u64; 3]> {
            faces
                .iter()
                .flatten()
                .map(|p| p.map(f64::to_bits))
                .collect()
        };
        let (a, b) = (points(&a), points(&b));
        assert!(
            b.is_subset(&a),
            "the wall has no other points, {}",
            old.name
        );
    }
    layers
}

/// The points of the faces of a patch.
fn faces_of(mesh: &PolyMesh, patch: &PolyPatch) -> Vec<Vec<Point>> {
    let points = |face: usize| {
        mesh.face(face)
            .iter()
            .map(|&p| mesh.points[p as usize])
            .collect()
    };
    (patch.start..patch.start + patch.faces)
        .map(points)
        .collect()
}

fn all_covered(counts: &LayerCounts) {
    assert_eq!(counts.covered, counts.faces, "{counts:?}");
    assert!((counts.coverage() - 1.0).abs() < 1e-12, "{counts:?}");
}

/// The faces of the box as six patches.
fn six_patches(mesh: &mut PolyMesh) {
    let start = mesh.internal_faces();
    let geometry = mesh.face_geometry();
    let side = |face: usize| {
        let area = geometry[face].area;
        let axis = (0..3)
            .find(|&a| area[a].abs() > 0.9 * norm(area))
            .expect("an axis");
        2 * axis + usize::from(area[axis] > 0.0)
    };
    let mut order: Vec<usize> = (start..mesh.faces()).collect();
    order.sort_by_key(|&face| side(face));
    let faces: Vec<Vec<u32>> = order.iter().map(|&face| mesh.face(face).to_vec()).collect();
    let owners: Vec<u32> = order.iter().map(|&face| mesh.owner[face]).collect();
    let sides: Vec<usize> = order.iter().map(|&face| side(face)).collect();
    mesh.face_points.truncate(mesh.face_start[start] as usize);
    mesh.face_start.truncate(start + 1);
    for face in faces {
        mesh.face_points.extend(face);
        mesh.face_start.push(mesh.face_points.len() as u32);
    }
    mesh.owner.truncate(start);
    mesh.owner.extend(owners);
    let mut patches = Vec::new();
    let mut at = start;
    for (number, name) in ["xMin", "xMax", "yMin", "yMax", "zMin", "zMax"]
        .iter()
        .enumerate()
    {
        let mut patch = mesh.patches[1].clone();
        patch.name = (*name).to_owned();
        patch.start = at;
        patch.faces = sides.iter().filter(|&&side| side == number).count();
        at += patch.faces;
        patches.push(patch);
    }
    mesh.patches = patches;
    assert_eq!(mesh.validate(), Ok(()), "six patches");
}

#[test]
fn heights_on_a_flat_plate_are_those_asked_for() {
    let (n, layers, expansion) = (6, 4, 1.3);
    let first = 0.01;
    let mut mesh = castellated(n, |_| true);
    six_patches(&mut mesh);
    let made = add(
        &mut mesh,
        &["zMin"],
        LayerRule {
            expansion,
            ..rule(layers, LayerThickness::First(LayerLength::Absolute(first)))
        },
    );
    all_covered(&made.patches[0]);
    assert_eq!(made.parent.len(), n * n * layers as usize);
    // Heights of all points near the plate: sums of a geometric series, by hand.
    let sums: Vec<f64> = (0..=layers)
        .map(|i| -1.0 + first * (expansion.powi(i as i32) - 1.0) / (expansion - 1.0))
        .collect();
    let mut near: Vec<f64> = mesh
        .points
        .iter()
        .map(|p| p[2])
        .filter(|&z| z < sums[layers as usize] + 1e-6)
        .collect();
    near.sort_by(f64::total_cmp);
    assert_eq!(near.len(), (layers as usize + 1) * (n + 1) * (n + 1));
    let off = near.iter().enumerate().map(|(i, z)| {
        let sum = sums[i / ((n + 1) * (n + 1))];
        (z - sum).abs()
    });
    assert!(worst(off) < 1e-12, "{near:?}");
    let counts = made.patches[0];
    assert!((counts.first[0] - first).abs() < 1e-12 && (counts.first[1] - first).abs() < 1e-12);
    assert!((counts.relative - 1.0).abs() < 1e-12);
    // The sides of the box have the layers' sides.
    for patch in mesh
        .patches
        .iter()
        .filter(|patch| patch.name != "zMin" && patch.name != "zMax")
    {
        assert_eq!(patch.faces, n * (n + layers as usize), "{}", patch.name);
    }
}

#[test]
fn a_box_has_mitred_layers_in_all_its_corners() {
    let (n, share) = (6, 0.4);
    let mut mesh = castellated(n, |_| true);
    six_patches(&mut mesh);
    let names = ["xMin", "xMax", "yMin", "yMax", "zMin", "zMax"];
    let made = add(&mut mesh, &names, rule(3, total(share)));
    made.patches.iter().for_each(all_covered);
    // What is left in the middle is a box.
    let volume: f64 = mesh.cell_geometry(&mesh.face_geometry())[..n * n * n]
        .iter()
        .map(|cell| cell.volume)
        .sum();
    let edge = 2.0 - 2.0 * share * 2.0 / n as f64;
    assert!((volume / edge.powi(3) - 1.0).abs() < 1e-12, "{volume}");
}

#[test]
fn a_cube_in_a_box_has_layers_around_its_edges() {
    let mut mesh = castellated(12, |p| p.iter().any(|x| x.abs() > 0.5));
    let made = add(&mut mesh, &["body"], rule(3, total(0.6)));
    all_covered(&made.patches[0]);
    let thick: f64 = 0.6 * 2.0 / 12.0;
    let prisms: f64 = mesh.cell_geometry(&mesh.face_geometry())[mesh.cells - made.parent.len()..]
        .iter()
        .map(|cell| cell.volume)
        .sum();
    // A larger cube less the cube.
    let exact = (1.0 + 2.0 * thick).powi(3) - 1.0;
    assert!((prisms / exact - 1.0).abs() < 1e-12, "{prisms} {exact}");
}

#[test]
fn layers_around_a_sphere_are_as_thick_as_asked() {
    let mut mesh = around(&ball([0.0; 3]), 24);
    snap(&mut mesh, &ball([0.0; 3]));
    let surface = area(&mesh);
    let made = add(&mut mesh, &["body"], rule(3, total(0.5)));
    let counts = made.patches[0];
    assert!(
        counts.coverage() > 0.98 && counts.mean_layers > 2.5,
        "{counts:?}"
    );
    assert!((area(&mesh) / surface - 1.0).abs() < 5e-3);
    let quality = mesh.quality();
    assert!(
        quality.max_non_orthogonality < 65.0 && quality.bad_tetrahedra == 0,
        "{quality:?}"
    );
    assert!(quality.max_skewness < 3.8, "{quality:?}");
    // Radii of the tops of stacks: points of cells before that are nearest.
    let thick = 0.5 * 2.0 / 24.0;
    let prisms = mesh.cells - made.parent.len();
    let mut tops: Vec<f64> = Vec::new();
    for face in 0..mesh.internal_faces() {
        let is_top =
            (mesh.owner[face] as usize) < prisms && mesh.neighbour[face] as usize >= prisms;
        let ids = mesh.face(face).iter();
        tops.extend(
            ids.filter(|_| is_top)
                .map(|&p| norm(mesh.points[p as usize]) - 0.5),
        );
    }
    let mean = tops.iter().sum::<f64>() / tops.len() as f64;
    assert!(counts.relative > 0.75, "{counts:?}");
    // What the counts say is there.
    assert!(
        (mean / (thick * counts.relative) - 1.0).abs() < 0.1,
        "{mean} {counts:?}"
    );
}

#[test]
fn layers_shrink_in_a_gap_and_end_in_steps() {
    // Two plates a cell apart, and the box around.
    let mut mesh = castellated(12, |p| {
        let inside = p[0].abs() < 0.5 && p[1].abs() < 0.5;
        !(inside && p[2].abs() > 1.0 / 12.0 * 1.0 && p[2].abs() < 0.5)
    });
    let made = add(&mut mesh, &["body"], rule(2, total(0.9)));
    let counts = made.patches[0];
    assert!(
        counts.relative < 1.0 && counts.coverage() > 0.5,
        "{counts:?}"
    );
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let make = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let sphere = ball([0.03, -0.02, 0.01]);
            let mut mesh = around(&sphere, 16);
            snap(&mut mesh, &sphere);
            add(&mut mesh, &["body"], rule(4, total(0.8)));
            mesh.checksum()
        })
    };
    assert_eq!(make(1), make(3));
}
