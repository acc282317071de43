//! Surfaces through the program: several files, other formats, standard input and pipes, holes as patches.

mod kit;

use cutlink_mesher::Surface;
use kit::{Folder, solid, stl};
use serde_json::Value;
use std::fmt::Write as _;

const SMALL: &str = "--root 16 --levels 2 --no-picture --json";

fn boxed(name: &str, shift: f64) -> String {
    let mut body = solid("box");
    body.vertices.iter_mut().for_each(|v| v[0] += shift);
    stl(&body).replace("solid test", &format!("solid {name}"))
}

/// A surface as OBJ.
fn obj(surface: &Surface<3>) -> String {
    let mut text = String::new();
    for [x, y, z] in &surface.vertices {
        writeln!(text, "v {x:?} {y:?} {z:?}").expect("a string takes text");
    }
    for [a, b, c] in &surface.facets {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).expect("a string takes text");
    }
    text
}

fn names(json: &Value) -> Vec<&str> {
    let patches = json["patches"].as_array().expect("patches").iter();
    patches.map(|p| p["name"].as_str().expect("text")).collect()
}

#[test]
fn several_files_are_one_surface_with_the_patches_of_each() {
    let folder = Folder::new();
    let mut right = solid("box");
    right.vertices.iter_mut().for_each(|v| v[0] += 2.0);
    folder.write("left.stl", &boxed("wall", 0.0));
    folder.write("right.obj", &obj(&right));
    folder.write("far.stl", &boxed("wall", 4.0));
    folder.write(
        "all.stl",
        &(boxed("a", 0.0) + &boxed("b", 2.0) + &boxed("c", 4.0)),
    );
    let several = format!("mesh left.stl right.obj far.stl {SMALL}");
    let json = folder.run(&several).ok().json();
    assert_eq!(names(&json), ["left/wall", "right", "far/wall"]);
    assert_eq!(json["input"]["name"], "left.stl, right.obj, far.stl");
    assert_eq!(json["input"]["format"], "several files");
    let one = folder.run(&format!("mesh all.stl {SMALL}")).ok().json();
    assert_eq!(
        json["checksum"], one["checksum"],
        "one file of three solids"
    );
    assert!(
        folder.files().contains(&"left.cutlink".into()),
        "the first file's name"
    );

    // The same in a configuration file, in an estimate, and for the health report.
    folder.write(
        "run.toml",
        "file = [\"left.stl\", \"right.obj\", \"far.stl\"]\n",
    );
    let config = format!("mesh --config run.toml --output c {SMALL}");
    let config = folder.run(&config).ok().json();
    assert_eq!(json["checksum"], config["checksum"]);
    folder
        .run("mesh left.stl right.obj --write-config two.toml")
        .ok();
    let written = String::from_utf8(folder.read("two.toml")).expect("text");
    assert!(written.contains("\"right.obj\""), "{written}");
    folder.run("estimate left.stl right.obj --levels 2").ok();
    let health = folder.run("inspect left.stl right.obj --json").ok().json();
    assert_eq!(health["input"]["triangles"], 24);
    assert_eq!(health["input"]["patches"][1], "right");
    assert_eq!(health["input"]["patch_areas"][1], 6.0, "a unit cube");

    folder.write("flat.txt", "0 0\n1 0\n1 1\n");
    folder
        .run("mesh left.stl flat.txt --output x")
        .failed(2, &["flat.txt is 2D, but left.stl is 3D"]);
    folder
        .run("mesh left.stl missing.stl --output x")
        .failed(2, &["missing.stl"]);
    folder
        .run("mesh left.stl right.obj --output left.stl --force")
        .failed(2, &["left.stl"]);
    folder
        .run("mesh left.stl right.obj --output right.obj --force")
        .failed(2, &["right.obj"]);
}

#[test]
fn files_that_meet_are_closed_together() {
    // A cube in two files: five sides, and a lid.
    let folder = Folder::new();
    let cube = solid("box");
    let is_lid = |f: &[u32; 3]| f.iter().all(|&v| cube.vertices[v as usize][2] > 0.0);
    let part = |lid: bool| {
        let facets = cube.facets.iter().copied().filter(|f| is_lid(f) == lid);
        Surface::single_patch(cube.vertices.clone(), facets.collect(), "test")
    };
    folder.write("sides.stl", &stl(&part(false)));
    folder.write("lid.stl", &stl(&part(true)));
    folder.run("mesh sides.stl").failed(3, &["is not closed"]);
    let json = folder
        .run(&format!("mesh sides.stl lid.stl {SMALL}"))
        .ok()
        .json();
    assert_eq!(json["input"]["closed"], true);
    let areas = json["patches"].as_array().expect("patches").iter();
    let areas: Vec<f64> = areas
        .map(|p| p["area"].as_f64().expect("a number"))
        .collect();
    assert!(
        (areas[0] - 5.0).abs() < 1e-12 && (areas[1] - 1.0).abs() < 1e-12,
        "{areas:?}"
    );
}

