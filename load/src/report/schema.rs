//! The JSON Schema of `threadcount/load/1`.

use super::{LoadReport, SCHEMA};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// The schema of a load report. Every key is always written; those that documents of 0.2.0 lack have a default and are not required.
#[must_use]
pub fn load_schema() -> Schema {
    let settings = SchemaSettings::default().for_serialize();
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<LoadReport>();
    schema.insert("$id".to_owned(), "urn:threadcount:schema:load:1".into());
    schema.insert("title".to_owned(), SCHEMA.into());
    RecursiveTransform(require_no_default).transform(&mut schema);
    schema
}

fn require_no_default(schema: &mut Schema) {
    let properties = schema.get("properties").cloned().unwrap_or_default();
    let has_default = |key: &Value| key.as_str().is_some_and(|key| properties[key].get("default").is_some());
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| !has_default(key));
    }
}
