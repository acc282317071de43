//! `cutlink bench mesh`: its counts are those of `cutlink mesh`.

mod kit;

use kit::{Folder, keys, solid, stl};
use serde_json::Value;
use std::collections::BTreeSet;

/// A run that takes milliseconds.
const SMALL: &str = "bench mesh --runs 3 --root 16 --levels 2 --json";

fn number(object: &Value, key: &str) -> f64 {
    let value = object[key].as_f64();
    value.unwrap_or_else(|| panic!("{key} should be a number in {object}"))
}

#[test]
fn a_case_is_the_mesh_that_mesh_builds() {
    let folder = Folder::new();
    folder.write("box.stl", &stl(&solid("box:size=0.9x0.6x0.5")));
    for surface in ["--shape torus", "--shape naca:2412", "box.stl"] {
        let made = folder
            .run(&format!("{SMALL} {surface} --threads 2"))
            .ok()
            .json();
        assert_eq!(made["cases"].as_array().map(Vec::len), Some(1), "{made}");
        let case = &made["cases"][0];
        let args = format!("mesh {surface} --root 16 --levels 2 --no-picture --force --json");
        let mesh = folder.run(&args).ok().json();
        for key in ["dimensions", "blocks", "cells", "links", "checksum"] {
            assert_eq!(case[key], mesh[key], "{surface}: {key}");
        }
        assert_eq!(case["facets"], mesh["input"]["triangles"], "{surface}");
        assert_eq!(case["surface"], case["name"], "the file has no other name");
    }
}

#[test]
fn times_add_up_and_shares_are_of_the_copy() {
    let folder = Folder::new();
    let made = folder.run(&format!("{SMALL} --case bumps")).ok().json();
    let copy = number(&made["copy"], "bytes_per_second");
    let best = number(&made["copy"], "bytes") / number(&made["copy"]["ms"], "median") * 1e3;
    assert!((copy / best - 1.0).abs() < 1e-9, "{copy} of {best}");
    let case = &made["cases"][0];
    let times = &case["times_ms"];
    for spread in [&times["sum"], &times["wall"]] {
        let [min, median, max] = ["min", "median", "max"].map(|key| number(spread, key));
        assert!(0.0 < min && min <= median && median <= max, "{spread}");
    }
    let [sum, wall] = ["sum", "wall"].map(|key| number(&times[key], "min"));
    assert!(sum <= wall, "the call has the stages in it: {times}");
    let stages = case["stages"].as_array().expect("stages");
    let names: Vec<&str> = stages.iter().filter_map(|s| s["stage"].as_str()).collect();
    assert_eq!(names, ["upload", "bins", "voxelize", "refine", "links"]);
    for stage in stages {
        let rate = number(stage, "bytes") / (1e-3 * number(&stage["ms"], "median"));
        assert!(
            (rate / number(stage, "bytes_per_second") - 1.0).abs() < 1e-9,
            "{stage}"
        );
        assert!(
            (rate / copy / number(stage, "of_copy") - 1.0).abs() < 1e-9,
            "{stage}"
        );
        assert_eq!(stage["launches"], Value::Null, "none on the CPU");
    }
    // A level more has about four times the surface.
    let finer = folder.run("bench mesh --runs 1 --root 16 --levels 3 --json --case bumps");
    let finer = finer.ok().json();
    for (coarse, fine) in stages
        .iter()
        .zip(finer["cases"][0]["stages"].as_array().expect("stages"))
    {
        assert!(
            number(fine, "bytes") > 1.5 * number(coarse, "bytes"),
            "{fine}"
        );
    }
}

#[test]
fn the_json_object_has_the_documented_keys() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    let json = folder.run(&format!("{SMALL} --shape sphere")).ok().json();
    let mut found = BTreeSet::new();
    keys(&json, "", &mut found);
    keys(&json["cases"][0], "cases[].", &mut found);
    keys(&json["cases"][0]["stages"][0], "stages[].", &mut found);
    let spreads = [
        "copy.ms",
        "cases[].times_ms.sum",
        "cases[].times_ms.wall",
        "stages[].ms",
    ];
    for spread in spreads {
        for key in ["median", "min", "max"] {
            assert!(found.remove(&format!("{spread}.{key}")), "{spread}.{key}");
        }
    }
    let pinned = "cases cases[].block_cells cases[].blocks cases[].cells cases[].checksum \
        cases[].dimensions cases[].facets cases[].levels cases[].links cases[].name \
        cases[].peak_bytes cases[].peak_bytes_per_block_cell cases[].peak_bytes_per_cell \
        cases[].split cases[].stages cases[].surface cases[].times_ms cases[].times_ms.bins \
        cases[].times_ms.links cases[].times_ms.read cases[].times_ms.refine \
        cases[].times_ms.snap cases[].times_ms.sum cases[].times_ms.upload \
        cases[].times_ms.voxelize cases[].times_ms.wall command copy copy.bytes \
        copy.bytes_per_second copy.ms cutlink device device.model device.name \
        device.peak_bytes device.reason runs schema stages[].bytes stages[].bytes_per_second \
        stages[].launches stages[].ms stages[].of_copy stages[].stage threads warm_up";
    let pinned: BTreeSet<String> = pinned.split_whitespace().map(str::to_owned).collect();
    assert_eq!(found, pinned, "the keys are an interface");
    for key in &pinned {
        let documented = DOCUMENTED.contains(&format!("`{key}`"));
        assert!(documented, "`{key}` should be in docs/json-schema.md");
    }
    assert!(folder.files().is_empty(), "nothing is written");
}

