//! The JSON schema of a case (`cutlink solve --schema`), by which editors complete and check cases.
//!
//! It is derived from the structs that read a case: a key is a field, its description the sentence on the field. Draft 7,
//! which all editors know.

use crate::fields::FieldName;
use crate::solve::{Case, FluxCase, SolverKind};
use cutlink_mesher::placement::Unit;

use cutlink_solver::{
    Collision, Indicator, Interpolation, LatticeKind, Les, Precision, WallScheme,
};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// The schema of a case of any kind.
pub fn of_cases() -> Value {
    let mut generator = generator();
    let case = generator.subschema_for::<Case>();
    let flux = generator.subschema_for::<FluxCase>();
    let kind = json!({ "const": SolverKind::FluxReconstruction });
    let is_flux = json!({
        "required": ["solver"],
        "properties": { "solver": { "required": ["kind"], "properties": { "kind": kind } } },
    });
    let mut schema = json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A case of cutlink",
        "description": "A flow: the file that `cutlink solve` runs.",
        "type": "object",
        "if": is_flux,
        "then": flux,
        "else": case,
        // What accepts everything, for editors that complete by alternatives, not by conditions.
        "anyOf": [case, flux, true],
        "definitions": generator.take_definitions(true),
    });
    plain(&mut schema);
    schema.into()
}

/// The schema of a type.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let mut schema = generator().into_root_schema_for::<T>();
    plain(&mut schema);
    schema.into()
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft07().into_generator()
}

/// The keys of an object of a schema, in alphabetical order; `path` has the keys that lead to it. None where there is no
/// such object.
pub(crate) fn keys(schema: &Value, path: &[&str]) -> Option<Vec<String>> {
    let object = object(schema, schema, path)?;
    Some(object["properties"].as_object()?.keys().cloned().collect())
}

/// Whether an object of a schema may have a key.
pub(crate) fn has(schema: &Value, path: &[&str], key: &str) -> bool {
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
fn plain(schema: &mut Schema) {
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
pub(crate) fn any_of(schema: &mut Schema) {
    if let Some(of) = schema.remove("oneOf") {
        schema.insert("anyOf".into(), of);
    }
}

/// A type of a crate below, which users give by name.
pub(crate) trait Named {
    /// Its name in the schema.
    const NAME: &'static str;

    /// The names of all values.
    fn names() -> Vec<&'static str>;
}

macro_rules! named {
    ($($type:ident),+) => {
        $(impl Named for $type {
            const NAME: &'static str = stringify!($type);

            fn names() -> Vec<&'static str> {
                Self::NAMES.to_vec()
            }
        })+
    };
}
named!(
    Collision,
    Interpolation,
    LatticeKind,
    Les,
    Precision,
    WallScheme
);

impl Named for Unit {
    const NAME: &'static str = "Unit";

    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::symbol).to_vec()
    }
}

impl Named for Indicator {
    const NAME: &'static str = "Indicator";

    fn names() -> Vec<&'static str> {
        Self::NAMES.map(|(name, _)| name).to_vec()
    }
}

/// The schema of [`Named`].
pub(crate) struct ByName<T>(PhantomData<T>);

impl<T: Named> JsonSchema for ByName<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": T::names() })
    }
}

impl JsonSchema for crate::solve::value::Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, or an expression such as `\"2*y\"`.",
            "type": ["number", "string"],
        })
    }
}

impl JsonSchema for FieldName {
    fn schema_name() -> Cow<'static, str> {
        "FieldName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[a-z0-9-]{1,24}$" })
    }
}

#[cfg(test)]
mod tests;
