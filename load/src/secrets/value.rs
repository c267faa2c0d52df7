//! Values: where they begin and end, and which of them are shown.

use super::MASK;
use super::names::NameKind;

/// Is it shown beside a name of this kind?
pub(super) fn is_shown(value: &str, kind: NameKind) -> bool {
    // A quote that nothing closes may stand beside a mask.
    let value = value.trim().trim_matches(['"', '\'']);
    kind == NameKind::Plain
        // The end of Base64 is no value.
        || value.bytes().all(|byte| byte == b'=')
        || matches!(value, "" | "true" | "false" | "null" | MASK)
        || stands_for_a_secret(value)
        || kind == NameKind::SecretUnlessData && is_data(value)
}

/// A number with or without a unit, or an address.
fn is_data(value: &str) -> bool {
    const LONGEST_UNIT: usize = 2;
    let digits = value.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let unit = &value.as_bytes()[digits..];
    let is_number = digits > 0
        && unit.len() <= LONGEST_UNIT
        && unit.iter().all(|it| it.is_ascii_alphabetic() || *it == b'%');
    is_number || value.contains("://")
}

/// Is all of it variables and placeholders? The name of a scheme, and names of cookies, may stand before them.
pub(super) fn stands_for_a_secret(value: &str) -> bool {
    let is_part = |part: &str| {
        let part = part.trim();
        let start = placeholder_start(part);
        let before = &part[..start];
        let is_name = |name: &str| name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it));
        let has_room = before.is_empty() || before.ends_with([' ', '=']);
        has_room && is_name(before.trim_end_matches([' ', '='])) && is_placeholders(&part[start..])
    };
    !value.is_empty() && value.split(';').all(is_part)
}

fn placeholder_start(text: &str) -> usize {
    let brace = text.find('{').unwrap_or(text.len());
    if text[..brace].ends_with('$') { brace - 1 } else { brace }
}

/// One or several of `${NAME}` and `{name:..}`, and nothing else.
fn is_placeholders(text: &str) -> bool {
    let mut rest = text;
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_-.:,".contains(c);
    while let Some(open) = rest.strip_prefix("${").or_else(|| rest.strip_prefix('{')) {
        match open.split_once('}') {
            Some((inside, behind)) if !inside.is_empty() && inside.chars().all(is_inside) => rest = behind,
            _ => return false,
        }
    }
    rest.is_empty() && !text.is_empty()
}

/// A long value of letters and digits: a key that a program has made, and no word or number of a person.
pub(super) fn looks_random(value: &str) -> bool {
    const SHORTEST: usize = 16;
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|byte| kind(&byte));
    value.len() >= SHORTEST && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)
}

/// `NAME:PASSWORD` with the password masked; `None`: it is none, as `1000:1000` (a user and a group) and a URL.
pub(super) fn masked_user(text: &str) -> Option<String> {
    let (user, password) = text.split_once(':')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_shown = password.starts_with("//")
        || is_shown(password, NameKind::Secret)
        || (is_number(user) && is_number(password));
    (!is_shown).then(|| format!("{user}:{MASK}"))
}

/// A quote with the backslashes before it: `"`, `\"` inside of a text in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    mark: char,
    backslashes: usize,
}

impl Quote {
    /// At the beginning of a text.
    pub fn at_start(text: &str) -> Option<Self> {
        let backslashes = text.bytes().take_while(|byte| *byte == b'\\').count();
        let mark = text[backslashes..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(Self { mark, backslashes })
    }

    pub const fn len(self) -> usize {
        self.backslashes + 1
    }

    pub fn text(self) -> String {
        format!("{}{}", "\\".repeat(self.backslashes), self.mark)
    }

    /// Where a text inside of these quotes ends, and where the closing one does. Nothing closes them: at the text's own end.
    pub fn end_inside(self, text: &str) -> (usize, usize) {
        let mut run = 0;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => run += 1,
                c if c == self.mark => {
                    // YAML, SQL: a doubled single quote stands for one.
                    if c == '\'' && run == 0 && chars.peek().is_some_and(|next| next.1 == '\'') {
                        chars.next();
                        continue;
                    }
                    if run <= self.backslashes || run % (2 * (self.backslashes + 1)) == self.backslashes {
                        return (at - self.backslashes.min(run), at + 1);
                    }
                    run = 0;
                }
                _ => run = 0,
            }
        }
        (text.len(), text.len())
    }

    /// The quotes that a text opens and does not close, and where the text inside of them begins. An apostrophe inside of a word is
    /// none.
    pub fn open_at_end_of(text: &str) -> Option<(Self, usize)> {
        let mut at = 0;
        let mut is_in_word = false;
        while let Some(c) = text[at..].chars().next() {
            match Self::at_start(&text[at..]).filter(|quote| quote.mark == '"' || !is_in_word) {
                Some(quote) => {
                    let inside = &text[at + quote.len()..];
                    let (end, behind) = quote.end_inside(inside);
                    if end == behind {
                        return Some((quote, at + quote.len()));
                    }
                    at += quote.len() + behind;
                    is_in_word = false;
                }
                None => {
                    at += c.len_utf8();
                    is_in_word = c.is_alphanumeric();
                }
            }
        }
        None
    }
}

