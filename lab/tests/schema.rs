//! Results and experiments are what their JSON Schemas say.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where something is missing")]

mod common;
#[path = "common/schema.rs"]
mod schema;

use schema::{complaints, result_file};
use serde_json::json;
use std::path::Path;

#[test]
fn results_of_every_shape_are_what_the_schema_says() {
    for (what, document) in [("demo", common::demo()), ("hostile", common::hostile())] {
        assert_eq!(complaints(&serde_json::to_value(document).unwrap()), [] as [String; 0], "{what}");
    }
    for folder in ["before", "after"] {
        result_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/results").join(folder));
    }
}

#[test]
fn the_schema_refuses_what_is_no_result() {
    let good = serde_json::to_value(common::demo()).unwrap();
    let wrong = [
        ("/records/0/measured/requests/sent", json!("many")),
        ("/comparisons/0/ratios/0/metric", json!("speed")),
        ("/comparisons/0/ratios/0/verdict", json!("better")),
        ("/rounds/0/why", json!("each comparison is decided")),
        ("/why_not", json!(["the generator was the bottleneck"])),
    ];
    for (place, value) in wrong {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap_or_else(|| panic!("{place} is in the demo")) = value;
        assert_ne!(complaints(&bad), [] as [String; 0], "{place}");
    }
}
