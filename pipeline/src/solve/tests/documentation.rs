//! Checks that `docs/case.md` names every key, and that its examples are valid cases.

use super::*;
use crate::config;
use crate::options::Root;
use cutlink_solver::{Collision, Interpolation, LatticeKind, Les, Plan, Precision, WallScheme};

/// The keys of a table, from the error for an unknown one.
fn keys(text: &str) -> Vec<String> {
    let failure = parse::<Case>("docs", text).expect_err("no such key");
    let hint = failure.hint.expect("all of them");
    let (_, list) = hint.split_once("s: ").expect("a list");
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_documentation_names_every_key_and_every_name() {
    let page = include_str!("../../../../docs/case.md");
    let section = |title: &str| {
        let title = match title.contains(".write") {
            true => format!("`[[{title}]]`"),
            false => format!("`[{title}]`"),
        };
        let mut found = page.split("\n## ").filter(|s| s.starts_with(&title));
        found.next().unwrap_or_default()
    };
    let lacks = |title: &str, names: &[String]| -> Vec<String> {
        let text = section(title);
        let lacking = |name: &&String| !text.contains(&format!("`{name}`"));
        names.iter().filter(lacking).cloned().collect()
    };
    let tables = keys("\"?\" = 1");
    assert_eq!(tables.len(), 13, "{tables:?}");
    assert!(
        section("groups").contains("`all`"),
        "names there are the user's"
    );
    for table in tables.iter().filter(|&table| table != "groups") {
        let (title, inside) = match table.as_str() {
            "patches" => ("patches.NAME", "[patches.p]".to_owned()),
            other => (other, format!("[{other}]")),
        };
        let inside = keys(&format!("{inside}\n\"?\" = 1"));
        assert!(
            lacks(title, &inside).is_empty(),
            "{:?}",
            lacks(title, &inside)
        );
    }
    let face = "[boundary]\n\"x-\" = ";
    let more = [
        ("boundary", keys(&format!("{face}{{ \"?\" = 1 }}"))),
        ("boundary", keys(&format!("{face}\"?\""))),
        (
            "boundary",
            keys(&format!(
                "{face}{{ type = \"outflow\", sponge = {{ \"?\" = 1 }} }}"
            )),
        ),
        (
            "boundary",
            keys(&format!(
                "{face}{{ type = \"velocity\", turbulence = {{ \"?\" = 1 }} }}"
            )),
        ),
        ("patches.NAME", keys("[patches.p]\ntype = \"?\"")),
        ("initial", keys("[initial]\npreset = \"?\"")),
        ("output", keys("[output]\nunits = \"?\"")),
        ("output.averages", keys("[output.averages]\n\"?\" = 1")),
        (
            "output.recirculation",
            keys("[output.recirculation]\n\"?\" = 1"),
        ),
        ("output.write", keys("[[output.write]]\n\"?\" = 1")),
        ("output.write", keys("[[output.write]]\nkind = \"?\"")),
        ("output.write", keys("[[output.write]]\naverage = \"?\"")),
        ("output.write", keys("[[output.write]]\nfields = [\"?\"]")),
        ("output.write", keys("[[output.write]]\nquantity = \"?\"")),
        ("output.write", keys("[[output.write]]\naxis = \"?\"")),
        ("output.write", keys("[[output.write]]\nformat = \"?\"")),
        ("numerics", keys("[numerics]\nwall_model = \"?\"")),
        ("numerics", names(Collision::NAMES)),
        ("numerics", names(Les::NAMES)),
        ("numerics", names(LatticeKind::NAMES)),
        ("numerics", names(Precision::NAMES)),
        ("numerics", names(Interpolation::NAMES)),
        ("numerics", names(WallScheme::NAMES)),
        ("mesh", config::keys()),
    ];
    for (title, inside) in more {
        assert!(
            lacks(title, &inside).is_empty(),
            "{:?}",
            lacks(title, &inside)
        );
    }
    assert_eq!(lacks("physics", &names(&["rey"])), ["rey"], "gaps are seen");
}

#[test]
fn the_examples_of_the_documentation_are_cases() {
    let page = include_str!("../../../../docs/case.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let (text, _) = example.split_once("```").expect("its end");
        let case = parse::<Case>("case.md", text).expect("a case");
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
