//! Secrets in a text: a value beside its name, `NAME:PASSWORD` behind the flag of a user, and the password in a URL.
//!
//! Where the end of a value is uncertain, too much is masked, not too little.

use super::name::{is_secret, words};
use super::value::{is_number, looks_random, stands_for_secret};
use super::{MASK, Secrets};
use serde_json::Value;
use std::ops::Range;

/// Parameters of a URL or a form that are secrets if their values look random: `?key=AIzaSy...`.
const PARAMETERS: [&str; 4] = ["key", "ticket", CODE, ASSERTION];
/// Parameters that are secrets beside another parameter of a login, whatever their values look like.
const CODE: &str = "code";
const ASSERTION: &str = "assertion";
/// Other parameters of a login (RFC 6749, 7521 and 9207). Beside one of them, `code` means the login's code rather than a country or a
/// status.
const BESIDE_LOGIN: [&str; 6] = ["state", "session_state", "iss", "redirect_uri", "grant_type", "client_id"];

/// The bytes before a name in which an open quote is searched for.
const MOST_BYTES_BEFORE: usize = 4_096;

impl Secrets {
    /// A text with its secrets masked. JSON stays JSON. The secrets are remembered.
    #[must_use]
    pub fn mask_text(&mut self, text: &str) -> String {
        let is_json = text.trim_start().starts_with(['{', '[']);
        if let Some(data) = is_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten() {
            let mut shown = data.clone();
            self.mask_data(&mut shown);
            return if shown == data { text.to_owned() } else { shown.to_string() };
        }
        let text = &self.mask_urls(text);
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(skipped) = text[at..].find(is_part_of_name) {
            let start = at + skipped;
            let end = text[start..].find(|c| !is_part_of_name(c)).map_or(text.len(), |length| start + length);
            let word = Word { text, start, end };
            let masked = self.mask_behind_user(word).or_else(|| self.mask_beside_name(word));
            let (value, mask) = masked.unwrap_or((end..end, String::new()));
            shown.push_str(&text[at..value.start]);
            shown.push_str(&mask);
            at = value.end;
        }
        shown + &text[at..]
    }

    /// The text with the passwords and tokens before the hosts of its URLs masked.
    fn mask_urls(&mut self, text: &str) -> String {
        let mut parts = text.split("://");
        let mut shown = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_end = |c: char| "/?#\"'".contains(c) || c.is_whitespace();
            let authority = &part[..part.find(is_end).unwrap_or(part.len())];
            let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
            let masked = if user.contains(':') {
                self.take_user("the password of a URL", user)
            } else {
                let is_token = looks_random(user) && self.take_value("the token of a URL", user);
                is_token.then(|| MASK.to_owned())
            };
            shown.push_str("://");
            shown.push_str(masked.as_deref().unwrap_or(user));
            shown.push_str(&part[user.len()..]);
        }
        shown
    }

    /// The place of `NAME:PASSWORD` behind `--user`, and the text that is shown there: `-u me:x`, `-ume:x`, `--user=me:x`.
    fn mask_behind_user(&mut self, word: Word<'_>) -> Option<(Range<usize>, String)> {
        let name = &word.text[word.start..word.end];
        let start = if is_user_flag(name) {
            let value = word.text[word.end..].trim_start_matches(['=', ' ']);
            word.text.len() - value.len()
        } else {
            word.start + name.strip_prefix("-u").map(|_| "-u".len())?
        };
        let end = start + word.end_of_word(&word.text[start..]);
        Some((start..end, self.take_user_of_flag(&word.text[start..end])?))
    }

    /// The place of a secret behind its name, and the text that is shown there.
    fn mask_beside_name(&mut self, word: Word<'_>) -> Option<(Range<usize>, String)> {
        let name = word.name();
        let is_of_login = [CODE, ASSERTION].contains(&name) && word.is_beside_parameter(&BESIDE_LOGIN);
        let is_parameter =
            PARAMETERS.contains(&name) && (is_of_login || word.before().ends_with(['?', '&', '#']));
        if !is_parameter && !is_secret(name) {
            return None;
        }
        let value = word.value()?;
        let text = &word.text[value.clone()];
        let is_masked = if is_parameter {
            (looks_random(text) || is_of_login && !is_number(text)) && self.take_value(name, text)
        } else {
            self.take(name, text)
        };
        is_masked.then(|| (value, MASK.to_owned()))
    }
}

