//! Writes maps, lists and scalars as YAML on one line.

/// A key and its value, as text of the file.
pub(super) type Entry = (String, String);

pub(super) fn entry(key: &str, value: impl Into<String>) -> Entry {
    (key.to_owned(), value.into())
}

/// `{a: 1, b: 2}`
pub(super) fn map(entries: &[Entry]) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", entries.join(", "))
}

/// `[1, 2]`
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// A text, in quotes if YAML would read it as something else.
pub(super) fn scalar(text: &str) -> String {
    const WORDS: [&str; 8] = ["null", "true", "false", "yes", "no", "on", "off", "y"];
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|first| first.is_ascii_alphanumeric() || first == '/');
    let goes_on = chars.all(|it| it.is_ascii_alphanumeric() || "/._-".contains(it));
    if begins && goes_on && !WORDS.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    // JSON strings are valid YAML.
    serde_json::Value::from(text).to_string()
}

/// `10s`, `5m`
pub(super) fn seconds(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    if minutes >= 1.0 && minutes.fract() == 0.0 { format!("{minutes}m") } else { format!("{seconds}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::parse::yaml;
    use threadcount_model::parse::yaml::Kind;

    #[test]
    fn a_text_is_read_as_it_was() {
        for text in [
            "plain",
            "/orders/1",
            "a b",
            "a: b",
            "# c",
            "{port}",
            "-Xmx1g",
            "true",
            "",
            "~",
            "11.0",
            "\"quoted\"",
            "ü\n\t\u{1}",
            "'",
            "null",
            "[x]",
            "@file",
            "a,b",
            "&a",
            "*a",
            "!t",
            "%",
            "-",
        ] {
            let written = format!("key: {{inner: {}, last: 1}}", scalar(text));
            let Kind::Map(outer) = yaml::parse(&written).unwrap().kind else { panic!("{written}") };
            let Kind::Map(inner) = &outer[0].1.kind else { panic!("{written}") };
            assert_eq!(inner[0].1.kind, Kind::Scalar(text.to_owned()), "{written}");
        }
    }

    #[test]
    fn times_have_the_largest_unit_that_fits() {
        let known = [(300.0, "5m"), (90.0, "90s"), (0.05, "0.05s"), (60.0, "1m"), (0.0, "0s")];
        assert!(known.iter().all(|(time, expected)| seconds(*time) == *expected));
    }
}
