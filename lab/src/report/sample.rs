//! A result for tests: one question, a Tomcat, and the records that a test gives.

use crate::config::parse;
use crate::model::record::Record;
use crate::model::result::{Machine, ResultDocument, SCHEMA};

/// `variants` and `loads` as a file has them: `{a: {}, b: {}}`, `[{clients: 4, duration: 1s}]`.
pub(crate) fn document(variants: &str, loads: &str, records: &[Record]) -> ResultDocument {
    let text =
        format!("question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {variants}\nloads: {loads}\n");
    let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
    let document = serde_json::json!({
        "schema": SCHEMA, "threadcount": "0", "command": [], "created_at": "",
        "experiment": experiment, "machine": Machine::default(), "records": records,
        "comparisons": [], "findings": [], "claims": [], "trusted": true, "why_not": []
    });
    serde_json::from_value(document).expect("a document")
}
