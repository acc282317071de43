//! Volume meshes of Gmsh and VTK, written by the tests: every encoding, names, patches, damage.

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

fn refused(bytes: &[u8], what: &str) {
    match parse(bytes) {
        Ok(_) => panic!("read, expected: {what}"),
        Err(error) => {
            let mut text = error.to_string();
            let mut next = std::error::Error::source(&error);
            while let Some(source) = next {
                text = format!("{text}: {source}");
                next = source.source();
            }
            assert!(text.contains(what), "{text}\nexpected: {what}");
            assert!(text.contains("a.file"), "names the file: {text}");
        }
    }
}

#[test]
fn wrong_msh_files_are_refused_by_place() {
    let doc = Doc {
        faces: Vec::new(),
        names: Vec::new(),
        ..block([1, 1, 2], |p| p)
    };
    let sound = String::from_utf8(msh2(&doc, Encoding::Text)).expect("text");
    read(sound.as_bytes());
    let line = |text: &str| {
        format!(
            "line {}",
            1 + sound[..sound.find(text).expect(text)].matches('\n').count()
        )
    };
    for (from, to, what) in [
        (
            "$MeshFormat\n2.2",
            "$MeshFormat\n4.0",
            "version `4.0` is not supported".to_owned(),
        ),
        ("2.2 0 8", "2.2 2 8", "type 2 of the file".into()),
        ("2.2 0 8", "2.2 0 4", "numbers of 4 bytes".into()),
        (
            "$Nodes\n12",
            "$Nodes\n13",
            format!(
                "{}: the number of a node expected, `$EndNodes`",
                line("$EndNodes")
            ),
        ),
        (
            "$Nodes\n12",
            "$Nodes\n11",
            "`$EndNodes` expected, `12` found".into(),
        ),
        (
            "$Nodes\n12",
            "$Nodes\n99999999999",
            "the number of nodes is 99999999999".into(),
        ),
        (
            "$Nodes\n12",
            "$Nodes\n-12",
            "the number of nodes is -12".into(),
        ),
        (
            "$Elements\n2",
            "$Elements\n3",
            "the number of an element expected".into(),
        ),
        (
            "$Elements\n2",
            "$Elements\n1",
            "`$EndElements` expected, `2` found".into(),
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n1 1.0 0.0 0.0",
            "node 1: it is there twice".into(),
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n-2 1.0 0.0 0.0",
            "the number of a node is negative".into(),
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n2 1.0 nan 0.0",
            "a coordinate is not finite".into(),
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n2 1.0 x 0.0",
            "a coordinate expected, `x` found".into(),
        ),
        (
            "1 5 2 7 99 1 2",
            "1 5 2 7 99 1 77",
            "element 1 has node 77, which does not exist".into(),
        ),
        (
            "1 5 2 7 99 1 2",
            "1 5 2 7 99 1 -2",
            "element 1 has node -2".into(),
        ),
        (
            "1 5 2 7 99 1 2",
            "1 5 2 7 99 2 2",
            "element 1: 1 cells have a point as two".into(),
        ),
        (
            "1 5 2 7 99 1 2 4 3",
            "1 5 2 7 99 1 4 2 3",
            "element 1: ".into(),
        ),
        (
            "1 5 2 7 99 1 2",
            "1 77 2 7 99 1 2",
            "elements of type 77 are not known".into(),
        ),
        (
            "1 5 2 7 99 1 2",
            "1 6 2 7 99 1 2",
            "`$EndElements` expected, `7` found".into(),
        ),
        (
            "$EndElements",
            "$EndElement",
            "`$EndElements` expected".into(),
        ),
        ("$Elements", "$Others", "no end".into()),
        ("$Nodes", "$Others", "no end".into()),
        (
            "$EndNodes\n",
            "",
            "`$EndNodes` expected, `$Elements` found".into(),
        ),
    ] {
        assert!(sound.contains(from), "{from}");
        refused(sound.replacen(from, to, 1).as_bytes(), &what);
    }
    let twice = sound.replace(
        "$EndNodes\n",
        &format!(
            "$EndNodes\n{}",
            &sound[sound.find("$Nodes").expect("nodes")..]
        ),
    );
    refused(twice.as_bytes(), "a second $Nodes");
    let (nodes, elements) = (
        sound.find("$Nodes").expect("nodes"),
        sound.find("$Elements").expect("elements"),
    );
    let swapped = format!(
        "{}{}{}",
        &sound[..nodes],
        &sound[elements..],
        &sound[nodes..elements]
    );
    refused(swapped.as_bytes(), "$Elements comes before $Nodes");
    refused(
        &sound.as_bytes()[..elements],
        "the file ends, and has no $Elements",
    );
    refused(
        &sound.as_bytes()[..nodes],
        "the file ends, and has no $Nodes",
    );
    refused(b"", "it is empty");
    refused(b"solid", "neither like Gmsh");
    refused(b"# vtk DataFile Version 3.0", "legacy VTK");
    // Three cells at a face.
    let mut thrice = doc.clone();
    thrice.points.push([9.0, 9.0, -1.0]);
    let mut third = thrice.cells[0].0.clone();
    third[..4].copy_from_slice(&[12, 12, 12, 12]);
    (0..4).for_each(|i| third[i] = 12 + i as u32);
    (1..4).for_each(|i| thrice.points.push([9.0 + f64::from(i), 9.0, -1.0]));
    thrice.points[13] = [10.0, 9.0, -1.0];
    thrice.points[14] = [10.0, 10.0, -1.0];
    thrice.points[15] = [9.0, 10.0, -1.0];
    thrice.cells.push((third, 7));
    refused(
        &msh2(&thrice, Encoding::Text),
        "3 cells share one of its faces",
    );
    // Prisms and second order are named and counted.
    let prism = sound.replace(
        "$Elements\n2\n",
        "$Elements\n4\n8 6 0 1 2 3 4 5 6\n9 6 0 1 2 3 4 5 6\n",
    );
    refused(prism.as_bytes(), "element 8: 2 prisms: only hexahedra");
    let mixed = sound.replace("$Elements\n2\n", "$Elements\n3\n8 4 0 1 2 3 5\n");
    refused(mixed.as_bytes(), "2 hexahedra and 1 tetrahedra");
    let none = sound
        .replace("\n1 5 2 7 99 1 2 4 3 5 6 8 7", "\n1 15 0 1")
        .replace("\n2 5 2 7 99 5 6 8 7 9 10 12 11", "\n2 1 0 1 2");
    refused(none.as_bytes(), "no cells of a volume");
    let four = String::from_utf8(msh4(&doc, Encoding::Text)).expect("text");
    read(four.as_bytes());
    for (from, to, what) in [
        (
            "2 12 1 12",
            "3 12 1 12",
            "the dimension of an entity expected, `$EndNodes`",
        ),
        ("2 12 1 12", "2 13 1 12", "13 nodes announced, 12 found"),
        ("2 12 1 12", "2 11 1 12", "beyond all 11"),
        ("1 2 1 2", "1 3 1 2", "3 elements announced, 2 found"),
        ("1 2 1 2", "1 1 1 2", "beyond all 1"),
        (
            "$Entities",
            "$PartitionedEntities",
            "save it without partitions",
        ),
    ] {
        assert!(four.contains(from), "{from}");
        refused(four.replacen(from, to, 1).as_bytes(), what);
    }
}

