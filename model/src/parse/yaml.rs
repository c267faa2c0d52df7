//! YAML as a tree of nodes, each with its place in the file in bytes.
//!
//! Scalars stay text: `11.0` is a version for one key and a number for another.

use crate::parse::diagnostic::Diagnostic;
use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span};
use std::ops::Range;

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The token to point at: a scalar, or the beginning of a list or map.
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a map and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    pub span: Range<usize>,
}

impl Node {
    /// The kind of the node, for a message about a wrong type.
    pub const fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Scalar(_) => "a single value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}

/// Reads one document.
///
/// # Errors
/// A syntax error, an anchor or alias, a tag, a key that is not plain text, a key written twice, several documents.
pub fn parse(text: &str) -> Result<Node, Diagnostic> {
    // Another crate of the program may enable comments in the parser, which would then be events here too.
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader { events: Parser::new_from_str_with_options(text, options) };
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(..) => {}
            Event::StreamEnd => return Ok(Node { span: 0..text.len().min(1), kind: Kind::Null }),
            first => {
                let root = reader.node(first, span)?;
                reader.expect_the_end()?;
                return Ok(root);
            }
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Range<usize>), Diagnostic> {
        match self.events.next() {
            Some(Ok((event, span))) => Ok((event, bytes(span))),
            Some(Err(error)) => Err(syntax(&error)),
            None => Ok((Event::StreamEnd, 0..0)),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Range<usize>) -> Result<Node, Diagnostic> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                refuse(anchor != 0 || tag.is_some(), &span)?;
                let plain = style == ScalarStyle::Plain;
                let kind = match &*text {
                    "" | "~" | "null" if plain => Kind::Null,
                    text => Kind::Scalar(text.to_owned()),
                };
                Ok(Node { span, kind })
            }
            Event::SequenceStart(_, anchor, tag) => {
                refuse(anchor != 0 || tag.is_some(), &span)?;
                self.list(span)
            }
            Event::MappingStart(_, anchor, tag) => {
                refuse(anchor != 0 || tag.is_some(), &span)?;
                self.map(span)
            }
            _ => Err(refusal(&span)),
        }
    }

    fn list(&mut self, start: Range<usize>) -> Result<Node, Diagnostic> {
        let mut items: Vec<Node> = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => break,
                (event, span) => items.push(self.node(event, span)?),
            }
        }
        let span = pointable(start, items.first().map(|item| &item.span));
        Ok(Node { span, kind: Kind::List(items) })
    }

    fn map(&mut self, start: Range<usize>) -> Result<Node, Diagnostic> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => break,
                (event, span) => self.key(event, span)?,
            };
            if entries.iter().any(|(before, _)| before.name == key.name) {
                let message = format!("`{}` is written twice", key.name);
                return Err(Diagnostic::new(key.span, message, "the second one").help("keep one of the two"));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span)?;
            entries.push((key, value));
        }
        let span = pointable(start, entries.first().map(|(key, _)| &key.span));
        Ok(Node { span, kind: Kind::Map(entries) })
    }

    fn key(&mut self, event: Event<'a>, span: Range<usize>) -> Result<Key, Diagnostic> {
        match self.node(event, span)? {
            Node { kind: Kind::Scalar(name), span } => Ok(Key { name, span }),
            Node { span, .. } => Err(Diagnostic::new(span, "a key must be a word", "not a word")
                .help("write `key: value`; a `{` needs its `}` and a name before it")),
        }
    }

    fn expect_the_end(&mut self) -> Result<(), Diagnostic> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentStart(..), span) => {
                    return Err(Diagnostic::new(span, "a second document begins here", "`---`")
                        .help("one file holds one experiment"));
                }
                _ => {}
            }
        }
    }
}

/// The first token of a list or map: its bracket, or the first entry if it has none.
fn pointable(start: Range<usize>, first: Option<&Range<usize>>) -> Range<usize> {
    if start.is_empty() { first.cloned().unwrap_or(start) } else { start }
}

fn refuse(unknown: bool, span: &Range<usize>) -> Result<(), Diagnostic> {
    if unknown { Err(refusal(span)) } else { Ok(()) }
}

fn refusal(span: &Range<usize>) -> Diagnostic {
    Diagnostic::new(span.clone(), "anchors, aliases and tags are not understood here", "one of those").help(
        "write the value out; what all variants share goes to the top of the file (server, jdk, jvm, env)",
    )
}

fn bytes(span: Span) -> Range<usize> {
    span.byte_range().unwrap_or(0..0)
}

fn syntax(error: &ScanError) -> Diagnostic {
    let at = error.marker().byte_offset().unwrap_or(0);
    if error.info().contains("recursion limit") {
        return Diagnostic::new(at..at + 1, "lists and maps are nested too deeply", "here")
            .help("an experiment needs four levels; is there a bracket too many?");
    }
    Diagnostic::new(at..at + 1, format!("this is not YAML: {}", error.info()), "here")
        .help("text with `: `, `#`, `{` or `[` in it needs quotes; indent with spaces, never with tabs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar_at(text: &str, path: &[&str]) -> (String, String) {
        let mut node = &parse(text).expect("YAML");
        for step in path {
            let Kind::Map(entries) = &node.kind else { panic!("a map") };
            node = &entries.iter().find(|(key, _)| key.name == *step).expect("the key").1;
        }
        let Kind::Scalar(value) = &node.kind else { panic!("a scalar") };
        (value.clone(), text[node.span.clone()].to_owned())
    }

    #[test]
    fn scalars_keep_their_text_and_know_their_bytes() {
        let text = "é: [1]\nserver: {tomcat: 11.0, app: \"servlets\"}\n";
        assert_eq!(scalar_at(text, &["server", "tomcat"]), ("11.0".into(), "11.0".into()));
        assert_eq!(scalar_at(text, &["server", "app"]), ("servlets".into(), "\"servlets\"".into()));
    }

    #[test]
    fn a_key_written_twice_is_found_at_its_second_place() {
        let text = "a: 1\nb: 2\na: 3\n";
        let diagnostic = parse(text).expect_err("a mistake");
        assert_eq!(diagnostic.span, 10..11);
        assert_eq!(diagnostic.message, "`a` is written twice");
    }

    #[test]
    fn broken_syntax_tabs_and_aliases_are_faults_and_not_panics() {
        for text in [
            "a: [1, 2",
            "a:\n\t- b",
            "a: &x 1\nb: *x",
            "{",
            "a: b: c",
            "? [a]\n: 1",
            "- !!int 3",
            "a: 1\n---\nb: 2",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_empty_file_is_nothing() {
        assert_eq!(parse("").map(|node| node.kind), Ok(Kind::Null));
        assert_eq!(parse("# only a comment\n").map(|node| node.kind), Ok(Kind::Null));
    }
}
