//! Values of a case that may be expressions.

use crate::solve::units::Physics;
use cutlink_common::Error;
use cutlink_prescribed::expression::{Expression, Scope};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};
use std::{borrow::Cow, fmt};

/// A number, or an expression as text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// An expression.
    Text(String),
}

impl Value {
    /// The expression; `what` names its key.
    ///
    /// # Errors
    /// A number that is not finite, an invalid expression.
    pub(crate) fn expression(&self, what: &str, scope: &Scope) -> Result<Expression, Error> {
        match self {
            Self::Number(value) if value.is_finite() => Ok(Expression::number(*value)),
            Self::Number(value) => {
                Err(Error::input(format!("{what} is {value}")).hint("the number must be finite"))
            }
            Self::Text(text) => Expression::parse(what, text, scope),
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(value) => to.serialize_f64(*value),
            Self::Text(text) => to.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or an expression such as \"2*y\"")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Number(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Number(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Number(value as f64))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
        }
        from.deserialize_any(Either)
    }
}

/// The names available to the expressions of a case: coordinates from x on, the time, and the numbers of `[physics]`.
pub(crate) fn scope(coordinates: usize, time: bool, physics: &Physics) -> Scope {
    Scope {
        coordinates,
        time,
        constants: vec![
            ("pi", std::f64::consts::PI),
            ("velocity", physics.velocity),
            ("length", physics.length),
            ("viscosity", physics.viscosity),
            ("density", physics.density),
            ("re", physics.reynolds()),
        ],
    }
}

/// One expression per dimension of the mesh.
pub(crate) fn vector<const D: usize>(
    what: &str,
    given: &[Value],
    scope: &Scope,
) -> Result<[Expression; D], Error> {
    if given.len() != D {
        let message = format!("{what} has {} numbers, but the mesh is {D}D", given.len());
        return Err(Error::input(message).hint(format!("give {D} numbers or expressions")));
    }
    let each = given.iter().map(|value| value.expression(what, scope));
    let each = each.collect::<Result<Vec<_>, _>>()?;
    Ok(each.try_into().expect("there should be D of them"))
}

impl JsonSchema for Value {
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
