//! What cannot be compared, with what to write instead.

use miette::Diagnostic;
use thiserror::Error;

/// Why the flags of `threadcount compare` make no experiment.
#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum CompareError {
    #[error("compare needs at least two variants")]
    #[diagnostic(help(
        "write --variant NAME='COMMAND' for each, the baseline first, or --spring-boot app.jar, which has its own"
    ))]
    TooFew,
    #[error("--variant {0}: two variants have this name")]
    #[diagnostic(help("give each variant a name of its own"))]
    Twice(String),
    /// A name that cannot stand in a table, a file name or a claim.
    #[error("--variant {0}: not a name")]
    #[diagnostic(help("use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"))]
    Name(String),
    #[error("--url {0}: not an http:// or https:// address")]
    #[diagnostic(help("write, for example, http://127.0.0.1:8080/path; `{{port}}` stands for a free port"))]
    Url(String),
    /// A whole URL where the address is ours to choose.
    #[error("--url {url}: with {flag} it is a path, because the service gets a free port of this machine")]
    #[diagnostic(help("write what follows the host, for example --url /orders/1"))]
    NoPath { url: String, flag: &'static str },
    /// The readiness path is not a path.
    #[error("--ready {0}: not a path")]
    #[diagnostic(help("begin it with a slash, for example /health"))]
    Ready(String),
    /// `{port}` in the URL and not in a command.
    #[error("--variant {0}: the URL has `{{port}}`, and this command does not say it to the server")]
    #[diagnostic(help("write `{{port}}` in the command too, or a fixed port in the URL"))]
    PortUnsaid(String),
    /// A command before or after a server that runs only between them.
    #[error("{0}: the port is not known to this command")]
    #[diagnostic(help(
        "leave out `{{port}}`: the server has its port when it starts, and is not running when this command does"
    ))]
    PortOutside(&'static str),
    /// A flag that this kind of service cannot follow.
    #[error("{flag} has no effect with {kind}")]
    #[diagnostic(help("{help}"))]
    NoEffect { flag: &'static str, kind: &'static str, help: &'static str },
    #[error("{flag} {path}: {why}")]
    #[diagnostic(help("{help}"))]
    Archive { flag: &'static str, path: String, why: String, help: &'static str },
    #[error("--jdk {0}: virtual threads need Java 21 or newer")]
    #[diagnostic(help("write, for example, --jdk 21,25; `threadcount check` lists those of this machine"))]
    JdkTooOld(u16),
    #[error("--jdk {0}: this version is written twice")]
    #[diagnostic(help("write each version once, for example --jdk 21,25"))]
    JdkTwice(u16),
}
