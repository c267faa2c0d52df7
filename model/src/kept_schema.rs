//! For tests: the JSON Schemas that the repository keeps in `schema/`.

#![allow(clippy::expect_used, reason = "it is for tests")]

use schemars::Schema;
use std::path::Path;

/// Fails unless `schema/FILE` is this schema. With `UPDATE_SCHEMA` in the environment the file is written first.
pub fn assert_is_kept(schema: &Schema, file: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema").join(file);
    let made = serde_json::to_string_pretty(schema).expect("a schema") + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &made).expect("the schema can be written");
    }
    let kept = std::fs::read_to_string(&file).expect("the schema");
    assert!(made == kept, "write it again: UPDATE_SCHEMA=1 cargo test schema");
}
