//! The string literals of a source, as far as people can read them: tests, comments and attributes' reasons are left out. It reads
//! Rust, and JavaScript with double quotes.

use std::path::{Path, PathBuf};

/// A literal, and the line on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    pub line: usize,
    /// Without escapes.
    pub text: String,
}

/// What a source has for a reader.
#[derive(Debug, Default)]
pub struct Source {
    pub literals: Vec<Literal>,
    /// Modules in files of their own that only tests have.
    pub test_modules: Vec<String>,
}

#[derive(Debug)]
enum Token {
    Literal(Literal),
    Word(String),
    Sign(char),
}

impl Token {
    fn is(&self, text: &str) -> bool {
        match self {
            Self::Literal(_) => false,
            Self::Word(word) => word == text,
            Self::Sign(sign) => text.chars().eq([*sign]),
        }
    }
}

/// The literals of a source outside of what only tests have.
pub fn read(source: &str) -> Source {
    let tokens = tokens(source);
    let mut read = Source::default();
    let mut place = 0;
    while place < tokens.len() {
        let end = end_of_attribute(&tokens, place);
        if end > place && is_for_tests(&tokens[place..end]) {
            let item_end = end_of_item(&tokens, end);
            read.test_modules.extend(module_elsewhere(&tokens[end..item_end]));
            place = item_end;
            continue;
        }
        if let Token::Literal(literal) = &tokens[place] {
            let is_reason = place > 1 && tokens[place - 1].is("=") && tokens[place - 2].is("reason");
            read.literals.extend((!is_reason).then(|| literal.clone()));
        }
        place += 1;
    }
    read
}

/// The file of a module, and the folder of its parts, without ending: `a/b` of a module `b` in `a.rs`, `a/mod.rs` or `a/lib.rs`.
pub fn place_of_module(file: &Path, module: &str) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    match file.file_stem().and_then(|it| it.to_str()) {
        Some(stem) if !["mod", "lib", "main"].contains(&stem) => folder.join(stem).join(module),
        _ => folder.join(module),
    }
}

/// Behind `#[...]` that begins here, else here.
fn end_of_attribute(tokens: &[Token], start: usize) -> usize {
    let begins = tokens[start].is("#") && tokens.get(start + 1).is_some_and(|it| it.is("["));
    if begins { closed(tokens, start + 1) } else { start }
}

/// Behind the bracket that closes the one that is here.
fn closed(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(start) {
        if ["(", "[", "{"].iter().any(|it| token.is(it)) {
            depth += 1;
        } else if [")", "]", "}"].iter().any(|it| token.is(it)) {
            depth -= 1;
            if depth == 0 {
                return place + 1;
            }
        }
    }
    tokens.len()
}

/// `#[test]`, `#[cfg(test)]`, and what only makes samples for tests.
fn is_for_tests(attribute: &[Token]) -> bool {
    let has = |text: &str| attribute.iter().any(|it| it.is(text));
    let is_of_samples =
        attribute.iter().any(|it| matches!(it, Token::Literal(literal) if literal.text == "sample"));
    let is_test = attribute.len() == 4 && has("test");
    is_test || has("cfg") && !has("not") && (has("test") || is_of_samples)
}

/// Behind the item that begins here, with further attributes before it.
fn end_of_item(tokens: &[Token], start: usize) -> usize {
    let mut place = start;
    while place < tokens.len() {
        if tokens[place].is(";") {
            return place + 1;
        }
        if tokens[place].is("{") {
            return closed(tokens, place);
        }
        let opens = ["(", "["].iter().any(|it| tokens[place].is(it));
        place = if opens { closed(tokens, place) } else { place + 1 };
    }
    place
}

/// `mod name;`
fn module_elsewhere(item: &[Token]) -> Option<String> {
    let [.., keyword, Token::Word(name), end] = item else { return None };
    (keyword.is("mod") && end.is(";")).then(|| name.clone())
}

fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: source, line: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        tokens.extend(token);
    }
    tokens
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    /// `None` at the end; an empty one for blanks, comments and characters.
    fn next_token(&mut self) -> Option<Option<Token>> {
        let first = self.rest.chars().next()?;
        if self.rest.starts_with("//") {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.skip_comment();
        } else if let Some(hashes) = raw_string(self.rest) {
            return Some(Some(Token::Literal(self.raw_literal(hashes))));
        } else if first == '"' {
            return Some(Some(Token::Literal(self.literal())));
        } else if first == '\'' {
            let length = length_of_character(self.rest);
            self.take(length);
        } else if is_of_word(first) {
            let length = self.rest.find(|it| !is_of_word(it)).unwrap_or(self.rest.len());
            // `b"..."`, `c"..."`.
            let is_prefix = length == 1 && self.rest[length..].starts_with('"');
            let word = self.take(length).to_owned();
            return Some((!is_prefix).then_some(Token::Word(word)));
        } else {
            self.take(first.len_utf8());
            return Some((!first.is_whitespace()).then_some(Token::Sign(first)));
        }
        Some(None)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn skip_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            let (length, change) = match self.rest {
                rest if rest.starts_with("/*") => (2, 1),
                rest if rest.starts_with("*/") => (2, -1),
                rest => (rest.chars().next().map_or(0, char::len_utf8), 0),
            };
            self.take(length);
            depth = depth.saturating_add_signed(change);
            if depth == 0 || length == 0 {
                return;
            }
        }
    }

    fn raw_literal(&mut self, hashes: usize) -> Literal {
        let line = self.line;
        let opened = self.rest.find('"').map_or(0, |it| it + 1);
        self.take(opened);
        let end = format!("\"{}", "#".repeat(hashes));
        let length = self.rest.find(&end).unwrap_or(self.rest.len());
        let text = self.take(length).to_owned();
        self.take(end.len().min(self.rest.len()));
        Literal { line, text }
    }

    fn literal(&mut self) -> Literal {
        let line = self.line;
        let mut text = String::new();
        self.take(1);
        while let Some(sign) = self.rest.chars().next() {
            self.take(sign.len_utf8());
            match sign {
                '"' => break,
                '\\' => self.escape(&mut text),
                _ => text.push(sign),
            }
        }
        Literal { line, text }
    }

    fn escape(&mut self, text: &mut String) {
        let Some(sign) = self.rest.chars().next() else { return };
        self.take(sign.len_utf8());
        match sign {
            'n' => text.push('\n'),
            't' | 'r' => text.push(' '),
            '\n' => {
                let blanks = self.rest.len() - self.rest.trim_start().len();
                self.take(blanks);
            }
            // A sign by its number is no letter of a word.
            'u' | 'x' => {
                let length = match self.rest.find('}') {
                    Some(end) if self.rest.starts_with('{') => end + 1,
                    _ => {
                        if sign == 'x' {
                            2
                        } else {
                            4
                        }
                    }
                };
                self.take(length);
                text.push('·');
            }
            _ => text.push(sign),
        }
    }
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// How many `#` a raw string has that begins here.
fn raw_string(text: &str) -> Option<usize> {
    let behind = ["r", "br", "cr"].iter().find_map(|it| text.strip_prefix(it))?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    behind[hashes..].starts_with('"').then_some(hashes)
}

/// Of `'x'`, `'\n'` or `'\u{b5}'`; of a lifetime its quote alone.
fn length_of_character(text: &str) -> usize {
    let behind = &text[1..];
    let escaped = behind.starts_with('\\');
    let first = behind.chars().nth(usize::from(escaped)).map_or(0, char::len_utf8);
    let least = usize::from(escaped) + first;
    let end =
        if escaped { behind[least..].find('\'') } else { behind[least..].starts_with('\'').then_some(0) };
    end.map_or(1, |end| 1 + least + end + 1)
}

#[test]
fn a_source_is_read_without_what_only_tests_and_programmers_read() {
    let source = r##"//! "a comment"
#![allow(clippy::panic, reason = "a test shall panic")]
/* "one" /* "within" */ */
#[error("It ended; its log is {log}")]
fn name<'a>(quote: char) -> &'a str {
    let _ = ['"', '\'', '\u{22}', b'"'];
    println!("two \
              lines", r#"raw "quotes" \n"#);
    "line\nafter \"line\""
}

#[cfg(test)]
#[path = "elsewhere.rs"]
pub(crate) mod elsewhere;
#[cfg(feature = "sample")]
pub mod samples;
#[cfg(not(test))]
const KEPT: &[u8] = b"kept";
#[cfg(test)]
mod tests {
    fn within(it: [u8; 2]) { assert!(it.is_empty(), "no text of ours"); }
}
#[test]
#[should_panic = "no text"]
fn it_fails() { panic!("no text") }
const LAST: &str = "last";
"##;
    let read = read(source);
    let expected = [
        (4, "It ended; its log is {log}"),
        (7, "two lines"),
        (8, r#"raw "quotes" \n"#),
        (9, "line\nafter \"line\""),
        (18, "kept"),
        (26, "last"),
    ];
    let expected = expected.map(|(line, text)| Literal { line, text: text.to_owned() });
    assert_eq!(read.literals, expected);
    assert_eq!(read.test_modules, ["elsewhere", "samples"]);
}

#[test]
fn a_module_has_a_file_beside_or_below_the_one_that_names_it() {
    for (file, place) in [
        ("a/src/lib.rs", "a/src/tests"),
        ("a/src/b.rs", "a/src/b/tests"),
        ("a/src/b/mod.rs", "a/src/b/tests"),
    ] {
        assert_eq!(place_of_module(Path::new(file), "tests"), Path::new(place));
    }
}
