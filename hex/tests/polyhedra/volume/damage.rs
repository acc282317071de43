//! Wrong and damaged files.

use super::files::{Doc, Encoding, Place, Vtu, block, msh2, msh4, tetrahedra};
use super::{ENCODINGS, parse, read};

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

/// Two hexahedra without faces and names.
fn plain_block() -> Doc {
    Doc {
        faces: Vec::new(),
        names: Vec::new(),
        ..block([1, 1, 2], |p| p)
    }
}

#[test]
fn wrong_msh_files_are_refused_by_place() {
    let sound = String::from_utf8(msh2(&plain_block(), Encoding::Text)).expect("text");
    read(sound.as_bytes());
    refused(b"$MeshFormat\n", "the file ends before its version");
    let nodes = format!(
        "line {}: the number of a node expected, `$EndNodes`",
        1 + sound[..sound.find("$EndNodes").expect("nodes")]
            .matches('\n')
            .count()
    );
    for (from, to, what) in [
        (
            "$MeshFormat\n2.2",
            "$MeshFormat\n4.0",
            "version `4.0` is not supported",
        ),
        ("2.2 0 8", "2.2 2 8", "type 2 of the file"),
        ("2.2 0 8", "2.2 0 4", "numbers of 4 bytes"),
        ("$Nodes\n12", "$Nodes\n13", &nodes),
        (
            "$Nodes\n12",
            "$Nodes\n11",
            "`$EndNodes` expected, `12` found",
        ),
        (
            "$Nodes\n12",
            "$Nodes\n99999999999",
            "the number of nodes is 99999999999",
        ),
        ("$Nodes\n12", "$Nodes\n-12", "the number of nodes is -12"),
        (
            "$Elements\n2",
            "$Elements\n3",
            "the number of an element expected",
        ),
        (
            "$Elements\n2",
            "$Elements\n1",
            "`$EndElements` expected, `2` found",
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n1 1.0 0.0 0.0",
            "node 1: it is there twice",
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n-2 1.0 0.0 0.0",
            "the number of a node is negative",
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n2 1.0 nan 0.0",
            "a coordinate is not finite",
        ),
        (
            "\n2 1.0 0.0 0.0",
            "\n2 1.0 x 0.0",
            "a coordinate expected, `x` found",
        ),
        (
            "1 5 2 7 99 1 2",
            "1 5 2 7 99 1 77",
            "element 1 has node 77, which does not exist",
        ),
        ("1 5 2 7 99 1 2", "1 5 2 7 99 1 -2", "element 1 has node -2"),
        (
            "1 5 2 7 99 1 2",
            "1 5 2 7 99 2 2",
            "element 1: 1 cells have a point as two",
        ),
        ("1 5 2 7 99 1 2 4 3", "1 5 2 7 99 1 4 2 3", "element 1: "),
        (
            "1 5 2 7 99 1 2",
            "1 77 2 7 99 1 2",
            "elements of type 77 are not known",
        ),
        (
            "1 5 2 7 99 1 2",
            "1 6 2 7 99 1 2",
            "`$EndElements` expected, `7` found",
        ),
        ("$EndElements", "$EndElement", "`$EndElements` expected"),
        ("$Elements", "$Others", "no end"),
        ("$Nodes", "$Others", "no end"),
        ("$EndNodes\n", "", "`$EndNodes` expected, `$Elements` found"),
    ] {
        assert!(sound.contains(from), "{from}");
        refused(sound.replacen(from, to, 1).as_bytes(), what);
    }
}

#[test]
fn msh_files_without_sections_are_refused() {
    let sound = String::from_utf8(msh2(&plain_block(), Encoding::Text)).expect("text");
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
}

#[test]
fn msh_files_of_other_cells_are_refused() {
    let doc = plain_block();
    let sound = String::from_utf8(msh2(&doc, Encoding::Text)).expect("text");
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
}

#[test]
fn wrong_counts_of_new_msh_files_are_refused() {
    let doc = plain_block();
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
