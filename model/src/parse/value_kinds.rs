//! Kinds of values that many keys have, as the JSON Schema sees them. [`Node`](super::yaml::Node) reads them.

use crate::value_kinds;
use schemars::json_schema;
use std::collections::BTreeMap;

/// Texts by name; nothing is an empty text.
pub type NamedTexts = BTreeMap<String, Option<Text>>;

/// The suffixes are those of [`count`](super::count).
const COUNT: &str = "^[0-9][0-9_]*[kKmM]?$";

value_kinds! {
    pub Text = |_| json_schema!({"type": ["string", "number", "boolean"]});

    /// One text, or a list of them.
    pub Texts = |generator| json_schema!({
        "anyOf": [generator.subschema_for::<Text>(), generator.subschema_for::<Vec<Text>>()],
    });

    /// One value, or a list of them.
    pub Listed = |_| json_schema!({"type": ["string", "number", "array"]});

    /// Letters, digits, `-`, `_` and `.`, with a letter or digit first.
    pub Name = |_| json_schema!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"});

    /// A whole number from 1; underscores are allowed: 1_000_000.
    pub LargeCount = |_| json_schema!({
        "anyOf": [{"type": "integer", "minimum": 1, "maximum": u64::MAX}, {"type": "string", "pattern": COUNT}],
    });

    /// A whole number from 1.
    pub Count = |_| json_schema!({
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": u32::MAX},
            {"type": "string", "pattern": COUNT, "not": {"pattern": "^0+$|^[0-9]{1,3}(_[0-9]{3}){3,}$"}},
        ],
    });

    /// A whole number.
    pub Whole = |_| json_schema!({
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": COUNT}],
    });

    /// A duration with its unit: 0s, 500ms, 30s, 2m, 1h.
    pub AnyDuration = |_| json_schema!({
        "type": "string",
        "pattern": "^[0-9][0-9_.]* *(ns|us|µs|ms|s|m|min|h)( *[0-9].*)?$",
    });

    /// A duration with its unit, longer than nothing: 500ms, 30s, 2m.
    pub PositiveDuration = |generator| json_schema!({
        "allOf": [generator.subschema_for::<AnyDuration>(), {"not": {"type": "string", "pattern": "^0+[a-zµ]+$"}}],
    });

    /// A longest duration with its unit, or auto.
    pub WarmUp = |generator| json_schema!({"anyOf": [generator.subschema_for::<AnyDuration>(), {"const": "auto"}]});

    /// Requests per second or minute: 5000/s, 10k/s, 300/m.
    pub Rate = |_| json_schema!({
        "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "^[0-9]"}],
    });

    /// A share in per cent: 0.1%.
    pub Share = |_| json_schema!({"type": "string", "pattern": "^[0-9][0-9_.]* *%$"});

    /// A number in the unit of the metric.
    pub Figure = |_| json_schema!({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^-?[0-9]"}]});
}
