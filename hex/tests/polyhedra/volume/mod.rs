//! Volume meshes of Gmsh and VTK, written by the tests: every encoding, names, patches, damage.

mod damage;
mod files;

use cutlink_hex::volume::{PATCH_ANGLE, VolumeFormat, parse_volume};
use cutlink_hex::{MeshFileError, PolyMesh, VolumeMesh};
use files::{Doc, Encoding, Place, Vtu, block, msh2, msh4, tetrahedra};
use std::path::Path;

const ENCODINGS: [Encoding; 3] = [
    Encoding::Text,
    Encoding::Binary { big: false },
    Encoding::Binary { big: true },
];

fn parse(bytes: &[u8]) -> Result<VolumeMesh, MeshFileError> {
    parse_volume(Path::new("a.file"), bytes, PATCH_ANGLE)
}

fn read(bytes: &[u8]) -> VolumeMesh {
    let read = parse(bytes).expect("a mesh");
    assert_eq!(read.mesh.validate(), Ok(()), "every invariant");
    read
}

fn volumes(mesh: &PolyMesh) -> Vec<f64> {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    cells.iter().map(|c| c.volume).collect()
}

fn area(mesh: &PolyMesh, patch: &str) -> f64 {
    let faces = mesh.face_geometry();
    let of = mesh.patches.iter().find(|p| p.name == patch);
    let of = of.unwrap_or_else(|| panic!("a patch {patch}"));
    let length = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    (of.start..of.start + of.faces)
        .map(|f| length(faces[f].area))
        .sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

/// A sheared box, whose volume and areas are known.
fn sample() -> Doc {
    block([3, 2, 2], |[x, y, z]| {
        [2.0 * x + 0.5 * z, 3.0 * y, 0.25 * z]
    })
}

fn check_sample(mesh: &PolyMesh) {
    assert_eq!(mesh.cells, 12, "cells");
    assert_eq!(mesh.points.len(), 36, "points");
    // Of a box: planes across each axis.
    assert_eq!(mesh.internal_faces(), 2 * 4 + 6 + 6, "internal faces");
    assert_eq!(
        mesh.faces() - mesh.internal_faces(),
        2 * (6 + 6 + 4),
        "boundary faces"
    );
    // Shear keeps the volume.
    assert!(
        volumes(mesh).iter().all(|&v| near(v, 2.0 * 3.0 * 0.25)),
        "{:?}",
        volumes(mesh)
    );
    let names: Vec<&str> = mesh.patches.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["floor", "the_roof", "defaultFaces"], "patches");
    assert!(
        near(area(mesh, "floor"), 36.0) && near(area(mesh, "the_roof"), 36.0),
        "areas"
    );
}

#[test]
fn every_encoding_of_gmsh_gives_the_same_mesh() {
    let mut doc = sample();
    let first = read(&msh4(&doc, Encoding::Text));
    check_sample(&first.mesh);
    assert_eq!(first.format, VolumeFormat::Gmsh, "the format");
    for stride in [1, 1000] {
        doc.stride = stride;
        for encoding in ENCODINGS {
            // In version 4.1 elements are sorted by entity.
            let four = read(&msh4(&doc, encoding));
            assert_eq!(four.mesh, first.mesh, "4.1, {encoding:?}, {stride}");
            assert_eq!(four.cell_zones, first.cell_zones, "zones");
            let two = read(&msh2(&doc, encoding));
            check_sample(&two.mesh);
            assert_eq!(two.cell_zones[0].name, "first", "zones of 2.2");
            assert_eq!(
                two.cell_zones[0].ids,
                [0, 3, 6, 9],
                "cells with the least x"
            );
        }
    }
    let ids: Vec<usize> = first.cell_zones.iter().map(|z| z.ids.len()).collect();
    assert_eq!(ids, [4, 8], "cells of zones");
    let renamed = first.notes.iter().find(|note| note.contains("the_roof"));
    assert!(renamed.is_some(), "{:?}", first.notes);
    // A group of that name takes the faces in no group too.
    doc.names[1].2 = "defaultFaces";
    let named = read(&msh2(&doc, Encoding::Text)).mesh;
    let sizes: Vec<(&str, usize)> = named
        .patches
        .iter()
        .map(|p| (p.name.as_str(), p.faces))
        .collect();
    assert_eq!(sizes, [("floor", 6), ("defaultFaces", 26)], "patches");
    let open = first
        .notes
        .iter()
        .find(|note| note.contains("20 boundary faces are in no group"));
    assert!(open.is_some(), "{:?}", first.notes);
}

