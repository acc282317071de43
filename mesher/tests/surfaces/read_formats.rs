//! OBJ, OFF, 3MF, glTF and VTK: files that are made here, by hand or byte by byte, read back.

use crate::worst;
use std::path::Path;

use cutlink_mesher::Surface;
use cutlink_mesher::read::{AnySurface, Loaded, ReadError, parse_any};

use super::formats::{FACETS, POINTS, all, glb, threemf, vtk, vtp, zip};

fn parse(bytes: &[u8]) -> Result<Loaded<3>, ReadError> {
    match parse_any(Path::new("some.file"), bytes)? {
        AnySurface::D3(loaded) => Ok(loaded),
        AnySurface::D2(_) => panic!("a surface is no polyline"),
    }
}

fn read(text: &str) -> Loaded<3> {
    parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The error, which names the file and does not panic.
fn refused(bytes: &[u8], what: &str) {
    let error = parse(bytes).expect_err(what).to_string();
    assert!(
        error.contains("some.file") && error.contains(what),
        "{what}: {error}"
    );
}

fn patch_of_each(surface: &Surface<3>) -> Vec<&str> {
    let facets = 0..surface.facets.len();
    let of = |f| surface.patches[usize::from(surface.patch_of(f))].as_str();
    facets.map(of).collect()
}

#[test]
fn every_format_gives_the_tetrahedron() {
    for (name, bytes, format) in all() {
        let loaded = parse(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(loaded.report.format, format, "{name}");
        let mut surface = loaded.surface;
        surface.weld();
        assert_eq!(surface.vertices, POINTS, "{name}");
        assert_eq!(surface.facets, FACETS, "{name}");
    }
}

#[test]
fn obj_groups_and_materials_are_patches() {
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    let loaded = read(&format!(
        "# a comment\nmtllib a.mtl\no shell\n{points}vt 0 0\nvn 0 0 1\nusemtl steel\nf 1/1/1 3/1/1 2/1/1\n\
         g inlet\nf 1//1 2//1 4//1\nusemtl glass\nf 2/1 3/1 4/1\ns off\ng  shell \nf 3 1 4 # the last\nl 1 2\n"
    ));
    assert_eq!(loaded.surface.facets, FACETS);
    assert_eq!(
        patch_of_each(&loaded.surface),
        ["shell/steel", "inlet/steel", "inlet/glass", "shell/glass"]
    );
    assert_eq!(
        loaded.report.notes,
        ["skipped 1 element of points or lines"]
    );
    let one = read(&format!("{points}usemtl a\nf 1 3 2\nusemtl b\nf 1 2 4\n"));
    assert_eq!(one.surface.patches, ["a", "b"], "materials of one group");
    let plain = read(&format!("{points}f 1 3 2\n"));
    assert_eq!(plain.surface.patches, ["body"]);
}

#[test]
fn obj_lines_are_read_in_all_their_forms() {
    // Negative indices, a continued line, line ends of Windows and of old Macs, a mark, more digits than f32 has.
    let text = "\u{feff}v 0.1234567890123 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\nv 0 1 0\nf -4 -3 \\\n -2 -1\nf 1 2 3\n";
    for text in [
        text.into(),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
    ] {
        let surface = read(&text).surface;
        assert_eq!(surface.vertices[0][0], 0.1234567890123, "f64");
        assert_eq!(
            surface.facets,
            [[0, 1, 2], [0, 2, 3], [0, 1, 2]],
            "{text:?}"
        );
    }
    let late = read("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n");
    assert_eq!(late.surface.facets, [[0, 1, 2]], "vertices behind the face");
    for (text, what) in [
        (
            "v 0 0 0\nv 1 0\n",
            "line 2: expected coordinate z of a vertex, found the end",
        ),
        (
            "v 0 0 0\nv 1 0 x\nf 1 1 1\n",
            "line 2: expected coordinate z of a vertex, found 'x'",
        ),
        ("v 0 0 0\nv 1 0 nan\n", "coordinate NaN is not finite"),
        (
            "v 0 0 0\nv 1 0 0\nf 1 2 3\n",
            "line 3: vertex index 3 is out of range",
        ),
        (
            "v 0 0 0\nv 1 0 0\nf 1 2 -3\n",
            "vertex index -3 is out of range",
        ),
        (
            "v 0 0 0\nf 1 0 1\n",
            "a vertex index of a face, from 1, found '0'",
        ),
        ("v 0 0 0\nv 1 0 0\nl 1 2\n", "it has points or lines only"),
        ("v 0 0 0\nv 1 0 0\n", "no face"),
        ("v 0 0 0\nv 1 0 0\nf 1 2\n", "fewer than three corners"),
    ] {
        refused(text.as_bytes(), what);
    }
}

#[test]
fn off_keywords_colours_and_polygons() {
    let faces = "4 0 1 2 3 255 0 0\n3 0 1 2 0.5 0.5 0.5\n2 0 1\n";
    let loaded = read(&format!(
        "COFF\n# four\n\n4 3 0\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n1 1 0 1 1 1 1 # corner\n0 1 0 1 1 1 1\n{faces}"
    ));
    assert_eq!(loaded.surface.facets, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
    assert_eq!(
        loaded.report.notes,
        ["skipped 1 face with fewer than three different corners"]
    );
    let short = "OFF 3 1 0\r\n0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n";
    assert_eq!(read(short).surface.facets, [[0, 1, 2]]);
    for (text, what) in [
        (
            "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n",
            "truncated: 1 faces announced",
        ),
        ("OFF\n4000000000 4000000000 0\n0 0 0\n", "truncated"),
        (
            "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
            "line 6: vertex index 3 is out of range",
        ),
        (
            "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n",
            "3 vertex indices on the line",
        ),
        ("OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "counts no faces"),
        ("4OFF\n1 1 0\n0 0 0 1\n3 0 0 0\n", "with three coordinates"),
    ] {
        refused(text.as_bytes(), what);
    }
}

#[test]
fn a_3mf_places_its_objects() {
    // Object 3 holds object 1 as it is and mirrored in x; the build moves it by 10 in z.
    let objects = format!(
        "{}<object id=\"3\" type=\"model\"><components><component objectid=\"1\"/>\
         <component objectid=\"1\" transform=\"-1 0 0 0 1 0 0 0 1 0 0 0\"/></components></object>\
         <object id=\"4\" type=\"support\"><mesh><vertices><vertex x=\"9\" y=\"9\" z=\"9\"/></vertices>\
         <triangles><triangle v1=\"0\" v2=\"0\" v3=\"0\"/></triangles></mesh></object>",
        threemf::object(1, "hull &amp; keel")
    );
    let build =
        "<item objectid=\"3\" transform=\"1 0 0 0 1 0 0 0 1 0 0 10\"/><item objectid=\"4\"/>";
    let bytes = threemf::package(&threemf::model("centimeter", &objects, build));
    let loaded = parse(&bytes).expect("a 3MF file");
    assert_eq!(
        loaded.report.notes,
        [
            "the unit of the file is the centimeter, which --unit cm makes metres",
            "skipped 1 support objects"
        ]
    );
    let surface = loaded.surface;
    assert_eq!(surface.patches, ["hull & keel"]);
    let moved = |x: f64| POINTS.map(|p| [x * p[0], p[1], p[2] + 10.0]);
    assert_eq!(surface.vertices, [moved(1.0), moved(-1.0)].concat());
    let mirrored = FACETS.map(|[a, b, c]| [4 + a, 4 + c, 4 + b]);
    assert_eq!(surface.facets, [FACETS, mirrored].concat());
}

#[test]
fn a_3mf_of_several_parts_and_broken_ones() {
    let other = threemf::model("millimeter", &threemf::object(7, ""), "");
    let root = threemf::model(
        "millimeter",
        "<object id=\"2\"><components><component p:path=\"/3D/Objects/a.model\" objectid=\"7\"/></components></object>",
        "<item objectid=\"2\"/>",
    );
    let parts = |root: &str| {
        zip(&[
            ("3D/3dmodel.model", root.as_bytes()),
            ("3D/Objects/a.model", other.as_bytes()),
        ])
    };
    let surface = parse(&parts(&root)).expect("two parts").surface;
    assert_eq!(
        (surface.vertices, surface.facets),
        (POINTS.to_vec(), FACETS.to_vec())
    );
    let cases = [
        (root.replace("\"7\"", "\"8\""), "expected an object 8"),
        (root.replace("a.model", "b.model"), "expected a part"),
        (
            threemf::model(
                "inch",
                "<object id=\"1\"><components><component objectid=\"1\"/></components></object>",
                "<item objectid=\"1\"/>",
            ),
            "components of at most 64 levels",
        ),
        (root.replace("</model>", ""), "</model>"),
        (
            threemf::model(
                "inch",
                &threemf::object(1, "").replace("v3=\"3\"", "v3=\"4\""),
                "",
            ),
            "object 1: vertex index 4",
        ),
        (
            threemf::model(
                "inch",
                &threemf::object(1, "").replace("x=\"0\"", "x=\"1e999\""),
                "",
            ),
            "a number as x of <vertex>",
        ),
        (
            threemf::model(
                "meter",
                &threemf::object(1, ""),
                "<item objectid=\"1\" transform=\"1e300 0 0 0 1 0 0 0 1 0 0 0\"/>",
            ),
            "object 1: expected a transform of numbers up to 1e40",
        ),
        (
            threemf::model(
                "meter",
                &threemf::object(1, "").replace("x=\"1\"", "x=\"1e41\""),
                "<item objectid=\"1\"/>",
            ),
            "is beyond 1e40",
        ),
    ];
    for (root, what) in cases {
        refused(&parts(&root), what);
    }
    // Twenty levels of ten: more triangles than there are atoms in a grain of sand.
    let mut objects = threemf::object(1, "");
    for level in 2..=21 {
        let below = format!("<component objectid=\"{}\"/>", level - 1).repeat(10);
        objects += &format!("<object id=\"{level}\"><components>{below}</components></object>");
    }
    let bomb = threemf::model("meter", &objects, "<item objectid=\"21\"/>");
    refused(&parts(&bomb), "places its objects so often");
}

#[test]
fn a_glb_places_its_nodes() {
    // A turn of 90 degrees about z, twice as large in x, moved by 5 in z, under a node that mirrors in y.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let nodes = format!(
        r#"[{{"children":[1],"scale":[1,-1,1]}},
            {{"name":"fin","mesh":0,"rotation":[0,0,{half},{half}],"scale":[2,1,1],"translation":[0,0,5]}},
            {{"mesh":0,"matrix":[1,0,0,0, 0,1,0,0, 0,0,1,0, 7,8,9,1]}}, {{"mesh":0}}]"#
    );
    let bytes = glb::with(&nodes, r#"[{"nodes":[0,2]}]"#, "");
    let loaded = parse(&bytes).expect("a glb");
    let surface = loaded.surface;
    assert_eq!(
        surface.patches,
        ["fin", "tetra"],
        "node or mesh, of the scene only"
    );
    // (x, y, z) is (-y, 2x, z + 5) turned, then (-y, -2x, z + 5) mirrored.
    for (p, q) in POINTS.iter().zip(&surface.vertices) {
        let want = [-p[1], -2.0 * p[0], p[2] + 5.0];
        let off = worst((0..3).map(|a| (want[a] - q[a]).abs()));
        assert!(off < 1e-12, "{p:?} is at {q:?}");
    }
    assert_eq!(
        surface.facets[..4],
        FACETS.map(|[a, b, c]| [a, c, b]),
        "turned round"
    );
    assert_eq!(
        surface.vertices[4..],
        POINTS.map(|p| [p[0] + 7.0, p[1] + 8.0, p[2] + 9.0])
    );
    assert_eq!(surface.facets[4..], FACETS.map(|f| f.map(|v| v + 4)));
}

#[test]
fn broken_gltf_is_named() {
    let scene = r#"[{"nodes":[0]}]"#;
    let with = |nodes: &str, scenes: &str, more: &str| glb::with(nodes, scenes, more);
    refused(&with(r#"[{"mesh":3}]"#, scene, ""), "mesh 3: expected");
    refused(
        &with(r#"[{"children":[0]}]"#, scene, ""),
        "a node with one parent",
    );
    refused(&with(r#"[{"mesh":0,"children":[9]}]"#, scene, ""), "node 9");
    let draco = r#","extensionsRequired":["KHR_draco_mesh_compression"]"#;
    refused(
        &with(r#"[{"mesh":0}]"#, scene, draco),
        "without compression",
    );
    let sound = with(r#"[{"mesh":0}]"#, scene, "");
    let patched = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len(), "{from}");
        let mut places = sound.windows(from.len());
        let at = places.position(|at| at == from.as_bytes()).expect(from);
        let mut bytes = sound.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    refused(
        &patched(r#""count":12"#, r#""count":99"#),
        "inside the buffer view",
    );
    refused(
        &patched(r#""byteLength":24"#, r#""byteLength":99"#),
        "inside its buffer",
    );
    refused(&patched(r#""SCALAR""#, r#""VECTOR""#), "expected SCALAR");
    refused(
        &patched(r#""version":"2.0""#, r#""version":"1.0""#),
        "version \"1.0\"",
    );
    let views = r#","extensionsRequired":["KHR_no_such_thing"]"#;
    refused(&with(r#"[{"mesh":0}]"#, scene, views), "KHR_no_such_thing");
    let harmless = r#","extensionsRequired":["KHR_materials_unlit","KHR_texture_transform"]"#;
    assert!(parse(&with(r#"[{"mesh":0}]"#, scene, harmless)).is_ok());
    refused(&with(r#"[{"mesh":0}]"#, "[]", ""), "scene 0: expected");
    refused(
        &patched(r#""scene":0"#, r#""scene":5"#),
        "scene 5: expected",
    );
    let external = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"mesh.bin","byteLength":4}]}"#;
    refused(external.as_bytes(), "another file, 'mesh.bin'");
}

/// Numbers would be read askew.
#[test]
fn gltf_with_wrong_places_is_named() {
    let text = String::from_utf8(glb::embedded(r#"[{"mesh":0}]"#)).expect("text");
    for (from, to, what) in [
        (
            r#""byteOffset":24"#,
            r#""byteOffset":22"#,
            "accessor 1: expected a byteOffset",
        ),
        (
            r#""bufferView":1"#,
            r#""bufferView":1,"byteOffset":1"#,
            "a multiple of 4",
        ),
        (
            r#""bufferView":1"#,
            r#""bufferView":1,"byteOffset":2"#,
            "a multiple of 4",
        ),
        (
            r#""bufferView":0"#,
            r#""bufferView":0,"byteOffset":1"#,
            "a multiple of 2",
        ),
        (
            r#""byteLength":48"#,
            r#""byteLength":48,"byteStride":13"#,
            "a multiple of 4",
        ),
        (
            r#""byteLength":48"#,
            r#""byteLength":48,"byteStride":256"#,
            "from 4 to 252",
        ),
        (
            r#""byteLength":24"#,
            r#""byteLength":24,"byteStride":4"#,
            "without byteStride",
        ),
        (
            r#""byteLength":72"#,
            r#""byteLength":73"#,
            "buffer 0: expected 73 bytes",
        ),
        (
            r#""componentType":5126"#,
            r#""componentType":5122"#,
            "KHR_mesh_quantization",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        refused(text.replacen(from, to, 1).as_bytes(), what);
    }
}

/// Transforms that are none, also where each by itself is one.
#[test]
fn gltf_with_wrong_transforms_is_named() {
    let scene = r#"[{"nodes":[0]}]"#;
    let far = r#"{"mesh":0,"scale":[1e30,1,1]}"#;
    let nested = format!(r#"[{{"children":[1],"scale":[1e30,1,1]}},{far}]"#);
    for (nodes, what) in [
        (
            r#"[{"mesh":0,"translation":[1e300,0,0]}]"#,
            "node 0: expected a transform",
        ),
        (
            r#"[{"mesh":0,"matrix":[1e300,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}]"#,
            "1e300 among its numbers",
        ),
        (
            r#"[{"mesh":0,"matrix":[1,0,0,0.5,0,1,0,0,0,0,1,0,0,0,0,1]}]"#,
            "last row is 0.5 0 0 1",
        ),
        (
            r#"[{"mesh":0,"rotation":[0,0,0,2]}]"#,
            "a rotation of length 2e0",
        ),
        (
            nested.as_str(),
            "node 1: expected a transform of numbers up to 1e40",
        ),
    ] {
        refused(&glb::with(nodes, scene, ""), what);
    }
}

#[test]
fn vtk_cells_of_every_kind() {
    let points = "POINTS 6 double\n0 0 0 1 0 0 1 1 0\n0 1 0 2 0 0 2 1 0\n";
    let head = "# vtk DataFile Version 3.0\na title\nASCII\n";
    let poly = read(&format!(
        "{head}DATASET POLYDATA\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n{points}METADATA\nINFORMATION 0\n\n\
         VERTICES 1 2\n1 0\nPOLYGONS 2 9\n4 0 1 2 3\n3 1 4 2\nTRIANGLE_STRIPS 1 5\n4 0 1 3 2\nCELL_DATA 4\nSCALARS a int\n"
    ));
    assert_eq!(
        poly.surface.facets,
        [[0, 1, 2], [0, 2, 3], [1, 4, 2], [0, 1, 3], [3, 1, 2]]
    );
    let grid = read(&format!(
        "{head}DATASET UNSTRUCTURED_GRID\n{points}CELLS 4 17\n4 0 1 3 2\n4 0 1 2 3\n2 0 1\n3 1 4 2\n\
         CELL_TYPES 4\n8 9 3 5\n"
    ));
    assert_eq!(
        grid.surface.facets,
        [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 2, 3], [1, 4, 2]],
        "pixel, quad, triangle"
    );
    let text = format!(
        "{head}DATASET UNSTRUCTURED_GRID\n{points}CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n"
    );
    refused(
        text.as_bytes(),
        "its cells are volumes: extract its surface",
    );
    let poly = |rest: &str| format!("{head}DATASET POLYDATA\n{points}{rest}");
    for (rest, what) in [
        ("POLYGONS 1 4\n3 0 1 6\n", "vertex index 6 is out of range"),
        ("POLYGONS 1 4\n9 0 1 2\n", "the number of its points"),
        ("POLYGONS 1 900000000\n", "truncated"),
        (
            "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2\n",
            "within the connectivity",
        ),
        ("POLYGONES 1 4\n", "a keyword of polydata"),
        ("", "neither polygons nor strips"),
    ] {
        refused(poly(rest).as_bytes(), what);
    }
    refused(
        format!("{head}DATASET STRUCTURED_POINTS\n").as_bytes(),
        "extract its surface",
    );
}

#[test]
fn vtp_arrays_are_checked() {
    let sound = String::from_utf8(vtp::ascii()).expect("text");
    for (from, to, what) in [
        ("PolyData\"", "UnstructuredGrid\"", "extract its surface"),
        ("0 2 1", "0 2 4", "vertex index 4 is out of range"),
        ("3 6 9 12", "3 6 9 13", "within the connectivity"),
        ("3 6 9 12", "6 3 9 12", "within the connectivity"),
        ("1 0 0", "1 0 x", "a number in the array, found x"),
        ("1 0 0", "1 0 inf", "not finite"),
        ("Float64", "Complex", "a type of numbers, found Complex"),
        (
            "format=\"ascii\"",
            "format=\"zip\"",
            "the format ascii, binary or appended",
        ),
    ] {
        assert!(sound.contains(from), "{from}");
        refused(sound.replace(from, to).as_bytes(), what);
    }
    let lz4 = sound.replace("version=", "compressor=\"vtkLZ4DataCompressor\" version=");
    refused(lz4.as_bytes(), "found vtkLZ4DataCompressor");
    // A header that announces a block of 2^60 bytes.
    refused(&vtp::bomb(), "unpacks to more than");
}

/// Every length of every file, and every byte of it changed: an error or a surface in range.
#[test]
fn damaged_files_end_in_an_error_or_a_surface() {
    let check = |name: &str, bytes: &[u8]| {
        if let Ok(AnySurface::D3(loaded)) = parse_any(Path::new("some.file"), bytes) {
            let surface = loaded.surface;
            let (vertices, facets) = (surface.vertices.len(), surface.facets.len());
            assert!(facets > 0, "{name}");
            let mut corners = surface.facets.iter().flatten();
            assert!(corners.all(|&v| (v as usize) < vertices), "{name}");
            let mut numbers = surface.vertices.iter().flatten();
            assert!(numbers.all(|x| x.is_finite()), "{name}");
            let mut patches = surface.facet_patch.iter();
            assert!(
                patches.all(|&p| usize::from(p) < surface.patches.len()),
                "{name}"
            );
            let named = surface.facet_patch.is_empty() || surface.facet_patch.len() == facets;
            assert!(named, "{name}");
        }
    };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as usize
    };
    for (name, bytes, _) in all() {
        for len in 0..bytes.len() {
            check(name, &bytes[..len]);
        }
        for _ in 0..500 {
            let mut damaged = bytes.clone();
            for _ in 0..=random() % 4 {
                let at = random() % damaged.len();
                damaged[at] = match random() % 3 {
                    0 => damaged[at] ^ (1 << (random() % 8)),
                    1 => b"0129-/<>\"{}[],\xff\0"[random() % 16],
                    _ => random() as u8,
                };
            }
            check(name, &damaged);
        }
    }
}

#[test]
fn formats_are_told_by_content_and_may_be_gzipped() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;
    for (name, bytes, format) in all() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&bytes).expect("memory takes bytes");
        let packed = packer.finish().expect("memory takes bytes");
        let loaded = parse(&packed).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(
            loaded.report.gzipped && loaded.report.format == format,
            "{name}"
        );
    }
    // Strings in binary have their length before them, in one, two or four bytes.
    let points = b"POINTS";
    let plain = vtk::binary();
    let at = plain
        .windows(points.len())
        .position(|w| w == points)
        .expect("points");
    let field = b"FIELD FieldData 1\nname 1 3 string\n";
    let long = [&[0x81, 0x2c][..], &[b'x'; 300]].concat();
    let strings = [&b"\xc2hi"[..], &long, b"\x40\0\0\x01z\n"].concat();
    let with = [&plain[..at], field, &strings, &plain[at..]].concat();
    assert_eq!(parse(&with).expect("a file").surface.facets, FACETS);
}
