//! `${NAME}` in a text stands for a variable of the environment. The model keeps the text as written, so that no result, report or
//! message contains a secret; values are filled in only when the text is sent or given to a process.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use threadcount_load::secrets::Secrets;

/// The variables of the process that gave us our load, which come before our own.
static GIVEN: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// All but the unreserved characters of RFC 3986 section 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The beginning of a variable.
const OPEN: &str = "${";
const CLOSE: char = '}';

/// The variables that a text names: capital letters, digits and `_`. Anything else in braces is text.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPEN)
        .skip(1)
        .filter_map(|rest| rest.split_once(CLOSE))
        .map(|(name, _)| name)
        .filter(|it| is_name(it))
}

/// Whether a text names any variable.
#[must_use]
pub fn has_names(text: &str) -> bool {
    names(text).next().is_some()
}

/// Takes over the variables of the process that gave us our load. Only the first call has an effect.
pub fn take_over(variables: BTreeMap<String, String>) {
    let _ = GIVEN.set(variables);
}

/// The variables that these texts name, with their values.
pub fn named_in<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeMap<String, String> {
    texts.into_iter().flat_map(names).filter_map(|name| Some((name.to_owned(), value(name)?))).collect()
}

fn value(name: &str) -> Option<String> {
    GIVEN.get().and_then(|given| given.get(name).cloned()).or_else(|| std::env::var(name).ok())
}

/// The first variable of a text that is not set, or whose value is not UTF-8.
#[must_use]
pub fn first_unset(text: &str) -> Option<&str> {
    names(text).find(|name| value(name).is_none())
}

/// The text with the value of each variable. A variable that is not set stays as written; reading the file has already refused it.
#[must_use]
pub fn filled_in(text: &str) -> String {
    filled_in_from(text, value)
}

/// Like [`filled_in`] for a path: each value is percent-encoded.
#[must_use]
pub fn filled_in_path(path: &str) -> String {
    filled_in_from(path, |name| Some(utf8_percent_encode(&value(name)?, RESERVED).to_string()))
}

fn filled_in_from(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = text.split(OPEN);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.split_once(CLOSE).filter(|(name, _)| is_name(name));
        match known.and_then(|(name, rest)| Some((value(name)?, rest))) {
            Some((value, rest)) => filled.extend([value.as_str(), rest]),
            None => filled.extend([OPEN, part]),
        }
    }
    filled
}

/// The values of the variables that the texts name, each of which is hidden behind `${NAME}`. In a command line each word of a value is
/// hidden.
#[must_use]
pub fn secrets<'a>(texts: impl IntoIterator<Item = &'a str>) -> Secrets {
    secrets_from(texts, value)
}

fn secrets_from<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    value: impl Fn(&str) -> Option<String>,
) -> Secrets {
    let mut secrets = Secrets::default();
    for name in texts.into_iter().flat_map(names) {
        let (value, shown) = (value(name).unwrap_or_default(), format!("{OPEN}{name}{CLOSE}"));
        [&*value].into_iter().chain(value.split_whitespace()).for_each(|word| secrets.add(word, &shown));
    }
    secrets
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !text.is_empty() && text.chars().all(is_part) && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_its_variables() {
        let found: Vec<&str> = names("Bearer ${TOKEN}, ${A_1}${lower} ${9} ${} ${OPEN {seq:1}").collect();
        assert_eq!(found, ["TOKEN", "A_1"]);
    }

    #[test]
    fn what_is_set_is_filled_in_once_and_everything_else_stays() {
        let value = |name: &str| (name == "TOKEN").then(|| "${TOKEN}!".to_owned());
        for (text, filled) in [
            ("Bearer ${TOKEN}.", "Bearer ${TOKEN}!."),
            ("${TOKEN}${TOKEN}", "${TOKEN}!${TOKEN}!"),
            ("${UNSET} ${lower} $ ${", "${UNSET} ${lower} $ ${"),
            ("", ""),
        ] {
            assert_eq!(filled_in_from(text, value), filled);
        }
    }

    #[test]
    fn a_value_in_a_path_is_percent_encoded() {
        let encoded = |value| utf8_percent_encode(value, RESERVED).to_string();
        assert_eq!(encoded("a-b_c.d~9"), "a-b_c.d~9");
        assert_eq!(encoded("a b/+=&%é\n"), "a%20b%2F%2B%3D%26%25%C3%A9%0A");
    }

    #[test]
    fn a_value_is_hidden_behind_the_name_of_its_variable() {
        let value = |name: &str| {
            let values =
                [("TOKEN", "s3cret"), ("OPTIONS", "-Da=s3cret-b -Dc=d"), ("NUMBER", "80"), ("OTHER", "open")];
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let secrets = secrets_from(["-Dx=${TOKEN}", "${OPTIONS} ${NUMBER} ${UNSET}"], value);
        for (text, expected) in [
            ("-Dx=s3cret s3cret", "-Dx=${TOKEN} ${TOKEN}"),
            ("-Da=s3cret-b -Dc=d", "${OPTIONS}"),
            ("Picked up: -Dc=d", "Picked up: ${OPTIONS}"),
            ("port 8080 is open", "port 8080 is open"),
        ] {
            assert_eq!(secrets.hidden_in(text), expected);
        }
    }
}
