//! `cutlink inspect`: reports and exports of the files written by `cutlink mesh`.

mod kit;

use kit::{Folder, solid, stl};
use serde_json::Value;

/// A folder with `m.cutlink`, and the report of `cutlink mesh`.
fn meshed(shape: &str) -> (Folder, Value) {
    let folder = Folder::new();
    let args =
        format!("mesh --shape {shape} --root 16 --levels 3 --wall-distance 0 --no-picture --json");
    let json = folder.run(&format!("{args} --output m")).ok().json();
    (folder, json)
}

#[test]
fn a_mesh_file_agrees_with_the_report_of_the_mesh_command() {
    for shape in ["box", "sphere", "naca:2412"] {
        let (folder, made) = meshed(shape);
        let ran = folder.run("inspect m.cutlink --check --json").ok();
        let found = ran.json();
        for key in [
            "dimensions",
            "levels",
            "blocks",
            "cells",
            "solid_finest",
            "links",
            "boundary_cells",
            "checksum",
        ] {
            assert_eq!(found[key], made[key], "{shape}: {key}");
        }
        for key in ["input", "health", "transform", "snapping", "parameters"] {
            assert_eq!(found["metadata"][key], made[key], "{shape}: {key}");
        }
        let areas = &found["metadata"]["areas"];
        assert_eq!(*areas, made["patches"], "{shape}: areas");
        let sum = |values: &Value, key: Option<&str>| -> u64 {
            let each = values.as_array().expect("an array").iter();
            let number = |v: &Value| key.map_or(v, |k| &v[k]).as_u64().expect("a count");
            each.map(number).sum()
        };
        let links = made["links"].as_u64().expect("a count");
        assert_eq!(sum(&found["q"]["histogram"], None), links, "{shape}: bins");
        assert_eq!(
            sum(&found["patches"], Some("links")),
            links,
            "{shape}: patches"
        );
        let checks = found["checks"].as_array().expect("checks");
        assert!(checks.len() >= 3 && checks.iter().all(|c| c["passed"] == true));
    }
}

