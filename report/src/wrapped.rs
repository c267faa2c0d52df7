//! Text broken into lines.

/// Breaks a text at blanks into lines of at most `width` columns, the first of which begins at column `indent`.
#[must_use]
pub fn wrapped(text: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut column = indent;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            lines.push(String::new());
            column = indent;
        }
        if let Some(line) = lines.last_mut() {
            if column > indent {
                line.push(' ');
                column += 1;
            }
            line.push_str(word);
        }
        column += length;
    }
    lines
}

/// Breaks the lines of a text that are wider than so many columns at blanks, with the rest of each further to the right. Words stay
/// whole, and so do lines of a source with its place.
#[must_use]
pub fn folded(text: &str, width: usize) -> String {
    let fold = |line: &str| {
        if columns(line) <= width || line.contains('│') { line.to_owned() } else { fold(line, width) }
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

fn fold(line: &str, width: usize) -> String {
    let indent = line.chars().take_while(|&it| it == ' ').count();
    let hanging = " ".repeat((indent + 2).min(width / 3));
    let (mut folded, mut column, mut blanks) = (" ".repeat(indent), indent, 0);
    for (index, word) in line[indent..].split(' ').enumerate() {
        let length = columns(word);
        blanks += usize::from(index > 0);
        if word.is_empty() {
            continue;
        }
        if column > indent && column + blanks + length > width {
            folded = folded + "\n" + &hanging;
            column = hanging.len();
        } else {
            folded += &" ".repeat(blanks);
            column += blanks;
        }
        folded += word;
        (column, blanks) = (column + length, 0);
    }
    folded
}

/// Without the escape codes of colours.
fn columns(text: &str) -> usize {
    let (mut count, mut is_escape) = (0, false);
    for character in text.chars() {
        match (is_escape, character) {
            (false, '\u{1b}') => is_escape = true,
            (false, _) => count += 1,
            (true, letter) => is_escape = !letter.is_ascii_alphabetic(),
        }
    }
    count
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
        assert_eq!(wrapped("a bb ccc", 2, 6), ["a bb", "ccc"]);
        assert_eq!(wrapped("a bbbbbbbbb c", 0, 4), ["a", "bbbbbbbbb", "c"]);
        assert_eq!(wrapped("", 0, 4), [""]);
    }
}
