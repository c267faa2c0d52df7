//! The grammar of one line of a head or a trailer (RFC 9110 section 5, RFC 9112 section 5).

use super::Malformed;
use std::borrow::Cow;

pub(super) const BARE_LF: Malformed = Malformed("line that ends with a bare LF");

/// For each byte, whether it may stand in a token (RFC 9110 section 5.6.2).
static IS_TOKEN: [bool; 256] = token_table();

const fn token_table() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
}

/// Whether this byte may stand in a token, such as a header's name or a method.
pub(crate) fn is_token_byte(byte: u8) -> bool {
    IS_TOKEN[usize::from(byte)]
}

/// Whether this byte may stand in a header's value: visible characters, space, tab, and everything from 0x80 on.
pub(crate) fn is_text_byte(byte: u8) -> bool {
    (byte >= b' ' && byte != 0x7f) || byte == b'\t'
}

/// Splits a header or trailer line (without its CRLF) into name and trimmed value.
pub(super) fn split_field(line: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let colon = line.iter().position(|&byte| !is_token_byte(byte)).unwrap_or(line.len());
    let (name, rest) = line.split_at(colon);
    match rest {
        [b':', value @ ..] if !name.is_empty() => {
            check_text(value)?;
            Ok((name, trim(value)))
        }
        _ => Err(Malformed(what_is_wrong_with_name(name, rest))),
    }
}

fn what_is_wrong_with_name(name: &[u8], rest: &[u8]) -> &'static str {
    match (name, rest) {
        ([], [b' ' | b'\t', ..]) => "folded header line",
        (_, [b' ' | b'\t', after @ ..]) if trim(after).starts_with(b":") => {
            "space before the colon of a header"
        }
        ([], [b':', ..]) => "header without a name",
        (_, [0, ..]) => "NUL in the head",
        (_, [b'\r', ..]) => "bare CR in the head",
        _ if !rest.contains(&b':') => "header line without a colon",
        _ => "bad header name",
    }
}

/// A field that continues on further lines (obsolete line folding), as one line. Each fold becomes blanks, as RFC 9112 section 5.2 requires
/// of a user agent.
pub(super) fn unfold(lines: &[u8]) -> Result<Cow<'_, [u8]>, Malformed> {
    let mut line = Cow::Borrowed(lines);
    let mut from = 0;
    while let Some(end) = memchr::memchr(b'\n', &lines[from..]).map(|at| from + at) {
        if end == 0 || lines[end - 1] != b'\r' {
            return Err(BARE_LF);
        }
        line.to_mut()[end - 1..=end].fill(b' ');
        from = end + 1;
    }
    Ok(line)
}

/// Refuses control characters. There is no early exit, so that it compiles to vector instructions.
pub(super) fn check_text(text: &[u8]) -> Result<(), Malformed> {
    if text.iter().fold(true, |all, &byte| all & is_text_byte(byte)) {
        return Ok(());
    }
    Err(Malformed(match text.iter().find(|&&byte| !is_text_byte(byte)) {
        Some(0) => "NUL in the head",
        Some(b'\r') => "bare CR in the head",
        _ => "control character in the head",
    }))
}

/// The text without the spaces and tabs around it.
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// The members of a comma-separated list, trimmed, without empty ones (RFC 9110 section 5.6.1).
pub(super) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(trim).filter(|member| !member.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_split_at_its_first_colon_and_its_value_is_trimmed() {
        assert_eq!(split_field(b"A-b: \t c:d \t"), Ok((&b"A-b"[..], &b"c:d"[..])));
        assert_eq!(split_field(b"x:"), Ok((&b"x"[..], &b""[..])));
        assert_eq!(split_field(b"x:\xc3\xa4"), Ok((&b"x"[..], &b"\xc3\xa4"[..])));
    }

    #[test]
    fn each_way_to_break_a_header_has_its_words() {
        let words = |line: &[u8]| split_field(line).unwrap_err().0;
        assert_eq!(words(b" folded"), "folded header line");
        assert_eq!(words(b"Name : x"), "space before the colon of a header");
        assert_eq!(words(b"Name"), "header line without a colon");
        assert_eq!(words(b": x"), "header without a name");
        assert_eq!(words(b"Na\0me: x"), "NUL in the head");
        assert_eq!(words(b"Na me: x"), "bad header name");
        assert_eq!(words(b"Na(me: x"), "bad header name");
        assert_eq!(words(b"Name: x\0y"), "NUL in the head");
        assert_eq!(words(b"Name: x\ry"), "bare CR in the head");
        assert_eq!(words(b"Name: x\x1by"), "control character in the head");
    }

    #[test]
    fn every_byte_is_judged_alike_wherever_it_stands() {
        for byte in 0..=255 {
            for at in 0..35 {
                let mut text = [b'x'; 35];
                text[at] = byte;
                assert_eq!(check_text(&text).is_ok(), is_text_byte(byte), "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn a_list_has_no_empty_members() {
        assert_eq!(list(b" a ,, b,").collect::<Vec<_>>(), [&b"a"[..], b"b"]);
    }
}
