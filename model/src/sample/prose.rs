//! The rules of sentences that people read: short, and in the words of the field. Tests check docs, help and output with them.

/// Words in a sentence of an output, at most.
pub const IN_OUTPUT: usize = 20;

/// Not written: the left column of a word list that is read as a whole, in small letters.
const UNUSED_WORDS: [&str; 31] = [
    "anew",
    "dear",
    "spare",
    "the page",
    "visit",
    "visits",
    "look",
    "looks",
    "said of",
    "told",
    "tells",
    "says",
    "asks",
    "speaks",
    "made good",
    "well again",
    "whoever",
    "nobody",
    "somebody",
    "one's own",
    "honest",
    "honestly",
    "disturbed",
    "levelled off",
    "might help",
    "as before",
    "used to",
    "price of",
    "the price",
    "what price",
    "foreign load",
];

/// Nothing begins with these but a question: no sentence, heading, item or cell.
const UNUSED_BEGINNINGS: [&str; 6] = ["Of", "What", "Who", "Whoever", "Where", "So that"];

/// The limits of a text.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Words in a sentence, at most.
    pub words: usize,
    /// Dates and commits of measurements are allowed.
    pub has_dates: bool,
}

/// Fails where a sentence of an output breaks a rule.
///
/// # Panics
/// Names each breach.
pub fn assert_plain(output: &str) {
    let limits = Limits { words: IN_OUTPUT, has_dates: true };
    let mut found = Vec::new();
    for line in output.lines() {
        for sentence in sentences(&with_code_as_words(line.trim())) {
            found.extend(breaches(&sentence, limits).into_iter().map(|it| format!("{it}: {sentence}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The rules that a sentence breaks, in words.
#[must_use]
pub fn breaches(sentence: &str, limits: Limits) -> Vec<String> {
    let mut found = Vec::new();
    let count = words(sentence);
    if count > limits.words {
        found.push(format!("{count} words, {} at most", limits.words));
    }
    for (sign, name) in [(':', "colons"), (';', "semicolons")] {
        let count = sentence.split_whitespace().filter(|it| ends_with_sign(it, sign)).count();
        if count > 1 {
            found.push(format!("{count} {name}, one at most"));
        }
    }
    found.extend(unused_words(sentence).map(|word| format!("`{word}` is not used")));
    if !sentence.ends_with('?') {
        let begins =
            |it: &&&str| sentence.strip_prefix(**it).is_some_and(|rest| rest.starts_with([' ', ',']));
        found.extend(
            UNUSED_BEGINNINGS.iter().find(begins).map(|it| format!("no statement begins with `{it}`")),
        );
    }
    if !limits.has_dates {
        let dated = sentence.split_whitespace().map(bare).find(|it| is_date(it) || is_commit(it));
        found.extend(dated.map(|it| format!("`{it}` belongs to the measurements")));
    }
    found
}

fn ends_with_sign(word: &str, sign: char) -> bool {
    word.trim_end_matches(['"', '\'', ')', '*', '”']).ends_with(sign)
}

/// Without what stands around a word.
fn bare(word: &str) -> &str {
    word.trim_matches(|it: char| !it.is_alphanumeric())
}

fn unused_words(sentence: &str) -> impl Iterator<Item = &'static str> {
    let words: Vec<String> = sentence
        .split_whitespace()
        .map(|it| if it.contains('`') { "`".to_owned() } else { bare(it).to_lowercase() })
        .collect();
    let text = format!(" {} ", words.join(" "));
    UNUSED_WORDS.into_iter().filter(move |word| text.contains(&format!(" {word} ")))
}

/// A day, as 2026-01-31.
fn is_date(word: &str) -> bool {
    let is_number = |it: &str, digits: usize| it.len() == digits && it.bytes().all(|it| it.is_ascii_digit());
    let parts: Vec<&str> = word.split('-').collect();
    matches!(parts[..], [year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2))
}

/// The short hash of a commit: letters and digits.
fn is_commit(word: &str) -> bool {
    let is_hexadecimal = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    let is_short = (7..=10).contains(&word.len()) && word.bytes().all(is_hexadecimal);
    is_short && word.bytes().any(|it| it.is_ascii_digit()) && word.bytes().any(|it| it.is_ascii_alphabetic())
}

/// Shortened words, whose point ends no sentence.
const SHORTENED: [&str; 6] = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "al."];

/// The sentences of a text. What follows a point begins one unless it is a small letter.
#[must_use]
pub fn sentences(text: &str) -> Vec<String> {
    let (mut found, mut sentence) = (Vec::new(), Vec::new());
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        sentence.push(word);
        let next_is_small = words.peek().is_some_and(|it| it.starts_with(|it: char| it.is_lowercase()));
        if ends_a_sentence(word) && !next_is_small {
            found.push(std::mem::take(&mut sentence).join(" "));
        }
    }
    if !sentence.is_empty() {
        found.push(sentence.join(" "));
    }
    found
}

fn ends_a_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '*', '”']);
    bare.ends_with(['.', '!', '?']) && !bare.ends_with("..") && !SHORTENED.contains(&bare)
}

/// How many words a reader reads: code is one, a sign alone is none.
#[must_use]
pub fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|it| it.starts_with('`') || it.contains(char::is_alphanumeric)).count()
}

/// Code becomes a word between backticks.
#[must_use]
pub fn as_one_word(code: &str) -> String {
    format!("`{}`", code.split_whitespace().collect::<Vec<_>>().join("_").replace('`', "'"))
}

/// A line whose code is one word each.
#[must_use]
pub fn with_code_as_words(line: &str) -> String {
    let mut parts = line.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(code) = parts.next() {
        text += &as_one_word(code);
        text += parts.next().unwrap_or_default();
    }
    text
}

#[test]
fn a_sentence_ends_with_a_point_before_a_capital_letter() {
    let text = "It has 1.97x [1.94, 2.01] the throughput, e.g. With `a. b` code. `run` is next. Is it .. the end? v. it goes on";
    let found = sentences(text);
    let expected = [
        "It has 1.97x [1.94, 2.01] the throughput, e.g. With `a. b` code.",
        "`run` is next.",
        "Is it .. the end? v. it goes on",
    ];
    assert_eq!(found, expected);
    assert_eq!(words("A – `code` of 2.0 = 3"), 5);
}

#[test]
fn an_output_of_short_sentences_is_plain() {
    assert_plain("all 200 pool threads are busy: 200 / 50.2 ms = 3,984/s at most. Try `top -H -p PID`.");
}

#[test]
fn only_a_question_begins_with_what_whether_it_ends_with_a_point_or_not() {
    let limits = Limits { words: IN_OUTPUT, has_dates: true };
    for statement in ["What it costs", "Where it is: here", "Of these, one is open."] {
        assert_eq!(breaches(statement, limits).len(), 1, "{statement}");
    }
    for other in ["What does it cost?", "Whatever it costs", "Whereas two do", "Offset"] {
        assert_eq!(breaches(other, limits), [] as [String; 0], "{other}");
    }
}

#[test]
#[should_panic = "2 semicolons, one at most"]
fn an_output_with_two_semicolons_is_not() {
    assert_plain("a; b; c");
}
