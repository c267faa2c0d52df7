//! A JSON value as YAML, for people and for `kubectl apply`.

use serde_json::Value;
use std::fmt::Write;

/// Block style; texts are in double quotes where they would be something else without.
#[must_use]
pub fn yaml(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                line_start(indent, out);
                out.push_str(&text(key));
                out.push(':');
                below(value, indent, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                line_start(indent, out);
                out.push('-');
                let mut nested = String::new();
                block(item, indent + 2, &mut nested);
                // The first line of an item stands beside its dash.
                out.push(' ');
                out.push_str(nested.trim_start());
            }
        }
        scalar => {
            let _ = writeln!(out, "{}", plain(scalar));
        }
    }
}

fn below(value: &Value, indent: usize, out: &mut String) {
    let is_block = matches!(value, Value::Object(it) if !it.is_empty())
        || matches!(value, Value::Array(it) if !it.is_empty());
    if is_block {
        out.push('\n');
        // A list may stand as far left as its key.
        block(value, indent + if value.is_array() { 0 } else { 2 }, out);
    } else {
        let _ = writeln!(out, " {}", plain(value));
    }
}

fn line_start(indent: usize, out: &mut String) {
    out.push_str(&" ".repeat(indent));
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(string) => text(string),
        // `{}`, `[]`, numbers, `true` and `null` are JSON in YAML, too.
        other => other.to_string(),
    }
}

/// A text that no reader takes for something else.
fn text(string: &str) -> String {
    const WORDS: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "~"];
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    let begins_plain = string.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'/');
    let is_word = WORDS.contains(&string.to_ascii_lowercase().as_str());
    if begins_plain && string.bytes().all(is_plain) && !is_word {
        string.to_owned()
    } else {
        Value::String(string.to_owned()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_and_maps_are_indented_and_doubtful_texts_are_quoted() {
        let value = json!({
            "kind": "Job",
            "spec": {"parallelism": 4, "empty": {}, "args": ["load", "-c", "10", "http://a/?x=1", "yes", ""],
                "containers": [{"name": "load", "env": [{"name": "A", "value": "1"}]}, "b"]},
        });
        let expected = "kind: Job\nspec:\n  parallelism: 4\n  empty: {}\n  args:\n  - load\n  - \"-c\"\n  - \"10\"\n  \
            - \"http://a/?x=1\"\n  - \"yes\"\n  - \"\"\n  containers:\n  - name: load\n    env:\n    - name: A\n      \
            value: \"1\"\n  - b\n";
        assert_eq!(yaml(&value), expected);
    }
}
