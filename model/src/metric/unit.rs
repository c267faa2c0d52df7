//! Units of figures.

/// The unit of a metric's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum Unit {
    PerSecond,
    Milliseconds,
    Microseconds,
    Bytes,
    Cores,
    Count,
    PerRequest,
    Percent,
}

impl Unit {
    /// The ending of metric names with this unit. Figures per request or per second append more.
    #[must_use]
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::PerSecond => "_per_s",
            Self::Milliseconds => "_ms",
            Self::Microseconds => "_us",
            Self::Bytes => "_bytes",
            Self::PerRequest => "_per_request",
            Self::Percent => "_percent",
            Self::Cores | Self::Count => "",
        }
    }

    /// The smallest difference that a figure can show: one of what is counted, a page of memory, 0 where only the
    /// relative precision counts.
    #[must_use]
    pub(super) const fn step(self) -> f64 {
        match self {
            Self::Count => 1.0,
            Self::Bytes => 4_096.0,
            Self::PerSecond
            | Self::Milliseconds
            | Self::Microseconds
            | Self::Cores
            | Self::PerRequest
            | Self::Percent => 0.0,
        }
    }
}
