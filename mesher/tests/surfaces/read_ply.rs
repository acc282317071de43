//! PLY in all its layouts: the fast route, the general one, and what is refused.

use std::path::Path;

use cutlink_mesher::read::{AnySurface, Format, Loaded, ReadError, parse_any};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

fn parse(bytes: &[u8]) -> Result<Loaded<3>, ReadError> {
    match parse_any(Path::new("test.ply"), bytes)? {
        AnySurface::D3(loaded) => Ok(loaded),
        AnySurface::D2(_) => panic!("a PLY should not be read as a polyline"),
    }
}

fn read(bytes: &[u8]) -> Loaded<3> {
    parse(bytes).expect("the bytes should be readable")
}

fn message(bytes: &[u8]) -> String {
    parse(bytes)
        .expect_err("the bytes should be refused")
        .to_string()
}

const SQUARE: &str = "ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
    element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0.1\n3 0 1 2\n3 0 2 3\n";

/// One value of a row.
#[derive(Clone, Copy)]
enum V {
    U8(u8),
    I16(i16),
    I32(i32),
    F32(f32),
    F64(f64),
}

/// Writes rows in one of the three encodings, independently of the readers.
fn body(format: &str, rows: &[Vec<V>]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        if format == "ascii" {
            let words: Vec<String> = row
                .iter()
                .map(|v| match v {
                    V::U8(v) => v.to_string(),
                    V::I16(v) => v.to_string(),
                    V::I32(v) => v.to_string(),
                    V::F32(v) => v.to_string(),
                    V::F64(v) => v.to_string(),
                })
                .collect();
            out.extend(words.join(" ").bytes().chain([b'\n']));
            continue;
        }
        for value in row {
            let mut bytes = match value {
                V::U8(v) => v.to_le_bytes().to_vec(),
                V::I16(v) => v.to_le_bytes().to_vec(),
                V::I32(v) => v.to_le_bytes().to_vec(),
                V::F32(v) => v.to_le_bytes().to_vec(),
                V::F64(v) => v.to_le_bytes().to_vec(),
            };
            if format == "binary_big_endian" {
                bytes.reverse();
            }
            out.extend(bytes);
        }
    }
    out
}

const FORMATS: [(&str, Format); 3] = [
    ("ascii", Format::PlyAscii),
    ("binary_little_endian", Format::PlyBinaryLe),
    ("binary_big_endian", Format::PlyBinaryBe),
];

fn file(format: &str, elements: &str, rows: &[Vec<V>]) -> Vec<u8> {
    let header = format!("ply\nformat {format} 1.0\n{elements}end_header\n");
    [header.into_bytes(), body(format, rows)].concat()
}

