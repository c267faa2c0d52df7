//! Values beside the names of secrets: the values that are shown, and the secrets inside the others.

use super::name::{NameKind, kind};
use super::{MASK, Secrets};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::percent_decode_str;

/// The length from which a run of letters and digits is taken for a key that a program has made.
const SHORTEST_RANDOM_BYTES: usize = 16;

impl Secrets {
    /// Whether the value beside this name is a secret. If so, remembers its name and the values inside it.
    pub(super) fn take(&mut self, name: &str, value: &str) -> bool {
        let is_taken = match kind(name) {
            NameKind::Secret => true,
            NameKind::SecretUnlessData => !is_number(value) && !value.contains("://"),
            NameKind::Plain => false,
        };
        is_taken && self.take_value(name, value)
    }

    /// Remembers the secret of this name, unless the value cannot be one.
    pub(super) fn take_value(&mut self, name: &str, value: &str) -> bool {
        // A quote without its partner may be beside a mask.
        let bare = value.trim().trim_matches(['"', '\'', '\\']);
        let is_none = matches!(bare, "true" | "false" | "null" | MASK)
            // The padding of Base64 is not a value.
            || bare.bytes().all(|byte| byte == b'=')
            || stands_for_secret(bare);
        if !is_none {
            self.names.insert(name.trim_matches(['-', '.']).to_owned());
            self.add_parts(value);
        }
        !is_none
    }

    /// `NAME:PASSWORD` of a flag with the password masked; `None` for `1000:1000`, which is a user and a group, and for an address.
    pub(super) fn take_user_of_flag(&mut self, user: &str) -> Option<String> {
        let user = user.trim_matches(['"', '\'']);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (name, password) = user.split_once(':')?;
        let is_other = password.starts_with("//") || is_number(name) && is_number(password);
        (!is_other).then(|| self.take_user("the password of --user", user)).flatten()
    }

    /// `NAME:PASSWORD` with the password masked, and remembered under this name; `None` if it has none.
    pub(super) fn take_user(&mut self, name: &str, user: &str) -> Option<String> {
        let (login, password) = user.split_once(':')?;
        let is_taken = self.take_value(name, password);
        if is_taken {
            self.add(&BASE64.encode(user), MASK);
        }
        is_taken.then(|| format!("{login}:{MASK}"))
    }

    /// Remembers a value in the forms in which a program may print it: without quotes and escapes, a token without its scheme, a cookie or
    /// a part of `Digest` without its name.
    fn add_parts(&mut self, value: &str) {
        let plain = value.replace(['"', '\'', '\\'], "");
        let plain = plain.trim();
        let from_json: String = serde_json::from_str(&format!("\"{value}\"")).unwrap_or_default();
        for whole in [value, plain, &from_json, &percent_decode_str(plain).decode_utf8_lossy()] {
            self.add(whole, MASK);
        }
        if let Some((_, last)) = plain.rsplit_once(' ') {
            self.add(last, MASK);
            let user = BASE64.decode(last).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            if let Some((_, password)) = user.as_deref().and_then(|user| user.split_once(':')) {
                self.add(password, MASK);
            }
        }
        let parts = plain.split([';', ',']).filter_map(|part| part.split_once('='));
        parts.for_each(|(_, part)| self.add(part, MASK));
    }
}

/// Whether a text consists of `${NAME}` and `{name:..}`, with at most the name of a scheme or of a cookie before it.
pub(super) fn stands_for_secret(value: &str) -> bool {
    value.split(';').map(str::trim).all(|part| {
        let (scheme, mut rest) = part.split_at(part.rfind([' ', '=']).map_or(0, |at| at + 1));
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.:,".contains(c);
        let is_placed = !rest.is_empty() && scheme.trim_end_matches([' ', '=']).chars().all(is_part);
        while let Some(open) = rest.strip_prefix("${").or_else(|| rest.strip_prefix('{')) {
            let inside =
                open.split_once('}').filter(|(inside, _)| !inside.is_empty() && inside.chars().all(is_part));
            let Some((_, behind)) = inside else { return false };
            rest = behind;
        }
        is_placed && rest.is_empty()
    })
}

/// Whether a value is a number with or without a unit, such as the `57)` behind a file in a stack.
pub(super) fn is_number(value: &str) -> bool {
    let value = value.trim_end_matches(')');
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_unit = unit.len() <= 2 && unit.bytes().all(|it| it.is_ascii_alphabetic() || it == b'%');
    value.starts_with(|c: char| c.is_ascii_digit()) && is_unit
}

/// Whether a value is a key that a program has made, rather than a word or a number chosen by a person.
pub(super) fn looks_random(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|byte| kind(&byte));
    value.len() >= SHORTEST_RANDOM_BYTES && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)
}
