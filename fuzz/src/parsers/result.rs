//! `result.json`: as a text, or as changes of values of a good one.

use serde_json::{Value, json};
use std::sync::LazyLock;
use threadcount_judge::result::ResultDocument;
use threadcount_report::terminal::TerminalStyle;
use threadcount_report::terminal::details::details;
use threadcount_report::{Format, render};

/// Longer lists of the good result have only this many items, so that reading it takes little time.
const MOST_ITEMS: usize = 2;

static GOOD: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../report/tests/data/tomcat-blocking/result.json");
    let mut value = serde_json::from_str(text).unwrap();
    shorten(&mut value);
    value
});

fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            // A shorter one may be a tuple.
            if items.len() > 3 {
                items.truncate(MOST_ITEMS);
            }
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

/// A text that begins with a brace is a result; other bytes are changes of a good one, three bytes each: a place and what is done there.
pub fn result(bytes: &[u8]) {
    let read = if bytes.first() == Some(&b'{') {
        serde_json::from_slice::<ResultDocument>(bytes)
    } else {
        let mut value = GOOD.clone();
        for change in bytes.chunks_exact(3).take(8) {
            let place = usize::from(change[0]) << 8 | usize::from(change[1]);
            let at = place % size(&value);
            change_at(&mut value, at, change[2]);
        }
        serde_json::from_value(value)
    };
    assert!(!bytes.is_empty() || read.is_ok(), "the good one is read: {read:?}");
    let Ok(document) = read else { return };
    let written = serde_json::to_string(&document).unwrap();
    let again: ResultDocument = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    for format in [Format::Html, Format::Markdown, Format::Csv, Format::Junit, Format::Text] {
        let _ = render(&document, format);
    }
    let width = usize::from(bytes.len() as u8);
    let _ = threadcount_report::terminal::terminal(&document, None, TerminalStyle { width, colour: true });
    let _ = details(&document, TerminalStyle { width, colour: false });
}

/// How many values a document has, itself and all within.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Changes one value of a document, counted from its root.
fn change_at(value: &mut Value, at: usize, edit: u8) {
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
            return change_at(item, left, edit);
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
