//! Phrases around a ratio.

use serde::Serialize;
use threadcount_model::figures;

/// A phrase around a ratio, in three parts so that each report can format the ratio in its own way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phrase {
    pub before: String,
    /// The ratio without a unit; `None` if `before` is the whole phrase.
    pub ratio: Option<String>,
    pub after: String,
}

impl Phrase {
    /// The whole phrase, with this sign (`x`, `×`) after the ratio.
    #[must_use]
    pub fn text(&self, times: &str) -> String {
        match &self.ratio {
            Some(ratio) => format!("{}{ratio}{times}{}", self.before, self.after),
            None => self.before.clone(),
        }
    }

    pub(super) fn plain(text: String) -> Self {
        Self { before: text, ..Self::default() }
    }

    pub(super) fn around(before: &str, ratio: f64, after: &str) -> Self {
        Self { before: before.to_owned(), ratio: Some(figures::ratio(ratio)), after: after.to_owned() }
    }
}
