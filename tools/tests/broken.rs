//! Files that break readers, through the real program: each ends in a mesh or in a clear error,
//! within 2 GiB of address space and a minute, and never in a panic.

#![cfg(target_os = "linux")]

mod kit;

use kit::{Folder, Ran, solid, stl};
use serde_json::Value;
use std::path::Path;

const BROKEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/meshes/broken");

/// Runs `cutlink` with 2 GiB of address space, hence of memory.
fn bounded(folder: &Folder, args: &str) -> Ran {
    let ran = folder.shell(&format!(
        "ulimit -v 2097152; exec $CUTLINK {args} --threads 2"
    ));
    assert!(!ran.stderr.contains("panicked"), "{args}: {}", ran.stderr);
    assert!((0..=3).contains(&ran.code), "{args}: {}", ran.stderr);
    ran
}

/// Meshes a file; a failure has to name it, in text and in JSON, and leave nothing behind.
fn mesh(folder: &Folder, file: &str) -> (Ran, Value) {
    let _ = std::fs::remove_file(folder.path("out.cutlink"));
    let ran = bounded(
        folder,
        &format!("mesh '{file}' --root 32 --levels 3 --no-picture --json --output out.cutlink"),
    );
    let json = ran.json();
    assert_eq!(folder.path("out.cutlink").exists(), ran.code == 0, "{file}");
    if ran.code == 0 {
        let peak = json["peak_rss_bytes"].as_u64().expect("a size");
        assert!(peak > 0 && peak < 1 << 31, "{file}: {peak} bytes at most");
        bounded(folder, "inspect out.cutlink --check --quiet").ok();
    } else {
        let message = json["error"]["message"].as_str().expect("a message");
        assert_eq!(json["error"]["exit_code"], ran.code, "{file}");
        assert!(message.contains(file), "{file} is not named: {message}");
        assert!(ran.stderr.contains(message.lines().next().expect("a line")));
    }
    (ran, json)
}

/// Results of the files that FACTS.tsv does not determine: the exit code and a word of the message.
const OTHERWISE: &[(&str, i32, &str)] = &[
    // Open by gaps below the lattice spacing.
    ("trimesh__angle_block.STL", 0, "closed after snapping"),
    ("trimesh__featuretype.STL", 0, "closed after snapping"),
    ("trimesh__idler_riser.STL", 0, "closed after snapping"),
    ("trimesh__octagonal_pocket.ply", 0, "closed after snapping"),
    ("trimesh__octagonal_pocket.stl", 0, "closed after snapping"),
    // The reader of the facts cannot parse lists on vertices; the file is valid.
    ("openmesh__cube-minimal-custom_props.ply", 0, "inward"),
    // Nothing to mesh.
    ("npm-stl-models__misc__faceless.ascii.stl", 3, "no facet"),
    ("trimesh__empty.stl", 3, "no facet"),
    ("pymesh__empty.stl", 3, "count in its header is 0"),
    ("openmesh__pointCloudBadEncoding.ply", 3, "point cloud"),
    ("ply-rs__empty_ok_ascii.ply", 3, "no vertices and no faces"),
    ("trimesh__points_ascii.ply", 3, "point cloud"),
    ("trimesh__points_emptyface.ply", 3, "has no rows"),
    ("assimp__issue623.ply", 3, "point cloud"),
    ("ply-rs__header_min_ok_ascii.ply", 3, "no element 'vertex'"),
    // Damaged.
    ("microstl__empty_file.stl", 2, "is empty"),
    ("microstl__incomplete_normal_ascii.stl", 2, "line 7"),
    ("microstl__incomplete_vertex_ascii.stl", 2, "line 7"),
    (
        "npm-stl-models__misc__multiWordName.bin.stl",
        2,
        "text conversion",
    ),
    ("npm-stl-models__broken__twoVertices.ascii.stl", 2, "line 6"),
    ("ply-rs__single_elements_err_ascii.ply", 2, "truncated"),
];

