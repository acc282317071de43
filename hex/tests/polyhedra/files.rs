//! `polyMesh` files: written ones read back, files as OpenFOAM writes them, damaged ones.

use cutlink_hex::polymesh::FoamField;
use cutlink_hex::{MeshFileError, PolyLevels, PolyMesh, PolyMeshFormat, PolyPatch};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Two cubes side by side along x.
fn two() -> PolyMesh {
    let points = (0..12).map(|i| {
        [
            f64::from(i % 3) / 3.0,
            f64::from(i / 3 % 2),
            f64::from(i / 6) * 1e-7,
        ]
    });
    let quads = [
        [1, 4, 10, 7],
        [0, 6, 9, 3],
        [2, 5, 11, 8],
        [0, 1, 7, 6],
        [3, 9, 10, 4],
        [0, 3, 4, 1],
        [6, 7, 10, 9],
        [1, 2, 8, 7],
        [4, 10, 11, 5],
        [1, 4, 5, 2],
        [7, 8, 11, 10],
    ];
    let patch = |name: &str, kind: &str, start, faces| PolyPatch {
        name: name.into(),
        kind: kind.into(),
        start,
        faces,
        entries: Vec::new(),
    };
    let mut patches = vec![patch("ends", "patch", 1, 2), patch("walls", "wall", 3, 8)];
    patches[1]
        .entries
        .push(("inGroups".into(), "1(wall)".into()));
    PolyMesh {
        points: points.collect(),
        face_start: (0..=11).map(|f| 4 * f).collect(),
        face_points: quads.concat(),
        owner: vec![0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1],
        neighbour: vec![1],
        patches,
        cells: 2,
        levels: Some(PolyLevels {
            cell: vec![0, 1],
            point: vec![0; 12],
            edge: 0.5,
        }),
    }
}

const FORMATS: [PolyMeshFormat; 3] = [
    PolyMeshFormat::Ascii,
    PolyMeshFormat::Binary,
    PolyMeshFormat::Binary64,
];

#[test]
fn what_is_written_is_read() {
    let mesh = two();
    assert_eq!(mesh.validate(), Ok(()), "two sound cubes");
    for format in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        mesh.write(folder.path(), format).expect("written");
        assert_eq!(
            PolyMesh::read(folder.path()).expect("read"),
            mesh,
            "{format:?}"
        );
        for name in ["points", "faces"] {
            let path = folder.path().join(name);
            let file = fs::File::create(path.with_extension("gz")).expect("a file");
            let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            out.write_all(&fs::read(&path).expect("a file"))
                .expect("packed");
            out.finish().expect("packed");
            fs::remove_file(path).expect("removed");
        }
        assert_eq!(
            PolyMesh::read(folder.path()).expect("read"),
            mesh,
            "{format:?}, compressed"
        );
    }
}

#[test]
fn text_as_other_programs_write_it_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let mesh = two();
    mesh.write(folder.path(), PolyMeshFormat::Ascii)
        .expect("written");
    let path = folder.path().join("owner");
    let head = "/*---*\\\n  a banner (with { brackets\n\\*---*/\nFoamFile { version 2.0; format ascii; class labelList; object owner; }\n// * * //\n";
    fs::write(
        &path,
        format!("{head}\n11\n(\n0 0 1\n0 0 0 0 // a remark\n1 1 1 1)\n// end"),
    )
    .expect("written");
    assert_eq!(
        PolyMesh::read(folder.path()).expect("read"),
        mesh,
        "comments and blanks"
    );
    fs::write(&path, format!("{head}11{{0}}")).expect("written");
    let read = PolyMesh::read(folder.path()).expect("read");
    assert_eq!(read.owner, [0; 11], "a uniform list");
}

/// The error after a change of one file.
fn broken(
    format: PolyMeshFormat,
    name: &str,
    change: impl Fn(Vec<u8>) -> Vec<u8>,
) -> MeshFileError {
    let folder = tempfile::tempdir().expect("a folder");
    two().write(folder.path(), format).expect("written");
    let path = folder.path().join(name);
    fs::write(&path, change(fs::read(&path).expect("a file"))).expect("written");
    PolyMesh::read(folder.path()).expect_err("a damaged file")
}

fn replaced(from: &str, to: &str) -> impl Fn(Vec<u8>) -> Vec<u8> {
    move |bytes| {
        let text = String::from_utf8(bytes).expect("text");
        assert!(text.contains(from), "{from:?} in {text}");
        text.replacen(from, to, 1).into_bytes()
    }
}

