//! Mistakes in the arguments of a comparison, with what to write instead.

use miette::Diagnostic;
use thiserror::Error;

/// Why the flags of `threadcount compare` make no experiment.
#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum CompareError {
    #[error("compare needs at least two variants")]
    #[diagnostic(help(
        "write --variant NAME='COMMAND' or --target-url NAME=URL for each, the baseline first, or --spring-boot app.jar, which has \
         its own"
    ))]
    TooFew,
    #[error("{flag} {name}: two variants have this name")]
    #[diagnostic(help("give each variant a name of its own"))]
    Twice { flag: &'static str, name: String },
    /// A name that is invalid in a table, a file name or a claim.
    #[error("{flag} {name}: not a name")]
    #[diagnostic(help("use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"))]
    Name { flag: &'static str, name: String },
    /// Two variants are the same server.
    #[error("--target-url {0}: two variants are the same server")]
    #[diagnostic(help(
        "give each variant a server of its own, or change it between the runs: --before 'COMMAND'"
    ))]
    SameTarget(String),
    /// The address of a running server is not a base URL.
    #[error("--target-url {0}: not the base URL of a server")]
    #[diagnostic(help("write NAME=URL without a path, for example old=http://10.0.0.7:8080"))]
    Target(String),
    #[error("--url {0}: not an http:// or https:// address")]
    #[diagnostic(help("write, for example, http://127.0.0.1:8080/path; `{{port}}` stands for a free port"))]
    Url(String),
    /// The URL is whole, although the address is ours to choose and only its path is needed.
    #[error("--url {url}: with {flag} it is a path, because the address of each variant is known")]
    #[diagnostic(help("write what follows the host, for example --url /orders/1"))]
    NoPath { url: String, flag: &'static str },
    /// The readiness path is not a path.
    #[error("--health {0}: not a path")]
    #[diagnostic(help("begin it with a slash, for example /health"))]
    Ready(String),
    /// `{port}` is in the URL but not in a command.
    #[error("--variant {0}: the URL has `{{port}}`, and this command does not say it to the server")]
    #[diagnostic(help("write `{{port}}` in the command too, or a fixed port in the URL"))]
    PortNotNamed(String),
    /// A setting that fixes the port, which must be ours to choose.
    #[error(
        "{flag} {setting}: the port is not this setting's to choose, because each variant gets a free one"
    )]
    #[diagnostic(help("leave it out, or write `{{port}}` instead of the number"))]
    PortChosen { flag: &'static str, setting: String },
    /// A command before or after a server uses `{port}`, but the server runs only between them.
    #[error("{0}: the port is not known to this command")]
    #[diagnostic(help(
        "leave out `{{port}}`: the server gets its port when it starts, and does not run during this command"
    ))]
    PortOutside(&'static str),
    /// A placeholder that only a file can define.
    #[error("{flag}: `{text}` is the address of a backend, and compare starts none")]
    #[diagnostic(help(
        "write the address itself, or a file with `backends` for `threadcount run` (docs/reference/experiment-file.md)"
    ))]
    Backend { flag: &'static str, text: String },
    /// A flag that has no effect on this kind of service.
    #[error("{flag} has no effect with {kind}")]
    #[diagnostic(help("{help}"))]
    NoEffect { flag: &'static str, kind: &'static str, help: &'static str },
    #[error("--quarkus {0}: one build has one kind of thread")]
    #[diagnostic(help(
        "Quarkus fixes it when an application is built: build it again with -Dquarkus.virtual-threads.enabled=false, and write \
         --quarkus worker=ONE.jar --quarkus virtual=OTHER.jar"
    ))]
    OneBuild(String),
    #[error("{flag} {path}: {why}")]
    #[diagnostic(help("{help}"))]
    Archive { flag: &'static str, path: String, why: String, help: &'static str },
    #[error("--jdk {0}: virtual threads need Java 21 or newer")]
    #[diagnostic(help("write, for example, --jdk 21,25; `threadcount check` lists those of this machine"))]
    JdkTooOld(u16),
    #[error("--jdk {0}: this version is written twice")]
    #[diagnostic(help("write each version once, for example --jdk 21,25"))]
    JdkTwice(u16),
    /// A mistake that no check of the flags found, but that reading the document did.
    #[error("these flags make no experiment: {0}")]
    NotRead(String),
}