/// The exit code from the facts: closed bodies are meshed, open ones refused.
fn code_by_facts(closed: &str) -> i32 {
    if closed.starts_with("yes") || closed.starts_with("closed-even") {
        0
    } else if closed.starts_with("NO") {
        3
    } else {
        panic!("{closed:?} tells nothing: the file should be in OTHERWISE")
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn every_broken_file_ends_in_a_mesh_or_a_clear_error() {
    let folder = Folder::new();
    let facts = Path::new(BROKEN).join("FACTS.tsv");
    let facts = std::fs::read_to_string(facts).expect("FACTS.tsv should be readable");
    let mut ends = [0; 4];
    for row in facts.lines().skip(1) {
        let row: Vec<&str> = row.split('\t').collect();
        let (name, file) = (row[0], format!("{BROKEN}/{}", row[0]));
        let otherwise = OTHERWISE.iter().find(|o| o.0 == name);
        let (code, word) = otherwise.map_or_else(|| (code_by_facts(row[5]), ""), |o| (o.1, o.2));

        let (ran, json) = mesh(&folder, &file);
        assert_eq!(ran.code, code, "{name}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(word) || word.is_empty(),
            "{name}: {}",
            ran.stderr
        );
        ends[code as usize] += 1;

        let looked = bounded(&folder, &format!("inspect '{file}' --json"));
        let readable = code == 0 || json["error"]["details"]["health"].is_object();
        assert_eq!(
            looked.code,
            if readable { 0 } else { code },
            "{name}: {}",
            looked.stderr
        );
        if readable && let Ok(triangles) = row[4].replace(',', "").parse::<u64>() {
            let looked = looked.json();
            assert_eq!(looked["input"]["triangles"], triangles, "{name}");
            let meshed = if code == 0 {
                &json["input"]["triangles"]
            } else {
                &json["error"]["details"]["health"]["facets"]
            };
            assert_eq!(*meshed, triangles, "{name}");
        }
    }
    let files = std::fs::read_dir(BROKEN).expect("a folder").count();
    assert_eq!(
        ends.iter().sum::<usize>() + 1,
        files,
        "all but FACTS.tsv have a row"
    );
    assert!(
        ends[0] > 40 && ends[2] > 3 && ends[3] > 20,
        "all ways to end: {ends:?}"
    );
}

/// A binary STL of these triangles; the count may lie.
fn binary(header: &str, count: u32, triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes[..header.len()].copy_from_slice(header.as_bytes());
    bytes.extend(count.to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// The triangles of a shape, moved.
fn triangles(shape: &str, by: [f32; 3]) -> Vec<[[f32; 3]; 3]> {
    let surface = solid(shape);
    let corner = |p: [f64; 3]| std::array::from_fn(|a| p[a] as f32 + by[a]);
    (0..surface.facets.len())
        .map(|f| surface.corners(f).map(corner))
        .collect()
}

/// Two pyramids on one pentagon: seven points, ten facets.
fn ten_triangles() -> Vec<[[f32; 3]; 3]> {
    let top = [0.0, 0.0, 1.0];
    let bottom = [0.0, 0.0, -1.0];
    let ring: Vec<[f32; 3]> = (0..5)
        .map(|i| {
            let angle = std::f32::consts::TAU * i as f32 / 5.0;
            [angle.cos(), angle.sin(), 0.0]
        })
        .collect();
    (0..5)
        .flat_map(|i| {
            let (a, b) = (ring[i], ring[(i + 1) % 5]);
            [[a, b, top], [b, a, bottom]]
        })
        .collect()
}

#[test]
fn ten_triangles_behind_solid_are_binary() {
    let folder = Folder::new();
    // The low byte of the count is a newline, so the first line looks like that of a text.
    let bytes = binary("solid made by hand", 10, &ten_triangles());
    assert_eq!(bytes[80], b'\n');
    std::fs::write(folder.path("ten.stl"), bytes).expect("a file");
    let (ran, json) = mesh(&folder, "ten.stl");
    ran.ok();
    assert_eq!(json["input"]["triangles"], 10, "{json}");
    assert_eq!(json["input"]["format"], "binary STL", "{json}");
}

#[test]
fn coordinates_that_are_not_finite_are_named() {
    let folder = Folder::new();
    for (value, value_text) in [
        (f32::NAN, "NaN"),
        (f32::INFINITY, "inf"),
        (f32::NEG_INFINITY, "-inf"),
    ] {
        let mut soup = ten_triangles();
        soup[7][1][2] = value;
        std::fs::write(folder.path("b.stl"), binary("", 10, &soup)).expect("a file");
        let words = ["b.stl", "triangle 7", value_text, "not finite", "repair"];
        mesh(&folder, "b.stl").0.failed(2, &words);

        let text = stl(&solid("box")).replacen("-0.5", value_text, 1);
        folder.write("t.stl", &text);
        mesh(&folder, "t.stl")
            .0
            .failed(2, &["t.stl", "line 4", "finite"]);
    }
    folder.write("huge.stl", &stl(&solid("box")).replacen("0.5", "1e999", 1));
    mesh(&folder, "huge.stl").0.failed(2, &["line 4"]);
}

#[test]
fn numbers_that_fit_no_lattice_are_refused() {
    let folder = Folder::new();
    for (size, name) in [
        (f32::MAX, "vast.stl"),
        (f32::MIN_POSITIVE * 1e-6, "tiny.stl"),
    ] {
        let soup: Vec<_> = ten_triangles()
            .iter()
            .map(|t| t.map(|p| p.map(|x| x * size)))
            .collect();
        std::fs::write(folder.path(name), binary("", 10, &soup)).expect("a file");
        let (ran, _) = mesh(&folder, name);
        assert!(matches!(ran.code, 0 | 2 | 3), "{name}: {}", ran.stderr);
    }
    folder.write("f64.stl", &stl(&solid("box")).replace("0.5", "1.7e308"));
    let (ran, _) = mesh(&folder, "f64.stl");
    assert!(matches!(ran.code, 2 | 3), "{}", ran.stderr);
}

#[test]
fn counts_are_held_against_the_file() {
    let folder = Folder::new();
    let soup = ten_triangles();
    for count in [11, 1 << 31, u32::MAX] {
        std::fs::write(folder.path("n.stl"), binary("", count, &soup)).expect("a file");
        let announced = format!("{count} triangles announced");
        let words = ["n.stl", "truncated", &announced, "after 10"];
        mesh(&folder, "n.stl").0.failed(2, &words);
    }
    for (element, rows) in [("vertex", "x"), ("face", "f")] {
        let many = |e: &str| if e == element { "4294967295" } else { "3" };
        let text = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
             element face {}\nproperty list uchar int vertex_indices\nend_header\n{rows}",
            many("vertex"),
            many("face")
        );
        folder.write("n.ply", &text);
        mesh(&folder, "n.ply").0.failed(2, &["n.ply", "truncated"]);
    }
}

#[test]
fn minus_zero_is_zero() {
    let folder = Folder::new();
    let mut soup = ten_triangles();
    let zero = |x: &mut f32| *x = if *x == 0.0 { -0.0 } else { *x };
    soup[3].as_flattened_mut().iter_mut().for_each(zero);
    assert!(
        soup[3]
            .as_flattened()
            .iter()
            .any(|x| x.to_bits() == (-0.0f32).to_bits())
    );
    std::fs::write(folder.path("z.stl"), binary("", 10, &soup)).expect("a file");
    let (ran, json) = mesh(&folder, "z.stl");
    ran.ok();
    assert_eq!(json["input"]["vertices"], 7, "{json}");
    assert_eq!(json["input"]["closed"], true, "{json}");
}

#[test]
fn bodies_far_from_the_origin_are_meshed_with_a_note() {
    let folder = Folder::new();
    // UTM coordinates in metres, where adjacent f32 numbers are 1/32 and 1/2 apart.
    let utm = [448_251.0, 5_411_932.0, 35.0];
    let soup = triangles("box:size=30x20x10", utm);
    std::fs::write(folder.path("utm.stl"), binary("", 12, &soup)).expect("a file");
    let (ran, json) = mesh(&folder, "utm.stl");
    let ran = ran.ok();
    for word in ["away from the origin", "apart", "export it near the origin"] {
        assert!(ran.stderr.contains(word), "{word:?} in {}", ran.stderr);
    }
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(1), "{json}");
    let seen = &json["health"];
    assert_eq!(
        seen["bounds"][0],
        serde_json::json!([448_236.0, 5_411_922.0, 30.0])
    );
    assert_eq!(seen["volume"], 6000.0, "half metres hold it exactly");
    let low = json["frame"]["origin"][1].as_f64().expect("a number");
    assert!(
        (5_411_900.0..5_411_922.0).contains(&low),
        "around the body: {low}"
    );

    // Of a body smaller than that a flat remnant is left: closed, and value_text.
    let soup = triangles("box:size=0.1x0.1x0.1", utm);
    std::fs::write(folder.path("flat.stl"), binary("", 12, &soup)).expect("a file");
    let (ran, json) = mesh(&folder, "flat.stl");
    assert!(ran.ok().stderr.contains("details were lost"));
    assert_eq!(json["health"]["volume"], 0.0, "{json}");

    // Text keeps its digits: nothing is lost, nothing is value_text.
    let mut surface = solid("box:size=30x20x10");
    for p in &mut surface.vertices {
        *p = std::array::from_fn(|a| p[a] + f64::from(utm[a]) + 0.123_456_7);
    }
    folder.write("text.stl", &stl(&surface));
    let (ran, json) = mesh(&folder, "text.stl");
    ran.ok();
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(0), "{json}");
    let volume = json["health"]["volume"].as_f64().expect("a volume");
    assert!((volume / 6000.0 - 1.0).abs() < 1e-6, "{volume}");
}

#[test]
fn spellings_of_text_do_not_matter() {
    let folder = Folder::new();
    let plain = stl(&solid("box"));
    let second: String = {
        let mut moved = solid("box");
        moved.vertices.iter_mut().for_each(|p| p[0] += 3.0);
        stl(&moved).replace("test", "Second one")
    };
    let cases = [
        ("plain.stl", plain.clone(), 12, "test"),
        ("nameless.stl", plain.replace(" test", ""), 12, "solid"),
        ("crlf.stl", plain.replace('\n', "\r\n"), 12, "test"),
        ("cr.stl", plain.replace('\n', "\r"), 12, "test"),
        ("upper.stl", plain.to_uppercase(), 12, "TEST"),
        ("tabs.stl", plain.replace(' ', "\t \t"), 12, "test"),
        ("blanks.stl", format!("\n\n  {plain}\n\n"), 12, "test"),
        ("bom.stl", format!("\u{feff}{plain}"), 12, "test"),
        ("multi.stl", format!("{plain}{second}"), 24, "Second one"),
    ];
    for (name, text, count, patch) in cases {
        folder.write(name, &text);
        let (ran, json) = mesh(&folder, name);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        assert_eq!(json["input"]["triangles"], count, "{name}");
        let patches = json["input"]["patches"].as_array().expect("patches");
        assert_eq!(*patches.last().expect("one"), patch, "{name}: {patches:?}");
    }
}

#[test]
fn every_cut_of_a_file_is_an_error_or_a_note() {
    let folder = Folder::new();
    let text = stl(&solid("box"));
    let bytes = binary("", 10, &ten_triangles());
    for part in [1, 5, 40, 83, 84, 85, 134, 300, 583] {
        std::fs::write(folder.path("cut.stl"), &bytes[..part]).expect("a file");
        mesh(&folder, "cut.stl").0.failed(2, &["cut.stl"]);
        folder.write("cut.txt", &text[..part]);
        let (ran, _) = mesh(&folder, "cut.txt");
        assert!(matches!(ran.code, 2 | 3), "{part}: {}", ran.stderr);
    }
}
