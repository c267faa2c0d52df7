//! What connections are made to.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What a connection is made to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}
