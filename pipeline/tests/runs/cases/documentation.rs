//! Checks that the pages of cases have every key and no others, and that their examples are valid cases.

use super::*;
use cutlink::{FluxCase, TwoPhaseCase};
use cutlink_common::schema;
use cutlink_meshing::options::Root;
use cutlink_solver::Plan;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const CASE: &str = include_str!("../../../../docs/case.md");
const FLUX: &str = include_str!("../../../../docs/flux-reconstruction.md");
const TWO_PHASE: &str = include_str!("../../../../docs/two-phase.md");

/// What stands between backticks in a text.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The keys of the tables of a text: quoted names in columns whose title is `key`.
fn keys_of_tables(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_of_keys = false;
    for line in text.lines() {
        let first = line.strip_prefix('|').and_then(|row| row.split('|').next());
        match first.map(str::trim) {
            Some("key") => is_of_keys = true,
            Some(keys) if is_of_keys => found.extend(quoted(keys)),
            Some(_) => {}
            None => is_of_keys = false,
        }
    }
    found
}

/// The tables of a case: the title of their section, and the paths of the keys in it.
const SECTIONS: [(&str, &[&[&str]]); 15] = [
    ("[solver]", &[&["solver"]]),
    ("[mesh]", &[&["mesh"]]),
    ("[domain]", &[&["domain"]]),
    ("[physics]", &[&["physics"]]),
    ("[numerics]", &[&["numerics"]]),
    (
        "[boundary]",
        &[
            &["boundary"],
            &["boundary", "x-"],
            &["boundary", "x-", "sponge"],
            &["boundary", "x-", "turbulence"],
        ],
    ),
    ("[initial]", &[&["initial"]]),
    ("[patches.NAME]", &[&["patches", "NAME"]]),
    ("[motion.NAME]", &[&["motion", "NAME"]]),
    ("[free_stream]", &[&["free_stream"]]),
    (
        "[adapt]",
        &[&["adapt"], &["adapt", "by"], &["adapt", "limit"]],
    ),
    ("[run]", &[&["run"]]),
    ("[output]", &[&["output"]]),
    ("[output.averages]", &[&["output", "averages"]]),
    ("[output.recirculation]", &[&["output", "recirculation"]]),
];

fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let title = format!("`{title}`");
    let mut found = page.split("\n## ").filter(|s| s.starts_with(&title));
    found
        .next()
        .unwrap_or_else(|| panic!("there is no section {title}"))
}

/// The keys of objects of a schema.
fn keys(schema: &Value, paths: &[&[&str]]) -> BTreeSet<String> {
    let of = |path: &&[&str]| schema::keys(schema, path).unwrap_or_else(|| panic!("no {path:?}"));
    paths.iter().flat_map(of).collect()
}

/// The keys of outputs; those of tables in them as `camera.from`.
fn output_keys(schema: &Value) -> BTreeSet<String> {
    let path = ["output", "write"];
    let mut found = keys(schema, &[&path]);
    for table in ["camera", "isosurface"] {
        let inner = keys(schema, &[&["output", "write", table]]);
        found.extend(inner.into_iter().map(|key| format!("{table}.{key}")));
    }
    found
}

/// What a section lacks, and what its tables have that is no key.
fn differences(text: &str, known: &BTreeSet<String>) -> [Vec<String>; 2] {
    let (named, tables) = (quoted(text), keys_of_tables(text));
    [
        known.difference(&named).cloned().collect(),
        tables.difference(known).cloned().collect(),
    ]
}

#[test]
fn the_page_of_cases_has_every_key_and_no_others() {
    let schema = schema::of::<Case>();
    let mut tables = BTreeSet::from(["groups".to_owned()]);
    let mut sections: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for (title, paths) in SECTIONS {
        tables.insert(paths[0][0].to_owned());
        sections.push((title, keys(&schema, paths)));
    }
    assert_eq!(tables, keys(&schema, &[&[]]), "the tables of a case");
    sections.push(("[[output.write]]", output_keys(&schema)));
    for (title, known) in &sections {
        let nothing: [Vec<String>; 2] = Default::default();
        assert_eq!(differences(section(CASE, title), known), nothing, "{title}");
    }
    assert!(
        section(CASE, "[groups]").contains("`all`"),
        "names there are the user's"
    );
    // That gaps and leftovers are seen.
    let (physics, mut known) = (section(CASE, "[physics]"), keys(&schema, &[&["physics"]]));
    known.remove("re");
    known.insert("rey".to_owned());
    assert_eq!(differences(physics, &known), [["rey"], ["re"]]);
}

#[test]
fn the_page_of_cases_has_every_name() {
    let schema = schema::of::<Case>();
    let sections = [
        ("[boundary]", &["FaceKind", "SpectrumName"][..]),
        ("[patches.NAME]", &["PatchKind"]),
        ("[initial]", &["Preset", "AxisName"]),
        ("[output]", &["FieldUnitsName"]),
        (
            "[[output.write]]",
            &[
                "OutputKind",
                "Average",
                "CellField",
                "Quantity",
                "NormalAxis",
                "SurfaceFormat",
                "SurfaceColour",
            ],
        ),
        (
            "[numerics]",
            &[
                "WallModelName",
                "Collision",
                "Les",
                "LatticeKind",
                "Precision",
                "Interpolation",
                "WallScheme",
            ],
        ),
        ("[adapt]", &["Indicator"]),
    ];
    for (title, types) in sections {
        let named = quoted(section(CASE, title));
        for name in types {
            let names = names_of(&schema["definitions"][name]);
            assert!(!names.is_empty(), "{name}");
            let lacks: Vec<_> = names
                .iter()
                .filter(|&name| !named.contains(name) && !named.contains(&format!("\"{name}\"")))
                .collect();
            assert!(lacks.is_empty(), "{title} lacks {lacks:?} of {name}");
        }
    }
}