fn vtus() -> Vec<Vtu> {
    let mut all = Vec::new();
    for place in [
        Place::Ascii,
        Place::Inline,
        Place::AppendedRaw,
        Place::AppendedBase64,
    ] {
        for bits in 0..16 {
            let [zlib, big, wide_header, voxels] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            if place != Place::Ascii || !(zlib || big || wide_header) {
                all.push(Vtu {
                    place,
                    zlib,
                    big,
                    wide_header,
                    voxels,
                });
            }
        }
    }
    all
}

#[test]
fn every_encoding_of_vtu_gives_the_same_mesh_and_data() {
    let doc = sample();
    let expected = read(&msh2(&doc, Encoding::Text)).mesh;
    let all = doc.faces.len() + doc.cells.len();
    let t: Vec<f64> = (0..all).map(|i| i as f64 / 3.0).collect();
    let u: Vec<f64> = (0..3 * all).map(|i| -(i as f64)).collect();
    let fields = [("T", 1, t.clone()), ("U", 3, u.clone())];
    for vtu in vtus() {
        let mesh = read(&vtu.write(&doc, &fields));
        let mut named = mesh.mesh.clone();
        named.patches[0].name = "floor".into();
        named.patches[1].name = "the_roof".into();
        assert_eq!(mesh.mesh.patches[0].name, "surface_1", "a number");
        assert_eq!(named, expected, "{vtu:?}");
        assert_eq!(mesh.values.len(), 2, "two fields");
        assert_eq!(mesh.values[0].values, t[doc.faces.len()..], "{vtu:?}");
        assert_eq!(mesh.values[1].values, u[3 * doc.faces.len()..], "{vtu:?}");
    }
}

#[test]
fn pieces_of_a_vtu_are_joined_by_their_points() {
    let (mut one, mut two) = (
        block([2, 2, 2], |p| p),
        block([1, 2, 2], |[x, y, z]| [x + 2.0, y, z]),
    );
    one.faces.clear();
    two.faces.clear();
    let text = |doc| String::from_utf8(Vtu::ASCII.write(doc, &[])).expect("text");
    let (first, second) = (text(&one), text(&two));
    let piece = |text: &str| {
        let (from, to) = (
            text.find("<Piece").expect("start"),
            text.find("</Piece>").expect("end"),
        );
        text[from..to + 8].to_owned()
    };
    let both = first.replace(&piece(&first), &(piece(&first) + &piece(&second)));
    let joined = read(both.as_bytes()).mesh;
    let whole = block([3, 2, 2], |p| p);
    let whole = Doc {
        faces: Vec::new(),
        ..whole
    };
    let whole = read(&Vtu::ASCII.write(&whole, &[])).mesh;
    let size = |mesh: &PolyMesh| {
        (
            mesh.cells,
            mesh.points.len(),
            mesh.faces(),
            mesh.internal_faces(),
        )
    };
    assert_eq!(size(&joined), size(&whole), "cells, points, faces");
    assert_eq!(
        joined.patches.len(),
        6,
        "sides of a box: {:?}",
        joined.patches
    );
}

#[test]
fn ghost_cells_are_left_out() {
    let doc = Doc {
        faces: Vec::new(),
        ..sample()
    };
    let ghosts = (0..12).map(|i| f64::from(u8::from(i >= 10))).collect();
    let read = read(&Vtu::ASCII.write(&doc, &[("vtkGhostType", 1, ghosts)]));
    assert_eq!(read.mesh.cells, 10, "{:?}", read.notes);
    assert!(
        read.notes.iter().any(|n| n == "2 ghost cells left out"),
        "{:?}",
        read.notes
    );
    assert!(read.values.is_empty(), "the mask is no field");
}

#[test]
fn surfaces_between_cells_become_zones_of_faces() {
    let mut doc = sample();
    // Between the first and the second cell, seen from either.
    let quad = [1, 5, 17, 13];
    for (quad, flip) in [
        (quad.to_vec(), false),
        (quad.iter().rev().copied().collect(), true),
    ] {
        doc.faces.retain(|face| face.1 != 3);
        doc.faces.push((quad, 3));
        doc.names.push((2, 3, "baffle"));
        let read = read(&msh2(&doc, Encoding::Text));
        let [zone] = &read.face_zones[..] else {
            panic!("{:?}", read.face_zones)
        };
        assert_eq!(
            (zone.name.as_str(), &zone.ids[..], &zone.flips[..]),
            ("baffle", &[0][..], &[flip][..])
        );
        assert_eq!(
            (read.mesh.owner[0], read.mesh.neighbour[0]),
            (0, 1),
            "the face"
        );
    }
}

