//! Extracts from the body of a failed response what helps to find the reason.

use crate::secrets::Secrets;
use regex::Regex;
use std::sync::LazyLock;

/// The number of characters of the body that are shown; more of a page would be noise.
const MOST_CHARACTERS: usize = 200;
/// The number of bytes of the body that are kept until the load has ended.
const MOST_BYTES: usize = 4_000;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Patterns of secrets whose values are not known in advance, such as a captured token: credentials behind their scheme, and long runs of
/// characters.
static VARYING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [(r"(?i)\b(bearer|basic)\s+[^\s,;]+", "$1 ***"), (r"[A-Za-z0-9+/_-]{32,}={0,2}", "***")];
    masks.into_iter().filter_map(|(pattern, mask)| Some((Regex::new(pattern).ok()?, mask))).collect()
});

/// The text of the body, from the bytes of a response or from its last part; `None` if nothing in it can be printed.
pub(crate) fn text(response: &[u8]) -> Option<String> {
    let head_end = response.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END);
    let body = &response[head_end.map_or(0, |at| at + HEAD_END.len())..];
    let text = String::from_utf8_lossy(&body[..body.len().min(MOST_BYTES)]);
    let is_printable = |c: char| !c.is_control() && !c.is_whitespace() && c != '\u{fffd}';
    text.contains(is_printable).then(|| text.into_owned())
}

/// The first printable characters of a body, on one line, without secrets; `None` if there are none.
pub(crate) fn shown(body: &str, mut secrets: Secrets) -> Option<String> {
    // Secrets are masked before blanks are joined and the text is cut: a value may end at a line break, and a part of a secret would not be
    // found.
    let named = secrets.mask_text(&secrets.hidden_in(body));
    let printable =
        named.chars().map(|it| if it.is_control() { ' ' } else { it }).filter(|it| *it != '\u{fffd}');
    let line = printable.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    let masked =
        VARYING.iter().fold(line, |text, (secret, mask)| secret.replace_all(&text, *mask).into_owned());
    let first: String = masked.chars().take(MOST_CHARACTERS).collect();
    (!first.is_empty()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_printable_characters_of_the_body_are_kept() {
        let of = |response: &[u8]| text(response).and_then(|text| shown(&text, Secrets::default()));
        let response =
            b"HTTP/1.1 500 No\r\nContent-Length: 34\r\n\r\njava.io.IOException:\n\ttoo many streams\0";
        assert_eq!(of(response).as_deref(), Some("java.io.IOException: too many streams"));
        let long = "a word ".repeat(100);
        assert_eq!(of(long.as_bytes()).map(|it| it.chars().count()), Some(200));
        assert_eq!(of(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), None);
    }

    #[test]
    fn a_secret_that_was_sent_is_masked_also_where_the_body_is_cut() {
        let mut secrets = Secrets::default();
        secrets.add("t0ken-of-a-test", "***");
        let body = format!("{}t0ken-of-a-test {}", "x ".repeat(96), r#"{"password":"hunter2"}"#);
        assert_eq!(shown(&body, secrets), Some("x ".repeat(96) + "*** {\"pa"));
    }

    #[test]
    fn secrets_are_masked() {
        let masked = |text: &str| shown(text, Secrets::default()).unwrap_or_default();
        assert_eq!(masked("Authorization: Bearer abc.def"), "Authorization: ***");
        assert_eq!(masked(r#"{"password":"hunter2","user":"ann"}"#), r#"{"password":"***","user":"ann"}"#);
        assert_eq!(masked("jdbc:h2:mem;password=hunter2;user=sa"), "jdbc:h2:mem;password=***;user=sa");
        assert_eq!(masked(r#"{"pwd":["x"],"signingKey":"a\"b"}"#), r#"{"pwd":["***"],"signingKey":"***"}"#);
        assert_eq!(masked("login of Bearer abc.def failed"), "login of Bearer *** failed");
        assert_eq!(masked("id 0123456789abcdef0123456789abcdef failed"), "id *** failed");
        assert_eq!(
            masked("NullPointerException at shop.Orders.find"),
            "NullPointerException at shop.Orders.find"
        );
    }
}
