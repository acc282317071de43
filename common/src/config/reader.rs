//! What serde reads a struct from: the values of a text with their places, or values in memory.
//!
//! Derived code is generic over its source, and cases have many tables. So all of them are compiled for this source alone. It
//! calls only those functions of a visitor that the requested type accepts. The toml crate parses. Values match types, and
//! refusals are worded, as in that crate's own deserializer.

use serde::de::value::{MapDeserializer, StringDeserializer};
use serde::de::{
    self, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::{fmt, iter, ops::Range, vec};
use toml::de::{DeInteger, DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The key that the toml crate passes a date by.
const DATE: &str = "$__toml_private_datetime";

/// Bytes of a text.
type Span = Option<Range<usize>>;

/// An unknown item of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// `key` or `name`.
    pub(super) what: &'static str,
    pub(super) given: String,
    pub(super) known: &'static [&'static str],
}

/// The first mistake of values.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) message: String,
    pub(super) unknown: Option<Unknown>,
    pub(super) span: Span,
    /// The keys that lead there, the innermost first.
    keys: Vec<String>,
}

impl Mistake {
    /// The keys that lead there, as `a.b`; none outside all keys.
    pub(super) fn path(&self) -> Option<String> {
        let keys: Vec<&str> = self.keys.iter().rev().map(String::as_str).collect();
        (!keys.is_empty()).then(|| keys.join("."))
    }
}

/// A mistake as serde's error; in a box, so that results are small.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) Box<Mistake>);

impl Refusal {
    fn new(message: String, unknown: Option<Unknown>) -> Self {
        Self(Box::new(Mistake {
            message,
            unknown,
            span: None,
            keys: Vec::new(),
        }))
    }

    fn unknown(what: &'static str, given: &str, known: &'static [&'static str]) -> Self {
        let given = given.to_owned();
        let message = format!("unknown {what} `{given}`");
        Self::new(message, Some(Unknown { what, given, known }))
    }

    /// The same at a place, if it has none.
    fn at(mut self, span: &Span) -> Self {
        if self.0.span.is_none() {
            self.0.span.clone_from(span);
        }
        self
    }

    fn below(mut self, key: String) -> Self {
        self.0.keys.push(key);
        self
    }
}

impl From<toml::de::Error> for Refusal {
    fn from(error: toml::de::Error) -> Self {
        let mut refusal = Self::new(error.message().to_owned(), None);
        refusal.0.span = error.span();
        refusal
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Refusal {}

impl de::Error for Refusal {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::new(message.to_string(), None)
    }

    fn unknown_field(given: &str, known: &'static [&'static str]) -> Self {
        Self::unknown("key", given, known)
    }

    fn unknown_variant(given: &str, known: &'static [&'static str]) -> Self {
        Self::unknown("name", given, known)
    }
}

/// A value and its place.
#[derive(Debug)]
pub(super) struct Reader {
    span: Span,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Integer(i64),
    Natural(u64),
    /// An integer beyond those, as messages show it.
    Huge(String),
    /// A number beyond all types; why.
    Overflow(&'static str),
    Float(f64),
    Boolean(bool),
    Date(String),
    List(Vec<Reader>),
    Table(Vec<Entry>),
}

/// A key, its place and its value.
#[derive(Debug)]
struct Entry {
    key: String,
    span: Span,
    value: Reader,
}

/// The values of a text.
///
/// # Errors
/// The toml crate's, about a text that is no TOML.
pub(super) fn of_text(text: &str) -> Result<Reader, Refusal> {
    let table = DeTable::parse(text)?;
    let span = Some(table.span());
    Ok(Reader {
        span,
        kind: Kind::of_table(table.into_inner()),
    })
}

/// Values in memory, without places.
pub(super) fn of_table(table: Table) -> Reader {
    Reader::of_value(Value::Table(table))
}

impl Kind {
    fn of_table(table: DeTable<'_>) -> Self {
        let entries = table.into_iter().map(|(key, value)| Entry {
            span: Some(key.span()),
            key: key.into_inner().into_owned(),
            value: value.into(),
        });
        Self::Table(entries.collect())
    }

