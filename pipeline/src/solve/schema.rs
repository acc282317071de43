//! The JSON schema of a case (`cutlink solve --schema`).

use crate::solve::{Case, FluxCase, GrainsCase, SolverKind, TwoPhaseCase};
use cutlink_common::schema::{generator, plain};
use schemars::json_schema;
use serde_json::{Value, json};

/// The schema of a case of any kind.
pub fn of_cases() -> Value {
    let mut generator = generator();
    let case = generator.subschema_for::<Case>();
    let flux = generator.subschema_for::<FluxCase>();
    let two_phase = generator.subschema_for::<TwoPhaseCase>();
    let grains = generator.subschema_for::<GrainsCase>();
    let is = |kind: SolverKind| {
        let kind = json!({ "const": kind });
        json!({
            "required": ["solver"],
            "properties": { "solver": { "required": ["kind"], "properties": { "kind": kind } } },
        })
    };
    let is_two_phase = is(SolverKind::TwoPhase);
    let is_grains = is(SolverKind::Grains);
    let is_flux = is(SolverKind::FluxReconstruction);
    let mut schema = json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A case of cutlink",
        "description": "A flow: the file that `cutlink solve` runs.",
        "type": "object",
        "if": is_flux,
        "then": flux,
        "else": {
            "if": is_two_phase,
            "then": two_phase,
            "else": { "if": is_grains, "then": grains, "else": case },
        },
        // What accepts everything, for editors that complete by alternatives, not by conditions.
        "anyOf": [case, flux, two_phase, grains, true],
        "definitions": generator.take_definitions(true),
    });
    plain(&mut schema);
    schema.into()
}
