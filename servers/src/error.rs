//! The reasons why a server could not be launched, as messages for the user.

use super::backends::BackendEnd;
use super::base_folder::BaseError;
use super::command_line::CommandError;
use super::distribution::DistributionError;
use super::http_get::NotAUrl;
use super::peer::build::PeerError;
use super::server_process::ServerError;
use std::io;
use threadcount_machine::app::AppMissing;
use threadcount_machine::jdk_finder::JdkMissing;
use threadcount_machine::log_cause;
use threadcount_machine::probe::jar::ProbeMissing;
use threadcount_model::experiment::ONLY_BACKEND;

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(transparent)]
    Jdk(#[from] JdkMissing),
    #[error("{what} need Java 21 or newer; variant `{variant}` has Java {feature}")]
    JdkTooOld { what: &'static str, variant: String, feature: u16 },
    #[error(transparent)]
    App(#[from] AppMissing),
    /// The probe has not been built.
    #[error("{0}; or leave it out with --no-probe")]
    Probe(ProbeMissing),
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    #[error(
        "Tomcat {version} has no StandardVirtualThreadExecutor, so variant `{variant}` cannot have virtual threads. \
         Write `tomcat: \"10.1\"` or `tomcat: \"11.0\"`, or `threads: {{executor: virtual}}` for one of ours"
    )]
    NoVirtualExecutor { version: String, variant: String },
    #[error(
        "Nothing can be added to the class path of {jar}. It is not the runnable jar of a Spring Boot application from 3.2 on. \
         Leave out `class_path`, or add the jars in the build"
    )]
    NoClassPath { jar: String },
    #[error("The working folder of variant `{variant}` does not exist: {path}")]
    NoWorkdir { path: String, variant: String },
    #[error(transparent)]
    OwnCommand(Box<FailedCommand>),
    /// The variant is a benchmark, but a server is needed.
    #[error("`{variant}` is a benchmark; nothing can ask it")]
    NotAServer { variant: String },
    /// A peer that cannot be built.
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error("The {} of variant `{variant}` does not run. {source}", backend_words(.backend))]
    Backend { variant: String, backend: String, source: Box<Self> },
    #[error("The backend `{}` of variant `{variant}` ended ({}) before the server was ready", .end.name, .end.status)]
    BackendEnded { variant: String, end: BackendEnd },
    #[error("The system gives no random bytes for `{{secret}}`: {0}")]
    NoSecret(io::Error),
    #[error("The processes of `{name}` cannot be pinned to the cores {cores:?}: {source}")]
    NotPinned { name: String, cores: Vec<usize>, source: io::Error },
    #[error(transparent)]
    Base(#[from] BaseError),
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Url(#[from] NotAUrl),
    #[error(
        "Port {port} is in use: another process listens at {host}:{port} before variant `{variant}` was started. \
         Stop it, or write {{port}} in the command and the URL for a free port"
    )]
    PortInUse { host: String, port: u16, variant: String, is_chosen: bool },
    #[error("The server could not start the application of variant `{variant}`. {why}. Its log is {log}")]
    NotDeployed { variant: String, why: String, log: String },
    #[error("The system has no free port: {0}")]
    NoPort(io::Error),
    #[error("Cannot create {path}: {source}")]
    Folder { path: String, source: io::Error },
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// The failure of a user's `before` or `after` command of a server.
#[derive(Debug, thiserror::Error)]
#[error("The command {when} the server of variant `{variant}` {why}: {command}; its output is in {log}")]
pub struct FailedCommand {
    pub when: &'static str,
    pub variant: String,
    /// The command as written.
    pub command: String,
    /// The end of the command, in words.
    pub why: String,
    pub log: String,
    pub log_tail: Vec<String>,
}

/// A backend in words; a single backend has no name.
fn backend_words(name: &str) -> String {
    if name == ONLY_BACKEND { name.to_owned() } else { format!("backend `{name}`") }
}

impl LaunchError {
    /// The last lines of the server's log, if there is one.
    #[must_use]
    pub fn log_tail(&self) -> &[String] {
        match self {
            Self::Server(error) => error.log_tail(),
            Self::Peer(error) => error.log_tail(),
            Self::Backend { source, .. } => source.log_tail(),
            Self::BackendEnded { end, .. } => &end.log_tail,
            Self::OwnCommand(failed) => &failed.log_tail,
            _ => &[],
        }
    }

    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Backend { source, .. } => source.is_interrupt(),
            error => matches!(error, Self::Server(ServerError::Interrupted)),
        }
    }

    /// The root cause according to the log, if the error itself is not the cause.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::Backend { source, .. } => source.cause(),
            Self::Server(ServerError::Hangs { .. } | ServerError::OldJava { .. }) => None,
            Self::Server(
                ServerError::NotReady { log_tail, .. } | ServerError::Unhealthy { log_tail, .. },
            ) => log_cause::complaint(log_tail),
            error => log_cause::cause(error.log_tail()),
        }
    }

    /// The reason why the variant cannot run on this machine although the experiment is correct: something that only this
    /// variant needs is not installed, so the others can still run.
    #[must_use]
    pub fn cannot_here(&self) -> Option<&str> {
        match self {
            Self::Peer(PeerError::NoToolchain { why, .. }) => Some(why),
            Self::Backend { source, .. } => source.cannot_here(),
            _ => None,
        }
    }
}
