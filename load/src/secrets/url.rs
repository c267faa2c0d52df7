//! `http://me:password@host/`.

use super::names::NameKind;
use super::value::{is_shown, looks_random};
use super::{MASK, Masked};

/// The text with the passwords of its URLs masked.
pub(super) fn without_passwords(text: &str, masked: &mut Masked) -> String {
    let mut parts = text.split("://");
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        done.push_str("://");
        let is_end = |c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace();
        let (authority, behind) = part.split_at(part.find(is_end).unwrap_or(part.len()));
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                done.push_str(&masked_user_info(user, masked));
                done.push('@');
                done.push_str(host);
            }
            None => done.push_str(authority),
        }
        done.push_str(behind);
    }
    done
}

fn masked_user_info(text: &str, masked: &mut Masked) -> String {
    match text.split_once(':') {
        Some((user, password)) if !is_shown(password, NameKind::Secret) => {
            masked.insert(format!("the password of {user} in a URL"));
            format!("{user}:{MASK}")
        }
        None if looks_random(text) => {
            masked.insert("the token in a URL".to_owned());
            MASK.to_owned()
        }
        _ => text.to_owned(),
    }
}
