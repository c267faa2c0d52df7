//! The rules of what people read: short sentences, short cells, and the words of the field.

use super::pieces::{Kind, Piece};
use super::sentences;
use std::fmt;

/// Characters in a cell of a table, at most: a longer one is a section, or a list.
const LONGEST_CELL: usize = 120;

/// Not written: the left column of a word list that is read as a whole, in small letters.
const UNUSED_WORDS: [&str; 26] = [
    "anew",
    "dear",
    "spare",
    "the page",
    "visit",
    "visits",
    "look",
    "looks",
    "said of",
    "told",
    "tells",
    "speaks",
    "made good",
    "well again",
    "whoever",
    "nobody",
    "somebody",
    "one's own",
    "honest",
    "honestly",
    "disturbed",
    "levelled off",
    "might help",
    "as before",
    "used to be",
    "foreign load",
];

/// No statement begins with these.
const UNUSED_BEGINNINGS: [&str; 6] = ["Of", "What", "Who", "Whoever", "Where", "So that"];

/// What is allowed on a page.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Words in a sentence, at most.
    pub words: usize,
    /// Dates and commits of measurements stand on it.
    pub has_dates: bool,
}

/// One breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub line: usize,
    pub what: String,
    pub text: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.line, self.what, self.text)
    }
}

/// Every breach of a rule in these pieces.
pub fn breaches(pieces: &[Piece], limits: Limits) -> Vec<Breach> {
    let of_piece = |piece: &Piece| {
        let mut found = of_cell(piece);
        for sentence in sentences::of(&piece.text) {
            found.extend(of_sentence(&sentence, piece.kind, limits).map(|what| (what, sentence.clone())));
        }
        found.into_iter().map(|(what, text)| Breach { line: piece.line, what, text }).collect::<Vec<_>>()
    };
    pieces.iter().flat_map(of_piece).collect()
}

fn of_cell(piece: &Piece) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if piece.kind == Kind::HeaderCell && piece.text.is_empty() {
        found.push(("a column without a name".to_owned(), String::new()));
    }
    if piece.kind == Kind::Cell && piece.characters > LONGEST_CELL {
        let what = format!("a cell of {} characters, {LONGEST_CELL} at most", piece.characters);
        found.push((what, piece.text.clone()));
    }
    found
}

fn of_sentence(sentence: &str, kind: Kind, limits: Limits) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let words = sentences::words(sentence);
    if words > limits.words {
        found.push(format!("{words} words, {} at most", limits.words));
    }
    for (sign, name) in [(':', "colons"), (';', "semicolons")] {
        let count = sentence.split_whitespace().filter(|it| ends_with_sign(it, sign)).count();
        if count > 1 {
            found.push(format!("{count} {name}, one at most"));
        }
    }
    found.extend(unused_words(sentence).map(|word| format!("`{word}` is not used")));
    if kind != Kind::Heading && sentence.ends_with(['.', ':']) {
        let begins =
            |it: &&&str| sentence.strip_prefix(**it).is_some_and(|rest| rest.starts_with([' ', ',']));
        found.extend(
            UNUSED_BEGINNINGS.iter().find(begins).map(|it| format!("no statement begins with `{it}`")),
        );
    }
    if !limits.has_dates {
        let dated = sentence.split_whitespace().map(bare).find(|it| is_date(it) || is_commit(it));
        found.extend(dated.map(|it| format!("`{it}` belongs to the measurements")));
    }
    found.into_iter()
}

fn ends_with_sign(word: &str, sign: char) -> bool {
    word.trim_end_matches(['"', '\'', ')', '*', '”']).ends_with(sign)
}

/// Without what stands around a word.
fn bare(word: &str) -> &str {
    word.trim_matches(|it: char| !it.is_alphanumeric())
}

fn unused_words(sentence: &str) -> impl Iterator<Item = &'static str> {
    let words: Vec<String> = sentence
        .split_whitespace()
        .map(|it| if it.contains('`') { "`".to_owned() } else { bare(it).to_lowercase() })
        .collect();
    let text = format!(" {} ", words.join(" "));
    UNUSED_WORDS.into_iter().filter(move |word| text.contains(&format!(" {word} ")))
}

/// A day, as 2026-01-31.
fn is_date(word: &str) -> bool {
    let is_number = |it: &str, digits: usize| it.len() == digits && it.bytes().all(|it| it.is_ascii_digit());
    let parts: Vec<&str> = word.split('-').collect();
    matches!(parts[..], [year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2))
}

/// The short hash of a commit: letters and digits.
fn is_commit(word: &str) -> bool {
    let is_hexadecimal = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    let is_short = (7..=10).contains(&word.len()) && word.bytes().all(is_hexadecimal);
    is_short && word.bytes().any(|it| it.is_ascii_digit()) && word.bytes().any(|it| it.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::super::pieces;
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let limits = Limits { words: 5, has_dates: false };
        breaches(&pieces::of_markdown(page), limits).into_iter().map(|it| it.what).collect()
    }

    #[test]
    fn each_rule_finds_what_breaks_it_and_passes_what_does_not() {
        for (page, what) in [
            ("One two three four five six.", "6 words, 5 at most"),
            ("A: b: c.", "2 colons, one at most"),
            ("A; b; c.", "2 semicolons, one at most"),
            ("It is made anew.", "`anew` is not used"),
            ("See *The page* below.", "`the page` is not used"),
            ("Of two, one wins.", "no statement begins with `Of`"),
            ("So that it works.", "no statement begins with `So that`"),
            ("Seen on 2026-11-25.", "`2026-11-25` belongs to the measurements"),
            ("Seen in `b3dde16`.", "`b3dde16` belongs to the measurements"),
            ("| | b |\n|---|---|\n", "a column without a name"),
        ] {
            assert_eq!(found(page), [what], "{page}");
        }
        for page in [
            "One two three four five.",
            "# What it is: a title",
            "Where is it?",
            "`anew; b; c: d: e`",
            "Often, it overlooks this.",
            "12345678 and deadbeef",
            "```\nOf this: one: two; three; four anew.\n```",
        ] {
            assert_eq!(found(page), [] as [String; 0], "{page}");
        }
    }

    #[test]
    fn a_cell_has_a_length() {
        let row = |length: usize| format!("| a |\n|---|\n| {} |\n", "x".repeat(length));
        assert_eq!(found(&row(121)), ["a cell of 121 characters, 120 at most"]);
        assert_eq!(found(&row(120)), [] as [String; 0]);
    }
}
