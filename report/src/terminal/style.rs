//! The width, the colours and the length of a summary.

/// The style in which a summary is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns into which lines are broken, at least 40.
    pub width: usize,
    /// Whether to use ANSI colours and bold type.
    pub colour: bool,
}

/// The style for a file or a README: no colours, and lines that fit into a code block.
pub const PLAIN: TerminalStyle = TerminalStyle { width: 100, colour: false };

/// Maximum lines of the whole summary at the width of [`PLAIN`].
pub const MOST_LINES: usize = 22;
