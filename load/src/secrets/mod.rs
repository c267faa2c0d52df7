//! Secrets that we were given: passwords, tokens, cookies and keys in headers, URLs, bodies, variables and commands.
//!
//! A value is a secret if its name says so; `${NAME}` and `{placeholder}` stand for a secret and are shown. Where a secret was given, `***`
//! takes its place. Its value is remembered, so that it can be hidden wherever it appears later: in a log, an error or a response.

mod data;
mod name;
mod text;
mod value;

pub use name::is_secret;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The text that is shown in place of a secret.
pub const MASK: &str = "***";
/// The shortest value that is hidden where it appears without its name. A shorter one would be found in other texts by chance.
const SHORTEST_HIDDEN_BYTES: usize = 4;
/// The characters of a URL that are not encoded (RFC 3986, section 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The secrets that were found so far.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    names: BTreeSet<String>,
    /// Each value, and the text that is shown in its place.
    values: BTreeMap<String, String>,
}

impl Secrets {
    /// The names of the secrets, for a warning to the user; `None` if no secret was found.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let names = self.names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then_some(names)
    }

    /// Remembers a secret value, and the text that is shown wherever the value appears. The value is known in its encoded forms, too.
    pub fn add(&mut self, value: &str, shown: &str) {
        let in_json = Value::from(value).to_string();
        let in_json = in_json.get(1..in_json.len() - 1).unwrap_or(value);
        let in_url = utf8_percent_encode(value, ENCODED).to_string();
        for form in [value, in_json, &in_url] {
            if form.len() >= SHORTEST_HIDDEN_BYTES {
                self.values.entry(form.to_owned()).or_insert_with(|| shown.to_owned());
            }
        }
    }

    /// The text with another text in place of each secret value that is known.
    #[must_use]
    pub fn hidden_in(&self, text: &str) -> String {
        let mut values: Vec<(&String, &String)> = self.values.iter().collect();
        // Longest first, because a value may be part of a longer one.
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        values.into_iter().fold(text.to_owned(), |text, (value, shown)| text.replace(value, shown))
    }
}

/// A text without the secrets in it.
#[must_use]
pub fn masked_text(text: &str) -> String {
    Secrets::default().mask_text(text)
}

#[cfg(test)]
mod tests;
