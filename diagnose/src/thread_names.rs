//! Names of threads, which programs make of what their users send: without the secrets in them. Names of classes and methods are code, and
//! hold none.

use super::thread_dump::DumpedThread;
use super::thread_print::PrintedThread;
use serde_json::Value;
use threadcount_model::masked::{Masked, text_masked};

/// A name without the secrets in it.
pub(super) fn without_secrets(name: &str) -> String {
    text_masked(name, &mut Masked::new())
}

/// Masks the secrets in the names of threads, and in the text that they were read from.
pub(super) fn hide_secrets(printed: &mut [PrintedThread], dumped: &mut [DumpedThread], text: &mut String) {
    for name in printed.iter_mut().map(|it| &mut it.name).chain(dumped.iter_mut().map(|it| &mut it.name)) {
        let masked = without_secrets(name);
        if masked != *name {
            *text = text.replace(name.as_str(), &masked);
            *name = masked;
        }
    }
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
        let mut dump = serde_json::json!({"threads": [{"name": name, "stack": [FRAME]}]});
        hide_secrets_in_dump(&mut dump);
        assert_eq!(dump["threads"][0], serde_json::json!({"name": "GET /pay?token=***", "stack": [FRAME]}));
    }
}
