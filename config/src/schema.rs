//! The JSON Schemas of the files that people write. A test checks that `schema/experiment.schema.json` and
//! `schema/project.schema.json` are their output.

use super::ExperimentKeys;
use super::project::ProjectKeys;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// The schema of an experiment's file.
#[must_use]
pub fn experiment_schema() -> Schema {
    schema_of::<ExperimentKeys>("experiment", "A Threadcount experiment")
}

/// The schema of `threadcount.yaml`.
#[must_use]
pub fn project_schema() -> Schema {
    schema_of::<ProjectKeys>("project", "A project's threadcount.yaml")
}

fn schema_of<T: JsonSchema>(id: &str, title: &str) -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), format!("urn:threadcount:schema:{id}").into());
    schema.insert("title".to_owned(), title.into());
    schema
}
