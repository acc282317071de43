//! `cutlink bench solve`: its counts follow from the mesh, its shares add up.

mod kit;

use kit::{Folder, keys};
use serde_json::Value;
use std::collections::BTreeSet;

/// A run that takes a second.
const SMALL: &str =
    "bench solve --runs 2 --steps 2 --cells 16 --plane 32 --root 16 --levels 3 --json";

fn number(object: &Value, key: &str) -> f64 {
    let value = object[key].as_f64();
    value.unwrap_or_else(|| panic!("{key} should be a number in {object}"))
}

#[test]
fn changes_of_the_mesh_have_the_counts_of_their_cubes() {
    let folder = Folder::new();
    let made = folder
        .run("bench adapt --cells 32 --runs 2 --json")
        .ok()
        .json();
    let cases = made["cases"].as_array().expect("cases");
    // Cubes of 1, 2, 4 and 7 of 8 blocks.
    let refined = [1.0, 8.0, 64.0, 343.0];
    assert_eq!(cases.len(), refined.len());
    for (case, refined) in cases.iter().zip(refined) {
        assert_eq!(number(case, "refined"), refined);
        assert_eq!(number(case, "inserted"), 8.0 * refined);
        let cells = 64.0 * (512.0 + 7.0 * refined);
        assert_eq!(number(case, "cells"), cells);
        let bytes = 19.0 * 4.0 * (32f64.powi(3) + cells);
        assert_eq!(number(case, "bytes"), bytes);
        let copy = number(&made["copy"], "bytes_per_second");
        let share = bytes / (1e-3 * number(&case["ms"], "median")) / copy;
        assert!(
            (share / number(case, "of_copy") - 1.0).abs() < 1e-9,
            "{case}"
        );
        assert!(number(&case["idle_ms"], "median") > 0.0, "{case}");
    }
    folder.run("bench adapt --cells 30").failed(2, &["30"]);
}

#[test]
fn a_body_that_moves_is_timed_beside_one_at_rest() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    let line = "bench move --root 16 --levels 3 --runs 1";
    let made = folder.run(&format!("{line} --json")).ok().json();
    assert_eq!(number(&made, "finest_steps"), 4.0);
    assert!(number(&made, "cells") > number(&made, "finest_cells"));
    // A link from each of two cells where the surface passes between them, on all blocks of the shell.
    let [links, blocks] = ["links", "blocks"].map(|key| number(&made, key));
    assert!(
        links > 40.0 * blocks && blocks > 50.0,
        "{links} of {blocks}"
    );
    let names = |flow: &Value| -> Vec<String> {
        let parts = flow["parts"].as_array().expect("parts").iter();
        parts
            .map(|part| part["part"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&made["rest"]), ["step"]);
    let all = ["step", "embed", "tables", "refill", "forces"];
    assert_eq!(names(&made["moving"]), all);
    for flow in [&made["rest"], &made["moving"]] {
        let rate = number(&made, "updates") / (1e3 * number(&flow["ms"], "median"));
        assert!((rate / number(flow, "mlups") - 1.0).abs() < 1e-9, "{flow}");
        let parts = flow["parts"].as_array().expect("parts").iter();
        let sum: f64 = parts.map(|part| number(part, "ms")).sum();
        assert!((sum / number(flow, "finest_ms") - 1.0).abs() < 1e-9);
    }
    let ratio = number(&made["moving"], "finest_ms") / number(&made["rest"], "finest_ms");
    assert!((ratio / number(&made, "finest_ratio") - 1.0).abs() < 1e-9);
    // One run: the median is its ratio.
    let ratio = number(&made["moving"]["ms"], "median") / number(&made["rest"]["ms"], "median");
    assert!((ratio / number(&made, "ratio") - 1.0).abs() < 1e-9);
    let mut found = BTreeSet::new();
    keys(&made, "", &mut found);
    keys(&made["moving"], "", &mut found);
    keys(&made["moving"]["parts"][0], "", &mut found);
    for key in found.iter().filter(|key| !key.contains('.')) {
        let is_documented = DOCUMENTED.contains(&format!("`{key}`"));
        assert!(is_documented, "`{key}` should be in docs/json-schema.md");
    }
    let table = folder.run(line).ok().stdout;
    for word in ["finest step", "  embed", "at rest", "times a root step"] {
        assert!(table.contains(word), "{word:?} in:\n{table}");
    }
    for refused in ["--levels 0", "--levels 30", "--root 9", "--precision f8"] {
        assert_eq!(
            folder.run(&format!("bench move {refused}")).code,
            2,
            "{refused}"
        );
    }
}

