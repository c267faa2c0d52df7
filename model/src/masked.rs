//! Data without its secrets.

use crate::environment::SHORTEST_HIDDEN;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
pub use threadcount_load::secrets::{MASK, Masked, is_secret, masked_value, text_masked};

/// Keys whose texts are patterns, in which the name of a secret shows where a value is found but reveals nothing.
const PATTERNS: [&str; 2] = ["captures", "expect_body"];

/// Data that is no longer of its type when its secrets are masked.
#[derive(Debug, thiserror::Error)]
#[error("secrets in the input cannot be masked in the result: {0}")]
pub struct NotMasked(#[from] serde_json::Error);

/// Masks the secrets in every text of the data; their names are added to `masked`.
///
/// # Errors
/// The masked data no longer fits its type. Then it must not be written.
pub fn masked<T: Serialize + DeserializeOwned>(data: &T, masked: &mut Masked) -> Result<T, NotMasked> {
    let before = serde_json::to_value(data)?;
    Ok(serde_json::from_value(masked_json(&before, masked))?)
}

fn masked_json(before: &Value, masked: &mut Masked) -> Value {
    let mut after = before.clone();
    take_patterns(&mut after);
    masked_value(&mut after, false, masked);
    keep_patterns(before, &mut after);
    after
}

/// The secret values in some data, because a server may print them without the names that reveal them.
#[derive(Debug, Default)]
pub struct SecretValues(Vec<String>);

impl SecretValues {
    /// The secrets of this data; none if it cannot be written as JSON.
    #[must_use]
    pub fn of<T: Serialize>(data: &T) -> Self {
        let before = serde_json::to_value(data).unwrap_or_default();
        let mut found = Vec::new();
        add_masked(&before, &masked_json(&before, &mut Masked::new()), &mut found);
        // `Bearer TOKEN` is printed without its scheme.
        let last_words = found.iter().filter_map(|it| it.rsplit_once(' ')).map(|(_, last)| last.to_owned());
        found.extend(last_words.collect::<Vec<_>>());
        found.retain(|it| it.len() >= SHORTEST_HIDDEN);
        // Longest first, because a value may be part of a longer one.
        found.sort_by_key(|it| std::cmp::Reverse(it.len()));
        found.dedup();
        Self(found)
    }

    /// The text without the secret values.
    #[must_use]
    pub fn hidden_in(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| text.replace(value, MASK))
    }
}

fn add_masked(before: &Value, after: &Value, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let both = before.iter().filter_map(|(name, value)| Some((value, after.get(name)?)));
            both.for_each(|(before, after)| add_masked(before, after, found));
        }
        (Value::Array(before), Value::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| add_masked(before, after, found));
        }
        (Value::String(before), Value::String(after)) if before != after => add_parts(before, after, found),
        _ => {}
    }
}

/// Adds the parts of the text that the masks replaced.
fn add_parts(before: &str, after: &str, found: &mut Vec<String>) {
    let mut pieces = after.split(MASK);
    let Some(mut rest) = pieces.next().and_then(|first| before.strip_prefix(first)) else { return };
    for piece in pieces {
        let found_at = if piece.is_empty() { Some(rest.len()) } else { rest.find(piece) };
        let Some(at) = found_at else { return };
        found.push(rest[..at].to_owned());
        rest = &rest[at + piece.len()..];
    }
}

fn take_patterns(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| {
            if PATTERNS.contains(&name.as_str()) { *value = Value::Null } else { take_patterns(value) }
        }),
        Value::Array(items) => items.iter_mut().for_each(take_patterns),
        _ => {}
    }
}

/// Restores the patterns after masking.
fn keep_patterns(before: &Value, after: &mut Value) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in after {
                match before.get(name) {
                    Some(before) if PATTERNS.contains(&name.as_str()) => value.clone_from(before),
                    Some(before) => keep_patterns(before, value),
                    None => {}
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| keep_patterns(before, after));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use serde_json::json;
    use threadcount_config::parse;

    #[test]
    fn a_value_beside_its_name_in_a_map_or_a_list_is_masked_and_its_name_is_told() {
        let data = json!({
            "env": {"DB_PASSWORD": "abc", "WORKERS": "1", "TOKEN": "${TOKEN}"},
            "headers": [["X-Auth-Token", "abc"], ["Accept", "text/html"], ["Cookie", null]],
            "command": ["psql", "--password", "abc", "-h", "h", "--user", "me:abc", "-u", "5:5"],
            "cookies": true,
        });
        let mut names = Masked::new();
        let kept: Value = masked(&data, &mut names).unwrap();
        assert_eq!(
            kept,
            json!({
                "env": {"DB_PASSWORD": "***", "WORKERS": "1", "TOKEN": "${TOKEN}"},
                "headers": [["X-Auth-Token", "***"], ["Accept", "text/html"], ["Cookie", null]],
                "command": ["psql", "--password", "***", "-h", "h", "--user", "me:***", "-u", "5:5"],
                "cookies": true,
            })
        );
        let expected = ["DB_PASSWORD", "X-Auth-Token", "password", "the password of --user"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_value_that_is_masked_once_is_hidden_where_it_stands_without_its_name() {
        let data = json!({
            "env": {"DB_PASSWORD": "s3cretpw", "WORKERS": "1000", "API_KEY": "abc"},
            "command": "app --token t0ken --port 8080 https://u:urlpw@host/",
        });
        let secrets = SecretValues::of(&data);
        let line = "s3cretpw t0ken urlpw, 1000 workers at host:8080 of app, abc";
        assert_eq!(secrets.hidden_in(line), "*** *** ***, 1000 workers at host:8080 of app, abc");
    }

    #[test]
    fn captures_and_expected_bodies_stay_and_everything_else_is_masked() {
        let text = "question: q\nserver: {tomcat: 11.0}\nvariants: {a: {}}\nloads:\n  - clients: 1\n    requests: 1\n    \
            request: /a?access_token=abc\n    capture: ['token=header:X-Token']\n    \
            expect_body: 'regex:token=(a|b)'\n";
        let experiment = parse("x", "x.yaml", text, false).unwrap();
        let kept = experiment.without_secrets(&mut Masked::new()).unwrap();
        assert_eq!(kept.loads[0].sending, experiment.loads[0].sending);
        assert_eq!(kept.loads[0].request.path, "/a?access_token=***");
    }

    #[test]
    fn our_own_experiments_have_no_secrets() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(text) = std::fs::read_to_string(&entry) else { continue };
            let Ok(experiment) = parse("x", &entry.display().to_string(), &text, false) else { continue };
            let mut names = Masked::new();
            let kept = experiment.without_secrets(&mut names).unwrap();
            assert!(names.is_empty(), "{}: {names:?}", entry.display());
            let (kept, written) = (serde_json::to_value(&kept), serde_json::to_value(&experiment));
            assert_eq!(kept.unwrap(), written.unwrap(), "{}", entry.display());
            read += 1;
        }
        assert!(read > 10, "{read} experiments");
    }

    #[test]
    fn data_that_cannot_be_masked_is_an_error_and_is_not_given_back() {
        let mut experiment = Experiment::unplanned("x", Vec::new(), Vec::new());
        experiment.question = "password=abc".to_owned();
        assert_eq!(experiment.without_secrets(&mut Masked::new()).unwrap().question, "password=***");
        let typed = Typed { password: Only::Abc };
        assert!(masked(&typed, &mut Masked::new()).is_err());
    }

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Typed {
        password: Only,
    }

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    enum Only {
        Abc,
    }
}