    fn of_integer(number: &DeInteger<'_>) -> Self {
        let (text, radix) = (number.as_str(), number.radix());
        if let Ok(number) = i64::from_str_radix(text, radix) {
            Self::Integer(number)
        } else if let Ok(number) = u64::from_str_radix(text, radix) {
            Self::Natural(number)
        } else if let Ok(number) = i128::from_str_radix(text, radix) {
            Self::Huge(format!("integer `{number}` as i128"))
        } else if let Ok(number) = u128::from_str_radix(text, radix) {
            Self::Huge(format!("integer `{number}` as u128"))
        } else {
            Self::Overflow("integer number overflowed")
        }
    }

    fn of_float(text: &str) -> Self {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() || text.contains("inf") || number.is_nan() => {
                Self::Float(number)
            }
            _ => Self::Overflow("floating-point number overflowed"),
        }
    }

    /// What it is, as the toml crate calls it.
    fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Integer(_) | Self::Natural(_) | Self::Huge(_) => "integer",
            Self::Overflow(_) | Self::Float(_) => "float",
            Self::Boolean(_) => "boolean",
            Self::Date(_) => "datetime",
            Self::List(_) => "array",
            Self::Table(_) => "table",
        }
    }

    /// The refusal of a value of another type than asked for.
    fn not(&self, wanted: &dyn Expected) -> Refusal {
        let found = match self {
            Self::Text(text) => Unexpected::Str(text),
            Self::Integer(number) => Unexpected::Signed(*number),
            Self::Natural(number) => Unexpected::Unsigned(*number),
            Self::Huge(number) => Unexpected::Other(number),
            Self::Overflow(why) => return Refusal::custom(why),
            Self::Float(number) => Unexpected::Float(*number),
            Self::Boolean(is) => Unexpected::Bool(*is),
            Self::Date(_) | Self::Table(_) => Unexpected::Map,
            Self::List(_) => Unexpected::Seq,
        };
        Refusal::invalid_type(found, wanted)
    }
}

impl From<Spanned<DeValue<'_>>> for Reader {
    fn from(value: Spanned<DeValue<'_>>) -> Self {
        let span = Some(value.span());
        let kind = match value.into_inner() {
            DeValue::String(text) => Kind::Text(text.into_owned()),
            DeValue::Integer(number) => Kind::of_integer(&number),
            DeValue::Float(number) => Kind::of_float(number.as_str()),
            DeValue::Boolean(is) => Kind::Boolean(is),
            DeValue::Datetime(time) => Kind::Date(time.to_string()),
            DeValue::Array(values) => Kind::List(values.into_iter().map(Self::from).collect()),
            DeValue::Table(table) => Kind::of_table(table),
        };
        Self { span, kind }
    }
}

impl Reader {
    fn of_value(value: Value) -> Self {
        let kind = match value {
            Value::String(text) => Kind::Text(text),
            Value::Integer(number) => Kind::Integer(number),
            Value::Float(number) => Kind::Float(number),
            Value::Boolean(is) => Kind::Boolean(is),
            // As the toml crate does of values in memory.
            Value::Datetime(time) => Kind::Text(time.to_string()),
            Value::Array(values) => Kind::List(values.into_iter().map(Self::of_value).collect()),
            Value::Table(table) => {
                let entries = table.into_iter().map(|(key, value)| Entry {
                    key,
                    span: None,
                    value: Self::of_value(value),
                });
                Kind::Table(entries.collect())
            }
        };
        Self { span: None, kind }
    }
}

/// A method of [`Reader`] that passes on the kinds of values that a type can take.
macro_rules! takes {
    ($($method:ident $kind:ident $visit:ident,)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            let Self { span, kind } = self;
            match kind {
                Kind::$kind(value) => visitor.$visit(value),
                other => Err(other.not(&visitor)),
            }
            .map_err(|refusal: Refusal| refusal.at(&span))
        }
    )* };
}

