//! Any geometry through the program: open surfaces, levels by place, seeds, thin parts.

mod kit;

use kit::{Folder, solid, stl};
use serde_json::Value;

/// Two solids in one file, as ASCII STL keeps them.
fn two_solids() -> String {
    let named = |name: &str, shift: f64| {
        let mut body = solid("box");
        body.vertices.iter_mut().for_each(|v| v[0] += shift);
        stl(&body).replace("solid test", &format!("solid {name}"))
    };
    named("left", -1.0) + &named("right wing", 1.0)
}

fn leaves(json: &Value, level: usize) -> u64 {
    json["levels"][level]["leaf_blocks"]
        .as_u64()
        .expect("a count")
}

#[test]
fn an_open_surface_is_refused_with_both_ways_out_and_robust_takes_it() {
    let folder = Folder::new();
    let mut open = solid("sphere");
    open.facets.truncate(open.facets.len() - 3);
    folder.write("open.stl", &stl(&open));
    let small = "--root 16 --levels 2 --no-picture --json";
    folder
        .run("mesh open.stl")
        .failed(3, &["is not closed", "--robust", "--fill evenodd"]);
    let ran = folder.run(&format!("mesh open.stl --robust {small}")).ok();
    let json = ran.json();
    assert_eq!(json["parameters"]["robust"], true);
    let gaps = json["gap_links"].as_u64().expect("a count");
    assert!(gaps > 0, "links through the hole: {json}");
    let note = json["notes"].to_string();
    assert!(note.contains("cut halfway"), "{note}");
    // The hole is three facets wide: the body is the closed one to a part in a hundred.
    folder.write("closed.stl", &stl(&solid("sphere")));
    let closed = folder.run(&format!("mesh closed.stl {small}")).ok().json();
    let cells = |json: &Value| json["solid_finest"].as_f64().expect("a count");
    let ratio = cells(&json) / cells(&closed);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio} of the closed body");
    let robust = format!("mesh closed.stl --robust --force {small}");
    let robust = folder.run(&robust).ok().json();
    assert_eq!(robust["checksum"], closed["checksum"], "nothing to close");
    assert_eq!(robust["gap_links"], 0);
    folder
        .run("mesh open.stl --robust --fill evenodd")
        .failed(2, &["parity", "hint"]);
    // The file is valid and labels the gap links.
    folder.run("inspect open.cutlink --check").ok();
    let inspected = folder.run("inspect open.cutlink").ok();
    assert!(inspected.stdout.contains("gap"), "{}", inspected.stdout);
}

#[test]
fn levels_go_by_patch_and_region() {
    let folder = Folder::new();
    folder.write("two.stl", &two_solids());
    let run = |rules: &str| {
        let args = format!(
            "mesh two.stl --root 16 --levels 2 --wall-distance 0 --no-picture --json --force {rules}"
        );
        folder.run(&args)
    };
    let plain = run("").ok().json();
    assert_eq!(plain["levels"].as_array().map(Vec::len), Some(2));
    let left = run("--refine patch:left,levels=4").ok().json();
    assert_eq!(left["levels"].as_array().map(Vec::len), Some(4));
    assert!(leaves(&left, 3) > 0, "the left box is finer");
    let boundary = |level: usize| left["levels"][level]["boundary"].as_u64();
    // Balance around the left box may also refine the near side of the right one.
    assert!(
        boundary(1).max(boundary(2)) > Some(0),
        "the right one is not: {left}"
    );
    folder.run("inspect two.cutlink --check").ok();
    let wake = run("--refine box:1.6,-0.3,-0.3,2.2,0.3,0.3,levels=3")
        .ok()
        .json();
    assert!(leaves(&wake, 2) >= 8, "the wake is finer: {wake}");
    assert_eq!(
        wake["parameters"]["refine"][0],
        "box:1.6,-0.3,-0.3,2.2,0.3,0.3,levels=3"
    );
    let ran = run("--refine patch:wing,levels=4");
    ran.failed(2, &["no patch of this name", "left, right wing"]);
    run("--refine circle:0,0,r=1,levels=3").failed(2, &["2D", "3D"]);
    let ran = run("--refine cube:0,levels=3");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("write one of"), "{}", ran.stderr);

    // The configuration keeps them.
    let args = "mesh two.stl --root 16 --levels 2 --wall-distance 0 --no-picture --json --force";
    folder
        .run(&format!(
            "{args} --refine patch:left,levels=4 --write-config case.toml"
        ))
        .ok();
    let again = folder
        .run("mesh --config case.toml --json --force")
        .ok()
        .json();
    assert_eq!(again["checksum"], left["checksum"], "the same mesh");
}

#[test]
fn fewer_cells_drop_levels_of_rules_too() {
    let folder = Folder::new();
    let args = "mesh --shape sphere --root 16 --levels 2 --refine near:*,levels=4,distance=0.1 \
                --no-picture --json";
    let all = folder.run(args).ok().json();
    let most = all["cells"].as_u64().expect("a count") / 3;
    let fewer = folder
        .run(&format!("{args} --force --max-cells {most}"))
        .ok()
        .json();
    assert!(fewer["cells"].as_u64() <= Some(most), "{fewer}");
    assert!(fewer["notes"].to_string().contains("max-cells"), "{fewer}");
}

#[test]
fn a_seed_keeps_what_is_connected_to_it() {
    let folder = Folder::new();
    let args = "mesh --shape torus --root 16 --levels 2 --no-picture --json --force";
    let all = folder.run(args).ok().json();
    let same = folder.run(&format!("{args} --seed 0,0,0")).ok().json();
    assert_eq!(same["checksum"], all["checksum"], "the hole is not apart");
    assert!(
        same["notes"]
            .to_string()
            .contains("0 other fluid cells became solid"),
        "{same}"
    );
    folder
        .run(&format!("{args} --seed 0.375,0,0"))
        .failed(3, &["solid cell", "--seed"]);
    folder
        .run(&format!("{args} --seed 9,0,0"))
        .failed(3, &["outside the box"]);
    folder
        .run(&format!("{args} --seed 0,0"))
        .failed(2, &["--seed has 2 numbers"]);
}

#[test]
fn a_plate_thinner_than_a_cell_is_noted() {
    let folder = Folder::new();
    let args = "mesh --shape box:size=1x1x0.01 --root 16 --levels 2 --no-picture --json";
    let json = folder.run(args).ok().json();
    assert_eq!(json["solid_finest"], 0, "no centre inside");
    assert!(json["thin"]["cells"].as_u64() > Some(100), "{json}");
    let place = &json["thin"]["places"][0];
    let thickness = place["upper"][2].as_f64().expect("z") - place["lower"][2].as_f64().expect("z");
    let dx = json["levels"][1]["dx"].as_f64().expect("dx");
    assert!(
        (thickness - dx).abs() < 1e-9,
        "a layer of cells on each side"
    );
    assert!(
        json["notes"].to_string().contains("thinner than a cell"),
        "{json}"
    );
    let thick = folder.run("mesh --shape sphere --root 16 --levels 2 --no-picture --json");
    assert_eq!(thick.ok().json()["thin"]["cells"], 0);
}