#[test]
fn rates_follow_from_times_and_counts() {
    let folder = Folder::new();
    let made = folder.run(SMALL).ok().json();
    let cases = made["cases"].as_array().expect("cases");
    assert_eq!(
        cases.len(),
        10,
        "three boxes and two spheres, in two precisions"
    );
    for case in cases {
        let velocities = match case["lattice"].as_str() {
            Some("d2q9") => 9.0,
            Some("d3q19") => 19.0,
            _ => 27.0,
        };
        let word = if case["precision"] == "f32" { 4.0 } else { 8.0 };
        assert_eq!(number(case, "bytes_per_update"), 2.0 * velocities * word);
        let levels = case["levels"].as_array().expect("levels");
        let of = |key: &str, weight: &dyn Fn(i32) -> f64| -> f64 {
            let each = levels.iter().enumerate();
            each.map(|(l, level)| weight(l as i32) * number(level, key))
                .sum()
        };
        assert_eq!(number(case, "cells"), of("cells", &|_| 1.0));
        assert_eq!(number(case, "bytes"), of("bytes", &|_| 1.0));
        assert_eq!(number(case, "updates"), of("cells", &|l| 2f64.powi(l)));
        let rate = number(case, "updates") / (1e-3 * number(&case["ms"], "median"));
        assert!(
            (rate / number(case, "mlups") / 1e6 - 1.0).abs() < 1e-9,
            "{case}"
        );
        let moved = rate * number(case, "bytes_per_update");
        assert!((moved / number(case, "bytes_per_second") - 1.0).abs() < 1e-9);
        assert!(number(case, "mlups_best") >= number(case, "mlups"));
        // The median of ratios lies between the smallest and the largest of them.
        let share = number(case, "bytes_per_second") / number(case, "copy_bytes_per_second");
        assert!(
            (0.01..100.0).contains(&(share / number(case, "of_copy"))),
            "{case}"
        );
        let laps = case["laps"].as_array().expect("laps");
        let all: f64 = laps.iter().map(|lap| number(lap, "share")).sum();
        assert!((all - 1.0).abs() < 1e-9, "{laps:?}");
        // Step on each level, two exchanges at each interface, forces.
        let expected = if case["name"] == "sphere" {
            3 + 4 + 1
        } else {
            1
        };
        assert_eq!(laps.len(), expected, "{laps:?}");
    }
    let boxed = &cases[2];
    assert_eq!(boxed["cells"], 4096, "16 cells an edge: {boxed}");
    assert!(number(boxed, "bytes_per_cell") > number(boxed, "bytes_per_update"));
}

/// Two buffers of 19 populations in 16 bits, and the tables.
#[test]
fn half_the_memory_for_populations_in_16_bits() {
    let folder = Folder::new();
    let args = format!("{SMALL} --lattice d3q19 --precision f16,f32 --case box");
    let made = folder.run(&args).ok().json();
    let [half, single] = [0, 1].map(|n| number(&made["cases"][n], "bytes_per_cell"));
    assert!(76.0 < half && half <= 79.0, "{half}");
    assert_eq!(single - half, 76.0);
    assert_eq!(made["cases"][0]["precision"], "f16");
    assert_eq!(number(&made["cases"][0], "bytes_per_update"), 76.0);
}

#[test]
fn the_json_object_has_the_documented_keys() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    let args = format!("{SMALL} --lattice d3q19 --precision f32 --case sphere");
    let json = folder.run(&args).ok().json();
    let case = &json["cases"][0];
    let mut found = BTreeSet::new();
    keys(&json, "", &mut found);
    keys(&json["checks"][0], "checks[].", &mut found);
    keys(case, "cases[].", &mut found);
    keys(&case["levels"][0], "levels[].", &mut found);
    keys(&case["laps"][0], "laps[].", &mut found);
    for key in found.iter().filter(|key| !key.ends_with(".median")) {
        let spread = key.ends_with(".min") || key.ends_with(".max");
        let documented = DOCUMENTED.contains(&format!("`{key}`"));
        assert!(
            spread || documented,
            "`{key}` should be in docs/json-schema.md"
        );
    }
    assert!(found.contains("laps[].share") && found.contains("cases[].of_copy"));
    assert!(folder.files().is_empty(), "nothing is written");
}

