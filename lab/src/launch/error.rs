//! Why there is no server, in words for the user.

use super::app::AppMissing;
use super::command::CommandError;
use super::http_get::NotAUrl;
use super::jdk_finder::JdkMissing;
use super::server_process::ServerError;
use super::tomcat_base::BaseError;
use super::tomcat_distribution::DistributionError;
use crate::observe::probe::jar::ProbeMissing;
use std::io;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No such Java.
    #[error(transparent)]
    Jdk(#[from] JdkMissing),
    /// Too old a Java.
    #[error("Virtual threads need Java 21 or newer; variant `{variant}` says Java {feature}")]
    JdkTooOld {
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
    /// No such Tomcat.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    /// A Tomcat without virtual threads.
    #[error(
        "Tomcat {version} has no StandardVirtualThreadExecutor, so variant `{variant}` cannot have virtual threads; \
         write tomcat: \"10.1\" or \"11.0\""
    )]
    NoVirtualExecutor {
        /// Which Tomcat.
        version: String,
        /// The variant.
        variant: String,
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
        if let Self::Server(error) = self { error.log_tail() } else { &[] }
    }

    /// Did the user stop us?
    #[must_use]
    pub const fn is_interrupt(&self) -> bool {
        matches!(self, Self::Server(ServerError::Interrupted))
    }
}