#[test]
fn errors_name_file_and_place() {
    let ascii = PolyMeshFormat::Ascii;
    let cases = [
        (
            "owner",
            "\n11\n(\n0\n0",
            "\n11\n(\n0\nx",
            "owner, line 14: a label from 0 to 2^32 - 1 expected, `x` found",
        ),
        (
            "owner",
            "\n11\n(\n0\n0",
            "\n11\n(\n0\n-1",
            "owner, line 14: a label from 0 to 2^32 - 1 expected, `-1` found",
        ),
        ("owner", "\n11\n", "\n99999999\n", "longer than the file"),
        ("owner", "\n11\n", "\n10\n", "`)` expected"),
        ("owner", "\n11\n", "\n12\n", "a label from 0"),
        ("owner", "\n11\n", "\n-11\n", "-11"),
        (
            "points",
            "(0.0 0.0 0.0)",
            "(one 0.0 0.0)",
            "a number expected, `one` found",
        ),
        ("faces", "4(1 4 10 7)", "4(1 4 10)", "a label"),
        (
            "boundary",
            "nFaces",
            "nfaces",
            "patch ends lacks startFace or nFaces",
        ),
        (
            "owner",
            "FoamFile",
            "Foam",
            "`FoamFile` expected, `Foam` found",
        ),
        ("owner", "ascii", "xml", "format `xml` is not known"),
    ];
    for (name, from, to, expected) in cases {
        let error = broken(ascii, name, replaced(from, to)).to_string();
        assert!(
            error.contains(expected) && error.contains(name),
            "{expected:?} in {error}"
        );
    }
    let error = broken(ascii, "faces", replaced("4(1 4 10 7)", "4(1 4 10 77)"));
    assert!(matches!(error, MeshFileError::Invalid { .. }), "{error:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let error = PolyMesh::read(Path::new(folder.path()))
        .expect_err("no mesh")
        .to_string();
    assert!(error.ends_with("points does not exist"), "{error}");
}

#[test]
fn truncated_files_are_refused_wherever_they_end() {
    for format in FORMATS {
        for name in ["points", "faces", "owner", "neighbour", "boundary"] {
            for keep in 0..5 {
                let error = broken(format, name, |mut bytes| {
                    bytes.truncate(bytes.len() * keep / 5);
                    bytes
                });
                let is_expected = matches!(
                    error,
                    MeshFileError::Syntax { .. } | MeshFileError::Invalid { .. }
                );
                assert!(is_expected, "{name} {keep}/5: {error:?}");
            }
        }
    }
}

#[test]
fn truncated_and_damaged_compressed_files_are_refused() {
    let pack = |bytes: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).expect("packed");
        out.finish().expect("packed")
    };
    for name in ["points", "faces", "owner", "neighbour", "boundary"] {
        for keep in 0..6 {
            let folder = tempfile::tempdir().expect("a folder");
            two()
                .write(folder.path(), PolyMeshFormat::Binary)
                .expect("written");
            let path = folder.path().join(name);
            let mut packed = pack(&fs::read(&path).expect("a file"));
            match keep {
                5 => *packed.last_mut().expect("bytes") ^= 1,
                _ => packed.truncate(packed.len() * keep / 5),
            }
            fs::write(path.with_extension("gz"), packed).expect("written");
            fs::remove_file(path).expect("removed");
            let error = PolyMesh::read(folder.path()).expect_err("a damaged file");
            let text = error.to_string();
            assert!(
                text.contains(&format!("{name}.gz")),
                "{name} {keep}: {text}"
            );
        }
    }
}

#[test]
fn fields_may_take_the_entries_of_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("U");
    let text = "FoamFile { version 2.0; format ascii; class volVectorField; object U; }\n\
                dimensions [0 1 -1 0 0 0 0];\ninternalField uniform (0 0 1);\nboundaryField\n{\n\
                floor { type noSlip; }\n    bodies\n    {\n        $floor\n    }\n    lid { $floor; value $internalField; }\n}\n";
    fs::write(&path, text).expect("written");
    let field = FoamField::read(&path).expect("read").expect("a field");
    let of = |name: &str| {
        let patch = field.patches.iter().find(|patch| patch.0 == name);
        patch
            .expect("a patch")
            .1
            .iter()
            .map(|entry| entry.0.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("bodies"), ["$floor"]);
    assert_eq!(of("lid"), ["$floor", "value"]);
    let mut out = Vec::new();
    field.write("U", "0", &mut out).expect("written");
    fs::write(&path, &out).expect("written");
    assert_eq!(
        FoamField::read(&path).expect("read"),
        Some(field),
        "the same again"
    );
}
