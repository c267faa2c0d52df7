//! The body of a response that failed, as far as it helps to find out why.

use crate::secrets::{Masked, text_masked};
use regex::Regex;
use std::sync::LazyLock;

/// More of a page would be noise.
const MOST_CHARACTERS: usize = 200;
/// The number of bytes that are read of a body.
const MOST_BYTES: usize = 4_000;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Secrets without a name: credentials behind their scheme, and long runs of characters as tokens and hashes have them.
static SECRETS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [(r"(?i)\b(bearer|basic)\s+[^\s,;]+", "$1 ***"), (r"[A-Za-z0-9+/_-]{32,}={0,2}", "***")];
    masks.into_iter().filter_map(|(pattern, mask)| Some((Regex::new(pattern).ok()?, mask))).collect()
});

/// The printable body in the bytes of a response, or in their last part; `None` if it has none.
pub(crate) fn of(response: &[u8]) -> Option<String> {
    let head_end = response.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END);
    let body = &response[head_end.map_or(0, |at| at + HEAD_END.len())..];
    let text = String::from_utf8_lossy(&body[..body.len().min(MOST_BYTES)]);
    // Before blanks are joined: a line is where a value may end.
    let named = text_masked(&text, &mut Masked::new());
    let masked = SECRETS
        .iter()
        .fold(words(&named), |text, (secret, mask)| secret.replace_all(&text, *mask).into_owned());
    let first: String = masked.chars().take(MOST_CHARACTERS).collect();
    (!first.is_empty()).then_some(first)
}

/// Without control characters, on one line.
fn words(text: &str) -> String {
    let printable =
        text.chars().map(|it| if it.is_control() { ' ' } else { it }).filter(|it| *it != '\u{fffd}');
    printable.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_printable_characters_of_the_body_are_kept() {
        let response =
            b"HTTP/1.1 500 No\r\nContent-Length: 34\r\n\r\njava.io.IOException:\n\ttoo many streams\0";
        assert_eq!(of(response).as_deref(), Some("java.io.IOException: too many streams"));
        let long = "a word ".repeat(100);
        assert_eq!(of(long.as_bytes()).map(|it| it.chars().count()), Some(200));
        assert_eq!(of(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), None);
    }

    #[test]
    fn secrets_are_masked() {
        let masked = |text: &str| of(text.as_bytes()).unwrap_or_default();
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