#[test]
fn wrong_vtu_files_are_refused_by_place() {
    let doc = Doc {
        faces: Vec::new(),
        ..block([1, 1, 2], |p| p)
    };
    let sound =
        String::from_utf8(Vtu::ASCII.write(&doc, &[("T", 1, vec![1.5, 2.5])])).expect("text");
    read(sound.as_bytes());
    for (from, to, what) in [
        (
            "type=\"UnstructuredGrid\"",
            "type=\"PolyData\"",
            "not an UnstructuredGrid",
        ),
        (
            "NumberOfPoints=\"12\"",
            "NumberOfPoints=\"13\"",
            "36 coordinates, 39 expected",
        ),
        (
            "NumberOfCells=\"2\"",
            "NumberOfCells=\"3\"",
            "2 types of cells, 3 expected",
        ),
        ("0 1 3 2 4", "0 1 3 -2 4", "cell 0: point -2 does not exist"),
        (
            "0 1 3 2 4",
            "0 1 3 12 4",
            "cell 0: point 12 does not exist, there are 12",
        ),
        (
            "0 1 3 2 4",
            "0 1 3 4",
            "cell 1: its corners end at 16 of 15",
        ),
        (
            "\n8 16",
            "\n16 8",
            "cell 0: it is of type 12 and has 16 corners",
        ),
        ("\n8 16", "\n8", "1 offsets of cells, 2 expected"),
        (
            "\n8 16",
            "\n7 16",
            "cell 0: it is of type 12 and has 7 corners",
        ),
        ("\n12 12", "\n12 13", "cell 1: 1 wedges"),
        ("\n12 12", "\n42 42", "cell 0: 2 polyhedra"),
        ("\n12 12", "\n12 25", "cell 1: 1 hexahedra of higher order"),
        (
            "Name=\"offsets\"",
            "Name=\"ends\"",
            "its cells have no offsets",
        ),
        ("1.5 2.5", "1.5", "1 numbers of T, 2 expected"),
        ("1.5 2.5", "1.5 two", "a number in the array, found two"),
        (
            "1.0 0.0 0.0",
            "1.0 0.0 inf",
            "point 1: its coordinates are not finite",
        ),
        (
            "Name=\"T\" NumberOfComponents=\"1\"",
            "Name=\"T\" NumberOfComponents=\"0\"",
            "0 components of T",
        ),
        (
            "<VTKFile ",
            "<VTKFile compressor=\"vtkLZ4DataCompressor\" ",
            "found vtkLZ4DataCompressor",
        ),
        ("</Piece>", "", "it is truncated"),
    ] {
        assert!(sound.contains(from), "{from}");
        refused(sound.replacen(from, to, 1).as_bytes(), what);
    }
}