/// Where brackets that open at the beginning of a text are closed; at its end, where they are not.
pub(super) fn end_of_brackets(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(quote) = Quote::at_start(&text[at..]) {
            let inside = at + quote.len();
            at = inside + quote.end_inside(&text[inside..]).1;
            continue;
        }
        at += c.len_utf8();
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// What surrounds a value without quotes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings {
    /// It is in brackets or among others with commas.
    pub in_list: bool,
    /// Quotes that were opened before it, and end it.
    pub inside: Option<Quote>,
    /// It has blanks.
    pub with_blanks: bool,
}

/// Where a value without quotes of its own ends.
pub(super) fn end_of_bare(value: &str, around: Surroundings) -> usize {
    let limit = around.inside.map_or(value.len(), |quote| quote.end_inside(value).0);
    let value = &value[..limit.min(value.find('\n').unwrap_or(value.len()))];
    let is_word = !around.with_blanks && !around.in_list && around.inside.is_none();
    let of_shell = if is_word { shell_word_end(value).unwrap_or(0) } else { 0 };
    end_by_brackets_and_quotes(value, around).max(of_shell)
}

fn end_by_brackets_and_quotes(value: &str, around: Surroundings) -> usize {
    let mut braces = 0_usize;
    let mut at = 0;
    while let Some(c) = value[at..].chars().next() {
        let rest = &value[at..];
        let quote = Quote::at_start(rest).filter(|quote| quote.backslashes == 0 && !around.with_blanks);
        if let Some(quote) = quote {
            let (end, behind) = quote.end_inside(&rest[quote.len()..]);
            // One that nothing closes was opened before the value.
            if end == behind {
                return at;
            }
            at += quote.len() + behind;
            continue;
        }
        if c == '\\' && !around.with_blanks {
            at += 1 + value[at + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        match c {
            '{' => braces += 1,
            '}' if braces > 0 => braces -= 1,
            _ if around.in_list && ends_in_list(rest) => return at,
            _ if !around.with_blanks && (c.is_whitespace() || matches!(c, '&' | ';' | '|')) => return at,
            _ => {}
        }
        at += c.len_utf8();
    }
    value.trim_end().len()
}

/// Where a word of the shell ends that has single quotes, in which a backslash is a character like any other (POSIX, 2.2.2). `None`: it
/// has none, or one that nothing closes.
pub(super) fn shell_word_end(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut has_single_quotes = false;
    while let Some(c) = text[at..].chars().next() {
        let behind = at + c.len_utf8();
        match c {
            '\'' => {
                has_single_quotes = true;
                at = behind + text[behind..].find('\'')? + 1;
            }
            '"' => {
                let quote = Quote { mark: '"', backslashes: 0 };
                let (end, closed) = quote.end_inside(&text[behind..]);
                at = behind + (end != closed).then_some(closed)?;
            }
            '\\' => at = behind + text[behind..].chars().next().map_or(0, char::len_utf8),
            c if c.is_whitespace() || matches!(c, '&' | ';' | '|') => break,
            _ => at = behind,
        }
    }
    has_single_quotes.then_some(at)
}

/// A comma before the next name, or a bracket behind the last value.
fn ends_in_list(rest: &str) -> bool {
    let behind = |mark| rest.strip_prefix(mark).map(|it: &str| it.trim_start_matches(['"', '\'']));
    if let Some(behind) = behind(',') {
        let next = behind.trim_start().trim_start_matches(['"', '\'']);
        let name = next.find(|c| !is_part_of_name(c)).unwrap_or(next.len());
        let sign = next[name..].trim_start_matches(['"', '\'']).trim_start();
        return next.is_empty() || name > 0 && sign.starts_with(['=', ':']);
    }
    let behind = ['}', ')', ']'].into_iter().find_map(behind);
    behind
        .is_some_and(|it| it.is_empty() || it.starts_with(|c: char| c.is_whitespace() || ",;}])".contains(c)))
}

pub(super) const fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}
