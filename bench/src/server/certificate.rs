//! A self-signed certificate, made when the server starts. Clients do not verify it.

use crate::protocol::Protocol;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io;
use std::sync::Arc;

/// The TLS configuration for `protocol`, which is the only one offered by ALPN; `None` in the clear.
///
/// # Errors
/// When no certificate can be made.
pub fn tls_config(protocol: Protocol) -> io::Result<Option<Arc<ServerConfig>>> {
    if !protocol.is_tls() {
        return Ok(None);
    }
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![protocol.alpn().to_vec()];
    // A ticket is two more messages on each connection, and no client here resumes a session.
    config.send_tls13_tickets = 0;
    Ok(Some(Arc::new(config)))
}
