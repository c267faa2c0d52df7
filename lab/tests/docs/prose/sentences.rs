//! Sentences of a piece of text, and their words.

/// Shortened words, whose point ends no sentence.
const SHORTENED: [&str; 6] = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "al."];

/// The sentences of a piece. What follows a point begins one unless it is a small letter.
pub fn of(text: &str) -> Vec<String> {
    let (mut sentences, mut sentence) = (Vec::new(), Vec::new());
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        sentence.push(word);
        let next_is_small = words.peek().is_some_and(|it| it.starts_with(|it: char| it.is_lowercase()));
        if ends_a_sentence(word) && !next_is_small {
            sentences.push(std::mem::take(&mut sentence).join(" "));
        }
    }
    if !sentence.is_empty() {
        sentences.push(sentence.join(" "));
    }
    sentences
}

fn ends_a_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '*', '”']);
    bare.ends_with(['.', '!', '?']) && !bare.ends_with("..") && !SHORTENED.contains(&bare)
}

/// How many words a reader reads: code is one, a sign alone is none.
pub fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|it| it.starts_with('`') || it.contains(char::is_alphanumeric)).count()
}

#[test]
fn a_sentence_ends_with_a_point_before_a_capital_letter() {
    let text = "It has 1.97x [1.94, 2.01] the throughput, e.g. With `a. b` code. `run` is next. Is it .. the end? v. it goes on";
    let found = of(text);
    let expected = [
        "It has 1.97x [1.94, 2.01] the throughput, e.g. With `a. b` code.",
        "`run` is next.",
        "Is it .. the end? v. it goes on",
    ];
    assert_eq!(found, expected);
    assert_eq!(words("A – `code` of 2.0 = 3"), 5);
}
