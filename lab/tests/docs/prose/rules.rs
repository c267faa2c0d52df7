//! The rules of what people read: short sentences, short cells, and the words of the field.

use super::pieces::{Kind, Piece};
use std::fmt;
use threadcount_model::sample::prose::{self, Limits};

/// Characters in a cell of a table, at most: a longer one is a section, or a list.
const LONGEST_CELL: usize = 120;

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
        for sentence in prose::sentences(&piece.text) {
            let breaches = prose::breaches(&sentence, limits);
            found.extend(breaches.into_iter().map(|what| (what, sentence.clone())));
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
            ("# What it is", "no statement begins with `What`"),
            ("- Where it is", "no statement begins with `Where`"),
            ("| a |\n|---|\n| Who it is |\n", "no statement begins with `Who`"),
            ("So that it works.", "no statement begins with `So that`"),
            ("Seen on 2026-11-25.", "`2026-11-25` belongs to the measurements"),
            ("Seen in `b3dde16`.", "`b3dde16` belongs to the measurements"),
            ("| | b |\n|---|---|\n", "a column without a name"),
        ] {
            assert_eq!(found(page), [what], "{page}");
        }
        for page in [
            "One two three four five.",
            "# What is it?",
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
