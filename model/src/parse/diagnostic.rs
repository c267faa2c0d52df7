//! A mistake in something the user wrote, with the place of it: a line of a YAML file, a token of a claim.

use miette::{NamedSource, SourceSpan};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// A mistake in a text, before the text itself is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// What is wrong, as a sentence without its place.
    pub message: String,
    /// What stands under the caret.
    pub label: String,
    pub help: Option<String>,
}

impl Diagnostic {
    #[must_use]
    pub fn new(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { span, message: message.into(), label: label.into(), help: None }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same mistake seen from a text that begins `offset` bytes earlier.
    #[must_use]
    pub fn moved(mut self, offset: usize) -> Self {
        self.span = self.span.start + offset..self.span.end + offset;
        self
    }

    /// The mistake with its text, ready to be shown. `name` is a file's path or a flag.
    #[must_use]
    pub fn within(self, name: &str, text: &str) -> Mistake {
        let text = with_short_line(text, self.span.start);
        let start = self.span.start.min(text.len());
        let end = self.span.end.clamp(start, text.len());
        Mistake {
            message: self.message,
            text: Arc::new(NamedSource::new(name, text.to_owned())),
            span: SourceSpan::from(start..end),
            label: self.label,
            help: self.help,
        }
    }
}

/// The text, cut soon after `place` if its line is too long to show.
fn with_short_line(text: &str, place: usize) -> &str {
    const SHOWN_BYTES: usize = 200;
    let rest = text.get(place..).unwrap_or_default();
    let line_end = rest.find('\n').unwrap_or(rest.len());
    if line_end <= SHOWN_BYTES {
        return text;
    }
    text.get(..text.floor_char_boundary(place + SHOWN_BYTES)).unwrap_or(text)
}

/// A mistake that shows the user's own line with a caret under it.
#[derive(Debug, Error, miette::Diagnostic)]
#[error("{message}")]
pub struct Mistake {
    message: String,
    #[source_code]
    text: Arc<NamedSource<String>>,
    #[label("{label}")]
    span: SourceSpan,
    label: String,
    #[help]
    help: Option<String>,
}

impl Mistake {
    /// Where it begins, in bytes of the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.span.offset()
    }
}

/// The mistake as printed, without colours, 100 columns wide.
#[cfg(any(test, feature = "sample"))]
#[allow(clippy::expect_used, reason = "it is for tests")]
#[must_use]
pub fn shown(mistake: &Mistake) -> String {
    let mut out = String::new();
    let theme = miette::GraphicalTheme::unicode_nocolor();
    miette::GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .render_report(&mut out, mistake)
        .expect("writing to a string");
    out
}