#[test]
fn standard_input_and_pipes_are_read() {
    let folder = Folder::new();
    folder.write("box.stl", &boxed("wall", 0.0));
    let file = folder.run(&format!("mesh box.stl {SMALL}")).ok().json();
    let lines = [
        format!("cat box.stl | \"$CUTLINK\" mesh - --output piped {SMALL}"),
        format!("gzip -c box.stl | \"$CUTLINK\" mesh - --output packed {SMALL}"),
        format!("\"$CUTLINK\" mesh - --output file {SMALL} < box.stl"),
        format!("mkfifo pipe; cat box.stl > pipe & \"$CUTLINK\" mesh pipe --output fifo {SMALL}"),
    ];
    for line in lines {
        let json = folder.shell(&line).ok().json();
        assert_eq!(json["checksum"], file["checksum"], "{line}");
    }
    folder
        .shell("cat box.stl | \"$CUTLINK\" mesh -")
        .failed(2, &["comes from a pipe", "--output PATH"]);
    folder
        .shell("echo nonsense | \"$CUTLINK\" mesh - --output x")
        .failed(2, &["standard input"]);
    let health = folder
        .shell("cat box.stl | \"$CUTLINK\" inspect - --json")
        .ok();
    assert_eq!(health.json()["health"]["facets"], 12);
    folder.write(
        "case.toml",
        "[mesh]\nfile = \"-\"\n[flow]\nreynolds = 10\n[run]\nsteps = 1\n",
    );
    folder
        .shell("cat box.stl | \"$CUTLINK\" solve case.toml")
        .failed(2, &[]);
}

#[test]
fn the_holes_of_a_duct_are_told_apart() {
    // A duct along z: 1 x 1 at the bottom, 0.5 x 0.5 at the top, open at both ends.
    let ring = |z: f64, half: f64| {
        [
            [-half, -half, z],
            [half, -half, z],
            [half, half, z],
            [-half, half, z],
        ]
    };
    let vertices = [ring(0.0, 0.5), ring(2.0, 0.25)].concat();
    let facets = (0..4).flat_map(|k| {
        let (a, b) = (k, (k + 1) % 4);
        [[a, b, b + 4], [a, b + 4, a + 4]]
    });
    let duct = Surface::single_patch(vertices, facets.collect(), "test");
    let folder = Folder::new();
    folder.write("duct.stl", &stl(&duct));
    let args = format!("mesh duct.stl --robust --flow inside {SMALL}");
    let json = folder.run(&args).ok().json();
    assert_eq!(names(&json), ["test", "gap-1", "gap-2"]);
    let note = json["notes"].to_string();
    assert!(note.contains("patches \\\"gap-1\\\" ("), "{note}");
    let inspected = folder
        .run("inspect duct.cutlink --check --json")
        .ok()
        .json();
    let patch = |k: usize| &inspected["patches"][k];
    let area = |k: usize| patch(k)["area"].as_f64().expect("a number");
    assert!(
        (area(1) - 1.0).abs() < 1e-2 && (area(2) - 0.25).abs() < 1e-2,
        "{inspected}"
    );
    let links = |k: usize| patch(k)["links"].as_u64().expect("a count");
    // Links per area: four times as many at the bottom, but for the rims.
    let ratio = links(1) as f64 / links(2) as f64;
    assert!(
        links(2) > 10 && (2.5..6.0).contains(&ratio),
        "{} and {}",
        links(1),
        links(2)
    );
    assert_eq!(
        links(1) + links(2),
        json["gap_links"].as_u64().expect("a count")
    );
    let text = folder.run("inspect duct.cutlink").ok().stdout;
    assert!(
        text.contains("patch") && text.contains("area") && text.contains("gap-2"),
        "{text}"
    );
}

#[test]
fn a_mesh_file_is_no_surface() {
    let folder = Folder::new();
    folder.write("box.stl", &boxed("wall", 0.0));
    folder.run(&format!("mesh box.stl {SMALL}")).ok();
    folder
        .run("mesh box.cutlink --output again")
        .failed(2, &["a cutlink mesh file, not a surface"]);
}
