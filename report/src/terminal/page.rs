//! Pages of styled text, broken to a width.

use super::TerminalStyle;
use crate::wrapped::wrapped;
use owo_colors::{OwoColorize, Style};
use std::fmt::Write as _;
use threadcount_model::printable::printable;

/// The style of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Dim,
    Bad,
}

/// Text in one tone, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    text: String,
    tone: Tone,
}

impl Piece {
    pub(super) fn new(text: &str, tone: Tone) -> Self {
        Self { text: printable(text).into_owned(), tone }
    }
}

/// The width of a text in columns, one per character.
pub(super) fn width_of(text: &str) -> usize {
    text.chars().count()
}

/// The escaped text, cut to at most `most` columns and ending with `…` if it was longer.
pub(super) fn cut(text: &str, most: usize) -> String {
    let text = printable(text);
    if width_of(&text) <= most {
        return text.into_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A cut text without its cut last sentence or clause; `None` if nothing was cut or too much would be lost.
fn whole_part(text: &str) -> Option<&str> {
    const MOST_LOST: usize = 2;
    if text.ends_with(". …") {
        return None;
    }
    let is_most = |end: &usize| end * MOST_LOST >= text.len();
    let begins_new = |at: &usize| text[at + 2..].starts_with(char::is_uppercase);
    let sentence = text.match_indices(". ").map(|(at, _)| at).filter(begins_new).last().filter(is_most);
    // A comma within a number or an interval does not begin a clause.
    let begins_clause = |at: &usize| text[at + 2..].starts_with(char::is_alphabetic);
    let clauses = ["; ", ", "].into_iter().flat_map(|mark| text.match_indices(mark)).map(|(at, _)| at);
    let open = text.rfind(" (").filter(|at| !text[*at..].contains(')'));
    let clause = || clauses.filter(begins_clause).chain(open).filter(is_most).max();
    sentence.map(|end| &text[..=end]).or_else(|| Some(&text[..clause()?]))
}

/// The column where the text behind a label begins.
pub(super) const LABEL: usize = 8;

/// A page that grows line by line.
pub(super) struct Page {
    style: TerminalStyle,
    text: String,
    label: &'static str,
}

impl Page {
    pub(super) fn new(style: TerminalStyle) -> Self {
        let style = TerminalStyle { width: style.width.max(40), ..style };
        Self { style, text: String::new(), label: "" }
    }

    pub(super) fn width(&self) -> usize {
        self.style.width
    }

    /// Adds an empty line unless there is one already.
    pub(super) fn blank(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
        self.label = "";
    }

    /// Adds one line without breaking it.
    pub(super) fn line(&mut self, indent: usize, pieces: Vec<Piece>) {
        let _ = write!(self.text, "{:indent$}", "");
        for piece in &pieces {
            self.put(&piece.text, piece.tone);
        }
        self.end_line();
    }

    /// Adds text broken to the width, all lines indented.
    pub(super) fn indented(&mut self, indent: usize, pieces: Vec<Piece>) {
        self.text.push_str(&" ".repeat(indent));
        self.flow(indent, pieces);
    }

    /// Adds one line, cut at the width.
    pub(super) fn clipped(&mut self, text: &str, tone: Tone) {
        self.line(0, vec![Piece::new(&cut(text, self.style.width), tone)]);
    }

    /// The number of lines so far.
    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// Adds text beside a label, which appears only before the first of several texts with the same label.
    pub(super) fn labelled(&mut self, label: &'static str, pieces: Vec<Piece>) {
        let shown = if self.label == label { "" } else { label };
        self.label = label;
        self.put(&format!("{shown:<width$}", width = LABEL), Tone::Dim);
        self.flow(LABEL, pieces);
    }

    /// The same in at most `most_lines` lines (at least one); the last line ends with `…` if there was more.
    pub(super) fn labelled_within(
        &mut self,
        label: &'static str,
        pieces: &[(String, Tone)],
        most_lines: usize,
    ) {
        let room = self.style.width - LABEL;
        let mut shown: Vec<Piece> = pieces.iter().map(|(text, tone)| Piece::new(text, *tone)).collect();
        let whole = |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
        let lines = wrapped(whole(&shown).trim_end(), room);
        let most_lines = most_lines.max(1);
        // A word that is longer than a line is cut too.
        let is_too_much = lines.len() > most_lines || lines.iter().any(|line| width_of(line) > room);
        if is_too_much {
            let tone = shown.first().map_or(Tone::Plain, |piece| piece.tone);
            let mut kept: Vec<String> =
                lines.into_iter().take(most_lines).map(|line| cut(&line, room)).collect();
            if let Some(last) = kept.last_mut().filter(|last| !last.ends_with('…')) {
                *last = cut(&format!("{last} …"), room);
            }
            let kept = kept.join(" ");
            let kept = whole_part(&kept).map_or_else(|| kept.clone(), |whole| format!("{whole} …"));
            shown = vec![Piece::new(&kept, tone)];
        }
        self.labelled(label, shown);
    }

    /// The number of lines that a labelled text takes.
    pub(super) fn lines_of(&self, text: &str) -> usize {
        wrapped(text, self.style.width - LABEL).len()
    }

    /// Writes words from `column` on, and starts a new line at `column` at the width.
    fn flow(&mut self, column: usize, pieces: Vec<Piece>) {
        let words = |piece: &Piece| {
            let words = piece.text.split_inclusive(' ');
            words.map(|word| self.styled(word, piece.tone)).collect::<String>()
        };
        let text: String = pieces.iter().map(words).collect();
        let lines = wrapped(&text, self.style.width - column);
        self.text.push_str(&lines.join(&format!("\n{:column$}", "")));
        self.end_line();
    }

    fn put(&mut self, text: &str, tone: Tone) {
        let styled = self.styled(text, tone);
        self.text.push_str(&styled);
    }

    fn styled(&self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Plain => None,
            Tone::Strong => Some(Style::new().bold()),
            Tone::Dim => Some(Style::new().dimmed()),
            Tone::Bad => Some(Style::new().red().bold()),
        };
        match style.filter(|_| self.style.colour && !text.trim().is_empty()) {
            Some(style) => {
                // Spaces at the end of a line are trimmed later, which an escape code behind them would prevent.
                let word = text.trim_end_matches(' ');
                format!("{}{}", word.style(style), &text[word.len()..])
            }
            None => text.to_owned(),
        }
    }

    fn end_line(&mut self) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
    }

    pub(super) fn text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_ends_with_a_whole_sentence_or_clause_unless_most_would_be_lost() {
        let cut = "It has 1.97x the throughput. A pool does as well (1.98x). With …";
        assert_eq!(whole_part(cut), Some("It has 1.97x the throughput. A pool does as well (1.98x)."));
        assert_eq!(whole_part("Fair: the runs. Their differences are many and each is …"), None);
        assert_eq!(whole_part("2.0 of 3 claims hold, 5 others are …"), None);
        let open = "b vs a: 1.09x [0.87, 1.36], inconclusive; about 11 more …";
        assert_eq!(whole_part(open), Some("b vs a: 1.09x [0.87, 1.36], inconclusive"));
        assert_eq!(whole_part("b vs a, 1,000 clients: 1.09x [0.87, 1.36 …"), None);
        assert_eq!(
            whole_part("platform-sized (1.97x), virtual-cache (1.99x) and 8 others do as well. …"),
            None
        );
        assert_eq!(whole_part("Claims: 1 holds, 1 indicative (on…"), Some("Claims: 1 holds, 1 indicative"));
    }
}