#[test]
fn tables_are_for_people_and_options_choose() {
    let folder = Folder::new();
    let args = SMALL.replace(" --json", "");
    let ran = folder.run(&format!(
        "{args} --lattice d3q27 --precision f64 --collision trt"
    ));
    let ran = ran.ok();
    for word in [
        "device    cpu",
        "of the copy",
        "d3q27",
        "trt",
        "interpolate",
        "bytes/cell",
    ] {
        assert!(ran.stdout.contains(word), "{word:?} in:\n{}", ran.stdout);
    }
    assert!(
        !ran.stdout.contains("f32") && !ran.stdout.contains("d2q9"),
        "{}",
        ran.stdout
    );
    folder
        .run("mesh --shape box:size=1x1x1 --root 16 --levels 2 -o box.cut")
        .ok();
    let args = "bench solve --runs 1 --steps 1 --lattice d3q19 --precision f32";
    let ran = folder.run(&format!("{args} --mesh box.cut")).ok();
    for word in ["mesh ", "interpolate"] {
        assert!(ran.stdout.contains(word), "{word:?} in:\n{}", ran.stdout);
    }
    let none = folder.run(&format!("{args} --mesh none.cut"));
    none.failed(2, &["none.cut"]);
    let none = folder.run("bench solve --lattice d2q9 --case sphere");
    none.failed(2, &["there is no such flow", "the sphere is 3D"]);
    for usage in [
        "--lattice d3q15",
        "--collision mrt",
        "--cells x",
        "--steps 0",
    ] {
        assert_eq!(
            folder.run(&format!("bench solve {usage}")).code,
            2,
            "{usage}"
        );
    }
}

#[test]
fn rates_of_flux_reconstruction_follow_from_times_and_counts() {
    let folder = Folder::new();
    let line = "bench flux --elements 8 --order 1,3 --precision f64 --runs 2 --json";
    let made = folder.run(line).ok().json();
    let cases = made["cases"].as_array().expect("cases");
    assert_eq!(
        cases.len(),
        8,
        "two orders, 2D and 3D, with hanging faces or not"
    );
    for case in cases {
        let d = number(case, "dimensions");
        let points = (number(case, "order") + 1.0).powf(d);
        // Every eighth of 8^D elements becomes 2^D.
        let all = 8f64.powf(d);
        let more = f64::from(u8::from(case["has_hanging_faces"] == true));
        let elements = all + more * all / 8.0 * (2f64.powf(d) - 1.0);
        assert_eq!(number(case, "elements"), elements, "{case}");
        let numbers = elements * points * (d + 2.0);
        assert_eq!(number(case, "degrees_of_freedom"), numbers, "{case}");
        let rate = 3.0 * numbers / (1e-3 * number(&case["ms"], "median"));
        let found = number(case, "degrees_of_freedom_per_second");
        assert!((found / rate - 1.0).abs() < 1e-9, "{case}");
        let bytes = number(case, "bytes_per_second");
        // The state is read and written at each stage.
        assert!(bytes > 16.0 * found && bytes < 80.0 * found, "{case}");
        let share = bytes / number(&made["copy"], "bytes_per_second");
        assert!((share / number(case, "of_copy") - 1.0).abs() < 1e-9);
    }
    let line = "bench flux --elements 4 --order 2 --precision f32 --runs 2 --viscous --json";
    let viscous = folder.run(line).ok().json();
    let cases = viscous["cases"].as_array().expect("cases");
    assert!(cases.iter().all(|case| case["is_viscous"] == true));
    assert!(made["cases"][0]["is_viscous"] == false);
    let adaptation = &made["adaptation"];
    assert!(number(adaptation, "elements") >= 512.0, "{adaptation}");
    folder.run("bench flux --order 5").failed(2, &["1 to 4"]);
    folder
        .run("bench flux --precision f16")
        .failed(2, &["f32 and f64"]);
    let large = folder.run("bench flux --elements 65536 --order 4");
    large.failed(4, &["fewer --elements"]);
}