/// A run of letters, digits, `-`, `_` and `.` in a text, which may be a name.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> Word<'t> {
    fn name(self) -> &'t str {
        self.text[self.start..self.end].trim_matches(['-', '.'])
    }

    fn before(self) -> &'t str {
        &self.text[..self.start]
    }

    /// The value behind the name; `None` if none follows.
    fn value(self) -> Option<Range<usize>> {
        let rest = &self.text[self.end..];
        let place = |value: &str, length: usize| {
            let start = self.text.len() - value.len();
            start..start + length
        };
        if let Some(quote) = quote_at_start(rest).filter(|quote| self.before().ends_with(quote)) {
            let value = rest[quote.len()..].trim_start().strip_prefix([':', '='])?.trim_start();
            let Some(quote) = quote_at_start(value) else { return Some(place(value, end_in_json(value)?)) };
            let inside = &value[quote.len()..];
            return Some(place(inside, end_of_quoted(inside, quote).map_or(inside.len(), |end| end.start)));
        }
        if let Some((value, _)) = rest.strip_prefix('>').and_then(|it| it.split_once("</"))
            && self.is_element()
        {
            let start = self.end + 1;
            return Some(start..start + value.len());
        }
        // A name in a form may have brackets: `user[password]=x`.
        let behind = ["]", "%5D", "%5d"].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
        let sign = behind.trim_start_matches(is_blank);
        if let Some(value) = sign.strip_prefix(':') {
            let is_other = value.starts_with(':') || value.starts_with("//") || self.is_frame();
            let value = value.trim_start_matches(is_blank);
            return (!is_other).then(|| place(value, self.end_of_line(value)));
        }
        let value = sign.strip_prefix('=').map(|value| value.strip_prefix('>').unwrap_or(value));
        let is_flag = self.text[self.start..].starts_with('-') && sign.len() < behind.len();
        let value = value.or_else(|| is_flag.then_some(sign))?.trim_start_matches(is_blank);
        Some(place(value, self.end_of_word(value)))
    }

    /// Whether the word is a parameter of a query or a form that has one of these parameters as well.
    fn is_beside_parameter(self, others: &[&str]) -> bool {
        let is_end = |c: char| "?#\"'".contains(c) || c.is_whitespace();
        let before = self.before().rsplit(is_end).next().unwrap_or_default();
        let behind = self.text[self.end..].split(is_end).next().unwrap_or_default();
        let names = before.split('&').chain(behind.split('&').skip(1));
        let is_parameter = behind.starts_with('=') && (before.is_empty() || before.ends_with('&'));
        is_parameter && names.filter_map(|it| it.split_once('=')).any(|(name, _)| others.contains(&name))
    }

    /// Whether the word is the name of an XML element, with or without a namespace: `<wsse:Password>`.
    fn is_element(self) -> bool {
        self.before().trim_end_matches(|c| c == ':' || is_part_of_name(c)).ends_with('<')
    }

    /// Whether the word is a method with its class, and a line follows: `Login.checkPassword:45`.
    fn is_frame(self) -> bool {
        let mut segments = self.name().rsplit('.').skip(1);
        let has_class = segments.next().is_some_and(|it| it.starts_with(|c: char| c.is_ascii_uppercase()));
        has_class
            && self.text[self.end..]
                .strip_prefix(':')
                .is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// The length of a value that takes the rest of its line, or of the quotes that were opened before the name.
    fn end_of_line(self, value: &str) -> usize {
        let value = self.inside_open_quote(value);
        value.lines().next().unwrap_or_default().trim_end().len()
    }

    /// The length of a value that is a word of a command, of a query or of a form, with the quotes in it.
    fn end_of_word(self, value: &str) -> usize {
        let text = self.inside_open_quote(value);
        // The text `\"a b\"` stands in a text that is in quotes itself.
        let escaped = quote_at_start(text).filter(|quote| quote.len() > 1);
        let mut at = escaped.map_or(0, |quote| end_behind_quoted(text, quote));
        while let Some(c) = text[at..].chars().next() {
            at = match c {
                c if c.is_whitespace() || "&;|".contains(c) => break,
                // A backslash in single quotes is a character like any other (POSIX, 2.2.2).
                '\'' => at + 1 + text[at + 1..].find('\'').map_or(0, |length| length + 1),
                '"' => at + end_behind_quoted(&text[at..], "\""),
                '\\' => at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                c => at + c.len_utf8(),
            };
        }
        at
    }

    /// The value up to the end of the quotes that its line opened before the name.
    fn inside_open_quote(self, value: &str) -> &str {
        let before = self.before();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        // A body may be a single line of megabytes.
        let line = &line[line.floor_char_boundary(line.len().saturating_sub(MOST_BYTES_BEFORE))..];
        let end = open_quote(line).and_then(|quote| end_of_quoted(value, quote));
        end.map_or(value, |end| &value[..end.start])
    }
}