/// The same surface with more facets gives the same mesh. Corners and midpoints lie on the lattice.
#[test]
fn splitting_facets_changes_nothing_but_their_number() {
    let folder = Folder::new();
    let args = format!("{SMALL} --shape box:size=1x0.5x1 --domain -1,-1,-1,1,1,1");
    let run = |split: u32| folder.run(&format!("{args} --split {split}")).ok().json();
    let (whole, split) = (run(1), run(4));
    let [whole, split] = [&whole["cases"][0], &split["cases"][0]];
    assert_eq!(number(split, "facets"), 16.0 * number(whole, "facets"));
    assert_eq!(whole["checksum"], split["checksum"], "the same body");
    let other = folder.run(&format!("{args} --fill evenodd --flow inside"));
    assert_ne!(whole["checksum"], other.ok().json()["cases"][0]["checksum"]);
}

/// A bench of whole runs that takes a second.
const WHOLE: &str = "bench mesh --end-to-end --folder . --runs 2 --root 16 --levels 2 --json";

#[test]
fn from_file_to_file_is_the_run_that_mesh_does() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    folder.write("box.stl", &stl(&solid("box:size=0.9x0.6x0.5")));
    let json = folder
        .run(&format!("{WHOLE} box.stl --threads 2"))
        .ok()
        .json();
    assert_eq!(folder.files(), ["box.stl"], "what was written is removed");
    let alone = folder.run("mesh box.stl --root 16 --levels 2 --json --output alone");
    let alone = alone.ok().json();
    let case = &json["cases"][0];
    for key in ["cells", "links", "checksum"] {
        assert_eq!(case[key], alone[key], "{key}");
    }
    assert_eq!(case["file_bytes"], alone["files"]["mesh"]["bytes"]);
    assert_eq!(
        (&json["device"]["name"], &json["threads"]),
        (&"cpu".into(), &2.into())
    );
    let wall = number(&case["wall_ms"], "median");
    let stages = case["stages"].as_array().expect("stages");
    let mut sum = 0.0;
    for stage in stages {
        let (ms, share) = (number(&stage["ms"], "min"), number(stage, "share"));
        assert!(ms >= 0.0, "{stage}");
        let of_wall = number(&stage["ms"], "median") / wall;
        assert!((share - of_wall).abs() < 1e-12, "{stage}");
        let beside =
            ["write", "counts", "picture"].contains(&stage["stage"].as_str().unwrap_or(""));
        sum += if beside { 0.0 } else { ms };
    }
    let names: Vec<&str> = stages.iter().filter_map(|s| s["stage"].as_str()).collect();
    assert_eq!(
        names.join(", "),
        "start and end, open the device, read, health, estimate, snap, kernels, \
        embedding beside kernels, download, counts, write, picture"
    );
    for name in [
        "start and end",
        "read",
        "health",
        "snap",
        "kernels",
        "counts",
        "write",
        "picture",
    ] {
        let stage = stages.iter().find(|s| s["stage"] == name).expect("a stage");
        assert!(number(&stage["ms"], "min") > 0.0, "{stage}");
    }
    assert!(
        sum < number(&case["wall_ms"], "max"),
        "one after the other: {sum} of {wall}"
    );
    let mut found = BTreeSet::new();
    keys(&json, "", &mut found);
    keys(case, "cases[].", &mut found);
    keys(&stages[0], "cases[].stages[].", &mut found);
    for key in found {
        let documented = DOCUMENTED.contains(&format!("`{key}`"))
            || key.starts_with("device.")
            || ["median", "min", "max"].iter().any(|s| key.ends_with(s));
        assert!(documented, "`{key}` should be in docs/json-schema.md");
    }
}

