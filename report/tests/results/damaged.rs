//! Results that are damaged, or that somebody changed: each is refused, or makes every report.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::ResultFolder;
use threadcount_model::damage::{Edit, damaged};
use threadcount_report::terminal::details::details;
use threadcount_report::terminal::{TerminalStyle, terminal};
use threadcount_report::{Format, render};

static RESULT: LazyLock<String> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tomcat-blocking/result.json");
    fs::read_to_string(file).unwrap()
});

/// How many values a document has, itself and all within.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Changes one value of a document, counted from its root.
fn change(value: &mut Value, at: usize, edit: u8) {
    if at == 0 {
        *value = changed(value, edit);
        return;
    }
    let mut left = at - 1;
    let within: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => return,
    };
    for item in within {
        let size = size(item);
        if left < size {
            return change(item, left, edit);
        }
        left -= size;
    }
}

fn changed(value: &Value, edit: u8) -> Value {
    match (value, edit % 4) {
        (_, 0) => Value::Null,
        (Value::Number(number), 1) => json!(-number.as_f64().unwrap_or(1.0)),
        (Value::Number(_), 2) => json!(0),
        (Value::Number(_), _) => json!(if edit < 128 { 1e300 } else { 18_446_744_073_709_551_615.0 }),
        (Value::Array(_), 1) => json!([]),
        (Value::Array(items), _) => Value::Array(items.iter().chain(items).cloned().collect()),
        (Value::String(_), 1) => json!(""),
        (Value::String(text), 2) => json!(format!("{text}\u{1b}\n{}", "x".repeat(usize::from(edit)))),
        (Value::Bool(is_so), _) => json!(!is_so),
        (other, _) => other.clone(),
    }
}

fn make_all(document: &ResultDocument) {
    for format in [Format::Html, Format::Markdown, Format::Csv, Format::Json, Format::Junit, Format::Text] {
        let _ = render(document, format);
    }
    for width in [1, 10, 80] {
        let _ = terminal(document, None, TerminalStyle { width, colour: true });
        let _ = details(document, TerminalStyle { width, colour: false });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_result_with_other_values_is_refused_or_reported(edits in vec(any::<(u32, u8)>(), 1..4)) {
        let mut value: Value = serde_json::from_str(&RESULT).unwrap();
        for (place, edit) in edits {
            let at = place as usize % size(&value);
            change(&mut value, at, edit);
        }
        if let Ok(document) = serde_json::from_value::<ResultDocument>(value) {
            make_all(&document);
        }
    }

    #[test]
    fn a_damaged_result_is_refused_with_a_sentence_or_reported(edits in vec(any::<Edit>(), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result.json");
        fs::write(&file, damaged(RESULT.as_bytes(), &edits)).unwrap();
        match ResultFolder::read(&file) {
            Ok(document) => make_all(&document),
            Err(refused) => prop_assert!(!refused.to_string().is_empty()),
        }
    }
}

#[test]
fn what_is_not_damaged_makes_every_report() {
    make_all(&serde_json::from_str(&RESULT).unwrap());
}
