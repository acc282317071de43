//! Names of fields that only some flows have.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt};

/// Longest name, in bytes.
const LONGEST: usize = 24;

/// The name of a scalar field besides density and pressure, such as `temperature`: lower-case letters, digits and hyphens.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldName([u8; LONGEST]);

impl FieldName {
    /// A name; none if it is empty, too long or has other characters.
    pub fn new(name: &str) -> Option<Self> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let is_name = !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain);
        is_name.then(|| {
            let mut bytes = [0; LONGEST];
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            Self(bytes)
        })
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|&c| c == 0).unwrap_or(LONGEST);
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for FieldName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FieldName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::new(&name).ok_or_else(|| de::Error::custom(format!("\"{name}\" is no field")))
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
