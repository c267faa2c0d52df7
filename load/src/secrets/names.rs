//! Names of secrets: read word by word, with words split at capitals, digits and separators.

/// Anywhere in a name.
const SECRETS: [&str; 5] = ["password", "passwd", "passphrase", "secret", "credential"];
/// At the end of a name, also without a separator: `accesstoken`, `JSESSIONID`.
const ENDINGS: [&str; 11] = [
    "token",
    "cookie",
    "signature",
    "authorization",
    "passcode",
    "pwd",
    "apikey",
    "accesskey",
    "sessionid",
    "sessid",
    "pass",
];
/// As a word anywhere in a name.
const WORDS: [&str; 2] = ["token", "cookie"];
/// Two words that make a secret wherever they stand: `API_KEY_STAGING`.
const COMPOUNDS: [&str; 7] =
    ["apikey", "accesskey", "privatekey", "sessionkey", "masterkey", "sessionid", "authkey"];
/// Only as the last word.
const LAST: [&str; 5] = ["pw", "sig", "jwt", "auth", "xauth"];
/// Only as the last of several words.
const LAST_OF_SEVERAL: [&str; 2] = ["key", "pat"];
/// Words before `key` with which it is a name of data.
const KEYS_OF_DATA: [&str; 12] = [
    "public",
    "primary",
    "foreign",
    "sort",
    "partition",
    "routing",
    "cache",
    "idempotency",
    "group",
    "message",
    "sharding",
    "shard",
];
/// Words that end in `pass` and are none.
const NO_SECRETS: [&str; 2] = ["bypass", "compass"];

/// `BadCredentialsException: ..` is followed by a message.
const FAILURES: [&str; 2] = ["exception", "error"];

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// It is shown.
    Plain,
    /// It is a secret.
    Secret,
    /// It is a secret, unless it is a number or an address: `max-tokens=10`, `token-uri=http://h/`.
    SecretUnlessData,
}

/// Does the name say that its value is a secret?
#[must_use]
pub fn is_secret(name: &str) -> bool {
    kind(name) != NameKind::Plain
}

/// Does it name several secrets?
pub(super) fn is_plural(name: &str) -> bool {
    words(name).iter().any(|word| singular(word) != word)
}

pub(super) fn kind(name: &str) -> NameKind {
    let words = words(name);
    let Some(last) = words.last() else { return NameKind::Plain };
    let joined = words.concat();
    if NO_SECRETS.iter().any(|it| joined.ends_with(it)) || FAILURES.contains(&last.as_str()) {
        return NameKind::Plain;
    }
    let (whole, last) = (singular(&joined), singular(last));
    let is_secret = ends_like_a_secret(whole, last, &words) || has(last_segment(name), &SECRETS);
    let has_secret = || {
        let is_word = |word: &String| WORDS.contains(&singular(word));
        has(joined.clone(), &SECRETS) || has(joined.clone(), &COMPOUNDS) || words.iter().any(is_word)
    };
    match whole.len() == joined.len() {
        true if is_secret => NameKind::Secret,
        _ if is_secret || has_secret() => NameKind::SecretUnlessData,
        _ => NameKind::Plain,
    }
}

fn ends_like_a_secret(whole: &str, last: &str, words: &[String]) -> bool {
    let before = words.len().checked_sub(2).map(|at| words[at].as_str());
    ENDINGS.iter().any(|ending| whole.ends_with(ending))
        || LAST.contains(&last)
        || before.is_some_and(|before| {
            LAST_OF_SEVERAL.contains(&last) && !(last == "key" && KEYS_OF_DATA.contains(&before))
        })
}

fn has(text: impl AsRef<str>, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.as_ref().contains(part))
}

/// The letters behind the last full stop: `password` of `spring.datasource.password`.
fn last_segment(name: &str) -> String {
    let name = name.trim_end_matches('.');
    let segment = name.rsplit('.').next().unwrap_or(name);
    segment.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
}

/// Without the `s` of a plural.
fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|it| !it.is_empty() && !it.ends_with('s')).unwrap_or(word)
}

/// Its words in small letters. Digits and separators are between them.
pub(super) fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let is_after_small = at > 0 && chars[at - 1].is_ascii_lowercase();
        let is_before_small = chars.get(at + 1).is_some_and(char::is_ascii_lowercase);
        let begins = c.is_ascii_uppercase() && (is_after_small || is_before_small);
        if begins || !c.is_ascii_alphabetic() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphabetic() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_their_words_are_separated() {
        for name in [
            "password",
            "DB_PASSWORD",
            "PASSWORD2",
            "password_confirmation",
            "spring.datasource.password",
            "SECRET_KEY_BASE",
            "signingKey",
            "encryptionKey",
            "AccountKey",
            "X-SigningKey",
            "X-Session-Id",
            "JSESSIONID",
            "X_CREDENTIALS",
            "accessToken",
            "accesstoken",
            "API_KEY_STAGING",
            "GITHUB_TOKEN_RO",
            "Set-Cookie",
            "DB_PASS",
            "dbpass",
            "db-pw",
            "GITHUB_PAT",
            "jwt",
            "x-auth",
            "X-Amz-Signature",
        ] {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn names_that_only_look_like_those_of_secrets_are_none() {
        for name in [
            "",
            "bypass",
            "compass",
            "key",
            "partition_key",
            "partitionKey",
            "publicKey",
            "keyboard",
            "tokenizer",
            "author",
            "oauth2",
            "passenger",
            "pattern",
            "session",
            "signal",
            "BadCredentialsException",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        for name in ["max-tokens", "token-ttl", "passwords", "com.shop.TokenFilter.doFilter"] {
            assert_eq!(kind(name), NameKind::SecretUnlessData, "{name}");
        }
    }
}
