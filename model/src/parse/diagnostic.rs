//! A mistake in a text of the user's, with its place: a line of a YAML file, a token of a claim.

use miette::{MietteError, MietteSpanContents, NamedSource, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// A mistake before the text itself is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place in the text, in bytes.
    pub span: Range<usize>,
    /// The mistake as a sentence, without its place.
    pub message: String,
    /// The text under the caret.
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
        let ShortLine { text, cut_bytes, cut_columns } = ShortLine::around(self.span.start, text);
        let start = (self.span.start - cut_bytes).min(text.len());
        let end = self.span.end.saturating_sub(cut_bytes).clamp(start, text.len());
        Mistake {
            message: self.message,
            text: Arc::new(ShownText { source: NamedSource::new(name, text), cut_columns }),
            span: SourceSpan::from(start..end),
            label: self.label,
            help: self.help,
        }
    }
}

/// The bytes of a long line that are shown on either side of a mistake.
const SHOWN_BYTES: usize = 200;

/// A text in which the line with the mistake is short enough to be shown.
struct ShortLine {
    text: String,
    /// The bytes cut off at the beginning of the line.
    cut_bytes: usize,
    cut_columns: usize,
}

impl ShortLine {
    fn around(place: usize, text: &str) -> Self {
        let place = text.floor_char_boundary(place.min(text.len()));
        let (before, rest) = text.split_at(place);
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let kept = match place - line {
            0..=SHOWN_BYTES => line,
            _ => text.floor_char_boundary(place - SHOWN_BYTES),
        };
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let end =
            if line_end <= SHOWN_BYTES { text.len() } else { text.floor_char_boundary(place + SHOWN_BYTES) };
        Self {
            text: [&text[..line], &text[kept..end]].concat(),
            cut_bytes: kept - line,
            cut_columns: text[line..kept].chars().count(),
        }
    }
}

/// The text of a mistake, which knows the mistake's column in the whole line.
#[derive(Debug)]
struct ShownText {
    source: NamedSource<String>,
    cut_columns: usize,
}

impl SourceCode for ShownText {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.source.read_span(span, lines_before, lines_after)?;
        // The place alone is printed as a line and a column; lines around it are printed as they are.
        let cut = if lines_before + lines_after == 0 { self.cut_columns } else { 0 };
        let name = self.source.name().to_owned();
        let (line, column, lines) = (found.line(), found.column() + cut, found.line_count());
        Ok(Box::new(MietteSpanContents::new_named(name, found.data(), *found.span(), line, column, lines)))
    }
}

/// A mistake that shows the user's own line with a caret under it.
#[derive(Debug, Error, miette::Diagnostic)]
#[error("{message}")]
pub struct Mistake {
    message: String,
    #[source_code]
    text: Arc<ShownText>,
    #[label("{label}")]
    span: SourceSpan,
    label: String,
    #[help]
    help: Option<String>,
}

impl Mistake {
    /// The byte at which the mistake begins.
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
