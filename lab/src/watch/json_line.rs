//! The lines of `watch --json`: the probe's lines without secrets, and our line with the limits. `schema/watch-1.schema.json` is the output
//! of [`schema`].

use super::limits::CurrentLimits;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use threadcount_judge::finding::Finding;
use threadcount_load::clock::Nanos;
use threadcount_machine::probe::line::Line;
use threadcount_model::masked::masked_text;

/// A line of `watch --json`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is made of it; the probe's lines pass through")]
enum WatchLine {
    Probe(Line),
    Limits(LimitsLine),
}

/// The limits of the JVM, printed once there is enough to judge, and whenever they change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LimitsLine {
    /// Always `limits`.
    #[schemars(extend("const" = "limits"))]
    r#type: &'static str,
    t_ns: Nanos,
    /// The length of the judged window, in seconds.
    window_s: f64,
    /// The limits that were found. Empty if there are none.
    findings: Vec<Finding>,
    /// Requests that have had no response for five seconds or longer, because of a hang or a long poll.
    old_requests: u32,
    /// Each finding as a sentence.
    sentences: Vec<String>,
}

impl LimitsLine {
    /// The line for these limits; `None` if it is too early to judge.
    #[must_use]
    pub fn new(t_ns: Nanos, limits: &CurrentLimits) -> Option<Self> {
        let CurrentLimits::Judged { window_s, findings, old_requests } = limits else { return None };
        let words = if findings.is_empty() { Vec::new() } else { limits.words() };
        Some(Self {
            r#type: "limits",
            t_ns,
            window_s: *window_s,
            findings: findings.clone(),
            old_requests: *old_requests,
            sentences: words.into_iter().map(|it| it.sentence).collect(),
        })
    }
}

/// A line of the probe without the secrets that programs put into names of threads.
#[must_use]
pub fn without_secrets(line: String) -> String {
    let Ok(mut parsed) = serde_json::from_str::<Value>(&line) else { return line };
    if hide_secrets(&mut parsed) { parsed.to_string() } else { line }
}

/// Masks all texts below; returns whether one of them had a secret.
fn hide_secrets(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let masked = masked_text(text);
            let had_one = masked != *text;
            *text = masked;
            had_one
        }
        Value::Array(all) => all.iter_mut().fold(false, |had_one, it| hide_secrets(it) | had_one),
        Value::Object(fields) => fields.values_mut().fold(false, |had_one, it| hide_secrets(it) | had_one),
        _ => false,
    }
}

/// The schema of one line.
#[must_use]
pub fn schema() -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<WatchLine>();
    schema.insert("$id".to_owned(), "urn:threadcount:schema:watch:1".into());
    schema.insert("title".to_owned(), "threadcount/watch/1".into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::kept_schema::assert_is_kept;

    #[test]
    fn the_schema_in_the_repository_is_that_of_the_lines() {
        assert_is_kept(&schema(), "watch-1.schema.json");
    }

    #[test]
    fn limits_are_a_line_with_figures_and_sentences_once_they_are_judged() {
        assert_eq!(LimitsLine::new(5, &CurrentLimits::TooEarly), None);
        let none = CurrentLimits::Judged { window_s: 10.0, findings: Vec::new(), old_requests: 0 };
        let line = serde_json::to_value(LimitsLine::new(5, &none).unwrap()).unwrap();
        let expected = serde_json::json!({
            "type": "limits", "t_ns": 5, "window_s": 10.0, "findings": [], "old_requests": 0, "sentences": []
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn a_secret_in_the_name_of_a_thread_is_masked_and_a_line_without_one_is_as_it_was() {
        let line = r#"{"type":"stacks","names":["worker token=abc123","worker-1"],"frames":["Login.checkPassword:45"]}"#;
        let masked = without_secrets(line.to_owned());
        assert!(!masked.contains("abc123") && masked.contains("worker token=***"), "{masked}");
        assert!(masked.contains("worker-1") && masked.contains("Login.checkPassword:45"), "{masked}");
        for other in [r#"{"type": "sample", "cores":0.5}"#, "no json, token=abc"] {
            assert_eq!(without_secrets(other.to_owned()), other);
        }
    }
}
