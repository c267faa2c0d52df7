//! Finds one value in a JSON text without building a tree, which may be many times larger than the text.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::to_writer;
use std::fmt;

/// The value at a JSON pointer (RFC 6901): a text without its quotes, anything else as JSON, cut after `most_bytes`. `None` if there is no
/// such value, or the text is not JSON.
pub(super) fn find(json: &[u8], pointer: &str, most_bytes: usize) -> Option<Vec<u8>> {
    let unescaped = |token: &str| token.replace("~1", "/").replace("~0", "~");
    let path: Vec<String> = pointer.split('/').skip(1).map(unescaped).collect();
    let mut found = Found { text: Vec::new(), most_bytes };
    let mut json = serde_json::Deserializer::from_slice(json);
    let is_there = Walk { path: &path, found: &mut found, is_inside: false }.deserialize(&mut json);
    let is_complete = is_there.and_then(|is_there| json.end().map(|()| is_there));
    if found.text.len() > most_bytes {
        return Some(found.text);
    }
    is_complete.is_ok_and(|is_there| is_there).then_some(found.text)
}

struct Found {
    text: Vec<u8>,
    most_bytes: usize,
}

impl Found {
    fn push<E: Error>(&mut self, text: &[u8]) -> Result<(), E> {
        let room = (self.most_bytes + 1).saturating_sub(self.text.len());
        self.text.extend_from_slice(&text[..text.len().min(room)]);
        if self.text.len() > self.most_bytes { Err(E::custom("it is too long")) } else { Ok(()) }
    }

    fn push_json<E: Error>(&mut self, value: impl serde::Serialize) -> Result<(), E> {
        let mut text = Vec::new();
        to_writer(&mut text, &value).map_err(E::custom)?;
        self.push(&text)
    }
}

/// Follows a path to a value and writes it; returns `true` if the value exists.
struct Walk<'w> {
    path: &'w [String],
    found: &'w mut Found,
    /// Whether it is inside the value and writes a part of it.
    is_inside: bool,
}

impl Walk<'_> {
    fn scalar<E: Error>(self, value: impl serde::Serialize) -> Result<bool, E> {
        if self.path.is_empty() { self.found.push_json(value).map(|()| true) } else { Ok(false) }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        self.scalar(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        self.scalar(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        self.scalar(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        self.scalar(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        self.scalar(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        if self.path.is_empty() && !self.is_inside {
            return self.found.push(value.as_bytes()).map(|()| true);
        }
        self.scalar(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<bool, A::Error> {
        let Self { path, found, .. } = self;
        let Some((token, rest)) = path.split_first() else {
            let mut separator: &[u8] = b"[";
            loop {
                found.push(separator)?;
                let next = Walk { path, found: &mut *found, is_inside: true };
                // Removes the separator before a value that does not exist.
                let written = next.found.text.len();
                if values.next_element_seed(next)?.is_none() {
                    found.text.truncate(written - usize::from(separator == b","));
                    return found.push(b"]").map(|()| true);
                }
                separator = b",";
            }
        };
        let is_index = token == "0" || (!token.starts_with(['0', '+']) && !token.is_empty());
        let wanted = token.parse::<usize>().ok().filter(|_| is_index);
        let (mut is_there, mut index) = (false, 0);
        loop {
            if Some(index) == wanted {
                let next = Walk { path: rest, found: &mut *found, is_inside: false };
                match values.next_element_seed(next)? {
                    Some(was_there) => is_there = was_there,
                    None => return Ok(false),
                }
            } else if values.next_element::<IgnoredAny>()?.is_none() {
                return Ok(is_there);
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<bool, A::Error> {
        let Self { path, found, .. } = self;
        let Some((token, rest)) = path.split_first() else {
            let mut separator: &[u8] = b"{";
            while let Some(key) = entries.next_key::<String>()? {
                found.push(separator)?;
                found.push_json(&key)?;
                found.push(b":")?;
                entries.next_value_seed(Walk { path, found: &mut *found, is_inside: true })?;
                separator = b",";
            }
            let end: &[u8] = if separator == b"{" { b"{}" } else { b"}" };
            return found.push(end).map(|()| true);
        };
        let mut is_there = false;
        while let Some(key) = entries.next_key::<String>()? {
            if key == *token {
                // If names are equal, the last one counts.
                found.text.clear();
                is_there =
                    entries.next_value_seed(Walk { path: rest, found: &mut *found, is_inside: false })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str, pointer: &str) -> Option<String> {
        find(json.as_bytes(), pointer, 1_000).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn every_value_is_what_a_tree_of_the_text_has_there() {
        let json = r#"{"a": {"b/c": [1, -2.5, "x\"y", null, true, [], {}, [[1], {"k": ["v"]}]], "d~e": "t"}, "": 7, "a2": [0]}"#;
        let tree: serde_json::Value = serde_json::from_str(json).unwrap();
        let mut pointers: Vec<String> = [
            "",
            "/a",
            "/a/d~0e",
            "/",
            "/b",
            "/a/b~1c",
            "/a/b~1c/x",
            "/a2/0",
            "/a2/00",
            "/a2/+0",
            "/a2/",
            "/a/b~1c/7/1/k/0",
        ]
        .map(str::to_owned)
        .to_vec();
        pointers.extend((0..9).map(|index| format!("/a/b~1c/{index}")));
        for pointer in pointers {
            let text = found(json, &pointer);
            match tree.pointer(&pointer) {
                Some(serde_json::Value::String(expected)) => {
                    assert_eq!(text.as_ref(), Some(expected), "{pointer}")
                }
                Some(expected) => {
                    let read: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
                    assert_eq!(read, *expected, "{pointer}");
                }
                None => assert_eq!(text, None, "{pointer}"),
            }
        }
        assert_eq!(found(r#"{"a": [ 1 , {"b": "c"} ]}"#, "/a").as_deref(), Some(r#"[1,{"b":"c"}]"#));
    }

    #[test]
    fn the_last_of_equal_names_counts_and_a_text_that_is_no_json_has_no_value() {
        assert_eq!(found(r#"{"a": 1, "a": 2}"#, "/a").as_deref(), Some("2"));
        assert_eq!(found(r#"{"a": {"b": 1}, "a": {}}"#, "/a/b"), None);
        for broken in ["", "<html>", r#"{"a": 1"#, r#"{"a": 1} x"#] {
            assert_eq!(found(broken, "/a"), None, "{broken}");
        }
    }

    #[test]
    fn a_value_that_is_too_long_ends_one_byte_behind_what_is_allowed() {
        let json = format!(r#"{{"a": [{}1]}}"#, "{},".repeat(100_000));
        assert_eq!(find(json.as_bytes(), "/a", 50).map(|text| text.len()), Some(51));
        assert_eq!(find(br#""abc""#, "", 3), Some(b"abc".to_vec()));
        assert_eq!(find(br#""abcd""#, "", 2), Some(b"abc".to_vec()));
    }
}
