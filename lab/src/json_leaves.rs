//! JSON documents taken apart, to be compared.

use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is not taken apart further.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leaves {
    /// A list is one leaf.
    pub whole_lists: bool,
    /// Keys that are left out, at any depth.
    pub ignored: &'static [&'static str],
}

/// A place with two values; `None`: absent, or null.
pub type Differing = (String, Option<Value>, Option<Value>);

impl Leaves {
    /// The places in which two documents differ, by path: `server.tomcat.version`, `loads[0].runs`.
    ///
    /// # Errors
    /// A document is no JSON.
    pub fn differing<T: Serialize>(self, a: &T, b: &T) -> serde_json::Result<Vec<Differing>> {
        let (mut a, mut b) = (self.of(a)?, self.of(b)?);
        let paths: BTreeSet<String> = a.keys().chain(b.keys()).cloned().collect();
        let both = paths.into_iter().map(|path| {
            let values = (a.remove(&path), b.remove(&path));
            (path, values.0, values.1)
        });
        Ok(both.filter(|(_, a, b)| a != b).collect())
    }

    /// Through text, as a document that was read came.
    fn of(self, document: &impl Serialize) -> serde_json::Result<BTreeMap<String, Value>> {
        let mut leaves = BTreeMap::new();
        self.take_apart("", serde_json::from_str(&serde_json::to_string(document)?)?, &mut leaves);
        Ok(leaves)
    }

    fn take_apart(self, path: &str, value: Value, leaves: &mut BTreeMap<String, Value>) {
        match value {
            Value::Null => {}
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in
                    fields.into_iter().filter(|(key, _)| !self.ignored.contains(&key.as_str()))
                {
                    let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                    self.take_apart(&path, value, leaves);
                }
            }
            Value::Array(items) if !items.is_empty() && !self.whole_lists => {
                for (index, item) in items.into_iter().enumerate() {
                    self.take_apart(&format!("{path}[{index}]"), item, leaves);
                }
            }
            leaf => drop(leaves.insert(path.to_owned(), leaf)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_their_place_and_both_values() {
        let before = json!({"loads": [{"runs": 3, "name": "c4"}], "jvm": ["-Xmx1g"], "kind": {"open": {}}});
        let now = json!({"loads": [{"runs": 5, "name": "c4"}], "jvm": ["-Xmx1g", "-Xint"], "jdk": 25,
            "kind": {"closed": {}}, "note": null});
        let found = Leaves::default().differing(&before, &now).unwrap();
        let expected = [
            ("jdk", None, Some(json!(25))),
            ("jvm[1]", None, Some(json!("-Xint"))),
            ("kind.closed", None, Some(json!({}))),
            ("kind.open", Some(json!({})), None),
            ("loads[0].runs", Some(json!(3)), Some(json!(5))),
        ];
        assert_eq!(found, expected.map(|(path, a, b)| (path.to_owned(), a, b)));
        assert!(Leaves::default().differing(&before, &before).unwrap().is_empty());
        let whole = Leaves { whole_lists: true, ignored: &["loads", "kind", "jdk"] };
        let of_lists = whole.differing(&before, &now).unwrap();
        assert_eq!(of_lists, [("jvm".to_owned(), Some(json!(["-Xmx1g"])), Some(json!(["-Xmx1g", "-Xint"])))]);
    }
}