/// Methods of [`Reader`] for types of numbers.
macro_rules! takes_integers {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            let Self { span, kind } = self;
            match kind {
                Kind::Integer(number) => visitor.visit_i64(number),
                Kind::Natural(number) => visitor.visit_u64(number),
                other => Err(other.not(&visitor)),
            }
            .map_err(|refusal: Refusal| refusal.at(&span))
        }
    )* };
}

/// Methods of [`Reader`] that are others of its own.
macro_rules! as_others {
    ($($method:ident($($name:ident: $type:ty),*) $other:ident,)*) => { $(
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, Refusal> {
            $(let _ = $name;)*
            self.$other(visitor)
        }
    )* };
}

impl<'de> Deserializer<'de> for Reader {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let Self { span, kind } = self;
        match kind {
            Kind::Text(text) => visitor.visit_string(text),
            Kind::Integer(number) => visitor.visit_i64(number),
            Kind::Natural(number) => visitor.visit_u64(number),
            Kind::Float(number) => visitor.visit_f64(number),
            Kind::Boolean(is) => visitor.visit_bool(is),
            Kind::Date(time) => visitor.visit_map(MapDeserializer::new(iter::once((DATE, time)))),
            Kind::List(values) => visitor.visit_seq(Elements(values.into_iter())),
            Kind::Table(entries) => visitor.visit_map(Entries::new(entries)),
            other => Err(other.not(&visitor)),
        }
        .map_err(|refusal: Refusal| refusal.at(&span))
    }

    takes! {
        deserialize_bool Boolean visit_bool,
        deserialize_string Text visit_string,
    }

    takes_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let Self { span, kind } = self;
        match kind {
            Kind::Float(number) => visitor.visit_f64(number),
            Kind::Integer(number) => visitor.visit_i64(number),
            Kind::Natural(number) => visitor.visit_u64(number),
            other => Err(other.not(&visitor)),
        }
        .map_err(|refusal: Refusal| refusal.at(&span))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let Self { span, kind } = self;
        match kind {
            Kind::List(values) => visitor.visit_seq(Elements(values.into_iter())),
            other => Err(other.not(&visitor)),
        }
        .map_err(|refusal: Refusal| refusal.at(&span))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let Self { span, kind } = self;
        match kind {
            Kind::Table(entries) => visitor.visit_map(Entries::new(entries)),
            Kind::Date(time) => visitor.visit_map(MapDeserializer::new(iter::once((DATE, time)))),
            other => Err(other.not(&visitor)),
        }
        .map_err(|refusal: Refusal| refusal.at(&span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let Self { span, kind } = self;
        match kind {
            Kind::Table(entries) => visitor.visit_map(Entries::new(entries)),
            Kind::List(values) => visitor.visit_seq(Elements(values.into_iter())),
            other => Err(other.not(&visitor)),
        }
        .map_err(|refusal: Refusal| refusal.at(&span))
    }

    /// No value is nothing: a key that is there has one.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let span = self.span.clone();
        let made = visitor.visit_some(self);
        made.map_err(|refusal| refusal.at(&span))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let span = self.span.clone();
        let made = visitor.visit_newtype_struct(self);
        made.map_err(|refusal| refusal.at(&span))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let Self { span, kind } = self;
        match kind {
            Kind::Text(name) => visitor.visit_enum(StringDeserializer::new(name)),
            Kind::Table(mut entries) => match (entries.pop(), entries.is_empty()) {
                (Some(entry), true) => visitor.visit_enum(Variant(entry)),
                (None, _) => Err(Refusal::custom(
                    "wanted exactly 1 element, found 0 elements",
                )),
                _ => Err(Refusal::custom(
                    "wanted exactly 1 element, more than 1 element",
                )),
            },
            _ => Err(Refusal::custom("wanted string or table")),
        }
        .map_err(|refusal: Refusal| refusal.at(&span))
    }

    as_others! {
        deserialize_i128() deserialize_any,
        deserialize_u128() deserialize_any,
        deserialize_f32() deserialize_f64,
        deserialize_char() deserialize_string,
        deserialize_str() deserialize_string,
        deserialize_identifier() deserialize_string,
        deserialize_bytes() deserialize_any,
        deserialize_byte_buf() deserialize_any,
        deserialize_unit() deserialize_any,
        deserialize_unit_struct(name: &'static str) deserialize_any,
        deserialize_tuple(len: usize) deserialize_seq,
        deserialize_tuple_struct(name: &'static str, len: usize) deserialize_seq,
        deserialize_ignored_any() deserialize_any,
    }
}

impl IntoDeserializer<'_, Refusal> for Reader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The values of an array.
struct Elements(vec::IntoIter<Reader>);

impl<'de> SeqAccess<'de> for Elements {
    type Error = Refusal;

    fn next_element_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        self.0
            .next()
            .map(|value| seed.deserialize(value))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The keys and values of a table.
struct Entries {
    rest: vec::IntoIter<Entry>,
    /// The value whose key was asked for, and that key.
    value: Option<(String, Reader)>,
}

impl Entries {
    fn new(entries: Vec<Entry>) -> Self {
        Self {
            rest: entries.into_iter(),
            value: None,
        }
    }

    fn next(&mut self) -> Option<(StringDeserializer<Refusal>, Span)> {
        let Entry { key, span, value } = self.rest.next()?;
        self.value = Some((key.clone(), value));
        Some((StringDeserializer::new(key), span))
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Refusal;

    fn next_key_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        let Some((key, span)) = self.next() else {
            return Ok(None);
        };
        let key = seed.deserialize(key);
        key.map(Some).map_err(|refusal| refusal.at(&span))
    }

    fn next_value_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Refusal> {
        let (key, value) =
            (self.value.take()).ok_or_else(|| Refusal::custom("a value without a key"))?;
        let span = value.span.clone();
        let made = seed.deserialize(value);
        made.map_err(|refusal| refusal.at(&span).below(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A variant of an enum with its content, as a table of one key.
struct Variant(Entry);

impl<'de> EnumAccess<'de> for Variant {
    type Error = Refusal;
    type Variant = Reader;

    fn variant_seed<S: de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Reader), Refusal> {
        let Entry { key, span, value } = self.0;
        let name = seed.deserialize(StringDeserializer::<Refusal>::new(key));
        let name = name.map_err(|refusal| refusal.at(&span))?;
        Ok((name, value))
    }
}

impl<'de> VariantAccess<'de> for Reader {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        let why = match self.kind {
            Kind::List(values) if values.is_empty() => return Ok(()),
            Kind::Table(entries) if entries.is_empty() => return Ok(()),
            Kind::List(_) => "expected empty array".to_owned(),
            Kind::Table(_) => "expected empty table".to_owned(),
            other => format!("expected table, found {}", other.name()),
        };
        Err(Refusal::custom(why).at(&self.span))
    }

    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, Refusal> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Refusal> {
        match &self.kind {
            Kind::List(values) if values.len() == len => self.deserialize_seq(visitor),
            Kind::List(_) => {
                let why = format!("expected tuple with length {len}");
                Err(Refusal::custom(why).at(&self.span))
            }
            other => {
                let why = format!("expected array, found {}", other.name());
                Err(Refusal::custom(why).at(&self.span))
            }
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        if let Kind::Table(entries) = &self.kind {
            let known = |entry: &&Entry| !fields.contains(&entry.key.as_str());
            if let Some(entry) = entries.iter().find(known) {
                return Err(Refusal::unknown("key", &entry.key, fields).at(&entry.span));
            }
        }
        self.deserialize_struct("", fields, visitor)
    }
}
