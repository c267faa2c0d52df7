//! A map of the file seen as a record with known keys.

use super::key_spec::KeySpec;
use super::yaml::{Key, Kind, Node};
use crate::parse::diagnostic::Diagnostic;
use crate::parse::suggest::advice;
use std::ops::Range;

/// The fields of one map. Opening it finds unknown keys.
#[derive(Debug)]
pub struct Fields<'a> {
    what: &'static str,
    /// The token to point at when something is missing.
    pub span: Range<usize>,
    entries: &'a [(Key, Node)],
    known: &'a [KeySpec],
}

impl<'a> Fields<'a> {
    /// Opens a map that may have these keys. `what` names it in messages: `a load`, `the study`.
    pub fn open(node: &'a Node, what: &'static str, known: &'a [KeySpec]) -> Result<Self, Diagnostic> {
        let names = known.iter().map(|key| key.name);
        let entries: &[(Key, Node)] = match &node.kind {
            Kind::Map(entries) => entries,
            Kind::Null => &[],
            Kind::Scalar(_) | Kind::List(_) => {
                let message = format!("{what} is a map, and this is {}", node.noun());
                return Err(Diagnostic::new(node.span.clone(), message, "expected `key: value`")
                    .help(format!("its keys: {}", names.collect::<Vec<_>>().join(", "))));
            }
        };
        if let Some((key, _)) = entries.iter().find(|(key, _)| names.clone().all(|name| name != key.name)) {
            let message = format!("{what} has no key `{}`", key.name);
            return Err(Diagnostic::new(key.span.clone(), message, "unknown key")
                .help(advice(&key.name, "its keys", names)));
        }
        Ok(Self { what, span: node.span.clone(), entries, known })
    }

    /// The value of a key; a key without a value counts as absent.
    ///
    /// # Panics
    /// In tests, if the table of the map does not have the key: the schema would not know it.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        debug_assert!(self.known.iter().any(|known| known.name == key), "{} has no key `{key}`", self.what);
        self.entries
            .iter()
            .find(|(known, node)| known.name == key && node.kind != Kind::Null)
            .map(|(_, node)| node)
    }

    /// Reads the value of a key; `None` if the key is absent.
    pub fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node) -> Result<T, Diagnostic>,
    ) -> Result<Option<T>, Diagnostic> {
        self.get(key).map(read).transpose()
    }

    /// The value of a key that is required.
    pub fn require(&self, key: &str, example: &str) -> Result<&'a Node, Diagnostic> {
        self.get(key).ok_or_else(|| {
            let message = format!("{} needs `{key}`", self.what);
            Diagnostic::new(self.span.clone(), message, format!("`{key}` is missing"))
                .help(format!("write, for example, `{example}`"))
        })
    }

    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.entries.iter().find(|(known, _)| known.name == key).map(|(known, _)| known.span.clone())
    }
}
