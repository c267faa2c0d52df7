//! `${NAME}` in a text stands for a variable of the environment. The model keeps the text as written, so that no result, report or
//! message contains a secret; values are filled in only when the text is sent or given to a process.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;
use std::sync::OnceLock;

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

/// The length of the shortest value that is hidden. A shorter value is no secret, and would occur in other texts by chance.
pub(crate) const SHORTEST_HIDDEN: usize = 4;

/// The text with `${NAME}` in place of the value of each variable that the texts in `naming` mention. In a command line each word of
/// a value is hidden.
#[must_use]
pub fn without_values<'a>(text: &str, naming: impl IntoIterator<Item = &'a str>) -> String {
    without_values_from(text, naming, value)
}

fn without_values_from<'a>(
    text: &str,
    naming: impl IntoIterator<Item = &'a str>,
    value: impl Fn(&str) -> Option<String>,
) -> String {
    let known = naming.into_iter().flat_map(names).filter_map(|name| Some((name, value(name)?)));
    let mut hidden: Vec<(String, &str)> = known
        .flat_map(|(name, value)| {
            let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
            [value].into_iter().chain(words).map(move |it| (it, name))
        })
        .filter(|(value, _)| value.len() >= SHORTEST_HIDDEN)
        .collect();
    // Longest first, because a value may be part of a longer one.
    hidden.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    hidden
        .iter()
        .fold(text.to_owned(), |text, (value, name)| text.replace(value, &format!("{OPEN}{name}{CLOSE}")))
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
        let hidden =
            |text| without_values_from(text, ["-Dx=${TOKEN}", "${OPTIONS} ${NUMBER} ${UNSET}"], value);
        for (text, expected) in [
            ("-Dx=s3cret s3cret", "-Dx=${TOKEN} ${TOKEN}"),
            ("-Da=s3cret-b -Dc=d", "${OPTIONS}"),
            ("Picked up: -Dc=d", "Picked up: ${OPTIONS}"),
            ("port 8080 is open", "port 8080 is open"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }
}
