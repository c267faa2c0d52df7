//! Text in columns: lines that fit a width, labels with text beside them, and tables.
//!
//! Widths are counted as a terminal shows them: an escape code of a colour has none.

pub use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The columns between the columns of a table.
pub const GAP: usize = 2;

/// Breaks a text at blanks into lines of at most `width` columns. A longer word has a line of its own.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    textwrap::wrap(text, at_blanks(width)).into_iter().map(Into::into).collect()
}

/// Breaks lines wider than `width` columns at blanks and indents their rest further. Words stay whole, and so do lines that
/// quote source code with its place.
#[must_use]
pub fn folded(text: &str, width: usize) -> String {
    let fold = |line: &str| {
        if display_width(line) <= width || line.contains('│') { line.to_owned() } else { fold(line, width) }
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

fn fold(line: &str, width: usize) -> String {
    let text = line.trim_start_matches(' ');
    let indent = &line[..line.len() - text.len()];
    let hanging = " ".repeat((indent.len() + 2).min(width / 3));
    textwrap::fill(text, at_blanks(width).initial_indent(indent).subsequent_indent(&hanging))
}

/// Text beside a label, wrapped to `width`. The text begins at `column`, and the label is on the first line only.
#[must_use]
pub fn labelled(label: &str, column: usize, texts: &[String], width: usize) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| wrapped(text, width.saturating_sub(column)));
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    lines.zip(labels).map(|(line, label)| padded(label, column) + &line).collect()
}

/// The lines of a table. `alignment` has a `<` or a `>` for each column, which is as wide as its widest cell. The last cell of a
/// row that has fewer cells than columns may be longer than its column.
#[must_use]
pub fn table(rows: &[Vec<String>], alignment: &str) -> Vec<String> {
    let sides: Vec<char> = alignment.chars().collect();
    let is_in_column = |row: &[String], column: usize| {
        column + 1 < row.len() || (column < row.len() && row.len() == sides.len())
    };
    let width = |column| {
        let cells =
            rows.iter().filter(|row| is_in_column(row, column)).map(|row| display_width(&row[column]));
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..sides.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).zip(&sides).map(|((cell, width), side)| match side {
            '>' => " ".repeat(width.saturating_sub(display_width(cell))) + cell,
            _ => padded(cell, *width),
        });
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        line.trim_end_matches(' ').to_owned()
    };
    rows.iter().map(line).collect()
}

/// The columns of the widest line.
#[must_use]
pub fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| display_width(line)).max().unwrap_or(0)
}

/// The text with blanks up to the width.
#[must_use]
pub fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(display_width(text)))
}

/// The text, cut to at most `most` characters and ending with `…` if it was longer.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn at_blanks(width: usize) -> Options<'static> {
    Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_too_wide_go_on_further_to_the_right_and_no_figure_is_lost() {
        assert_eq!(folded("ab  cd\n", 6), "ab  cd\n");
        assert_eq!(folded("  x abc  1.5 ms\nshort", 12), "  x abc  1.5\n    ms\nshort");
        assert_eq!(folded("aaaaaaaaaa b", 6), "aaaaaaaaaa\n  b");
        assert_eq!(folded("\u{1b}[1mabc\u{1b}[0m de", 6), "\u{1b}[1mabc\u{1b}[0m de");
        assert_eq!(folded("1 │ a long line of a file", 6), "1 │ a long line of a file");
        let row = "variant  requests/s   1,234   5,678 MB   [1.94, 2.01]";
        for width in 10..60 {
            let text = folded(row, width);
            assert_eq!(
                text.split_whitespace().collect::<Vec<_>>(),
                row.split_whitespace().collect::<Vec<_>>()
            );
            assert!(text.lines().all(|line| line.chars().count() <= width.max(12)), "{width}: {text}");
        }
    }

    #[test]
    fn a_label_is_on_the_first_line_of_the_text_beside_it() {
        let texts = ["a bb ccc".to_owned(), "d".to_owned()];
        assert_eq!(labelled("Why", 5, &texts, 9), ["Why  a bb", "     ccc", "     d"]);
    }

    #[test]
    fn a_column_is_as_wide_as_its_widest_cell_and_colours_take_no_room() {
        let rows = |cells: &[&[&str]]| -> Vec<Vec<String>> {
            cells.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
        };
        let shown = table(
            &rows(&[
                &["name", "p50"],
                &["\u{1b}[1mvirtual\u{1b}[0m", "10 ms"],
                &["", "9 ms"],
                &["3 more rows"],
            ]),
            "<>",
        );
        let lines = ["name       p50", "\u{1b}[1mvirtual\u{1b}[0m  10 ms", "          9 ms", "3 more rows"];
        assert_eq!(shown, lines);
        assert_eq!(widest(&shown), 14);
    }

    #[test]
    fn lines_fit_and_a_word_that_is_too_long_stands_alone() {
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrapped("a bbbbbbbbb c", 4), ["a", "bbbbbbbbb", "c"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
