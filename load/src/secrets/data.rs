//! Secrets in data: in the fields of objects, in pairs of a name and a value, and in the words of a command.

use super::text::{is_name, is_user_flag};
use super::{MASK, Secrets};
use serde_json::Value;

/// Fields of experiments that contain patterns. A secret's name in a pattern shows where a value is found, and reveals nothing.
const PATTERNS: [&str; 2] = ["captures", "expect_body"];

impl Secrets {
    /// Masks and remembers the secrets in data.
    pub fn mask_data(&mut self, data: &mut Value) {
        match data {
            Value::String(text) => *text = self.mask_text(text),
            Value::Array(items) => self.mask_items(items),
            Value::Object(fields) => {
                let named =
                    ["name", "key"].iter().find_map(|it| fields.get(*it)?.as_str().map(str::to_owned));
                for (field, value) in
                    fields.iter_mut().filter(|(field, _)| !PATTERNS.contains(&field.as_str()))
                {
                    self.mask_named(named.as_deref().filter(|_| field == "value").unwrap_or(field), value);
                }
            }
            _ => {}
        }
    }

    /// Masks every text and number beside the name of a secret.
    fn mask_named(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) if self.take(name, text) => *value = MASK.into(),
            Value::Number(number) if self.take(name, &number.to_string()) => *value = MASK.into(),
            Value::Array(items) if super::is_secret(name) => {
                items.iter_mut().for_each(|item| self.mask_named(name, item));
            }
            Value::Object(fields) if super::is_secret(name) => {
                fields.iter_mut().for_each(|(_, item)| self.mask_named(name, item));
            }
            _ => self.mask_data(value),
        }
    }

    /// Masks the words of a command, or a name and its value.
    fn mask_items(&mut self, items: &mut [Value]) {
        let is_pair = items.len() == 2;
        let mut before = String::new();
        for item in items {
            let name = Some(&*before).filter(|it| is_name(it) && (is_pair || it.starts_with('-')));
            let Value::String(text) = item else {
                self.mask_named(name.unwrap_or_default(), item);
                before.clear();
                continue;
            };
            // A further flag, such as one behind `--cookies`, is not a value.
            let name = name.filter(|_| is_pair || !text.starts_with("--"));
            let user = is_user_flag(&before).then(|| self.take_user_of_flag(text)).flatten();
            let masked = match (user, text.split_once('=')) {
                (Some(user), _) => user,
                _ if name.is_some_and(|name| self.take(name, text)) => MASK.to_owned(),
                (_, Some((name, value))) if is_name(name) && self.take(name, value) => {
                    format!("{name}={MASK}")
                }
                _ => self.mask_text(text),
            };
            before = std::mem::replace(text, masked);
        }
    }
}