#[test]
fn boundaries_without_names_are_divided_at_their_edges() {
    let doc = Doc {
        faces: Vec::new(),
        ..block([4, 3, 2], |p| p)
    };
    let mesh = read(&msh4(&doc, Encoding::Text)).mesh;
    let mut sizes: Vec<usize> = mesh.patches.iter().map(|p| p.faces).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [6, 6, 8, 8, 12, 12], "sides of a box");
    // A quarter of a ring: two flat ends, floor, roof, and two round sides that turn by 9 degrees a cell.
    let bend = |[x, y, z]: [f64; 3]| {
        let (angle, radius) = (std::f64::consts::FRAC_PI_2 * (1.0 - x / 10.0), 2.0 + y);
        [radius * angle.cos(), radius * angle.sin(), z]
    };
    let doc = Doc {
        faces: Vec::new(),
        ..block([10, 2, 2], bend)
    };
    let bytes = msh4(&doc, Encoding::Text);
    let patches = |angle| {
        parse_volume(Path::new("a"), &bytes, angle)
            .expect("a mesh")
            .mesh
            .patches
            .len()
    };
    assert_eq!(patches(45.0), 6, "round sides are whole");
    assert_eq!(patches(5.0), 4 + 2 * 10, "each facet of a round side");
    assert_eq!(patches(120.0), 1, "all of it");
    // More than a hundred are one.
    let steps = Doc {
        faces: Vec::new(),
        ..block([60, 2, 2], |p| bend([p[0] / 6.0, p[1], p[2]]))
    };
    let read = parse_volume(Path::new("a"), &msh4(&steps, Encoding::Text), 1.0).expect("a mesh");
    assert_eq!(read.mesh.patches.len(), 1, "{:?}", read.notes);
    assert!(read.notes[0].contains("124 patches"), "{:?}", read.notes);
}

#[test]
fn tetrahedra_are_read() {
    let doc = tetrahedra(&sample());
    for bytes in [
        msh2(&doc, Encoding::Text),
        msh4(&doc, ENCODINGS[1]),
        Vtu::ASCII.write(&doc, &[]),
    ] {
        let mesh = read(&bytes).mesh;
        assert_eq!(mesh.cells, 72, "six a cell");
        let sum: f64 = volumes(&mesh).iter().sum();
        assert!(near(sum, 12.0 * 1.5), "{sum}");
        assert!(near(area(&mesh, &mesh.patches[0].name), 36.0), "the floor");
    }
}

#[test]
fn mirrored_meshes_are_turned_and_inverted_cells_refused() {
    for doc in [sample(), tetrahedra(&sample())] {
        let mut mirrored = doc.clone();
        mirrored.points.iter_mut().for_each(|p| p[1] = -p[1]);
        let turned = read(&msh2(&mirrored, Encoding::Text));
        assert!(
            turned
                .notes
                .iter()
                .any(|n| n.contains("all cells are mirrored")),
            "{:?}",
            turned.notes
        );
        let sum: f64 = volumes(&turned.mesh).iter().sum();
        assert!(near(sum, 18.0), "{sum}");
        let mut inverted = doc.clone();
        let cell = &mut inverted.cells[4].0;
        match cell.len() {
            8 => cell.rotate_left(4),
            _ => cell.swap(0, 1),
        }
        let error = parse(&msh2(&inverted, Encoding::Text))
            .expect_err("one is inverted")
            .to_string();
        let label = inverted.faces.len() + 5;
        assert!(
            error.starts_with(&format!("a.file, element {label}: its volume is -")),
            "{error}"
        );
        assert!(
            error.contains(&format!("1 of {} cells", doc.cells.len())),
            "{error}"
        );
        let error = parse(&Vtu::ASCII.write(&inverted, &[]))
            .expect_err("inverted")
            .to_string();
        assert!(
            error.starts_with(&format!("a.file, cell {}:", label - 1)),
            "{error}"
        );
    }
    let flat = block([1, 1, 1], |[x, y, _]| [x, y, 0.0]);
    let error = parse(&msh2(&flat, Encoding::Text))
        .expect_err("flat")
        .to_string();
    assert!(error.contains("its volume is 0e0"), "{error}");
}

#[test]
fn the_mesh_does_not_depend_on_threads() {
    let bytes = msh2(&tetrahedra(&block([9, 8, 7], |p| p)), ENCODINGS[1]);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| read(&bytes).mesh.checksum())
    };
    let one = on(1);
    assert!(
        [2, 7].iter().all(|&n| on(n) == one),
        "the same on 1, 2 and 7 threads"
    );
}
