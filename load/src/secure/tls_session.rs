//! One TLS connection: turns records into plain bytes and back.

use super::cause;
use crate::failure::FailureCause;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ProtocolVersion};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// The number of plain bytes that are read from the library at once.
const READ_BYTES: usize = 16 * 1024;

pub(super) struct TlsSession(ClientConnection);

/// The state after received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsProgress {
    /// More bytes may follow.
    Goes,
    /// The server has closed its side (`close_notify`, RFC 8446 section 6.1).
    Ended,
}

impl TlsSession {
    pub fn new(config: &Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, FailureCause> {
        let mut tls =
            ClientConnection::new(Arc::clone(config), name).map_err(|error| cause::of_tls(&error))?;
        // A request's body is passed on whole; the driver sends it as fast as the server takes it.
        tls.set_buffer_limit(None);
        Ok(Self(tls))
    }

    pub fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    pub fn speaks_http2(&self) -> bool {
        self.0.alpn_protocol() == Some(b"h2")
    }

    pub fn version(&self) -> &'static str {
        match self.0.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => " 1.2",
            Some(ProtocolVersion::TLSv1_3) => " 1.3",
            _ => "",
        }
    }

    /// Takes received records, and appends their plain bytes to `plain`.
    pub fn receive(&mut self, mut records: &[u8], plain: &mut Vec<u8>) -> Result<TlsProgress, FailureCause> {
        let mut progress = TlsProgress::Goes;
        while !records.is_empty() && progress == TlsProgress::Goes {
            self.0.read_tls(&mut records).map_err(|_| FailureCause::Tls("the connection failed"))?;
            self.0.process_new_packets().map_err(|error| cause::of_tls(&error))?;
            progress = self.read(plain);
        }
        Ok(progress)
    }

    fn read(&mut self, plain: &mut Vec<u8>) -> TlsProgress {
        loop {
            let filled = plain.len();
            plain.resize(filled + READ_BYTES, 0);
            let read = self.0.reader().read(&mut plain[filled..]);
            plain.truncate(filled + read.as_ref().copied().unwrap_or_default());
            match read {
                Ok(0) => return TlsProgress::Ended,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return TlsProgress::Goes,
            }
        }
    }

    /// Takes plain bytes to send.
    pub fn send(&mut self, plain: &[u8]) {
        let sent = self.0.writer().write_all(plain);
        debug_assert!(sent.is_ok(), "the buffer has no limit");
    }

    /// Ends our side, because nothing more will be sent.
    pub fn close(&mut self) {
        self.0.send_close_notify();
    }

    /// Appends the records that must be sent.
    pub fn take_outgoing(&mut self, outgoing: &mut Vec<u8>) {
        while self.0.wants_write() && self.0.write_tls(outgoing).is_ok_and(|written| written > 0) {}
    }
}
