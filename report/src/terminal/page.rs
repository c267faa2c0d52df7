//! Pages of styled text, broken to a width.

use super::style::TerminalStyle;
use crate::layout::{cut, labelled, widest, wrapped};
use owo_colors::{OwoColorize, Style};
use threadcount_model::printable::printable;

/// The style of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Dim,
    Bad,
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
    lines: Vec<String>,
    /// The label of the last text.
    label: &'static str,
}

impl Page {
    pub(super) fn new(style: TerminalStyle) -> Self {
        let style = TerminalStyle { width: style.width.max(40), ..style };
        Self { style, lines: Vec::new(), label: "" }
    }

    pub(super) fn width(&self) -> usize {
        self.style.width
    }

    /// Adds an empty line unless there is one already.
    pub(super) fn blank(&mut self) {
        if self.lines.last().is_none_or(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
        self.label = "";
    }

    /// Adds one line without breaking it.
    pub(super) fn line(&mut self, line: &str) {
        self.lines.push(line.trim_end_matches(' ').to_owned());
    }

    /// Adds text broken to the width, all lines indented.
    pub(super) fn indented(&mut self, indent: usize, text: String) {
        self.lines.extend(labelled("", indent, &[text], self.style.width));
    }

    /// Adds one line, cut at the width.
    pub(super) fn clipped(&mut self, text: &str, tone: Tone) {
        self.line(&self.cut(text, self.style.width, tone));
    }

    /// The number of lines so far.
    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Adds text beside a label, which appears only before the first of several texts with the same label.
    pub(super) fn labelled(&mut self, label: &'static str, text: String) {
        let shown = if self.label == label { "" } else { label };
        self.label = label;
        let shown = self.painted(shown, Tone::Dim);
        self.lines.extend(labelled(&shown, LABEL, &[text], self.style.width));
    }

    /// Adds text in one tone beside a label.
    pub(super) fn sentence(&mut self, label: &'static str, text: &str, tone: Tone) {
        self.labelled(label, self.painted(text, tone));
    }

    /// Adds text beside a label in at most `most_lines` lines (at least one). The last line ends with `…` if there was more.
    pub(super) fn labelled_within(
        &mut self,
        label: &'static str,
        pieces: &[(String, Tone)],
        most_lines: usize,
    ) {
        let room = self.style.width - LABEL;
        let whole: String = pieces.iter().map(|(text, _)| printable(text)).collect();
        let lines = wrapped(whole.trim_end(), room);
        let most_lines = most_lines.max(1);
        // A word that is longer than a line is cut too.
        if lines.len() <= most_lines && widest(&lines) <= room {
            let text = pieces.iter().map(|(text, tone)| self.painted(text, *tone)).collect();
            return self.labelled(label, text);
        }
        let mut kept: Vec<String> = lines.iter().take(most_lines).map(|line| cut(line, room)).collect();
        if let Some(last) = kept.last_mut().filter(|last| !last.ends_with('…')) {
            *last = cut(&format!("{last} …"), room);
        }
        let kept = kept.join(" ");
        let kept = whole_part(&kept).map_or_else(|| kept.clone(), |whole| format!("{whole} …"));
        self.sentence(label, &kept, pieces.first().map_or(Tone::Plain, |piece| piece.1));
    }

    /// The number of lines that a labelled text takes.
    pub(super) fn lines_of(&self, text: &str) -> usize {
        wrapped(text, self.style.width - LABEL).len()
    }

    /// The text in a tone, without control characters. Each word has its own escape codes, so that lines can be broken anywhere.
    pub(super) fn painted(&self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Bad => Style::new().red().bold(),
        };
        let text = printable(text);
        if tone == Tone::Plain || !self.style.colour {
            return text.into_owned();
        }
        let paint = |word: &str| match word.trim_end_matches(' ') {
            "" => word.to_owned(),
            letters => format!("{}{}", letters.style(style), &word[letters.len()..]),
        };
        text.split_inclusive(' ').map(paint).collect()
    }

    /// The text in a tone, cut to at most `most` characters.
    pub(super) fn cut(&self, text: &str, most: usize, tone: Tone) -> String {
        self.painted(&cut(&printable(text), most), tone)
    }

    pub(super) fn text(self) -> String {
        self.lines.join("\n") + "\n"
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
