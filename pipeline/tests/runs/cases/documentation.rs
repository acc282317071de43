//! Checks that the page of cases has every name, and that its examples are valid cases. Its keys are written by `docs/keys.py`.

use super::*;
use cutlink_common::schema;
use cutlink_meshing::options::Root;
use cutlink_solver::Plan;
use serde_json::Value;
use std::collections::BTreeSet;

const CASE: &str = include_str!("../../../../docs/case.md");

/// What stands between backticks in a text.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let title = format!("`{title}`");
    let mut found = page.split("\n## ").filter(|s| s.starts_with(&title));
    found
        .next()
        .unwrap_or_else(|| panic!("there is no section {title}"))
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
