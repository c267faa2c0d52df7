//! Secrets in data: beside their names in maps, in pairs and in commands, and in texts.

use super::command::{PasswordAt, is_user_flag, password_of_flag};
use super::names::{NameKind, kind};
use super::scan::{PASSWORD_FLAG, USER, masked_plain_text};
use super::value::{is_part_of_name, is_shown, masked_user};
use super::{MASK, Masked};
use serde_json::Value;

/// A text without the secrets in it: `password=x`, `"token": "x"`, `Cookie: a=b`, `--api-key x`, `http://me:x@host/`. JSON stays JSON.
#[must_use]
pub fn masked_text(text: &str, masked: &mut Masked) -> String {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let Some(mut value) = is_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten() else {
        return masked_plain_text(text, masked);
    };
    match masked_value(&mut value, true, masked) {
        true => value.to_string(),
        false => text.to_owned(),
    }
}

/// Masks the secrets in data; true: there were some. `with_numbers`: a number beside the name of a secret becomes a text.
pub fn masked_value(value: &mut Value, with_numbers: bool, masked: &mut Masked) -> bool {
    match value {
        Value::String(text) => replace(text, |text| masked_text(text, masked)),
        Value::Array(items) => mask_items(items, with_numbers, masked),
        Value::Object(fields) => {
            let named = ["name", "key"].iter().find_map(|it| fields.get(*it)?.as_str().map(str::to_owned));
            // Not `any`: each of them.
            fields.iter_mut().fold(false, |is_changed, (name, value)| {
                let name = named.as_deref().filter(|_| name == "value").unwrap_or(name);
                mask_named(name, value, with_numbers, masked) | is_changed
            })
        }
        _ => false,
    }
}

fn replace(text: &mut String, new: impl FnOnce(&str) -> String) -> bool {
    let new = new(text);
    let is_changed = new != *text;
    *text = new;
    is_changed
}

/// All of it that is no name, beside the name of a secret.
fn mask_named(name: &str, value: &mut Value, with_numbers: bool, masked: &mut Masked) -> bool {
    let kind = kind(name);
    if kind == NameKind::Plain {
        return masked_value(value, with_numbers, masked);
    }
    match value {
        Value::String(text) if is_shown(text, kind) => masked_value(value, with_numbers, masked),
        Value::Number(number) if !with_numbers || is_shown(&number.to_string(), kind) => false,
        Value::String(_) | Value::Number(_) => {
            masked.insert(name.trim_start_matches('-').to_owned());
            *value = MASK.into();
            true
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |is_changed, item| mask_named(name, item, with_numbers, masked) | is_changed),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |is_changed, item| mask_named(name, item, with_numbers, masked) | is_changed),
        Value::Null | Value::Bool(_) => false,
    }
}

/// Words of a command, or a name and its value.
fn mask_items(items: &mut [Value], with_numbers: bool, masked: &mut Masked) -> bool {
    let is_pair = items.len() == 2;
    let mut is_changed = false;
    for at in 0..items.len() {
        let (before, rest) = items.split_at_mut(at);
        let words: Vec<&str> = before.iter().map(|it| it.as_str().unwrap_or_default()).collect();
        let name = words.last().copied().filter(|word| is_name(word) && (is_pair || word.starts_with('-')));
        is_changed |= match &mut rest[0] {
            Value::String(text) => replace(text, |text| masked_item((&words, name), text, masked)),
            value => mask_named(name.unwrap_or_default(), value, with_numbers, masked),
        };
    }
    is_changed
}

/// Of a header, an option or a variable.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part_of_name)
}

/// A word of a list after these words. `name`: that of its value, if the word before it is one.
fn masked_item((before, name): (&[&str], Option<&str>), item: &str, masked: &mut Masked) -> String {
    if let Some(name) = name
        && !is_shown(item, kind(name))
    {
        masked.insert(name.trim_start_matches('-').to_owned());
        return MASK.to_owned();
    }
    if let Some((&last, earlier)) = before.split_last() {
        if is_user_flag(last)
            && let Some(user) = masked_user(item)
        {
            masked.insert(USER.to_owned());
            return user;
        }
        let is_password = password_of_flag(earlier.iter().copied(), last) == Some(PasswordAt::NextWord);
        if is_password && !is_shown(item, NameKind::Secret) {
            masked.insert(PASSWORD_FLAG.to_owned());
            return MASK.to_owned();
        }
    }
    if password_of_flag(before.iter().copied(), item) == Some(PasswordAt::SameWord) {
        let (flag, password) = item.split_at(item.char_indices().nth(2).map_or(item.len(), |(at, _)| at));
        if !is_shown(password, NameKind::Secret) {
            masked.insert(PASSWORD_FLAG.to_owned());
            return format!("{flag}{MASK}");
        }
    }
    match item.split_once('=') {
        Some((name, value)) if is_name(name) && !is_shown(value, kind(name)) => {
            masked.insert(name.trim_start_matches('-').to_owned());
            format!("{name}={MASK}")
        }
        _ => masked_text(item, masked),
    }
}
