//! JSON schemas of what TOML files hold, by which editors complete and check them.
//!
//! They are derived from the structs that read the files: a key is a field, its description the sentence on the field.
//! Draft 7, which all editors know.

use cutlink_device::Named;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;
use std::marker::PhantomData;

/// The schema of a type.
pub fn of<T: JsonSchema>() -> Value {
    let mut schema = generator().into_root_schema_for::<T>();
    plain(&mut schema);
    schema.into()
}

/// A generator of schemas of draft 7.
pub fn generator() -> SchemaGenerator {
    SchemaSettings::draft07().into_generator()
}

/// The keys of an object of a schema, in alphabetical order; `path` has the keys that lead to it. None where there is no
/// such object.
pub fn keys(schema: &Value, path: &[&str]) -> Option<Vec<String>> {
    let object = object(schema, schema, path)?;
    Some(object["properties"].as_object()?.keys().cloned().collect())
}

/// Whether an object of a schema may have a key.
pub fn has(schema: &Value, path: &[&str], key: &str) -> bool {
    object(schema, schema, path).is_some_and(|object| step(object, key).is_some())
}

/// The object of a schema that a path leads to.
fn object<'a>(root: &'a Value, schema: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let alternatives = ["allOf", "anyOf"]
        .into_iter()
        .find_map(|of| schema[of].as_array());
    if let Some(of) = alternatives {
        return of.iter().find_map(|one| object(root, one, path));
    }
    if let Some(name) = schema["$ref"].as_str() {
        return object(root, root.pointer(name.trim_start_matches('#'))?, path);
    }
    match path {
        _ if schema["type"] == "array" => object(root, &schema["items"], path),
        [] => (schema["type"] == "object").then_some(schema),
        [key, rest @ ..] => object(root, step(schema, key)?, rest),
    }
}

/// The schema of a value of an object.
fn step<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    let others = &object["additionalProperties"];
    let of_key = object["properties"].get(key);
    of_key.or_else(|| others.is_object().then_some(others))
}

/// Without what TOML has not (null), and what says nothing to a reader: formats of numbers, defaults that are no plain
/// values. A key that has no plain default says it in its description.
pub fn plain(schema: &mut Schema) {
    RecursiveTransform(|schema: &mut Schema| {
        let Some(object) = schema.as_object_mut() else {
            return;
        };
        object.remove("format");
        if object
            .get("default")
            .is_some_and(|v| v.is_null() || v.is_array() || v.is_object() || v == "")
        {
            object.remove("default");
        }
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [one] = &types[..] {
                let one = one.clone();
                object.insert("type".into(), one);
            }
        }
        if let Some(Value::Array(names)) = object.get_mut("enum") {
            names.retain(|name| !name.is_null());
        }
        if let Some(Value::Array(of)) = object.get_mut("anyOf") {
            of.retain(|one| one["type"] != "null");
            if of.len() == 1 {
                let one = object.remove("anyOf").unwrap_or_default();
                object.insert("allOf".into(), one);
            }
        }
        if let Some(Value::String(text)) = object.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    })
    .transform(schema);
}

/// Alternatives that overlap: names, and any other name.
pub fn any_of(schema: &mut Schema) {
    if let Some(of) = schema.remove("oneOf") {
        schema.insert("anyOf".into(), of);
    }
}

/// The schema of [`Named`].
#[derive(Debug)]
pub struct ByName<T>(PhantomData<T>);

impl<T: Named> JsonSchema for ByName<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": T::names() })
    }
}
