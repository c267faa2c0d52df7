//! Why there is no server, in words for the user.

use super::base_folder::BaseError;
use super::command_line::CommandError;
use super::distribution::DistributionError;
use super::http_get::NotAUrl;
use super::peer::build::PeerError;
use super::server_process::ServerError;
use crate::host::app::AppMissing;
use crate::host::jdk_finder::JdkMissing;
use crate::probe::jar::ProbeMissing;
use std::io;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No such Java.
    #[error(transparent)]
    Jdk(#[from] JdkMissing),
    /// Too old a Java.
    #[error("{what} need Java 21 or newer; variant `{variant}` says Java {feature}")]
    JdkTooOld {
        /// What needs it.
        what: &'static str,
        /// The variant.
        variant: String,
        /// Its Java.
        feature: u16,
    },
    /// No such web application.
    #[error(transparent)]
    App(#[from] AppMissing),
    /// The probe has not been built.
    #[error("{0}; or leave it out with --no-probe")]
    Probe(#[from] ProbeMissing),
    /// No such distribution.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    /// A Tomcat without virtual threads.
    #[error(
        "Tomcat {version} has no StandardVirtualThreadExecutor, so variant `{variant}` cannot have virtual threads; \
         write tomcat: \"10.1\" or \"11.0\", or threads: {{executor: virtual}} for one of ours"
    )]
    NoVirtualExecutor {
        /// Which Tomcat.
        version: String,
        /// The variant.
        variant: String,
    },
    /// A benchmark where a server is wanted.
    #[error("`{variant}` is a benchmark; nothing can ask it")]
    NotAServer {
        /// The variant.
        variant: String,
    },
    /// A peer that cannot be built.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// The server behind the server.
    #[error("The backend of variant `{variant}` does not run. {source}")]
    Backend {
        /// The variant.
        variant: String,
        /// Why not.
        source: Box<Self>,
    },
    /// Its folder.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// The command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The URL.
    #[error(transparent)]
    Url(#[from] NotAUrl),
    /// Somebody else listens there.
    #[error(
        "Port {port} is in use: something answers at {host}:{port} before variant `{variant}` was started. \
         Stop it, or write {{port}} in the command and the URL for a free port"
    )]
    PortInUse {
        /// The host of the URL.
        host: String,
        /// Its port.
        port: u16,
        /// The variant.
        variant: String,
    },
    /// No port.
    #[error("The system has no free port: {0}")]
    NoPort(io::Error),
    /// The result folder.
    #[error("Cannot create {path}: {source}")]
    Folder {
        /// The folder.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// It does not run.
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl LaunchError {
    /// The last lines of the server's log, where it has one.
    #[must_use]
    pub fn log_tail(&self) -> &[String] {
        match self {
            Self::Server(error) => error.log_tail(),
            Self::Peer(error) => error.log_tail(),
            Self::Backend { source, .. } => source.log_tail(),
            _ => &[],
        }
    }

    /// Did the user stop us?
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Backend { source, .. } => source.is_interrupt(),
            error => matches!(error, Self::Server(ServerError::Interrupted)),
        }
    }

    /// Why the variant cannot run on this machine, where that is no mistake of anybody's: something that it needs is
    /// not installed, and the others can run without it.
    #[must_use]
    pub fn cannot_here(&self) -> Option<&str> {
        match self {
            Self::Peer(PeerError::NoToolchain { why, .. }) => Some(why),
            Self::Backend { source, .. } => source.cannot_here(),
            _ => None,
        }
    }
}
