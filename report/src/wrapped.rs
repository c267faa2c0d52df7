//! Breaking text into lines.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

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
    fn lines_fit_and_a_word_that_is_too_long_stands_alone() {
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrapped("a bbbbbbbbb c", 4), ["a", "bbbbbbbbb", "c"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
