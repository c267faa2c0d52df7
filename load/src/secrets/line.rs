//! Where the value of `name: value` ends, though its line goes on.

use super::value::{Quote, is_part_of_name};

const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// `before`: the line up to the name. `rest`: the line from the value on. `None`: no end is plain, and all of it may be the value.
pub(super) fn plain_end(before: &str, rest: &str, may_be_in_list: bool) -> Option<usize> {
    let before = behind_open_quotes(before);
    // A header, YAML, or a comment: the line is the value.
    let is_first = before.trim_matches(|c| " \t-<>#*\"'".contains(c)).is_empty();
    let in_list = (may_be_in_list && !is_first).then(|| before_next_name(rest)).flatten();
    [in_list, closing_bracket(before, rest), before_frame(rest)].into_iter().flatten().min()
}

/// Brackets and names outside of the quotes that hold the value do not end it.
fn behind_open_quotes(mut before: &str) -> &str {
    while let Some((_, inside)) = Quote::open_at_end_of(before) {
        before = &before[inside..];
    }
    before
}

/// `, user: me`, `, user=me`. Not of `Digest user="me", response="abc"` and `ci=abc, deploy=def`: the parts of one secret.
fn before_next_name(rest: &str) -> Option<usize> {
    let is_name = |at: &usize| {
        let next = rest[at + 1..].trim_start();
        let name = next.find(|c| !is_part_of_name(c)).unwrap_or(0);
        name > 0 && (next[name..].starts_with('=') || next[name..].starts_with(": "))
    };
    let value = &rest[..rest.match_indices(", ").map(|(at, _)| at).find(is_name)?];
    let scheme = value.split_once([' ', '\t']).map(|(first, _)| first);
    let has_scheme = scheme.is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphabetic() || it == b'-'));
    (!has_scheme && !value.contains(['=', ':'])).then_some(value.len())
}

/// Of one that was opened before the name, where as many are closed as were opened in the line.
fn closing_bracket(before: &str, rest: &str) -> Option<usize> {
    let ends = BRACKETS.into_iter().filter_map(|(open, close)| {
        let open_before = before.chars().fold(0_usize, |depth, c| match c {
            c if c == open => depth + 1,
            c if c == close => depth.saturating_sub(1),
            _ => depth,
        });
        let mut depth = open_before;
        let mut end = None;
        for (at, c) in rest.char_indices() {
            if c == open {
                depth += 1;
            } else if c == close {
                depth = depth.checked_sub(1)?;
                end = end.or((depth + 1 == open_before).then_some(at));
            }
        }
        let end = end.filter(|_| open_before > 0 && depth == 0)?;
        let behind = rest[end..].trim_start_matches([')', ']', '}']);
        let behind = behind.strip_prefix([',', ';', ':']).unwrap_or(behind);
        (behind.is_empty() || behind.starts_with(char::is_whitespace)).then_some(end)
    });
    ends.min()
}

/// ` at com.shop.Login.check(Login.java:57)`, also where line breaks are written as `\n\t`.
fn before_frame(rest: &str) -> Option<usize> {
    let is_start = |at: &usize| {
        let before = &rest[..*at];
        (before.ends_with([' ', '\t']) || before.ends_with("\\t")) && is_frame(&rest[*at..])
    };
    let at = rest.match_indices("at ").map(|(at, _)| at).find(is_start)?;
    let value = rest[..at].trim_end();
    Some(["\\t", "\\n", "\\r"].into_iter().fold(value, |value, escape| value.trim_end_matches(escape)).len())
}

/// Is it a line of a stack trace of Java?
pub(super) fn is_frame(line: &str) -> bool {
    let Some(method) = line.strip_prefix("at ") else { return false };
    let is_part = |c: char| is_part_of_name(c) || "$/<>@".contains(c);
    let end = method.find(|c| !is_part(c)).unwrap_or(method.len());
    method[..end].contains('.') && method[end..].starts_with('(')
}