#[test]
fn header_spelling_does_not_matter() {
    let plain = read(SQUARE.as_bytes());
    assert_eq!(
        plain.surface.vertices[3],
        [0.0, 1.0, 0.1],
        "text keeps its digits"
    );
    assert_eq!(plain.surface.facets, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(plain.surface.patches, ["body"]);
    for variant in [
        SQUARE.replace('\n', "\r\n"),
        SQUARE.replace('\n', "\r"),
        SQUARE.replacen("ply", "PLY", 1),
        SQUARE.replace(
            "comment a square",
            "obj_info x y\ncomment\n\ncomment element face 7",
        ),
        SQUARE.replace("vertex_indices", "vertex_index"),
        SQUARE
            .replace("float", "float64")
            .replace("uchar int", "uint8 uint32"),
        SQUARE.replace("element face", "element empty 3\nelement face"),
        SQUARE.replace("0 1 0.1\n", "0 1 0.1\n\n  \n"),
        SQUARE.trim_end().to_string(),
        SQUARE
            .replace(
                "property float z\n",
                "property float z\nproperty float quality\n",
            )
            .replace("0 0 0\n", "0 0 0 nan\n")
            .replace("1 0 0\n", "1 0 0 -inf\n")
            .replace("1 1 0\n", "1 1 0 5\n")
            .replace("0 1 0.1\n", "0 1 0.1 1e-4\n"),
    ] {
        assert_eq!(
            read(variant.as_bytes()).surface,
            plain.surface,
            "{variant:?}"
        );
    }
    let extra = read(format!("{SQUARE}what is this\n").as_bytes());
    assert_eq!(extra.surface, plain.surface);
    assert_eq!(
        extra.report.notes,
        ["ignored 13 bytes after the last element"]
    );
}

#[test]
fn any_order_and_type_of_properties_and_extra_elements() {
    let elements = "element camera 1\nproperty list uchar double pose\nproperty short id\nelement face 2\nproperty uchar flags\n\
        property list uchar int vertex_indices\nproperty double quality\nelement vertex 4\nproperty short z\nproperty uchar red\nproperty double y\nproperty float x\nelement tail 1\nproperty int n\n";
    let rows = [
        vec![V::U8(2), V::F64(1.5), V::F64(2.5), V::I16(7)],
        vec![
            V::U8(9),
            V::U8(3),
            V::I32(0),
            V::I32(1),
            V::I32(2),
            V::F64(0.5),
        ],
        vec![
            V::U8(9),
            V::U8(3),
            V::I32(0),
            V::I32(2),
            V::I32(3),
            V::F64(0.5),
        ],
        vec![V::I16(-3), V::U8(1), V::F64(0.25), V::F32(0.5)],
        vec![V::I16(-2), V::U8(1), V::F64(1e-9), V::F32(1.5)],
        vec![V::I16(5), V::U8(1), V::F64(1e39), V::F32(2.5)],
        vec![V::I16(6), V::U8(1), V::F64(-0.125), V::F32(3.5)],
        vec![V::I32(1)],
    ];
    let without_camera = elements.replace(
        "element camera 1\nproperty list uchar double pose\nproperty short id\n",
        "",
    );
    for (name, format) in FORMATS {
        // With the list in front the general route reads it, without it the fast one.
        for (elements, rows) in [(elements, &rows[..]), (&without_camera, &rows[1..])] {
            let loaded = read(&file(name, elements, rows));
            assert_eq!(loaded.report.format, format);
            assert_eq!(loaded.surface.facets, [[0, 1, 2], [0, 2, 3]]);
            assert_eq!(
                loaded.surface.vertices,
                [
                    [0.5, 0.25, -3.0],
                    [1.5, 1e-9, -2.0],
                    [2.5, 1e39, 5.0],
                    [3.5, -0.125, 6.0]
                ]
            );
            assert!(loaded.report.notes.is_empty(), "{:?}", loaded.report.notes);
        }
    }
}

#[test]
fn polygons_are_fans_and_strips_alternate() {
    let vertices = "element vertex 6\nproperty float x\nproperty float y\nproperty float z\n";
    let points: Vec<Vec<V>> = (0..6)
        .map(|k| vec![V::F32(k as f32), V::F32(0.0), V::F32(0.0)])
        .collect();
    let list = |items: &[i32]| {
        [
            vec![V::U8(items.len() as u8)],
            items.iter().map(|&v| V::I32(v)).collect(),
        ]
        .concat()
    };
    for (name, _) in FORMATS {
        let polygons =
            format!("{vertices}element face 2\nproperty list uchar int vertex_indices\n");
        let rows = [
            points.clone(),
            vec![list(&[0, 1, 2, 3, 4]), list(&[5, 4, 3])],
        ]
        .concat();
        let loaded = read(&file(name, &polygons, &rows));
        assert_eq!(
            loaded.surface.facets,
            [[0, 1, 2], [0, 2, 3], [0, 3, 4], [5, 4, 3]]
        );
        assert_eq!(loaded.report.facets_in_file, 2);

        let strips =
            format!("{vertices}element tristrips 1\nproperty list uchar int vertex_indices\n");
        let rows = [points.clone(), vec![list(&[0, 1, 2, 3, -1, 2, 3, 3, 4, 5])]].concat();
        let loaded = read(&file(name, &strips, &rows));
        assert_eq!(loaded.surface.facets, [[0, 1, 2], [2, 1, 3], [3, 4, 5]]);
        assert_eq!(
            loaded.report.notes,
            ["2 strip triangles that repeat a vertex were dropped"]
        );

        for (indices, expected) in [
            (&[0, 1][..], "at least three"),
            (&[0, 1, 6], "index 6 is out of range"),
            (&[0, -1, 2], "index -1 is out of range"),
        ] {
            let rows = [points.clone(), vec![list(indices), list(&[0, 1, 2])]].concat();
            let found = message(&file(name, &polygons, &rows));
            assert!(found.contains(expected), "{name}: {found}");
            let place = if name == "ascii" { "line 16" } else { "face 0" };
            assert!(found.contains(place), "{name}: {found}");
        }
    }
}

#[test]
fn face_properties_become_patches() {
    let vertices = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
    let points: Vec<Vec<V>> = (0..3)
        .map(|k| vec![V::F32(k as f32), V::F32(0.0), V::F32(0.0)])
        .collect();
    let face = [V::U8(3), V::I32(0), V::I32(1), V::I32(2)];
    // The second list keeps the file from the fast route; one value of it is enough.
    for extra in [false, true] {
        let list = if extra {
            "property list uchar uchar more\n"
        } else {
            ""
        };
        let more = if extra {
            vec![V::U8(1), V::U8(7)]
        } else {
            vec![]
        };
        let rows = |values: Vec<Vec<V>>| -> Vec<Vec<V>> {
            let faces = values.into_iter().map(|v| [&face[..], &v, &more].concat());
            points.iter().cloned().chain(faces).collect()
        };
        for (name, _) in FORMATS {
            let header = |properties: &str, count| {
                format!(
                    "{vertices}element face {count}\nproperty list uchar int vertex_indices\n{properties}{list}"
                )
            };
            let component = rows([-3, 5, -3].map(|c| vec![V::I16(c)]).to_vec());
            let loaded = read(&file(
                name,
                &header("property short component\n", 3),
                &component,
            ));
            assert_eq!(loaded.surface.patches, ["component_-3", "component_5"]);
            assert_eq!(loaded.surface.facet_patch, [0, 1, 0]);

            let bytes = rows(vec![
                vec![V::U8(255), V::U8(0), V::U8(7)],
                vec![V::U8(0), V::U8(1), V::U8(2)],
            ]);
            let loaded = read(&file(
                name,
                &header(
                    "property uchar red\nproperty uchar green\nproperty uchar blue\n",
                    2,
                ),
                &bytes,
            ));
            assert_eq!(loaded.surface.patches, ["rgb(255,0,7)", "rgb(0,1,2)"]);
            assert_eq!(loaded.surface.facet_patch, [0, 1]);

            let reals = rows(vec![vec![V::F32(1.0), V::F32(0.0), V::F32(0.2)]]);
            let loaded = read(&file(
                name,
                &header(
                    "property float red\nproperty float green\nproperty float blue\n",
                    1,
                ),
                &reals,
            ));
            assert_eq!(loaded.surface.patches, ["rgb(255,0,51)"]);
            assert_eq!(loaded.surface.facet_patch, [0u16; 0]);

            let many = rows(
                (0..257)
                    .map(|k| vec![V::U8(k as u8), V::U8((k >> 8) as u8), V::U8(0)])
                    .collect(),
            );
            let loaded = read(&file(
                name,
                &header(
                    "property uchar red\nproperty uchar green\nproperty uchar blue\n",
                    257,
                ),
                &many,
            ));
            assert_eq!(loaded.surface.patches, ["body"]);
            assert_eq!(
                loaded.report.notes,
                ["more than 256 face colours: all facets were put into one patch"]
            );
        }
    }
}

#[test]
fn faults_name_the_place() {
    for (from, to, expected) in [
        ("format ascii 1.0\n", "", "a format line in the header"),
        ("format ascii", "format text", "line 2: expected 'ascii'"),
        ("property float z\n", "", "scalar property 'z'"),
        (
            "property float z",
            "property float y",
            "line 7: expected a property not named before",
        ),
        (
            "element face",
            "element vertex",
            "line 8: expected an element not named before",
        ),
        (
            "list uchar int",
            "list float int",
            "line 9: expected a property's type",
        ),
        (
            "element vertex 4",
            "element vertex four",
            "line 4: expected a count of rows",
        ),
        (
            "element vertex 4",
            "element vertex 4000000000",
            "4000000000 rows of element 'vertex' announced",
        ),
        (
            "element face 2",
            "element face 3",
            "row 2 of the 3 of element 'face' with its 1 properties, found ''",
        ),
        (
            "element vertex 4",
            "element vertex 5",
            "line 15: expected row 4 of the 5 of element 'vertex' with its 3 properties, found 1 more numbers",
        ),
        ("end_header\n", "", "line 10: expected a PLY header line"),
        (
            "1 1 0\n",
            "1 1 nan\n",
            "vertex 2: coordinate inf is not finite",
        ),
        (
            "1 1 0\n",
            "1 1\n",
            "line 13: expected row 2 of the 4 of element 'vertex'",
        ),
        (
            "1 1 0\n",
            "1 1 0 5\n",
            "line 13: expected row 2 of the 4 of element 'vertex' with its 3 properties, found 1 more numbers",
        ),
        (
            "3 0 2 3",
            "3 0 2 4",
            "line 16: vertex index 4 is out of range",
        ),
        (
            "3 0 2 3",
            "3 0 2 -1",
            "line 16: vertex index -1 is out of range",
        ),
        ("element face 2\n", "element surface 2\n", "point cloud"),
        (
            "list uchar int vertex_indices",
            "int vertex_indices",
            "point cloud",
        ),
    ] {
        assert!(SQUARE.contains(from), "{from}");
        let found = message(SQUARE.replacen(from, to, 1).as_bytes());
        assert!(found.contains(expected), "{found}\nis not\n{expected}");
    }
}

#[test]
fn ply_rs_bw_reads_the_same_scalars() {
    let elements = "element vertex 40\nproperty float x\nproperty float y\nproperty float z\nelement face 50\nproperty list uchar int vertex_indices\n";
    let wave = |k: i32, m: i32| (k * 7919 % m) as f32 * 0.37 - 3.0;
    let mut rows: Vec<Vec<V>> = (0..40)
        .map(|k| {
            vec![
                V::F32(wave(k, 101)),
                V::F32(wave(k, 83)),
                V::F32(wave(k, 61)),
            ]
        })
        .collect();
    rows.extend((0..50).map(|k| {
        vec![
            V::U8(3),
            V::I32(k % 40),
            V::I32((k + 1) % 40),
            V::I32(k * 3 % 40),
        ]
    }));
    for (name, _) in FORMATS {
        let bytes = file(name, elements, &rows);
        let loaded = read(&bytes);
        let theirs = Parser::<DefaultElement>::new()
            .read_ply(&mut &bytes[..])
            .expect("ply-rs-bw should read it");
        let axis = |v: &DefaultElement, axis: &str| match v[axis] {
            Property::Float(x) => x,
            _ => f32::NAN,
        };
        let vertices: Vec<[f32; 3]> = theirs.payload["vertex"]
            .iter()
            .map(|v| ["x", "y", "z"].map(|a| axis(v, a)))
            .collect();
        let ours: Vec<[f32; 3]> = loaded
            .surface
            .vertices
            .iter()
            .map(|p| p.map(|x| x as f32))
            .collect();
        assert_eq!(ours, vertices);
        let facets: Vec<Vec<u32>> = theirs.payload["face"]
            .iter()
            .map(|f| f["vertex_indices"].to_u32_list().unwrap_or_default())
            .collect();
        let ours: Vec<Vec<u32>> = loaded.surface.facets.iter().map(|f| f.to_vec()).collect();
        assert_eq!(ours, facets);
    }
}
