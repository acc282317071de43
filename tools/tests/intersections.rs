//! `--check-intersections` of `cutlink mesh`, and `--check` of `cutlink inspect` on a surface.

mod kit;

use cutlink_mesher::read::read_surface;
use kit::{Folder, solid, stl};
use serde_json::Value;

const MESH: &str = "mesh two.stl --root 16 --levels 2 --no-picture";

/// Two unit cubes, the second shifted along all axes.
fn two_cubes(by: f64) -> cutlink_mesher::Surface<3> {
    let mut both = solid("box");
    let other = both.clone();
    let offset = both.vertices.len() as u32;
    both.vertices
        .extend(other.vertices.iter().map(|p| p.map(|x| x + by)));
    both.facets
        .extend(other.facets.iter().map(|f| f.map(|v| v + offset)));
    both
}

#[test]
fn overlapping_cubes_are_meshed_and_their_facets_reported() {
    let folder = Folder::new();
    let both = two_cubes(0.3);
    folder.write("two.stl", &stl(&both));
    let args = format!("{MESH} --check-intersections --translate 5,0,0 --rotate z:90 --json");
    let ran = folder.run(&args).ok();
    let json = ran.json();
    let found = &json["intersections"];
    assert_eq!(found["complete"], true, "{found}");
    // Three sides of each cube cut three of the other.
    let facets = found["facets"].as_u64().expect("a count");
    assert!((6..=12).contains(&facets), "{found}");
    assert!(ran.stderr.contains("intersect others"), "{}", ran.stderr);
    let samples = found["samples"].as_array().expect("pairs");
    assert_eq!(
        samples.len() as u64,
        found["pairs"].as_u64().unwrap_or(0).min(10)
    );
    for sample in samples {
        let numbers = |key: &str| -> Vec<f64> {
            let list = sample[key].as_array().expect("numbers");
            list.iter().filter_map(Value::as_f64).collect()
        };
        let pair = numbers("facets");
        assert!(
            pair[0] < 12.0 && pair[1] >= 12.0,
            "one of each cube: {sample}"
        );
        // The cubes are 1 wide, about 0 and about 0.3: in the frame of the file, a point of both
        // surfaces has a coordinate on a side of each.
        let at = numbers("at");
        let on = |side: f64| at.iter().any(|x| (x - side).abs() < 1e-3);
        assert!(on(0.5) && on(-0.2), "{sample}");
    }
    let file = &json["files"]["intersections"];
    assert_eq!(file["path"], "two.intersections.stl", "beside the mesh");
    let written = read_surface(&folder.path("two.intersections.stl")).expect("an STL");
    assert_eq!(written.surface.facets.len() as u64, facets, "all of them");
    let corner = |p: &[f64; 3]| {
        both.vertices
            .iter()
            .any(|q| (0..3).all(|k| (p[k] - q[k]).abs() < 1e-6))
    };
    let as_in_the_file = written.surface.vertices.iter().all(corner);
    assert!(as_in_the_file, "{:?}", written.surface.vertices);
    folder.run(&args).failed(2, &["exists"]);
    let ran = folder
        .run(&format!("{args} --force").replace(" --json", ""))
        .ok();
    assert!(ran.stdout.contains("crossings"), "{}", ran.stdout);
}

#[test]
fn a_clean_surface_has_a_word_and_no_file() {
    let folder = Folder::new();
    folder.write("two.stl", &stl(&two_cubes(2.0)));
    let ran = folder.run(&format!("{MESH} --check-intersections")).ok();
    assert!(
        ran.stdout.contains("no two facets intersect"),
        "{}",
        ran.stdout
    );
    assert_eq!(folder.files(), ["two.cutlink", "two.stl"]);
    let json = folder.run(&format!("{MESH} --force --json")).ok().json();
    assert_eq!(json["intersections"], Value::Null, "not requested");
}

#[test]
fn a_dry_run_reports_without_files_and_the_config_has_the_key() {
    let folder = Folder::new();
    folder.write("two.stl", &stl(&two_cubes(0.3)));
    folder.write(
        "case.toml",
        "file = \"two.stl\"\ncheck-intersections = true\n",
    );
    let json = folder
        .run("mesh --config case.toml --dry-run --json")
        .ok()
        .json();
    assert!(json["intersections"]["pairs"].as_u64() > Some(0), "{json}");
    assert_eq!(folder.files(), ["case.toml", "two.stl"]);
    let text = folder
        .run("mesh --config case.toml --write-config -")
        .ok()
        .stdout;
    assert!(text.contains("check-intersections = true"), "{text}");
}

#[test]
fn polylines_are_reported_without_a_file() {
    let folder = Folder::new();
    folder.write("eight.txt", "0 0\n1 1\n1 0\n0 1\n0 0\n");
    let json = folder
        .run("mesh eight.txt --root 16 --levels 2 --no-picture --check-intersections --json")
        .ok()
        .json();
    let found = &json["intersections"];
    assert_eq!(
        (&found["pairs"], &found["facets"]),
        (&1.into(), &2.into()),
        "{found}"
    );
    let at: Vec<f64> = serde_json::from_value(found["samples"][0]["at"].clone()).expect("a point");
    assert!(
        at.iter().all(|x| (x - 0.5).abs() < 1e-3),
        "in the middle: {at:?}"
    );
    assert_eq!(folder.files(), ["eight.cutlink", "eight.txt"]);
}

#[test]
fn inspect_checks_a_surface() {
    let folder = Folder::new();
    folder.write("two.stl", &stl(&two_cubes(0.3)));
    folder.write("one.stl", &stl(&solid("box")));
    let ran = folder.run("inspect two.stl --check").ok();
    assert!(
        ran.stdout.contains("facets intersect; the first"),
        "{}",
        ran.stdout
    );
    let json = folder.run("inspect two.stl --check --json").ok().json();
    assert!(
        json["intersections"]["facets"].as_u64() >= Some(6),
        "{json}"
    );
    let ran = folder.run("inspect one.stl --check").ok();
    assert!(
        ran.stdout.contains("no two facets intersect"),
        "{}",
        ran.stdout
    );
    let json = folder.run("inspect one.stl --json").ok().json();
    assert_eq!(json["intersections"], Value::Null, "not requested");
}
