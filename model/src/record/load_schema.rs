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