/// The names that a definition allows.
fn names_of(definition: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut names: Vec<String> = list(&definition["enum"]).iter().filter_map(text).collect();
    for of in ["oneOf", "anyOf"] {
        for one in list(&definition[of]) {
            names.extend(text(&one["const"]));
            names.extend(names_of(&one));
        }
    }
    names
}

/// The keys of the page's table of tables and keys, by table.
fn keys_by_table(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let (_, rows) = page.split_once("| table | key |").expect("the table");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut table = String::new();
    for row in rows.lines().skip(2).take_while(|row| row.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let Some(title) = quoted(cells[1]).into_iter().next() {
            table = title;
        }
        found
            .entry(table.clone())
            .or_default()
            .extend(quoted(cells[2]));
    }
    found
}

#[test]
fn the_page_of_flux_reconstruction_has_every_key_and_no_others() {
    let schema = schema::of::<FluxCase>();
    let mut documented = keys_by_table(FLUX);
    let mut tables = BTreeSet::from(["solver".to_owned()]);
    // The faces are as many as the axes, and the keys of a face stand beside them.
    let face = keys(&schema, &[&["boundary"], &["boundary", "x-"]]);
    let boundary = documented.remove("[boundary]").expect("the faces");
    assert!(
        boundary.is_subset(&face) && boundary.contains("x-"),
        "{boundary:?}"
    );
    let other: Vec<&String> = face
        .iter()
        .filter(|key| !boundary.contains(*key) && !key.ends_with(['-', '+']))
        .collect();
    assert_eq!(other, ["type"], "which its values show");
    documented
        .remove("[groups]")
        .expect("names that are the user's");
    tables.extend(["boundary", "groups"].map(str::to_owned));
    for (title, keys_there) in documented {
        let path: Vec<&str> = title.trim_matches(['[', ']']).split('.').collect();
        tables.insert(path[0].to_owned());
        let mut known = keys(&schema, &[&path]);
        // Tables of their own.
        known.retain(|key| !["place", "averages"].contains(&key.as_str()));
        assert_eq!(keys_there, known, "{title}");
    }
    assert_eq!(tables, keys(&schema, &[&[]]), "the tables of a case");
}

#[test]
fn the_page_of_two_phase_flow_has_every_key_and_no_others() {
    let schema = schema::of::<TwoPhaseCase>();
    let mut documented = keys_by_table(TWO_PHASE);
    let mut tables = BTreeSet::new();
    let face = keys(&schema, &[&["boundary"], &["boundary", "x-"]]);
    let boundary = documented.remove("[boundary]").expect("the faces");
    let other: Vec<&String> = face.difference(&boundary).collect();
    assert_eq!(other, ["type"], "which its values show");
    assert!(boundary.is_subset(&face), "{boundary:?}");
    tables.insert("boundary".to_owned());
    for (title, keys_there) in documented {
        let path: Vec<&str> = title.trim_matches(['[', ']']).split('.').collect();
        tables.insert(path[0].to_owned());
        assert_eq!(keys_there, keys(&schema, &[&path]), "{title}");
    }
    // Those of all flows have a page of their own.
    tables.extend(["run", "output"].map(str::to_owned));
    assert_eq!(tables, keys(&schema, &[&[]]), "the tables of a case");
}

#[test]
fn the_examples_of_the_documentation_are_cases() {
    let examples: Vec<&str> = CASE.split("```toml\n").skip(1).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let (text, _) = example.split_once("```").expect("its end");
        let case = Case::parse("case.md", text).expect("a case");
        let root = |n| Root::Longest(n);
        let made = match &case.domain {
            Some(domain) => {
                let mesh = bare::<2>(&domain.bounds, &domain.root).expect("a mesh");
                case.resolve("case.md", CaseGrid::of(&mesh)).map(|made| {
                    let plan = Plan::new(&mesh, made.params);
                    assert!(plan.is_ok(), "the solver takes it: {plan:?}");
                })
            }
            None if case.mesh.as_ref().and_then(|m| m.root.clone()) == Some(root(128)) => {
                let frame = Frame::new([-5.0, -5.0, -5.0], 0.15625, [128, 64, 64]);
                let grid = CaseGrid {
                    frame: &frame.expect("a frame"),
                    patches: &names(&["sphere"]),
                    areas: &[],
                };
                case.resolve("case.md", grid).map(drop)
            }
            None => {
                let frame = Frame::new([-4.0, -4.0], 0.25, [64, 32]);
                let grid = CaseGrid {
                    frame: &frame.expect("a frame"),
                    patches: &names(&["circle"]),
                    areas: &[],
                };
                let made = case.resolve("case.md", grid).expect("a flow");
                // A root step is 0.05 * 0.25 / 1 = 0.0125 s.
                assert_eq!(made.outputs.averages, Some([4000, 16]));
                assert_eq!(made.outputs.specs[0].every_steps, Some(8));
                Ok(())
            }
        };
        assert_eq!(made, Ok(()), "{text}");
    }
}