/// The length of a JSON value other than a text; `None` if it is a placeholder. An object or a list is not searched for its end.
fn end_in_json(value: &str) -> Option<usize> {
    let placeholder = value.find('}').map_or("", |at| &value[..=at]);
    if stands_for_secret(placeholder) {
        return None;
    }
    let is_nested = value.starts_with(['[', '{']);
    let end = (!is_nested).then(|| value.find([',', '}', ']', '\n'])).flatten();
    Some(end.unwrap_or(value.len()))
}

/// A quote with the backslashes before it, at the beginning of a text: `"`, or `\"` inside a text in quotes.
fn quote_at_start(text: &str) -> Option<&str> {
    let mark = text.find(|c| c != '\\')?;
    text[mark..].starts_with(['"', '\'']).then(|| &text[..=mark])
}

/// The quote that closes a text, with the backslashes before it; `None` if the text is not closed.
fn end_of_quoted(inside: &str, quote: &str) -> Option<Range<usize>> {
    let (backslashes, mark) = (quote.len() - 1, &quote[quote.len() - 1..]);
    inside.match_indices(mark).find_map(|(at, _)| {
        let run = at - inside[..at].trim_end_matches('\\').len();
        // A quote with more backslashes is part of the text, unless each pair of them is a backslash of the text.
        let is_end = run <= backslashes || run % (2 * (backslashes + 1)) == backslashes;
        is_end.then(|| at - backslashes.min(run)..at + 1)
    })
}

/// The length of a text in quotes that begins with this quote; that of the quote if nothing closes it.
fn end_behind_quoted(text: &str, quote: &str) -> usize {
    quote.len() + end_of_quoted(&text[quote.len()..], quote).map_or(0, |end| end.end)
}

/// The quote that a line opens and does not close. An apostrophe inside a word opens nothing.
fn open_quote(line: &str) -> Option<&str> {
    let mut at = 0;
    let mut is_in_word = false;
    while let Some(c) = line[at..].chars().next() {
        let quote = quote_at_start(&line[at..]).filter(|quote| !is_in_word || quote.ends_with('"'));
        let Some(quote) = quote else {
            (at, is_in_word) = (at + c.len_utf8(), c.is_alphanumeric());
            continue;
        };
        let inside = at + quote.len();
        let Some(end) = end_of_quoted(&line[inside..], quote) else { return Some(quote) };
        (at, is_in_word) = (inside + end.end, false);
    }
    None
}

/// Whether a flag may have the value `NAME:PASSWORD`: `--user`, `--proxy-user`, `-u`, `-U`, and `-su`, which is `-s -u`.
pub(super) fn is_user_flag(name: &str) -> bool {
    const MOST_LETTERS: usize = 4;
    if let Some(long) = name.strip_prefix("--") {
        return words(long).last().is_some_and(|last| last == "user");
    }
    let letters = name.strip_prefix('-').and_then(|it| it.strip_suffix(['u', 'U']));
    letters.is_some_and(|it| it.len() < MOST_LETTERS && it.bytes().all(|it| it.is_ascii_alphabetic()))
}

/// Whether a whole text is the name of a header, an option or a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part_of_name)
}

const fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}
