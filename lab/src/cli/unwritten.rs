//! The error for a file or stream that cannot be written. It keeps the system's error, because a full disk has a special exit code.

use miette::Diagnostic;
use std::io;
use thiserror::Error;

/// An error with a message about the file. Its cause is the system's error.
#[derive(Debug, Diagnostic, Error)]
#[error("{message}")]
pub(super) struct Unwritten {
    message: String,
    #[help]
    help: Option<&'static str>,
    #[source]
    why: io::Error,
}

impl Unwritten {
    pub const fn new(message: String, why: io::Error) -> Self {
        Self { message, help: None, why }
    }

    pub const fn with_help(message: String, help: &'static str, why: io::Error) -> Self {
        Self { message, help: Some(help), why }
    }
}
