//! The JSON schema of a case (`cutlink solve --schema`).

use crate::solve::{Case, FluxCase, SolverKind};
use cutlink_common::schema::{generator, plain};
use schemars::json_schema;
use serde_json::{Value, json};

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

#[cfg(test)]
mod tests;
