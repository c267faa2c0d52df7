//! `${NAME}` in a text stands for a variable of the environment. The model keeps the text as it was written, so that a secret is in
//! no result, report or message; it is filled in where it is sent or given to a process.

/// How it begins and ends.
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

/// The text with the value of each variable. One that is not set stays as it is written: whoever reads the file has refused it.
#[must_use]
pub fn filled_in(text: &str) -> String {
    filled_in_from(text, |name| std::env::var(name).ok())
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
}