#[test]
fn the_summary_has_levels_histogram_and_checks() {
    let (folder, made) = meshed("box");
    let ran = folder.run("inspect m.cutlink --check").ok();
    let checksum = made["checksum"].as_str().expect("text");
    for word in [
        checksum,
        "leaf blocks",
        "cut distances",
        "passed: forest",
        "box:size=1x1x1",
        "z+",
    ] {
        assert!(ran.stdout.contains(word), "{word:?} in:\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("FAILED"), "{}", ran.stdout);
}

#[test]
fn damaged_files_are_refused_and_fail_their_check() {
    let (folder, _) = meshed("sphere");
    let sound = folder.read("m.cutlink");
    for at in [sound.len() / 3, sound.len() - 20] {
        let mut bytes = sound.clone();
        bytes[at] ^= 4;
        std::fs::write(folder.path("bad.cutlink"), &bytes).expect("a writable folder");
        folder
            .run("inspect bad.cutlink")
            .failed(2, &["bad.cutlink", "damaged"]);
        folder
            .run("inspect bad.cutlink --check")
            .failed(2, &["bad.cutlink", "damaged"]);
    }
    std::fs::write(folder.path("bad.cutlink"), &sound[..sound.len() / 2]).expect("a folder");
    folder
        .run("inspect bad.cutlink")
        .failed(2, &["bad.cutlink"]);
}

#[test]
fn vtk_files_are_written_by_their_extension() {
    let (folder, made) = meshed("sphere");
    let json = folder
        .run("inspect m.cutlink --vtk a.htg --json")
        .ok()
        .json();
    assert_eq!(json["files"]["vtk"]["path"], "a.htg", "named");
    folder.run("inspect m.cutlink --vtk a.vtu").ok();
    folder
        .run("inspect m.cutlink --vtk b.vtu --level 2 --quiet")
        .ok();
    for (name, kind) in [
        ("a.htg", "HyperTreeGrid"),
        ("a.vtu", "UnstructuredGrid"),
        ("b.vtu", "UnstructuredGrid"),
    ] {
        let head = String::from_utf8_lossy(&folder.read(name)[..200]).into_owned();
        assert!(head.contains(&format!("type=\"{kind}\"")), "{name}: {head}");
    }
    for level in 0..3 {
        let name = format!("level{level}.vtu");
        folder
            .run(&format!(
                "inspect m.cutlink --vtk {name} --level {level} --quiet"
            ))
            .ok();
        let head = String::from_utf8_lossy(&folder.read(&name)[..400]).into_owned();
        let leaf_blocks = made["levels"][level]["leaf_blocks"]
            .as_u64()
            .expect("a count");
        let cells = format!("NumberOfCells=\"{}\"", 64 * leaf_blocks);
        assert!(head.contains(&cells), "{cells}: {head}");
    }
    let before = folder.files();
    for (args, word) in [
        ("--vtk a.htg", "--force"),
        ("--vtk a.txt", ".htg"),
        ("--vtk c.htg --level 1", "--level"),
        ("--vtk c.vtu --level 3", "levels 0 to 2"),
        ("--vtk m.cutlink --force", "m.cutlink"),
    ] {
        let ran = folder.run(&format!("inspect m.cutlink {args}"));
        assert_eq!(ran.code, 2, "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{args}: {}", ran.stderr);
    }
    assert_eq!(folder.files(), before, "nothing written");
    folder.run("inspect m.cutlink --vtk a.htg --force").ok();
}

#[test]
fn slices_are_drawn_on_any_axis() {
    let (folder, _) = meshed("cone");
    for axis in ["x", "y", "z"] {
        let args = format!("inspect m.cutlink --png {axis}.png --axis {axis} --position 0.4");
        folder.run(&args).ok();
        let png = folder.read(&format!("{axis}.png"));
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "a picture");
    }
    assert_ne!(
        folder.read("x.png"),
        folder.read("z.png"),
        "a cone's slices differ"
    );
    for position in ["-0.1", "1.5", "NaN"] {
        let args = format!("inspect m.cutlink --png p.png --position {position}");
        folder.run(&args).failed(2, &["--position"]);
    }
    let (plane, _) = meshed("circle");
    plane.run("inspect m.cutlink --png p.png").ok();
    plane
        .run("inspect m.cutlink --png q.png --axis x")
        .failed(2, &["--axis"]);
}

#[test]
fn the_voxel_surface_encloses_the_solid_cells_of_its_level() {
    let (folder, made) = meshed("torus");
    folder.run("inspect m.cutlink --solid-stl v.stl").ok();
    let json = folder.run("inspect v.stl --json").ok().json();
    assert_eq!(json["kind"], "surface", "read back as one");
    assert_eq!(json["input"]["closed"], true, "{json}");
    let dx = made["levels"][2]["dx"].as_f64().expect("dx");
    let solid = made["solid_finest"].as_f64().expect("a count") * dx.powi(3);
    let volume = json["health"]["volume"].as_f64().expect("a volume");
    assert!((volume / solid - 1.0).abs() < 1e-4, "{volume} for {solid}");
    let (plane, _) = meshed("circle");
    plane
        .run("inspect m.cutlink --solid-stl v.stl")
        .failed(2, &["3D"]);
}

#[test]
fn the_solid_cells_are_drawn_from_any_side() {
    let (folder, _) = meshed("torus");
    let files = folder.run("inspect m.cutlink --voxels v.png --json").ok();
    let written = &files.json()["files"]["voxels"];
    assert_eq!(written["path"], "v.png", "{written}");
    let bytes = |name: &str| std::fs::read(folder.path(name)).expect("a picture");
    assert_eq!(&bytes("v.png")[1..4], b"PNG");
    folder
        .run("inspect m.cutlink --voxels w.png --view -1,2,0.5 --up x --level 1")
        .ok();
    assert!(bytes("v.png") != bytes("w.png"), "another view");
    for (wrong, named) in [
        ("--view 0,0,0", "three numbers"),
        ("--view 1,2", "three numbers"),
        ("--view 0,0,1", "--up"),
        ("--level 9", "levels 0 to 2"),
    ] {
        let args = format!("inspect m.cutlink --voxels x.png {wrong}");
        folder.run(&args).failed(2, &[named]);
    }
    let (plane, _) = meshed("circle");
    plane
        .run("inspect m.cutlink --voxels v.png")
        .failed(2, &["--voxels is for 3D"]);
}

#[test]
fn a_surface_gets_its_health_report() {
    let folder = Folder::new();
    let mut open = solid("box");
    open.facets.pop();
    folder.write("open.stl", &stl(&open));
    let ran = folder.run("inspect open.stl").ok();
    assert!(ran.stdout.contains("3 open edges"), "{}", ran.stdout);
    let json = folder.run("inspect open.stl --json").ok().json();
    assert_eq!(json["health"]["open_edges"], 3, "{json}");
    assert_eq!(json["input"]["closed"], false, "{json}");
    folder
        .run("inspect open.stl --vtk a.vtu")
        .failed(2, &["cutlink mesh"]);
}

#[test]
fn completions_and_manual_pages_come_from_the_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = folder.run(&format!("completions {shell}")).ok();
        assert!(ran.stdout.contains("wall-distance"), "{shell}");
    }
    folder.run("man pages").ok();
    let page = std::fs::read_to_string(folder.path("pages/cutlink-mesh.1")).expect("a page");
    assert!(page.contains(r"\-\-wall\-distance"), "{page}");
    assert!(folder.run("man").ok().stdout.contains("cutlink"), "printed");
    let commands = folder.run("--help").ok().stdout;
    let listed = |name: &str| {
        commands
            .lines()
            .any(|line| line.trim_start().starts_with(name))
    };
    assert!(listed("bench"), "{commands}");
    assert!(listed("solve"), "{commands}");
    let page = std::fs::read_to_string(folder.path("pages/cutlink-bench-mesh.1"));
    assert!(page.expect("a page").contains(r"\-\-scans"), "nested");
}
