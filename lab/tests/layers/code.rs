//! Rust source reduced to the code that is compiled into the program: no comments, no texts, no tests.

/// The code of a file: comments and texts are blank, items under `#[cfg(test)]` are gone.
pub fn without_tests(source: &str) -> String {
    let code = without_texts(source);
    let mut kept = String::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[end_of_item(rest)..];
    }
    kept.push_str(rest);
    kept
}

/// The names of the child modules that a file declares for its tests only.
pub fn test_modules(source: &str) -> Vec<String> {
    let code = without_texts(source);
    code.match_indices("#[cfg(test)]")
        .filter_map(|(at, _)| {
            let item = &code[at..at + end_of_item(&code[at..])];
            let name = item.trim_end().strip_suffix(';')?.rsplit_once("mod ")?.1;
            Some(name.trim().to_owned())
        })
        .collect()
}

/// Where the item at the beginning ends: behind its `;`, or behind the brace that closes its body.
fn end_of_item(code: &str) -> usize {
    let mut depth = 0_i32;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth -= 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// The same text with blanks for comments, strings and characters, so that what is left are tokens of code.
fn without_texts(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = text_at(rest, code.chars().next_back());
        if skipped > 0 {
            code.push(' ');
            rest = &rest[skipped..];
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    code
}

/// How many bytes the comment, string or character takes that begins here; 0: there is none.
fn text_at(rest: &str, before: Option<char>) -> usize {
    let to = |end: Option<usize>| end.unwrap_or(rest.len());
    let begins_a_word = before.is_none_or(|it| !it.is_alphanumeric() && it != '_');
    if rest.starts_with("//") {
        return to(rest.find('\n'));
    }
    if rest.starts_with("/*") {
        return to(rest.find("*/").map(|at| at + 2));
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if begins_a_word && let Some(raw) = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r')) {
        let fence = raw.bytes().take_while(|&byte| byte == b'#').count();
        if raw[fence..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(fence));
            let begin = rest.len() - raw.len() + fence + 1;
            return to(rest[begin..].find(&end).map(|at| begin + at + end.len()));
        }
    }
    if rest.starts_with('\'') {
        let mut inner = rest.chars().skip(1);
        // `'a'` and `'\n'` are characters, `'a` is a lifetime.
        let is_char = inner.next() == Some('\\') || inner.next() == Some('\'');
        return if is_char { quoted(rest, '\'') } else { 0 };
    }
    0
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, it) in rest.char_indices().skip(1) {
        if !is_escaped && it == quote {
            return at + 1;
        }
        is_escaped = it == '\\' && !is_escaped;
    }
    rest.len()
}
