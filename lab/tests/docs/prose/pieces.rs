//! What people read, in pieces that end a sentence: a paragraph, a list item, a heading, a cell of a table.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use threadcount_model::sample::prose::{as_one_word, with_code_as_words};

/// What a piece is, as far as rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Cell,
    HeaderCell,
}

/// A piece, and the line on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub line: usize,
    pub kind: Kind,
    /// Code is one word between backticks; blocks of code are left out.
    pub text: String,
    /// How long the piece is where it is read.
    pub characters: usize,
}

/// The pieces of a page.
pub fn of_markdown(page: &str) -> Vec<Piece> {
    let mut collector =
        Collector { page, pieces: Vec::new(), line: 0, kind: Kind::Text, text: String::new() };
    let (mut is_in_header, mut is_in_block) = (false, false);
    for (event, range) in Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::TableHead) => is_in_header = true,
            Event::End(TagEnd::TableHead) => is_in_header = false,
            Event::Start(Tag::CodeBlock(_)) => is_in_block = true,
            Event::End(TagEnd::CodeBlock) => is_in_block = false,
            Event::Start(Tag::TableCell) => {
                collector.begin(if is_in_header { Kind::HeaderCell } else { Kind::Cell }, range.start);
            }
            Event::End(TagEnd::TableCell) => collector.end_cell(),
            Event::Start(Tag::Heading { .. }) => collector.begin(Kind::Text, range.start),
            Event::Start(Tag::Paragraph | Tag::Item | Tag::List(_)) => {
                collector.begin(Kind::Text, range.start);
            }
            Event::End(TagEnd::Heading(_) | TagEnd::Paragraph | TagEnd::Item) => collector.end(),
            Event::Text(text) if !is_in_block => collector.text += &text,
            Event::Code(code) => collector.text += &as_one_word(&code),
            Event::SoftBreak | Event::HardBreak => collector.text.push(' '),
            _ => {}
        }
    }
    collector.pieces
}

struct Collector<'a> {
    page: &'a str,
    pieces: Vec<Piece>,
    line: usize,
    kind: Kind,
    text: String,
}

impl Collector<'_> {
    fn begin(&mut self, kind: Kind, offset: usize) {
        self.end();
        self.kind = kind;
        self.line = self.page[..offset].matches('\n').count() + 1;
    }

    fn end(&mut self) {
        if !self.text.trim().is_empty() {
            self.end_cell();
        }
    }

    /// An empty cell is a piece as well.
    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.text).trim().to_owned();
        let characters = text.chars().count();
        self.pieces.push(Piece { line: self.line, kind: self.kind, text, characters });
    }
}

/// The pieces of a help text: its paragraphs, without the commands that it shows.
pub fn of_help(help: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut begins_new = true;
    let mut is_continued = false;
    for (before, line) in help.lines().enumerate() {
        let is_command = is_continued || line.trim_start().starts_with("threadcount ");
        is_continued = is_command && line.ends_with('\\');
        if is_command || line.trim().is_empty() {
            begins_new = true;
            continue;
        }
        let text = with_code_as_words(line.trim());
        match pieces.last_mut().filter(|_| !begins_new) {
            Some(piece) => piece.text = format!("{} {text}", piece.text),
            None => pieces.push(Piece { line: before + 1, kind: Kind::Text, text, characters: 0 }),
        }
        // A caption stands above a command, and not below another line.
        begins_new = line.trim_end().ends_with(':');
    }
    pieces
}

#[test]
fn a_page_is_read_in_pieces_without_its_blocks_of_code() {
    let page = "# A title\n\nOne `threadcount load --json` and\n[two](x.md).\n\n```sh\nls; a: b: c\n```\n- an item: `a: b`\n- another\n\n\
        | | what |\n|---|---|\n| a | b; c |\n";
    let pieces: Vec<_> = of_markdown(page).into_iter().map(|it| (it.line, it.kind, it.text)).collect();
    let expected = [
        (1, Kind::Text, "A title"),
        (3, Kind::Text, "One `threadcount_load_--json` and two."),
        (9, Kind::Text, "an item: `a:_b`"),
        (10, Kind::Text, "another"),
        (12, Kind::HeaderCell, ""),
        (12, Kind::HeaderCell, "what"),
        (14, Kind::Cell, "a"),
        (14, Kind::Cell, "b; c"),
    ];
    assert_eq!(pieces, expected.map(|(line, kind, text)| (line, kind, text.to_owned())));
}

#[test]
fn a_help_text_is_read_without_its_commands() {
    let help = "Begin `here` now\nand go on.\n\nExamples:\n  One of them:\n    threadcount run x \\\n      --quick\n  Another:\n    threadcount list";
    let texts: Vec<_> = of_help(help).into_iter().map(|it| it.text).collect();
    assert_eq!(texts, ["Begin `here` now and go on.", "Examples:", "One of them:", "Another:"]);
}
