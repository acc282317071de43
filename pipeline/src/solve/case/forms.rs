//! Values of a case that have a form of their own in TOML.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Serializes values by name.
pub(in crate::solve) mod by_name {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(in crate::solve) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(in crate::solve) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let name = String::deserialize(from)?;
        name.parse().map(Some).map_err(serde::de::Error::custom)
    }
}

/// A face that the name of its type suffices for.
pub(in crate::solve) trait ByType<'de>:
    Deserialize<'de> + JsonSchema + From<Self::Kind>
{
    /// Its type.
    type Kind: Deserialize<'de> + JsonSchema;
}

/// A face by the name of its type or as a table.
pub(in crate::solve) fn short<'de, D: Deserializer<'de>, F: ByType<'de>>(
    from: D,
) -> Result<Option<F>, D::Error> {
    struct Either<F>(PhantomData<F>);
    impl<'de, F: ByType<'de>> Visitor<'de> for Either<F> {
        type Value = F;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a type such as \"periodic\", or a table such as { type = \"periodic\" }")
        }

        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<F, E> {
            F::Kind::deserialize(name.into_deserializer()).map(F::from)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<F, A::Error> {
            F::deserialize(MapAccessDeserializer::new(map))
        }
    }
    from.deserialize_any(Either(PhantomData)).map(Some)
}

/// The schema of a face that [`short`] reads.
pub(in crate::solve) struct Short<F>(PhantomData<F>);

impl<F: for<'de> ByType<'de>> JsonSchema for Short<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Short{}", F::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kind = generator.subschema_for::<<F as ByType<'static>>::Kind>();
        let table = generator.subschema_for::<F>();
        json_schema!({ "anyOf": [kind, table] })
    }
}
