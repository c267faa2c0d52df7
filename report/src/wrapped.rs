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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_a_word_that_is_too_long_stands_alone() {
        assert_eq!(wrapped("a bb ccc", 2, 6), ["a bb", "ccc"]);
        assert_eq!(wrapped("a bbbbbbbbb c", 0, 4), ["a", "bbbbbbbbb", "c"]);
        assert_eq!(wrapped("", 0, 4), [""]);
    }
}
