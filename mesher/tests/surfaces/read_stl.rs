//! STL in all its spellings: what is read, what is refused, and in which words.

use std::io::Cursor;
use std::path::Path;

use cutlink_mesher::read::{AnySurface, FilePlace, Format, Loaded, ReadError, parse_any};

fn parse(bytes: &[u8]) -> Result<Loaded<3>, ReadError> {
    match parse_any(Path::new("test.stl"), bytes)? {
        AnySurface::D3(loaded) => Ok(loaded),
        AnySurface::D2(_) => panic!("an STL should not be read as a polyline"),
    }
}

fn read(text: &str) -> Loaded<3> {
    parse(text.as_bytes()).expect("the text should be readable")
}

fn message(bytes: &[u8]) -> String {
    parse(bytes)
        .expect_err("the bytes should be refused")
        .to_string()
}

const FACET: &str =
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";

fn binary(header: &str, count: u32, triangles: usize) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes[..header.len()].copy_from_slice(header.as_bytes());
    bytes.extend(count.to_le_bytes());
    for k in 0..triangles {
        bytes.extend([0; 12]);
        let x = k as f32;
        let corners = [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, -0.0]];
        bytes.extend(corners.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn all_solids_are_kept_where_stl_io_keeps_the_first() {
    let text = format!(
        "solid a\n{FACET}endsolid a\nsolid b\n{FACET}{FACET}endsolid b\nsolid a\n{FACET}endsolid a\n"
    );
    let loaded = read(&text);
    assert_eq!(loaded.surface.facets.len(), 4);
    assert_eq!(loaded.surface.patches, ["a", "b"]);
    assert_eq!(loaded.surface.facet_patch, [0, 1, 1, 0]);
    assert_eq!(loaded.surface.vertices.len(), 3);
    assert!(loaded.report.notes.is_empty(), "{:?}", loaded.report.notes);
    let theirs =
        stl_io::read_stl(&mut Cursor::new(text.into_bytes())).expect("stl_io should read it");
    assert_eq!(
        theirs.faces.len(),
        1,
        "stl_io keeps the first solid: if not, decision 001 can be revised"
    );
}

#[test]
fn names_follow_the_documented_rule() {
    let text = format!(
        "solid\n{FACET}endsolid\nsolid  left  wing \r\n{FACET}endsolid\nsolid\n{FACET}endsolid\nsolid empty\nendsolid\n"
    );
    let loaded = read(&text);
    assert_eq!(loaded.surface.patches, ["solid", "left  wing", "solid_2"]);
    assert_eq!(loaded.surface.facet_patch, [0, 1, 2]);
    assert_eq!(loaded.report.notes, ["dropped 1 solid without facets"]);
}

#[test]
fn spelling_and_white_space_do_not_matter() {
    let plain = read(&format!("solid a\n{FACET}endsolid a\n"));
    let variants = [
        format!("SOLID a\n{}ENDSOLID a\n", FACET.to_uppercase()),
        format!("solid a\n{FACET}endsolid a\n").replace('\n', "\r\n"),
        format!("solid a\n{FACET}endsolid a\n").replace('\n', "\r"),
        format!("\n \t\n  solid a\n{FACET}endsolid a\n"),
        format!("\u{feff}solid a\n{FACET}endsolid a\n"),
        format!(
            "solid a\n{}endsolid a\n",
            FACET
                .replace('\n', "\n\n\t  ")
                .replace("outer loop", "outer\nloop")
        ),
        format!("solid a\n{FACET}end solid a\n")
            .replace("endloop", "end loop")
            .replace("endfacet", "end facet"),
        format!(
            "solid a\n{}endsolid a\n",
            FACET.replace(" normal 0 0 1", "")
        ),
        format!(
            "solid a\n{}endsolid a\n",
            FACET.replace("0 0 1\n", "nan -nan(ind) 1.#QNAN\n")
        ),
        format!("solid a {} endsolid a", FACET.replace('\n', " ")),
        format!("solid a\n{FACET}endsolid a\n\0\0\0"),
        format!("solid a\n{FACET}"),
    ];
    for variant in &variants {
        assert_eq!(read(variant).surface, plain.surface, "{variant:?}");
    }
    assert!(read(&variants[11]).report.notes[0].contains("truncated"));
    let orphan = read(FACET);
    assert_eq!(orphan.surface.facets, plain.surface.facets);
    assert!(orphan.report.notes[0].contains("outside any solid"));
    let unended = read(&format!("solid a\n{FACET}solid b\n{FACET}endsolid b\n"));
    assert_eq!(unended.surface.facet_patch, [0, 1]);
    assert!(unended.report.notes[0].contains("endsolid"));
}

#[test]
fn ascii_faults_name_the_line() {
    let cases = [
        (
            FACET.replace("vertex 1 0 0", "vertex 1 0"),
            "line 6: expected a number, found 'vertex'",
        ),
        (
            FACET.replace("vertex 1 0 0", "vertex 1 0,5 0"),
            "line 5: expected a number, found '0,5'",
        ),
        (
            FACET.replace("vertex 1 0 0", "vertex 1 nan 0"),
            "line 5: coordinate NaN is not finite",
        ),
        (
            FACET.replace("vertex 1 0 0", "vertex 1 -1e999 0"),
            "line 5: coordinate -inf is not finite",
        ),
        (
            FACET.replace("vertex 1 0 0\n", ""),
            "line 6: expected vertex, found 'endloop'",
        ),
        (
            FACET.replace("endloop", "vertex 1 1 1\nendloop"),
            "line 7: expected endloop, found 'vertex'",
        ),
        (
            FACET.replace("outer loop\n", ""),
            "line 3: expected 'outer loop', found 'vertex'",
        ),
        (
            FACET.replace("endfacet\n", "").repeat(2),
            "line 8: expected endfacet, found 'facet'",
        ),
        (
            FACET.replace("facet normal", "facett normal"),
            "line 2: expected 'facet', 'solid' or 'endsolid', found 'facett'",
        ),
    ];
    for (facet, expected) in cases {
        for (ending, lines) in [("\n", ""), ("\r\n", ""), ("\r", "")] {
            let text = format!("solid a\n{facet}endsolid a\n").replace('\n', ending);
            let found = message(text.as_bytes());
            assert!(
                found.contains(expected) && lines.is_empty(),
                "{found}\nis not\n{expected}"
            );
        }
    }
    let whole = format!("solid a\n{FACET}endsolid a\n");
    let inside = 8..whole.len() - "endfacet\nendsolid a\n".len();
    for cut in inside.skip(1) {
        assert!(parse(&whole.as_bytes()[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn binary_is_known_by_length_whatever_its_header() {
    for triangles in [1, 10, 13, 32, 2570] {
        for header in ["", "solid", "solid a\n facet normal", "ply\n", "\u{1f}"] {
            let loaded = parse(&binary(header, triangles as u32, triangles));
            if header == "ply\n" {
                assert!(loaded.is_err(), "a PLY header that never ends is no STL");
                continue;
            }
            let loaded = loaded.expect("the length should decide");
            assert_eq!(loaded.report.format, Format::StlBinary);
            assert_eq!(loaded.surface.facets.len(), triangles);
            assert_eq!(loaded.surface.patches, ["body"]);
        }
    }
}

#[test]
fn binary_counts_are_checked_against_the_size() {
    let loaded = parse(&[binary("", 2, 2), vec![7; 33]].concat())
        .expect("trailing bytes should be forgiven");
    assert_eq!(loaded.surface.facets.len(), 2);
    assert_eq!(
        loaded.report.notes,
        ["ignored 33 bytes after the 2 triangles that the header counts"]
    );
    let solid = parse(&[binary("solid x", 2, 2), vec![b' '; 3]].concat())
        .expect("trailing bytes should be forgiven");
    assert_eq!(solid.surface.facets.len(), 2);

    let found = message(&binary("", u32::MAX, 3));
    assert!(
        found.contains("4294967295 triangles announced, but the file ends at byte 234 after 3"),
        "{found}"
    );
    let whole = binary("solid", 3, 3);
    for cut in 0..whole.len() {
        let error = parse(&whole[..cut]).expect_err("a cut file should be refused");
        assert!(
            cut < 84 || matches!(error, ReadError::Truncated { expected: 3, .. }),
            "cut at {cut}: {error}"
        );
    }
    assert!(matches!(
        parse(&binary("", 0, 0)),
        Err(ReadError::NoFacets { .. })
    ));
    assert!(matches!(parse(b""), Err(ReadError::Empty { .. })));
    assert!(matches!(parse(b" \n\n"), Err(ReadError::Empty { .. })));
    assert!(matches!(
        parse(b"\x89XYZ\r\n\x1a\n\0\0"),
        Err(ReadError::UnknownFormat { .. })
    ));
}

/// A closed cube of edge 1 with one corner at (x, 0, 0), cut into two halves of 6 triangles.
fn cube_halves(x: f32) -> [Vec<u8>; 2] {
    let corner = |k: usize| [x + (k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32];
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles: Vec<_> = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .map(|t| t.map(corner))
        .collect();
    let (first, second) = triangles.split_at(6);
    [first, second].map(|half| {
        let mut bytes = binary("half", half.len() as u32, half.len());
        for (record, corners) in bytes[84..].chunks_exact_mut(50).zip(half) {
            for (to, x) in record[12..48]
                .chunks_exact_mut(4)
                .zip(corners.as_flattened())
            {
                to.copy_from_slice(&x.to_le_bytes());
            }
        }
        bytes
    })
}

#[test]
fn binary_stls_one_behind_the_other_are_patches() {
    let [first, second] = cube_halves(0.0);
    let both = parse(&[&first[..], &second].concat()).expect("two binary STLs");
    assert_eq!(both.surface.patches, ["body", "body_2"]);
    assert_eq!(both.surface.facet_patch, [[0; 6], [1; 6]].concat());
    assert_eq!(both.report.facets_in_file, 12);
    assert_eq!(
        both.report.notes,
        ["2 binary STLs one behind the other: each is a patch"]
    );
    assert_eq!(
        both.surface.vertices.len(),
        8,
        "corners are welded across the STLs"
    );
    let health = cutlink_mesher::health::check(&both.surface);
    assert!(health.closed(), "{health:?}");
    let half = cutlink_mesher::health::check(&parse(&first).expect("an STL").surface);
    assert!(!half.closed(), "{half:?}");

    let three = [
        &binary("", 1, 1)[..],
        &binary("solid", 3, 3),
        &binary("", 2, 2),
    ]
    .concat();
    let three = parse(&three).expect("three binary STLs").surface;
    assert_eq!(three.patches, ["body", "body_2", "body_3"]);
    assert_eq!(three.facet_patch, [0, 1, 1, 1, 2, 2]);
}

#[test]
fn bytes_behind_a_binary_stl_that_are_no_whole_stl_are_noted() {
    let (first, second) = (binary("", 2, 2), binary("", 3, 3));
    let mut tails = vec![vec![0; 84], vec![0; 134], [&second[..], b"x"].concat()];
    tails.extend([1, 83, 84, 134, 233].map(|len| second[..len].to_vec()));
    for tail in tails {
        let read = parse(&[&first[..], &tail].concat()).expect("the first STL is whole");
        assert_eq!(read.surface.facets.len(), 2, "{} bytes behind", tail.len());
        assert_eq!(read.surface.patches, ["body"]);
        let note = format!("ignored {} byte", tail.len());
        assert!(
            read.report.notes[0].starts_with(&note),
            "{:?}",
            read.report.notes
        );
    }
    let mut bytes = [&first[..], &second].concat();
    bytes[first.len() + 84 + 50 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let found = message(&bytes);
    let place = format!(
        "triangle 1 of STL 1 (byte {}): coordinate NaN",
        first.len() + 134
    );
    assert!(found.contains(&place), "{found}");
}

#[test]
fn binary_values_that_are_not_finite_are_named() {
    for (value, text) in [
        (f32::NAN, "NaN"),
        (f32::INFINITY, "inf"),
        (f32::NEG_INFINITY, "-inf"),
    ] {
        let mut bytes = binary("", 5, 5);
        bytes[84 + 50 * 3 + 12 + 8..][..4].copy_from_slice(&value.to_le_bytes());
        let error = parse(&bytes).expect_err("the value should be refused");
        assert!(
            matches!(
                error,
                ReadError::NotFinite {
                    place: FilePlace::Triangle(3),
                    ..
                }
            ),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains(&format!("triangle 3 (byte 234): coordinate {text}")),
            "{error}"
        );
    }
    let mut bytes = binary("", 5, 5);
    bytes[84..88].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(parse(&bytes).is_ok(), "normals are ignored");
}

#[test]
fn minus_zero_is_zero_and_far_text_keeps_its_digits() {
    let mut bytes = binary("", 2, 1);
    bytes.extend([0; 12]);
    let corners = [[-0.0f32, -0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1e-45]];
    bytes.extend(corners.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
    bytes.extend([0; 2]);
    let surface = parse(&bytes).expect("the bytes should be sound").surface;
    assert_eq!(surface.facets, [[0, 1, 2], [0, 2, 3]]);
    assert!(surface.vertices[0].iter().all(|x| x.is_sign_positive()));
    assert_eq!(
        surface.vertices[3][2],
        f64::from(1e-45f32),
        "subnormal numbers are kept"
    );

    let far = read(&format!(
        "solid utm\n{}endsolid\n",
        FACET.replace("vertex 1 0 0", "vertex 5412345.0625 651234.125 0")
    ));
    assert_eq!(far.surface.vertices[1], [5_412_345.062_5, 651_234.125, 0.0]);
}

#[test]
fn a_long_text_is_cut_without_losing_a_facet() {
    // Several pieces, with the cut word in names and comments' places, in both cases.
    for upper in [false, true] {
        let mut text = String::new();
        for k in 0..300 {
            text.push_str(
                &format!(
                    "solid part{}\nendfacet in a name is on a line of its own never\n",
                    k % 7
                )
                .replace("\nendfacet", " endfacet"),
            );
            for i in 0..120 {
                text.push_str(&FACET.replace("vertex 1 0 0", &format!("vertex {i} {k} 0.5")));
            }
            text.push_str("endsolid\n");
        }
        let text = if upper { text.to_uppercase() } else { text };
        let loaded = read(&text);
        assert!(text.len() > 1 << 21, "several pieces should be had");
        assert_eq!(loaded.surface.facets.len(), 300 * 120);
        assert_eq!(loaded.surface.patches.len(), 7);
        for f in 0..300 * 120 {
            assert_eq!(usize::from(loaded.surface.patch_of(f)), f / 120 % 7);
            assert_eq!(
                loaded.surface.corners(f)[1],
                [(f % 120) as f64, (f / 120) as f64, 0.5]
            );
        }
        let at = text.len() - 500;
        let broken = [&text[..at], "\n?\n", &text[at..]].concat();
        let line = text[..at].bytes().filter(|&b| b == b'\n').count() + 2;
        assert!(
            message(broken.as_bytes()).contains(&format!("line {line}")),
            "{}",
            message(broken.as_bytes())
        );
    }
}

#[test]
fn a_far_away_body_in_f32_is_noted() {
    let shifted = |by: f32| {
        let mut bytes = binary("", 3, 3);
        for k in 0..27 {
            let at = 84 + 50 * (k / 9) + 12 + 4 * (k % 9);
            let x = f32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) + by;
            bytes[at..at + 4].copy_from_slice(&x.to_le_bytes());
        }
        parse(&bytes)
            .expect("the bytes should be sound")
            .report
            .notes
    };
    assert_eq!(shifted(1000.0), [""; 0]);
    let notes = shifted(5_412_345.0);
    assert!(
        notes.len() == 1 && notes[0].contains("5.412348e6 away from the origin"),
        "{notes:?}"
    );
}
