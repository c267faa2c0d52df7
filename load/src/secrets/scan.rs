//! Secrets in a text that is not JSON as a whole: each name in it is read, and what follows it.

use super::command::{PasswordAt, is_user_flag, password_of_flag};
use super::line::{is_frame, plain_end};
use super::names::{NameKind, is_plural, kind};
use super::value::{
    Quote, Surroundings, end_of_bare, end_of_brackets, is_part_of_name, is_shown, looks_random, masked_user,
    shell_word_end, stands_for_a_secret,
};
use super::{MASK, Masked, url};

pub(super) const PASSWORD_FLAG: &str = "the password of -p";
pub(super) const USER: &str = "the password of --user";
/// Names whose value has several words, whatever stands before it.
const WITH_BLANKS: [&str; 2] = ["authorization", "cookie"];
/// Parameters of a URL that are secrets where their value looks like one: `?key=AIzaSy...`.
const PARAMETERS: [&str; 2] = ["key", "code"];

/// A part of a text, and what is written in its place.
struct Found {
    what: String,
    from: usize,
    to: usize,
    with: String,
}

pub(super) fn masked_plain_text(text: &str, masked: &mut Masked) -> String {
    let text = &url::without_passwords(text, masked);
    let mut done = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(skipped) = text[at..].find(is_part_of_name) {
        let start = at + skipped;
        let end = text[start..].find(|c| !is_part_of_name(c)).map_or(text.len(), |length| start + length);
        let word = Word { text, start, end };
        let found = word.password_of_flag().or_else(|| word.element()).or_else(|| word.user());
        match found.or_else(|| word.named()) {
            Some(found) => {
                done.push_str(&text[at..found.from]);
                done.push_str(&found.with);
                masked.insert(found.what);
                at = found.to;
            }
            None => {
                done.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    done + &text[at..]
}

/// A run of letters, digits, `-`, `_` and `.` in a text, which may be a name.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// What stands between a name and its value.
struct Gap {
    value_at: usize,
    sign: char,
    /// The name's own quotes.
    quote: Option<Quote>,
}

impl<'a> Word<'a> {
    fn name(&self) -> &'a str {
        self.text[self.start..self.end].trim_matches(['-', '.'])
    }

    fn is_option(&self) -> bool {
        self.text[self.start..].starts_with('-')
    }

    /// The part of its line before it.
    fn line_before(&self) -> &'a str {
        let before = &self.text[..self.start];
        &before[before.rfind('\n').map_or(0, |at| at + 1)..]
    }

    /// `-pPASSWORD` of a program that has this flag.
    fn password_of_flag(&self) -> Option<Found> {
        if !self.is_option() {
            return None;
        }
        let command = self.line_before();
        let command = &command[command.rfind(['|', ';', '&']).map_or(0, |at| at + 1)..];
        let words = command.split(|c: char| c.is_whitespace() || c == '"' || c == '\'');
        let around = Surroundings { inside: self.inside(), ..Surroundings::default() };
        let word_end = |from: usize| from + end_of_bare(&self.text[from..], around);
        let (from, to) = match password_of_flag(words, &self.text[self.start..word_end(self.start)])? {
            PasswordAt::SameWord => (self.start + "-p".len(), word_end(self.start)),
            PasswordAt::NextWord => {
                let next = self.text[self.end..].trim_start_matches(' ');
                let from = self.text.len() - next.len();
                (from, word_end(from))
            }
        };
        let password = self.text[from..to].trim_matches(['"', '\'']);
        let is_secret = !is_shown(password, NameKind::Secret);
        is_secret.then(|| Found { what: PASSWORD_FLAG.to_owned(), from, to, with: MASK.to_owned() })
    }

    /// `<password>x</password>`.
    fn element(&self) -> Option<Found> {
        let before = self.text[..self.start].trim_end_matches(|c| c == ':' || is_part_of_name(c));
        let kind = kind(self.name());
        if !before.ends_with('<') || kind == NameKind::Plain {
            return None;
        }
        let tag = &self.text[self.end..];
        let tag_end = tag
            .find('>')
            .filter(|&at| at == 0 || tag.starts_with(' ') && !tag.trim_start().starts_with(['=', ':']))
            .filter(|&at| !tag[..at].contains(['<', '\n', '/']))?;
        let from = self.end + tag_end + 1;
        let to = from + self.text[from..].find("</").unwrap_or(self.text.len() - from);
        (!is_shown(&self.text[from..to], kind)).then(|| self.found(from, to, MASK.to_owned()))
    }

    /// `-u me:x`, `-ume:x`, `--user=me:x`.
    fn user(&self) -> Option<Found> {
        let word = &self.text[self.start..self.end];
        let from = match is_user_flag(word) {
            true => self.gap()?.value_at,
            false => self.start + word.strip_prefix("-u").map(|_| "-u".len())?,
        };
        let bare = &self.text[from..];
        let (from, to) = match Quote::at_start(bare) {
            Some(quote) => {
                (from + quote.len(), from + quote.len() + quote.end_inside(&bare[quote.len()..]).0)
            }
            None => {
                let around = Surroundings { inside: self.inside(), ..Surroundings::default() };
                (from, from + end_of_bare(bare, around))
            }
        };
        let with = masked_user(&self.text[from..to])?;
        Some(Found { what: USER.to_owned(), from, to, with })
    }

    /// A value behind the name of a secret.
    fn named(&self) -> Option<Found> {
        let is_parameter = PARAMETERS.contains(&self.name()) && self.text[..self.start].ends_with(['?', '&']);
        let kind = match kind(self.name()) {
            NameKind::Plain if is_parameter => NameKind::Secret,
            kind => kind,
        };
        if kind == NameKind::Plain {
            return None;
        }
        let gap = self.gap()?;
        let (from, to, with) = self.value(&gap);
        let value = &self.text[from..to];
        let is_hidden = !is_shown(value, kind) && (!is_parameter || looks_random(value));
        is_hidden.then(|| self.found(from, to, with))
    }

    fn found(&self, from: usize, to: usize, with: String) -> Found {
        Found { what: self.name().to_owned(), from, to, with }
    }

    /// `=`, `:`, `=>`, or a blank behind an option. `None`: no value follows.
    fn gap(&self) -> Option<Gap> {
        let after = &self.text[self.end..];
        let quote = Quote::at_start(after).filter(|it| self.text[..self.start].ends_with(&it.text()));
        // `user[password]=x`, `--user='x'`.
        let closed = match quote {
            Some(quote) => &after[quote.len()..],
            None => ["]", "%5D", "%5d"].iter().find_map(|it| after.strip_prefix(it)).unwrap_or(after),
        };
        let trimmed = closed.trim_start_matches(' ');
        let value_at = |rest: &str| self.text.len() - rest.len();
        let behind_sign = |rest: &'a str| {
            let sign = rest.chars().next().filter(|c| matches!(c, '=' | ':'))?;
            let value = rest[1..].strip_prefix('>').unwrap_or(&rest[1..]);
            let is_other = sign == ':' && (value.starts_with(':') || value.starts_with("//"));
            let blanks: &[char] = if quote.is_some() { &[' ', '\t', '\r', '\n'] } else { &[' ', '\t'] };
            (!is_other).then(|| (sign, value.trim_start_matches(blanks)))
        };
        if let Some((sign, value)) = behind_sign(trimmed) {
            return Some(Gap { value_at: value_at(value), sign, quote });
        }
        if quote.is_some() {
            // `name="password" value="x"`.
            let value = trimmed.trim_start_matches([',', ' ', '"', '\'']).strip_prefix("value")?;
            let (sign, value) = behind_sign(value.trim_start_matches(['"', '\'', ' ']))?;
            return Some(Gap { value_at: value_at(value), sign, quote });
        }
        let is_separate = self.is_option() && trimmed.len() < closed.len() && !trimmed.is_empty();
        is_separate.then(|| Gap { value_at: value_at(trimmed), sign: ' ', quote: None })
    }

    /// Where the value is, and what is written in its place.
    fn value(&self, gap: &Gap) -> (usize, usize, String) {
        let from = gap.value_at;
        let text = &self.text[from..];
        // JSON stays JSON.
        let mask = gap.quote.map_or_else(|| MASK.to_owned(), |it| format!("{0}{MASK}{0}", it.text()));
        if let Some(quote) = Quote::at_start(text) {
            let (end, behind) = quote.end_inside(&text[quote.len()..]);
            let inside = (from + quote.len(), from + quote.len() + end, MASK.to_owned());
            let rest = &text[quote.len() + behind..];
            // `--password='a'b` is one word, and `Cookie: "a"; b` one line.
            let is_shell_word = gap.quote.is_none() && !self.is_line(gap) && self.inside().is_none();
            let ends_later = |end: usize| end > quote.len() + behind;
            let is_longer = is_shell_word && shell_word_end(text).is_some_and(ends_later);
            let is_whole = gap.quote.is_some() || !is_longer && !self.goes_on(gap, rest);
            if is_whole {
                return inside;
            }
        } else if text.starts_with(['[', '{']) && !stands_for_a_secret(&text[..end_of_brackets(text)]) {
            let end = end_of_brackets(text);
            let more = end_of_bare(&text[end..], self.surroundings(gap));
            return (from, from + end + more, mask);
        }
        let around = self.surroundings(gap);
        let length = end_of_bare(text, around);
        if !self.is_line(gap) {
            return (from, from + length, mask);
        }
        let may_be_in_list = !self.has_blanks() && !is_plural(self.name());
        match plain_end(self.line_before(), &text[..length], may_be_in_list) {
            Some(length) => (from, from + length, mask),
            None => (from, self.end_of_block(from, from + length), mask),
        }
    }

    fn goes_on(&self, gap: &Gap, rest: &str) -> bool {
        let around = self.surroundings(gap);
        let rest = &rest[..around.inside.map_or(rest.len(), |quote| quote.end_inside(rest).0)];
        let first = rest.chars().next();
        let is_quoted = self.is_line(gap) && Quote::at_start(&self.text[gap.value_at..]).is_some();
        if is_quoted && !self.has_blanks() {
            let line = rest.lines().next().unwrap_or_default();
            // `password: 'a b' for user me`, and not `"a" + "b"`.
            if line.contains(['"', '\'']) || is_plural(self.name()) && line.starts_with(',') {
                return true;
            }
            if first.is_some_and(char::is_whitespace) {
                return false;
            }
        }
        match around.with_blanks {
            true => first.is_some_and(|c| !"\n,}])".contains(c)),
            false => first.is_some_and(|c| !c.is_whitespace() && !",;&|}])<>".contains(c)),
        }
    }

    fn inside(&self) -> Option<Quote> {
        Quote::open_at_end_of(self.line_before()).map(|(quote, _)| quote)
    }

    fn has_blanks(&self) -> bool {
        let name = self.name().to_ascii_lowercase();
        WITH_BLANKS.iter().any(|ending| name.ends_with(ending))
    }

    fn surroundings(&self, gap: &Gap) -> Surroundings {
        let before = match gap.quote {
            Some(quote) => &self.text[..self.start - quote.len()],
            None => &self.text[..self.start],
        };
        let is_index = self.text[self.end..].starts_with(']');
        let in_brackets = !is_index && before.ends_with(['{', '(', '[']) || before.ends_with(", ");
        Surroundings {
            in_list: gap.quote.is_some() || (in_brackets || before.ends_with(',')) && !self.is_line(gap),
            inside: gap.quote.map_or_else(|| self.inside(), |_| None),
            with_blanks: self.has_blanks() || gap.quote.is_some() || in_brackets || self.is_line(gap),
        }
    }

    /// `name: value`, as in a header and in YAML: it takes the rest of the line.
    fn is_line(&self, gap: &Gap) -> bool {
        let (before, value) = self.text.split_at(gap.value_at);
        gap.sign == ':' && (before.ends_with([' ', '\t']) || value.starts_with(['\n', '\r']))
    }

    /// The lines below that are indented further belong to a value of YAML that is empty, `|` or `>`.
    fn end_of_block(&self, from: usize, end: usize) -> usize {
        let first = self.text[from..end].trim();
        if !first.is_empty() && !first.starts_with(['|', '>']) {
            return end;
        }
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
        let own = indent(self.line_before());
        let mut block_end = end;
        let mut at = end;
        for (number, line) in self.text[end..].split_inclusive('\n').enumerate() {
            let is_outside = indent(line) <= own || is_frame(line.trim_start());
            if number > 0 && !line.trim().is_empty() && is_outside {
                break;
            }
            at += line.len();
            if number > 0 && !line.trim().is_empty() {
                block_end = at - (line.len() - line.trim_end().len());
            }
        }
        block_end
    }
}
