//! The JSON schema of cases.

use cutlink::solve::schema::of_cases;
use cutlink::{Case, MeshOptions, fields::OutputSpec};
use cutlink_common::schema::{has, keys, of};
use cutlink_mesher::placement::Unit;
use cutlink_solver::Collision;
use serde_json::{Value, json};

/// Every schema in a schema, with the path to it.
fn each<'a>(path: &str, schema: &'a Value, visit: &mut impl FnMut(&str, &'a Value)) {
    visit(path, schema);
    let inner: Vec<(String, &Value)> = match schema {
        Value::Object(object) => object
            .iter()
            .map(|(k, v)| (format!("{path}/{k}"), v))
            .collect(),
        Value::Array(of) => of.iter().map(|v| (path.to_owned(), v)).collect(),
        _ => Vec::new(),
    };
    for (path, value) in inner {
        each(&path, value, visit);
    }
}

#[test]
fn every_key_has_a_sentence_and_no_table_takes_others() {
    let schema = of_cases();
    let (mut keys, mut tables) = (0, 0);
    each("", &schema["definitions"], &mut |path, value| {
        let properties = value["properties"].as_object().into_iter().flatten();
        for (key, value) in properties {
            let text = value["description"].as_str().unwrap_or_default();
            assert!(text.len() > 5, "{path}/{key} has no description");
            assert!(
                !text.contains("[`") && !text.contains('\n'),
                "{path}/{key}: {text}"
            );
            keys += 1;
        }
        if value.get("properties").is_some() {
            assert_eq!(value["additionalProperties"], false, "{path}");
            tables += 1;
        }
        if let Some(default) = value.get("default") {
            assert!(
                default.is_string() || default.is_number() || default.is_boolean(),
                "{path}"
            );
        }
        assert_ne!(value["type"], "null", "{path}: TOML has no null");
    });
    assert!(keys > 200 && tables > 30, "{keys} keys of {tables} tables");
}

#[test]
fn references_lead_to_definitions() {
    let schema = of_cases();
    let mut references = 0;
    each("", &schema, &mut |path, value| {
        if let Some(to) = value.get("$ref").and_then(Value::as_str) {
            assert!(schema.pointer(&to[1..]).is_some(), "{path}: {to}");
            references += 1;
        }
    });
    assert!(references > 30, "{references}");
}

#[test]
fn keys_are_found_along_paths() {
    let schema = of::<Case>();
    let found = |path: &[&str]| keys(&schema, path).unwrap_or_default();
    assert_eq!(found(&["domain"]), ["box", "root"]);
    assert_eq!(found(&["boundary", "x-", "sponge"]), ["length", "strength"]);
    assert!(found(&["patches", "anything"]).contains(&"omega".to_owned()));
    assert!(found(&["output", "write", "camera"]).contains(&"angle".to_owned()));
    assert_eq!(
        found(&["mesh"]),
        keys(&of::<MeshOptions>(), &[]).expect("a table")
    );
    assert_eq!(keys(&schema, &["physics", "re"]), None, "a number");
    assert!(has(&schema, &["groups"], "any"), "names are the user's");
    assert!(has(&schema, &["run"], "steps") && !has(&schema, &["run"], "step"));
    assert!(!has(&schema, &["rn"], "steps"), "no such table");
}

#[test]
fn names_are_those_that_are_read() {
    let schema = of_cases();
    let names = |name: &str| schema["definitions"][name]["enum"].clone();
    assert_eq!(names("Collision"), json!(Collision::NAMES));
    assert_eq!(
        names("Unit").as_array().map(Vec::len),
        Some(Unit::ALL.len())
    );
    let output = of::<OutputSpec>();
    let kinds = output
        .pointer("/definitions/OutputKind/oneOf")
        .expect("the kinds");
    let kinds = kinds.as_array().expect("a list");
    assert!(
        kinds.iter().any(|kind| kind["const"] == "probes"),
        "{kinds:?}"
    );
}