/// Every length of each file, and every byte of it changed: an error, or a mesh that is sound.
#[test]
fn damaged_files_end_in_an_error_or_a_sound_mesh() {
    let doc = block([2, 1, 1], |[x, y, z]| [x, y + 0.1 * x, z]);
    let vtu = |place, zlib| Vtu {
        place,
        zlib,
        ..Vtu::ASCII
    };
    let field = [("T", 1, vec![1.0; 2 + 4])];
    let all = [
        msh2(&doc, Encoding::Text),
        msh2(&doc, ENCODINGS[1]),
        msh4(&doc, Encoding::Text),
        msh4(&doc, ENCODINGS[2]),
        msh2(&tetrahedra(&doc), Encoding::Text),
        Vtu::ASCII.write(&doc, &field),
        vtu(Place::Inline, false).write(&doc, &field),
        vtu(Place::Inline, true).write(&doc, &field),
        vtu(Place::AppendedRaw, true).write(&doc, &field),
        vtu(Place::AppendedBase64, false).write(&doc, &field),
    ];
    let (mut refused, mut read) = (0, 0);
    let mut check = |bytes: &[u8], what: &str| match parse(bytes) {
        Ok(mesh) => {
            assert_eq!(mesh.mesh.validate(), Ok(()), "{what}");
            read += 1;
        }
        Err(error) => {
            assert!(error.to_string().contains("a.file"), "{error}");
            refused += 1;
        }
    };
    for (i, bytes) in all.iter().enumerate() {
        for len in 0..bytes.len() {
            check(&bytes[..len], &format!("file {i}, {len} bytes"));
        }
        for at in 0..bytes.len() {
            for flip in [0x01, 0x90] {
                let mut wrong = bytes.clone();
                wrong[at] ^= flip;
                check(&wrong, &format!("file {i}, byte {at} by {flip:#x}"));
            }
        }
    }
    assert!(
        refused > 1000 && read > 100,
        "{refused} refused, {read} read"
    );
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
