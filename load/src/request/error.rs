//! The reasons why a request cannot be made, with what to write instead.

use std::io;
use std::path::PathBuf;

/// The reason why a request cannot be made, with what to write instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The URL cannot be used.
    #[error("`{url}` cannot be asked: {why}")]
    Url {
        /// The text as the user wrote it.
        url: String,
        /// The mistake, and what to write instead.
        why: String,
    },
    /// The method is invalid.
    #[error("`{method}` is not a method that can be sent: write one like GET or POST")]
    Method {
        /// The text as the user wrote it.
        method: String,
    },
    /// The header cannot be sent.
    #[error("the header `{header}` cannot be sent: {why}")]
    Header {
        /// The text as the user wrote it.
        header: String,
        /// The mistake, and what to write instead.
        why: &'static str,
    },
    /// The placeholder is unknown.
    #[error(
        "`{placeholder}` is not a placeholder. Write {{rand:1:1000}} for a whole number from 1 to 1000, or {{seq:1}} for a \
         number that counts up from 1. {{csv:FILE:COLUMN}} is a value of a file, and {{capture:NAME}} one of a response"
    )]
    Placeholder {
        /// The text as the user wrote it.
        placeholder: String,
    },
    /// The path contains a placeholder of an API's documentation instead of a value.
    #[error(
        "`{placeholder}` in the path stands for a value, and would be sent as it is. Write a value, as in /orders/1, or \
         {{rand:1:1000}} for a different one each time. %7B, %7D and %3A are braces and a colon that are meant"
    )]
    Unfilled {
        /// The text as the user wrote it.
        placeholder: String,
    },
    /// The data file cannot be used.
    #[error("`{{csv:{}:{column}}}`: {why}", file.display())]
    Csv {
        file: PathBuf,
        /// The requested column.
        column: String,
        /// The mistake, and what to write instead.
        why: String,
    },
    /// There is no target.
    #[error("there is nothing to ask: give a URL or a file with at least one target")]
    NoTarget,
    /// The targets have different servers, but a load goes to one.
    #[error(
        "all targets of one load must have the same scheme, host and port. `{first}` and `{other}` differ: \
         run one load for each"
    )]
    Origins {
        /// Origin of the first target.
        first: String,
        /// The first one that differs.
        other: String,
    },
    /// A line of a target file is wrong.
    #[error("line {line}: {source}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The mistake in it.
        source: Box<RequestError>,
    },
    /// A line of a target file is neither target, header, body nor comment, or an invalid JSON target.
    #[error("`{text}` is not a target: {why}")]
    Target {
        /// The text as the user wrote it.
        text: String,
        /// The mistake, and what to write instead.
        why: String,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", file.display())]
    Read {
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A target file is wrong.
    #[error("{}: {source}", file.display())]
    File {
        file: PathBuf,
        /// The mistake in it.
        source: Box<RequestError>,
    },
}
