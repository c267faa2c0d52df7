//! Makes text that others chose safe to show: names of threads, messages of servers, paths.

use std::borrow::Cow;
use std::fmt::Write;

/// The text on one line. Characters that move the cursor, are invisible or change the text's direction become escapes as in JSON, `
/// ` or `\u001b`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| 0)
}

/// A finished document or a text of several lines, in which line ends and tabs stay.
#[must_use]
pub fn printable_text(text: &str) -> Cow<'_, str> {
    escaped(text, |rest| usize::from(rest.starts_with(['\n', '\t'])))
}

/// A finished text for a terminal, in which line ends, tabs and colours stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |rest| if rest.starts_with(['\n', '\t']) { 1 } else { colour(rest) })
}

/// Escapes harmful characters. `kept` returns how many bytes at the beginning of a text stay although they would be escaped.
fn escaped(text: &str, kept: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return text.into();
    }
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_harmful) {
        let (before, from) = rest.split_at(at);
        done.push_str(before);
        let length = kept(from);
        done.push_str(&from[..length]);
        rest = &from[length..];
        if let (0, Some(c)) = (length, rest.chars().next()) {
            escape(c, &mut done);
            rest = &rest[c.len_utf8()..];
        }
    }
    (done + rest).into()
}

fn escape(c: char, to: &mut String) {
    match c {
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
            let _ = write!(to, "\\u{unit:04x}");
        }),
    }
}

/// Whether a character is a control character, or one of Unicode's characters that are invisible, unassigned or set the direction of text.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// The length of a command for colour or weight at the beginning of a text, as `ESC [ 1 ; 31 m`; else 0.
fn colour(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(parameters.len());
    if parameters[end..].starts_with('m') { text.len() - parameters.len() + end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_others_is_one_line_without_commands_to_a_terminal() {
        for (written, shown) in [
            ("http-nio-8080-exec-1 \"é 日本 😀\" \\n", "http-nio-8080-exec-1 \"é 日本 😀\" \\n"),
            ("a\r\n\tb\u{8}\u{7f}", "a\\r\\n\\tb\\u0008\\u007f"),
            ("\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}8m", "\\u001b]0;x\\u0007\\u001b[2J\\u009b8m"),
            ("\u{1b}[31mred", "\\u001b[31mred"),
            ("a\u{202e}b\u{2066}c\u{200b}d\u{feff}", "a\\u202eb\\u2066c\\u200bd\\ufeff"),
            ("\u{2028}\u{e0041}", "\\u2028\\udb40\\udc41"),
        ] {
            assert_eq!(printable(written), shown);
            assert_eq!(printable(&printable(written)), shown, "an escape is text");
        }
    }

    #[test]
    fn finished_text_keeps_its_lines_and_colours_and_nothing_else() {
        let ours = "\u{1b}[1;31mDeadlock\u{1b}[0m\n\tat X:1\n";
        assert_eq!(printable_lines(ours), ours);
        assert_eq!(printable_lines("\u{1b}[2J\r\u{1b}[38;5m\u{1b}[1"), "\\u001b[2J\\r\u{1b}[38;5m\\u001b[1");
    }

    #[test]
    fn json_that_is_shown_is_the_same_json() {
        let value = serde_json::json!({"name": "a\u{9b}8m\u{202e}\u{1b}\u{e0041}"});
        let shown = serde_json::to_string_pretty(&value).unwrap();
        let shown = printable_lines(&shown);
        assert!(!shown.contains('\u{9b}') && !shown.contains('\u{202e}'), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