#[test]
fn whole_runs_that_cannot_be_measured_are_errors() {
    let folder = Folder::new();
    let refused = |args: &str, code: i32, words: &[&str]| {
        folder.run(&format!("{WHOLE} {args}")).failed(code, words);
    };
    refused("--case bumps", 2, &["bumps is made in memory"]);
    refused(
        "--shape box --folder nowhere",
        2,
        &["cannot be used multiple times"],
    );
    refused("nowhere.stl", 2, &["nowhere.stl"]);
    refused("--shape box --split 2", 2, &["--split"]);
    let elsewhere = folder.run("bench mesh --end-to-end --shape box --folder nowhere");
    elsewhere.failed(2, &["cannot write to nowhere", "--folder"]);
    let alone = folder.run("bench mesh --shape box --folder .");
    alone.failed(2, &["--end-to-end"]);
    let mut open = solid("box");
    open.facets.pop();
    folder.write("open.stl", &stl(&open));
    refused("open.stl", 3, &["open.stl"]);
    assert_eq!(folder.files(), ["open.stl"], "nothing stays behind");
}

#[test]
fn tables_are_for_people() {
    let folder = Folder::new();
    let ran = folder.run("bench mesh --runs 1 --root 16 --levels 2 --case sphere --case torus");
    let ran = ran.ok();
    for word in [
        "device    cpu",
        "1 per case after 3 warm-up runs",
        "of the copy",
        "bins..links",
        "bytes/cell",
        "torus",
    ] {
        assert!(ran.stdout.contains(word), "{word:?} in:\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("bumps"), "not requested");
    assert_eq!(ran.stderr, "", "no bar without a terminal");
}

#[test]
fn what_cannot_be_measured_is_an_error() {
    let folder = Folder::new();
    folder
        .run("bench mesh --case cube")
        .failed(2, &["`cube`", "sphere, torus, bumps", "--scans"]);
    folder
        .run("bench mesh --scans nowhere")
        .failed(2, &["nowhere"]);
    for usage in [
        "--runs 0",
        "--split 0",
        "a.stl --case torus",
        "--shape box --scans x",
    ] {
        assert_eq!(
            folder.run(&format!("bench mesh {usage}")).code,
            2,
            "{usage}"
        );
    }
    let mut open = solid("box");
    open.facets.pop();
    folder.write("open.stl", &stl(&open));
    folder
        .run(&format!("{SMALL} open.stl"))
        .failed(3, &["open.stl"]);
    folder
        .run(&format!("{SMALL} open.stl --robust --device cpu"))
        .ok();
    let large = folder.run("bench mesh --shape sphere --deviation 0.001 --levels 13");
    assert_eq!(large.code, 2, "no such option: {}", large.stderr);
    let large = folder.run("bench mesh --shape box --levels 13");
    large.failed(4, &["not enough memory for 13 levels"]);
    if !cfg!(feature = "cuda") {
        let cuda = folder.run(&format!("{SMALL} --device cuda --shape box"));
        cuda.failed(2, &["no CUDA kernels", "--device cpu"]);
    }
}

#[test]
fn what_was_measured_before_a_failure_is_kept() {
    let folder = Folder::new();
    folder.write("bunny_unit.stl", &stl(&solid("box")));
    let ran = folder.run("bench mesh --scans . --runs 1 --root 16 --levels 1 --json");
    let error = &ran.json()["error"];
    assert_eq!(error["exit_code"], 2, "{error}");
    let cases = error["details"]["bench"]["cases"].as_array();
    let names: Vec<&Value> = cases.into_iter().flatten().map(|c| &c["name"]).collect();
    assert_eq!(names, ["bunny-5", "bunny-7"], "{error}");
    ran.failed(2, &["dragon_unit.ply"]);
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn scans_are_read_split_and_measured() {
    let folder = Folder::new();
    let scans = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/meshes");
    let args = format!("bench mesh --scans {scans} --case dragon-in-4-5 --case bunny-5");
    let json = folder
        .run(&format!("{args} --levels 2 --runs 1 --json"))
        .ok()
        .json();
    let facets: Vec<f64> = (0..2)
        .map(|i| number(&json["cases"][i], "facets"))
        .collect();
    assert_eq!(facets, [69_664.0, 3_474_528.0], "DESIGN.md, section 7");
    let alone = folder.run(&format!(
        "mesh {scans}/dragon_unit.ply --domain 0,0,0,1,1,1 --levels 2 --wall-distance 0.05 \
         --no-picture --json --output alone"
    ));
    let alone = alone.ok().json();
    let split = &json["cases"][1];
    assert_eq!(split["blocks"], alone["blocks"], "the same body");
    assert!((number(split, "links") / number(&alone, "links") - 1.0).abs() < 1e-4);
}
