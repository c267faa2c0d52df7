//! A file or stream that cannot be written. It keeps the system's error, because a full disk has an exit code of its own.

use miette::Diagnostic;
use std::io;
use thiserror::Error;

/// The message is about the file, and its cause is the system's.
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
