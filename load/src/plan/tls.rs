//! TLS settings of the client: trust, identity, resumption.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// TLS settings of the client: trust, identity, resumption. They have no effect without TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// PEM files of the authorities to trust, instead of the system's; empty: the system's.
    pub ca_files: Vec<PathBuf>,
    /// The client certificate, for servers that request one.
    pub identity: Option<ClientIdentity>,
    /// Resume sessions, so that a new connection to the same server has a shorter handshake. `false`: each handshake is a full one.
    pub resumption: bool,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self { ca_files: Vec::new(), identity: None, resumption: true }
    }
}

/// A client certificate and its key, as PEM files. They may be the same file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientIdentity {
    /// The certificate, and the intermediate certificates up to the authority.
    pub certificate: PathBuf,
    /// The private key, not encrypted.
    pub key: PathBuf,
}

impl ClientIdentity {
    #[must_use]
    pub const fn new(certificate: PathBuf, key: PathBuf) -> Self {
        Self { certificate, key }
    }
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsFile {
    /// One of `ca_files`.
    Authority,
    /// The certificate of `identity`.
    Certificate,
    /// The key of `identity`.
    Key,
}

/// Prints the name of the field in the plan.
impl fmt::Display for TlsFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Authority => "`tls.ca_files`",
            Self::Certificate => "`tls.identity.certificate`",
            Self::Key => "`tls.identity.key`",
        })
    }
}

/// A file that cannot be used, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{which} {}: {why}", file.display())]
#[non_exhaustive]
pub struct TlsFileError {
    /// The purpose of the file.
    pub which: TlsFile,
    pub file: PathBuf,
    /// The mistake, and what to write instead.
    pub why: String,
}
