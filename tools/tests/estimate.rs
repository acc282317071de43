//! `cutlink estimate` against `cutlink mesh`, and the use of estimates in `mesh`.

mod kit;

use kit::Folder;
use serde_json::Value;

fn number(object: &Value, key: &str) -> f64 {
    let value = object[key].as_f64();
    value.unwrap_or_else(|| panic!("{key} should be a number in {object}"))
}

fn off(predicted: f64, is: f64) -> f64 {
    (predicted / is - 1.0).abs()
}

#[test]
fn it_predicts_the_mesh_within_ten_per_cent() {
    const ARGS: &str = "--shape torus --levels 5 --threads 2 --json";
    let folder = Folder::new();
    let predicted = folder.run(&format!("estimate {ARGS}")).ok().json();
    let args = format!("mesh {ARGS} --no-picture");
    let mesh = folder.run(&args).ok().json();
    let counted = number(&predicted, "counted_levels");
    assert!(counted < 5.0, "some levels are extrapolated: {counted}");
    for key in ["blocks", "cells", "links", "boundary_cells"] {
        let (predicted, is) = (number(&predicted, key), number(&mesh, key));
        assert!(off(predicted, is) < 0.1, "{key}: {predicted} for {is}");
    }
    let file = number(&mesh["files"]["mesh"], "bytes");
    assert!(
        off(number(&predicted, "file_bytes"), file) < 0.1,
        "file: {predicted}"
    );
    let peak = number(&mesh, "peak_rss_bytes");
    if peak > 0.0 {
        let estimate = number(&predicted, "peak_bytes");
        assert!(off(estimate, peak) < 0.1, "memory: {estimate} for {peak}");
    }
    // The row of one level less must fail the same bound.
    let less = &predicted["choices"][3];
    assert_eq!(less["levels"], 4, "rows are numbers of levels");
    for key in ["blocks", "cells", "links", "boundary_cells"] {
        assert!(off(number(less, key), number(&mesh, key)) > 0.1, "{key}");
    }
}

#[test]
fn the_json_object_has_the_documented_keys() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    let ran = folder.run("estimate --shape sphere --root 16 --levels 2 --json");
    let json = ran.ok().json();
    let pinned = "blocks boundary_cells cells choices command counted_levels cutlink device dimensions \
        embed_ms estimate_ms file_bytes fits frame free_bytes levels links name parameters \
        peak_bytes schema";
    let mut found: Vec<&String> = json.as_object().expect("an object").keys().collect();
    found.sort();
    assert_eq!(found, pinned.split_whitespace().collect::<Vec<_>>());
    for key in found {
        let documented = DOCUMENTED.contains(&format!("`{key}`"));
        assert!(documented, "`{key}` should be in docs/json-schema.md");
    }
    assert!(folder.files().is_empty(), "nothing is written");
}

#[test]
fn memory_decides_the_levels() {
    let folder = Folder::new();
    let args = "estimate --shape sphere --mem 200MB";
    let json = folder.run(&format!("{args} --json")).ok().json();
    let levels = json["levels"].as_array().expect("levels").len();
    let rows = json["choices"].as_array().expect("choices");
    assert_eq!(rows.len(), levels + 1, "and one that does not fit");
    assert!(
        number(&rows[levels - 1], "peak_bytes") * 1.1 <= 200e6,
        "{json}"
    );
    assert!(number(&rows[levels], "peak_bytes") * 1.1 > 200e6, "{json}");
    let text = folder.run(args).ok().stdout;
    let expected = format!("{levels} levels are the finest mesh within 200.0 MB");
    assert!(text.contains(&expected), "{text}");
    let none = folder.run("estimate --shape sphere --mem 1MB");
    none.failed(4, &["the root grid alone does not fit", "--root"]);
    let word = folder.run("estimate --shape sphere --mem much");
    assert_eq!(word.code, 2, "{}", word.stderr);
}

#[test]
fn mesh_obeys_max_cells_and_notes_dropped_levels() {
    let folder = Folder::new();
    let args = "mesh --shape sphere --root 32 --levels 7 --no-picture --json --max-cells";
    let ran = folder.run(&format!("{args} 2M")).ok();
    let json = ran.json();
    let levels = json["levels"].as_array().expect("levels").len();
    assert!((2..7).contains(&levels), "levels were dropped: {levels}");
    assert!(number(&json, "cells") <= 2e6, "{}", json["cells"]);
    assert_eq!(number(&json["parameters"], "levels") as usize, levels);
    let expected = format!("reduces the levels to {levels} of 7");
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    let few = folder.run(&format!("{args} 1000 --force"));
    few.failed(2, &["the root grid alone has 32 768 cells", "--root"]);
}

#[test]
fn mesh_refuses_what_will_not_fit_before_it_is_built() {
    let folder = Folder::new();
    let args = "mesh --shape sphere --deviation 0.001 --levels 13";
    let ran = folder.run(&format!("{args} --json"));
    let error = &ran.json()["error"];
    assert_eq!(error["exit_code"], 4, "{error}");
    assert!(
        number(&error["details"]["estimate"], "peak_bytes") > 1e12,
        "{error}"
    );
    ran.failed(4, &["not enough memory for 13 levels", "free", "--levels"]);
    assert!(folder.files().is_empty(), "nothing was written");
}

#[test]
fn a_flow_is_estimated_with_the_documented_keys() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    folder.run("solve --example sphere case.toml").ok();
    let text = folder.run("estimate case.toml --y-plus 2").ok().stdout;
    assert!(text.contains("y+ 2 at the wall needs cells"), "{text}");
    let ran = folder.run("estimate case.toml --y-plus 2 --re 5000 --json");
    let ran = ran.ok();
    let json = ran.json();
    assert_eq!(
        (&json["command"], &json["reynolds"]),
        (&"estimate".into(), &5000.0.into())
    );
    let section = DOCUMENTED
        .split("\n## ")
        .find(|s| s.starts_with("`cutlink estimate CASE.toml"));
    let section = section.expect("a section");
    let named = |prefix: &str, object: &Value| {
        for key in object.as_object().expect("an object").keys() {
            let key = format!("`{prefix}{key}");
            let above = "schema cutlink dimensions device free_bytes".split(' ');
            let is_above = above.map(|key| format!("`{key}")).any(|above| above == key);
            assert!(section.contains(&key) || is_above, "{key}");
        }
    };
    named("", &json);
    named("wall.", &json["wall"]);
    named("target.", &json["target"]);
    named("flow.", &json["flow"]);
    named("flow.bytes.", &json["flow"]["bytes"]);
    // Options of meshes are those of the case.
    for args in [
        "case.toml --levels 3",
        "case.toml --mem 1GiB",
        "--shape sphere --re 100",
    ] {
        let ran = folder.run(&format!("estimate {args}"));
        assert_eq!(ran.code, 2, "{args}: {}", ran.stderr);
    }
    folder.write("none.toml", "[physics]\nre = 1\n");
    let ran = folder.run("estimate none.toml");
    assert!(
        ran.code == 2 && ran.stderr.contains("none.toml"),
        "{}",
        ran.stderr
    );
}
