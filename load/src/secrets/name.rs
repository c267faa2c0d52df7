//! Recognises the names of secrets word by word; capitals, digits and separators divide the words.

/// Parts of words that make the whole name a secret's.
const SECRETS: [&str; 5] = ["password", "passwd", "passphrase", "secret", "credential"];
/// Endings of secret names, with or without a separator before them: `accesstoken`, `JSESSIONID`.
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
/// Words that make a name a secret's wherever they are.
const WORDS: [&str; 2] = ["token", "cookie"];
/// Two words that together make a name a secret's wherever they are: `API_KEY_STAGING`. The last six are from logins: RFC 5849, 7521, 7636
/// and 8628, and SAML 2.0.
const COMPOUNDS: [&str; 13] = [
    "apikey",
    "accesskey",
    "privatekey",
    "sessionkey",
    "masterkey",
    "sessionid",
    "authkey",
    "oauthverifier",
    "clientassertion",
    "codeverifier",
    "devicecode",
    "samlresponse",
    "samlart",
];
/// Words that name a secret only at the end of a name.
const LAST: [&str; 5] = ["pw", "sig", "jwt", "auth", "xauth"];
/// Words that name a secret only at the end, behind another word.
const LAST_OF_SEVERAL: [&str; 2] = ["key", "pat"];
/// Words before `key` that make the name one of data.
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
/// Words that end in `pass` but name no secret.
const NO_SECRETS: [&str; 2] = ["bypass", "compass"];
/// Endings of names before a message, such as `BadCredentialsException: ..`.
const FAILURES: [&str; 2] = ["exception", "error"];

/// Whether the value beside a name is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// The value is shown.
    Plain,
    /// The value is a secret.
    Secret,
    /// The value is a secret unless it is a number or an address: `max-tokens=10`, `token-uri=http://h/`.
    SecretUnlessData,
}

/// Whether a name tells that its value is a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    kind(name) != NameKind::Plain
}

pub(super) fn kind(name: &str) -> NameKind {
    let words = words(name);
    let Some(last) = words.last() else { return NameKind::Plain };
    let joined = words.concat();
    if NO_SECRETS.iter().any(|it| joined.ends_with(it)) || FAILURES.contains(&last.as_str()) {
        return NameKind::Plain;
    }
    let whole = singular(&joined);
    let ends_in_secret = has_secret_end(whole, &words) || has_any(&last_segment(name), &SECRETS);
    let has_secret = ends_in_secret
        || has_any(&joined, &SECRETS)
        || has_any(&joined, &COMPOUNDS)
        || words.iter().any(|word| WORDS.contains(&singular(word)));
    match ends_in_secret && whole == joined {
        true => NameKind::Secret,
        false if has_secret => NameKind::SecretUnlessData,
        false => NameKind::Plain,
    }
}

fn has_secret_end(whole: &str, words: &[String]) -> bool {
    let mut from_end = words.iter().rev().map(String::as_str);
    let last = from_end.next().map_or("", singular);
    let is_last_of_several = from_end.next().is_some_and(|before| {
        LAST_OF_SEVERAL.contains(&last) && !(last == "key" && KEYS_OF_DATA.contains(&before))
    });
    is_last_of_several || LAST.contains(&last) || ENDINGS.iter().any(|ending| whole.ends_with(ending))
}

fn has_any(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

/// The letters behind the last full stop: `password` in `spring.datasource.password`.
fn last_segment(name: &str) -> String {
    let segment = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    segment.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
}

/// A word without the `s` of a plural.
fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|it| !it.is_empty() && !it.ends_with('s')).unwrap_or(word)
}

/// The words of a name, in small letters.
pub(super) fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &c) in chars.iter().enumerate() {
        let is_after_small = at > 0 && chars[at - 1].is_ascii_lowercase();
        let is_before_small = chars.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if !c.is_ascii_alphabetic() || c.is_ascii_uppercase() && (is_after_small || is_before_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphabetic()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
