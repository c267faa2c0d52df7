//! A result for tests: one question, a Tomcat, and the records that a test gives.

use crate::config::parse;
use crate::model::record::Record;
use crate::model::record::capacity::{CapacityStep, StepFailure, StepVerdict};
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

/// A step of a capacity search whose times are not known.
pub(crate) fn step(asked_per_s: f64, verdict: StepVerdict, why: Option<StepFailure>) -> CapacityStep {
    CapacityStep {
        asked_per_s,
        reached_per_s: asked_per_s,
        length_s: 3.0,
        p50_ms: None,
        p99_ms: None,
        max_ms: None,
        failed: 0,
        cpu_cores: None,
        machine_cpu_cores: None,
        backends: Vec::new(),
        generator_share: 0.1,
        verdict,
        why,
    }
}
