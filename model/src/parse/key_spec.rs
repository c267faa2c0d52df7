//! The keys that a map of the file may have. A map's table has two uses: its reader refuses other keys, and the JSON Schema is
//! generated from it.

pub use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// One key with the kind of its value.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    pub name: &'static str,
    /// A sentence for editors; empty: the description of the kind is enough.
    description: &'static str,
    kind: fn(&mut SchemaGenerator) -> Schema,
}

impl KeySpec {
    /// A key whose values are of the kind `T`.
    pub const fn of<T: JsonSchema>(name: &'static str, description: &'static str) -> Self {
        Self { name, description, kind: SchemaGenerator::subschema_for::<T> }
    }
}

/// The table of a map: a line per key with the kind of its value, and its description above it.
#[macro_export]
macro_rules! keys {
    ($($(#[doc = $description:literal])* $name:ident: $kind:ty,)*) => {
        const { &[$($crate::parse::key_spec::KeySpec::of::<$kind>(
            stringify!($name),
            concat!($($description),*),
        )),*] }
    };
}

/// Declares kinds of values, each with its JSON Schema.
#[macro_export]
macro_rules! value_kinds {
    ($($(#[doc = $description:literal])* $visible:vis $name:ident = |$generator:tt| $schema:expr;)*) => {$(
        $(#[doc = $description])*
        $visible enum $name {}

        impl $crate::parse::key_spec::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(
                $generator: &mut $crate::parse::key_spec::SchemaGenerator,
            ) -> $crate::parse::key_spec::Schema {
                $crate::parse::key_spec::described(concat!($($description),*), $schema)
            }
        }
    )*};
}

/// A schema with this description, if there is one.
#[must_use]
pub fn described(description: &str, mut schema: Schema) -> Schema {
    if !description.is_empty() {
        schema.ensure_object().shift_insert(0, "description".to_owned(), description.trim().into());
    }
    schema
}

/// The schema of a map with these keys and further rules: required keys, and keys that exclude each other.
#[must_use]
pub fn map(generator: &mut SchemaGenerator, keys: &[KeySpec], rules: Schema) -> Schema {
    let property = |key: &KeySpec| {
        let schema = (key.kind)(generator);
        (key.name.to_owned(), described(key.description, schema).into())
    };
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    let mut schema =
        json_schema!({"type": "object", "properties": properties, "additionalProperties": false});
    for (word, rule) in rules.as_object().into_iter().flatten() {
        schema.insert(word.clone(), rule.clone());
    }
    schema
}

/// A rule for each key, requiring that it is present.
#[must_use]
pub fn each_there(keys: &[&str]) -> Vec<Value> {
    keys.iter().map(|key| json!({"required": [key]})).collect()
}

/// The rule that at most one of the keys is present.
#[must_use]
pub fn at_most_one(keys: &[&str]) -> Schema {
    let others = |place: usize| keys.iter().skip(place + 1);
    let pairs = keys.iter().enumerate().flat_map(|(place, key)| others(place).map(move |other| [key, other]));
    let both: Vec<Value> = pairs.map(|pair| json!({"required": pair})).collect();
    json_schema!({"not": {"anyOf": both}})
}

/// A list with at least one item.
#[derive(Debug)]
pub struct List<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("List_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "minItems": 1, "items": generator.subschema_for::<T>()})
    }
}

/// One value, or a list of at least one.
#[derive(Debug)]
pub struct OneOrMore<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OneOrMore<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("One_or_more_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [generator.subschema_for::<T>(), generator.subschema_for::<List<T>>()]})
    }
}
