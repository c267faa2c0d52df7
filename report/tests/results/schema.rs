//! Checks of a result against its JSON Schema.

use serde_json::Value;
use std::path::Path;

const SCHEMA: &str = include_str!("../../../schema/result-3.schema.json");

/// The schema's complaints about a result, each with its place.
pub fn complaints(result: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(result).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Reads the `result.json` of a folder and asserts that it matches its schema.
pub fn result_file(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(complaints(&result), [] as [String; 0], "{}", folder.display());
    result
}
