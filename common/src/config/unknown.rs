//! The unknown key or name of a text, as values: serde names it, and those that it knows, to an error type of ours.

use serde::de::value::{MapDeserializer, SeqDeserializer, StringDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;
use toml::Value;

/// An unknown item of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// `key` or `name`.
    pub(super) what: &'static str,
    pub(super) given: String,
    pub(super) known: &'static [&'static str],
}

/// The first mistake of tables if it is an unknown key or name.
pub(super) fn unknown<T: DeserializeOwned>(table: toml::Table) -> Option<Unknown> {
    T::deserialize(Node(Value::Table(table))).err()?.0
}

/// An error: an unknown item, or anything else.
#[derive(Debug)]
struct Mistake(Option<Unknown>);

impl Mistake {
    fn unknown(what: &'static str, given: &str, known: &'static [&'static str]) -> Self {
        let given = given.to_owned();
        Self(Some(Unknown { what, given, known }))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mistake")
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Self(None)
    }

    fn unknown_field(given: &str, known: &'static [&'static str]) -> Self {
        Self::unknown("key", given, known)
    }

    fn unknown_variant(given: &str, known: &'static [&'static str]) -> Self {
        Self::unknown("name", given, known)
    }
}

/// A value as the toml crate gives it, in the same order.
struct Node(Value);

impl IntoDeserializer<'_, Mistake> for Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Node {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(is) => visitor.visit_bool(is),
            Value::Datetime(time) => visitor.visit_string(time.to_string()),
            Value::Array(values) => {
                visitor.visit_seq(SeqDeserializer::new(values.into_iter().map(Node)))
            }
            Value::Table(table) => {
                let entries = table.into_iter().map(|(key, value)| (key, Node(value)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(StringDeserializer::new(name)),
            _ => Err(Mistake(None)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
