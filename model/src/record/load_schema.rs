//! The schema of a load's report, which has a file of its own.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use threadcount_load::report::SCHEMA_JSON;

/// Nothing, or a report as `threadcount load --json` prints it.
pub(super) fn load_report(_: &mut SchemaGenerator) -> Schema {
    let load = serde_json::from_str::<Value>(SCHEMA_JSON).unwrap_or_default();
    json_schema!({ "anyOf": [{ "type": "null" }, load] })
}

/// A report as `threadcount load --json` prints it.
pub(super) fn window_report(_: &mut SchemaGenerator) -> Schema {
    Schema::try_from(serde_json::from_str::<Value>(SCHEMA_JSON).unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept_schema::assert_is_kept;
    use serde_json::json;
    use threadcount_load::times::TimesSummary;

    /// The schema of a summary: its percentiles are those of [`TimesSummary`].
    fn times() -> Value {
        let time = |what: String| json!({ "description": what, "type": "number", "minimum": 0 });
        let fixed = |name: &str, what: &str| (name.to_owned(), time(format!("{what}, in milliseconds.")));
        let percentile = |(name, quantile): &(&str, f64)| {
            let share = match *quantile {
                0.5 => "Half".to_owned(),
                quantile => format!("{} %", (quantile * 1e6).round() / 1e4),
            };
            (name.to_string(), time(format!("{share} of the times are at most this long, in milliseconds.")))
        };
        let before = [fixed("min", "Shortest"), fixed("mean", "Mean"), fixed("stddev", "Standard deviation")];
        let percentiles = TimesSummary::PERCENTILES.iter().map(percentile);
        let all = before.into_iter().chain(percentiles).chain([fixed("max", "Longest")]);
        let properties: serde_json::Map<String, Value> = all.collect();
        json!({
            "description": "A distribution of times, in milliseconds, each right to three digits.",
            "type": "object",
            "additionalProperties": false,
            "required": properties.keys().collect::<Vec<_>>(),
            "properties": properties
        })
    }

    #[test]
    fn the_schema_of_a_load_has_the_percentiles_of_a_summary() {
        let mut schema: Value = serde_json::from_str(SCHEMA_JSON).unwrap();
        schema["$defs"]["times"] = times();
        let schema = Schema::try_from(schema).unwrap();
        assert_is_kept(&schema, "../load/schema/load-1.schema.json");
    }
}
