//! The JSON Schema of `result.json`. A test fails unless `schema/result-3.schema.json` is the output of [`result_schema`].

use super::result::{ResultDocument, SCHEMA};
use schemars::{Schema, SchemaGenerator};

#[must_use]
pub fn result_schema() -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<ResultDocument>();
    schema.insert("$id".to_owned(), "urn:threadcount:schema:result:3".into());
    schema.insert("title".to_owned(), SCHEMA.into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::report::load_schema;
    use threadcount_model::kept_schema::assert_is_kept;

    #[test]
    fn the_schemas_in_the_repository_are_those_of_the_types() {
        assert_is_kept(&result_schema(), "result-3.schema.json");
        assert_is_kept(&load_schema(), "../load/schema/load-1.schema.json");
    }
}
