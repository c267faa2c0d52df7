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
pub(crate) mod tests {
    use super::*;
    use std::path::Path;

    /// Is this the schema in the file of this name? With `UPDATE_SCHEMA` it is written first.
    pub fn assert_is_kept(schema: &Schema, file: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(file);
        let made = serde_json::to_string_pretty(schema).expect("a schema") + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&file, &made).expect("the schema can be written");
        }
        let kept = std::fs::read_to_string(&file).expect("the schema");
        assert!(made == kept, "write it again: UPDATE_SCHEMA=1 cargo test -p threadcount --lib schema");
    }

    #[test]
    fn the_schema_in_the_repository_is_that_of_the_types() {
        assert_is_kept(&result_schema(), "result-2.schema.json");
    }
}
