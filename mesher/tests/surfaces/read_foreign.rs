//! Files of formats that are not read are named, with the way out.

use std::path::Path;

use cutlink_mesher::read::{AnySurface, Format, ReadError, parse_any};

fn refused(bytes: &[u8]) -> ReadError {
    parse_any(Path::new("some.file"), bytes).expect_err("a format that is not read")
}

/// Bytes without a pattern: xorshift64.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(len).collect()
}

const ASCII: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                     endloop\nendfacet\nendsolid a\n";

#[test]
fn binary_formats_are_named() {
    let zip = |name: &[u8]| [&b"PK\x03\x04\x14\0\0\0\x08\0"[..], &[0; 20], name].concat();
    let cases: [(Vec<u8>, &str, &str); 13] = [
        (
            zip(b"part.stl"),
            "a zip archive without a 3MF model",
            "unpack it",
        ),
        (b"\xff\xfe\0\0s\0\0\0o\0\0\0".into(), "UTF-32 text", "UTF-8"),
        (b"CDF\x02\0\0\0\0".into(), "a NetCDF file", "meshio"),
        (
            b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".into(),
            "a PDF document",
            "is required",
        ),
        (b"\xfd7zXZ\0\0\x04".into(), "an xz archive", "unpack it"),
        (b"BZh91AY&SY".into(), "a bzip2 archive", "unpack it"),
        (
            b"\x28\xb5\x2f\xfd\x04".into(),
            "a Zstandard archive",
            "unpack it",
        ),
        (
            b"7z\xbc\xaf\x27\x1c\0\x04".into(),
            "a 7z archive",
            "unpack it",
        ),
        (
            b"Kaydara FBX Binary  \0\x1a\0".into(),
            "an FBX file",
            "assimp",
        ),
        (b"BLENDER-v300\0\x01".into(), "a Blender file", "MeshLab"),
        (b"\x89HDF\r\n\x1a\n\0".into(), "an HDF5 file", "meshio"),
        (
            b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"cutlink-mesh\"},\"coord\"".into(),
            "a cutlink mesh file, not a surface",
            "`cutlink inspect` reads it",
        ),
        (
            b"\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"
                .into(),
            "a safetensors file",
            "is required",
        ),
    ];
    for (start, what, remedy) in cases {
        // As short as it is, and with what follows in real files.
        for bytes in [start.clone(), [&start[..], &noise(3000)].concat()] {
            let error = refused(&bytes);
            assert!(
                matches!(error, ReadError::Foreign { .. }),
                "{what}: {error}"
            );
            let text = error.to_string();
            assert!(
                text.contains(&format!("some.file is {what}: ")) && text.contains(remedy),
                "{text}"
            );
        }
    }
}

#[test]
fn text_formats_are_named() {
    let iges = |first: &str| format!("{first:<72}S      1\n");
    let cases = [
        ("ISO-10303-21;\nHEADER;\n".into(), "a STEP file"),
        (iges("exported by a program"), "an IGES file"),
        (
            "<?xml version=\"1.0\"?>\n<model unit=\"millimeter\">\n".into(),
            "the model of a 3MF file",
        ),
        ("<?xml version=\"1.0\"?>\n<gpx>\n".into(), "an XML file"),
        ("<?xml version=\"1.0\"?>\n<svg>\n".into(), "an SVG picture"),
        ("<!doctype html><title>404</title>".into(), "a web page"),
        ("$MeshFormat\n4.1 0 8\n".into(), "a Gmsh mesh"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n".into(),
            "a Git LFS pointer",
        ),
    ];
    for (text, what) in cases as [(String, &str); 8] {
        for text in [
            text.clone(),
            text.replace('\n', "\r\n"),
            format!("\u{feff}{text}"),
        ] {
            let error = refused(text.as_bytes());
            assert!(
                matches!(error, ReadError::Foreign { .. }),
                "{what}: {error}"
            );
            assert!(error.to_string().contains(&format!("is {what}")), "{error}");
        }
    }
}

#[test]
fn utf_16_is_named_and_a_utf_8_mark_is_skipped() {
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
               element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    for text in [ASCII, ply] {
        let units = || text.encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            [b"\xff\xfe", &little[..]].concat(),
            little,
            [b"\xfe\xff", &big[..]].concat(),
        ] {
            let found = refused(&bytes).to_string();
            assert!(
                found.contains("is UTF-16 text: save it as UTF-8"),
                "{found}"
            );
        }
        let marked = format!("\u{feff}{text}");
        let Ok(AnySurface::D3(loaded)) = parse_any(Path::new("some.file"), marked.as_bytes())
        else {
            panic!("text behind a UTF-8 byte order mark is read");
        };
        assert_eq!(loaded.surface.facets, [[0, 1, 2]]);
    }
}

#[test]
fn unknown_bytes_are_no_binary_stl() {
    let noise = noise(5000);
    for len in [1, 83, 84, 133, 134, 5000] {
        let error = refused(&noise[..len]);
        let unknown = matches!(error, ReadError::UnknownFormat { .. });
        assert!(unknown, "{len} bytes: {error}");
    }
}

#[test]
fn a_text_conversion_is_named_though_the_numbers_are_lost() {
    let mut bytes = vec![b' '; 80];
    bytes.extend([1, 0, 0, 0]);
    bytes.extend(b"\xef\xbf\xbd\x7f".repeat(100));
    let error = refused(&bytes);
    assert!(matches!(error, ReadError::Mangled { .. }), "{error}");
}

#[test]
fn an_ascii_stl_may_have_control_characters_in_a_name() {
    for name in ["solid a\x1b[0m", "solid a\0b"] {
        let text = ASCII.replacen("solid a", name, 1);
        let Ok(AnySurface::D3(loaded)) = parse_any(Path::new("some.file"), text.as_bytes()) else {
            panic!("{name:?} is a solid's name");
        };
        assert_eq!(loaded.report.format, Format::StlAscii);
        assert_eq!(loaded.surface.facets, [[0, 1, 2]]);
    }
}

/// What no table of formats may take away: polylines whose names look like other formats.
#[test]
fn polylines_stay_polylines() {
    let points = "0 0\n1 0\n1 1\n";
    for name in [
        "OFF",
        "o wing",
        "v 1",
        "g 12 airfoil",
        "# vtk",
        "f 1 2 3",
        "NACA 0012",
        "STEP",
        "S",
    ] {
        let text = format!("{name}\n{points}");
        let read = parse_any(Path::new("some.file"), text.as_bytes());
        assert!(matches!(read, Ok(AnySurface::D2(_))), "{name}: {read:?}");
    }
}
