//! The JSON Schema of `result.json`. `lab/schema/result-2.schema.json` is the output of [`result_schema`]; a test fails if
//! it is not.

use super::result::{ResultDocument, SCHEMA};
use schemars::{Schema, SchemaGenerator};

/// The schema of a result.
#[must_use]
pub fn result_schema() -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<ResultDocument>();
    schema.insert("$id".to_owned(), "urn:threadcount:schema:result:2".into());
    schema.insert("title".to_owned(), SCHEMA.into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/result-2.schema.json");

    #[test]
    fn the_schema_in_the_repository_is_that_of_the_types() {
        let made = serde_json::to_string_pretty(&result_schema()).expect("a schema") + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(FILE, &made).expect("the schema can be written");
        }
        let kept = std::fs::read_to_string(FILE).expect("the schema");
        assert!(made == kept, "write it again: UPDATE_SCHEMA=1 cargo test -p threadcount --lib schema");
    }
}
