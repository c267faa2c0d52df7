//! Small steps from words to sentences.

/// Each text once, in the order of its first appearance.
#[must_use]
pub fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    texts.for_each(|text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
    });
    seen
}

/// The text with its first letter capitalised.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
