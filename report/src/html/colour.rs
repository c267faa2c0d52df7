//! The colours of variants.

use threadcount_judge::result::ResultDocument;

/// The number of colours that the style sheet has for variants.
pub(super) const COLOURS: usize = 6;

/// The colour of a variant, from 1; sentences, bars and pictures all use it.
pub(super) fn colour(document: &ResultDocument, variant: &str) -> usize {
    place(document, variant) % COLOURS + 1
}

/// The position of a variant in its experiment, from 0. It does not depend on which variants ran, so neither do the colours.
pub(super) fn place(document: &ResultDocument, variant: &str) -> usize {
    document.experiment.variants.iter().position(|it| it.name == variant).unwrap_or(0)
}
