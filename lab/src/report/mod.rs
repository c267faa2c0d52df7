//! One result seen many ways: terminal, HTML, Markdown, CSV, JUnit. Each is made from the result document alone.

pub mod answer;
pub mod figures;
pub mod html;
pub mod published;
pub mod summary;
pub mod terminal;
pub mod trust;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The data block of the page.
    #[error(
        "the page's data cannot be written as JSON: {0}. This is a mistake in Threadcount; please report it"
    )]
    Data(#[source] serde_json::Error),
    /// The page's template.
    #[error("the page's template failed: {0}. This is a mistake in Threadcount; please report it")]
    Template(#[source] minijinja::Error),
}
