//! Masks secrets in the names of threads, because programs make these names from what their users send. Names of classes and methods are
//! code and contain no secrets.

use super::thread_dump::DumpedThread;
use super::thread_print::PrintedThread;
use serde_json::Value;
use std::collections::HashMap;
use threadcount_model::masked::masked_text;

/// A name without the secrets in it.
pub(super) fn without_secrets(name: &str) -> String {
    masked_text(name)
}

/// Masks the secrets in the names of threads, and in the text that they were read from.
pub(super) fn hide_secrets(printed: &mut [PrintedThread], dumped: &mut [DumpedThread], text: &mut String) {
    let mut masked_names = HashMap::new();
    for name in printed.iter_mut().map(|it| &mut it.name).chain(dumped.iter_mut().map(|it| &mut it.name)) {
        let masked = without_secrets(name);
        if masked != *name {
            masked_names.insert(std::mem::replace(name, masked.clone()), masked);
        }
    }
    if !masked_names.is_empty() {
        *text = with_masked_names(text, &masked_names);
    }
}

/// The text with these quoted names masked, in one pass: a JVM may have ten thousand threads whose names hold a secret. A name may contain
/// quotes, so a quoted name may end at a later quote than the first.
fn with_masked_names(text: &str, masked_names: &HashMap<String, String>) -> String {
    let most_quotes = masked_names.keys().map(|it| it.matches('"').count()).max().unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        let (before, quoted) = rest.split_at(at + 1);
        out.push_str(before);
        let ends = quoted.match_indices('"').take(most_quotes + 1);
        let longest = ends.filter_map(|(end, _)| Some((end, masked_names.get(&quoted[..end])?))).last();
        rest = longest.map_or(quoted, |(end, masked)| {
            out.push_str(masked);
            out.push('"');
            &quoted[end + 1..]
        });
    }
    out + rest
}

/// Masks the secrets in the names of the threads of a dump.
pub(super) fn hide_secrets_in_dump(dump: &mut Value) {
    match dump {
        Value::Object(fields) => fields.iter_mut().for_each(|(field, value)| match value {
            Value::String(name) if field == "name" => *name = without_secrets(name),
            other => hide_secrets_in_dump(other),
        }),
        Value::Array(all) => all.iter_mut().for_each(hide_secrets_in_dump),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    #[test]
    fn a_secret_in_a_name_is_masked_everywhere_and_a_method_with_such_a_name_is_code() {
        const FRAME: &str = "shop.Login.checkPassword(Login.java:45)";
        let name = "GET /pay?token=abc";
        let mut text = format!("\"{name}\" #7\n\tat {FRAME}\n\"{name}\":\n");
        let mut printed = [PrintedThread { name: name.to_owned(), ..PrintedThread::default() }];
        let frames = vec![Frame::parse(FRAME)];
        let mut dumped =
            [DumpedThread { name: name.to_owned(), frames: frames.clone(), ..DumpedThread::default() }];
        hide_secrets(&mut printed, &mut dumped, &mut text);
        assert_eq!(text, format!("\"GET /pay?token=***\" #7\n\tat {FRAME}\n\"GET /pay?token=***\":\n"));
        assert_eq!((printed[0].name.as_str(), &dumped[0].frames), ("GET /pay?token=***", &frames));
        let quoted = HashMap::from([("a\"?token=b".to_owned(), "a\"?token=***".to_owned())]);
        let text = "\"a\"?token=b\" #7\nheld by \"a\"?token=b\"\n\"a\" #8\n";
        assert_eq!(
            with_masked_names(text, &quoted),
            "\"a\"?token=***\" #7\nheld by \"a\"?token=***\"\n\"a\" #8\n"
        );
        let mut dump = serde_json::json!({"threads": [{"name": name, "stack": [FRAME]}]});
        hide_secrets_in_dump(&mut dump);
        assert_eq!(dump["threads"][0], serde_json::json!({"name": "GET /pay?token=***", "stack": [FRAME]}));
    }
}
