//! The protocol of a connection above its socket, unless it is plain HTTP/1.1.

use super::cause;
use super::tls::{client_config, server_name};
use super::tls_session::{TlsProgress, TlsSession};
use crate::clock::Nanos;
use crate::error::LoadError;
use crate::failure::FailureCause;
use crate::http2::{Http2Session, NotSent, StreamEnd};
use crate::plan::{LoadPlan, ProtocolChoice};
use crate::request::FieldRequest;
use crate::response::{ReadParts, ResponseReader};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;

/// The kind of sessions of a load.
#[derive(Clone, Debug)]
pub(crate) enum SessionKind {
    /// HTTP/1.1 or HTTP/2 over TLS.
    Tls { config: Arc<ClientConfig>, name: ServerName<'static>, choice: ProtocolChoice },
    /// HTTP/2 in the clear with prior knowledge (RFC 9113 section 3.3).
    Http2,
}

/// The kind of a load's sessions, prepared once before it starts, because reading the certificates takes longer than many responses. `None`
/// for plain HTTP/1.1.
///
/// # Errors
/// [`LoadError::Tls`] if the TLS library refuses the settings.
pub(crate) fn session_kind(plan: &LoadPlan) -> Result<Option<SessionKind>, LoadError> {
    let Some(config) = client_config(plan)? else {
        return Ok((plan.protocol == ProtocolChoice::Http2).then_some(SessionKind::Http2));
    };
    Ok(Some(SessionKind::Tls { config, name: server_name(plan)?, choice: plan.protocol }))
}

/// The parts of HTTP/2 responses that a load reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The parts that are inspected; `None`: responses are not inspected.
    pub parts: Option<Arc<ReadParts>>,
    /// A response is complete with the first byte of its body.
    pub first_byte: bool,
}

/// The protocol of an established session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoken {
    Http1,
    /// HTTP/2 with this many concurrent streams.
    Http2 {
        streams: u32,
    },
}

fn http2_session(width: u32, reading: &Reading) -> Http2Session {
    let mut session = Http2Session::new(width, reading.parts.as_ref());
    session.first_byte = reading.first_byte;
    session
}

/// One connection's TLS and HTTP/2 state.
pub(crate) struct Session {
    tls: Option<TlsSession>,
    http2: Option<Http2Session>,
    choice: ProtocolChoice,
    /// The number of concurrent streams that the load wants.
    width: u32,
    reading: Reading,
    spoken: Option<Spoken>,
    /// The plain bytes that arrived inside TLS with the last receive.
    plain: Vec<u8>,
    /// The bytes of the HTTP stream that were sent since this was last read.
    sent_bytes: u64,
    scratch: Vec<u8>,
    has_ended: bool,
}

impl Session {
    /// A session over a connection that has just been established.
    ///
    /// # Errors
    /// The reason why it cannot begin.
    pub fn new(kind: &SessionKind, width: u32, reading: Reading) -> Result<Self, FailureCause> {
        let (tls, http2, choice) = match kind {
            SessionKind::Tls { config, name, choice } => {
                (Some(TlsSession::new(config, name.clone())?), None, *choice)
            }
            SessionKind::Http2 => (None, Some(http2_session(width, &reading)), ProtocolChoice::Http2),
        };
        Ok(Self {
            tls,
            http2,
            choice,
            width,
            reading,
            spoken: None,
            plain: Vec::new(),
            sent_bytes: 0,
            scratch: Vec::new(),
            has_ended: false,
        })
    }

    /// The protocol; `None` until requests can be sent.
    pub fn spoken(&self) -> Option<Spoken> {
        self.spoken
    }

    pub fn is_http2(&self) -> bool {
        self.http2.is_some()
    }

    /// The protocol in the words of the report.
    pub fn protocol(&self) -> String {
        let http = if self.http2.is_some() { "2" } else { "1.1" };
        match &self.tls {
            Some(tls) => format!("HTTP/{http} over TLS{}", tls.version()),
            None => format!("HTTP/{http} (h2c)"),
        }
    }

    /// Takes bytes that were received at `arrived_ns`; returns how many bytes of the HTTP stream they contained.
    ///
    /// # Errors
    /// The connection cannot be used any more.
    pub fn receive(&mut self, bytes: &[u8], arrived_ns: Nanos) -> Result<u64, FailureCause> {
        self.plain.clear();
        if let Some(tls) = &mut self.tls {
            let refused = |cause| cause::of_refused(cause, self.choice);
            let progress = tls.receive(bytes, &mut self.plain).map_err(refused)?;
            self.has_ended |= progress == TlsProgress::Ended;
        }
        if self.spoken.is_none() {
            self.agree()?;
        }
        let inside = if self.tls.is_some() { &self.plain[..] } else { bytes };
        let inside_bytes = inside.len() as u64;
        if let Some(http2) = &mut self.http2 {
            http2.arrived_ns = arrived_ns;
            http2.receive(inside);
            if self.has_ended {
                http2.end(None);
            }
            if self.spoken.is_none() {
                self.spoken = http2.open()?.map(|streams| Spoken::Http2 { streams });
            }
        }
        Ok(inside_bytes)
    }

    /// After the TLS handshake, sets up the version of HTTP that was negotiated (ALPN, RFC 7301).
    fn agree(&mut self) -> Result<(), FailureCause> {
        let Some(tls) = self.tls.as_ref().filter(|tls| !tls.is_handshaking()) else { return Ok(()) };
        match tls.speaks_http2() {
            true if self.http2.is_none() => {
                self.http2 = Some(http2_session(self.width, &self.reading));
            }
            true => {}
            false if self.choice == ProtocolChoice::Http2 => return Err(cause::HTTP2_NOT_OFFERED),
            false => self.spoken = Some(Spoken::Http1),
        }
        Ok(())
    }

    /// The reason why a connection that ended during its set-up cannot be used.
    pub fn refused(&mut self) -> FailureCause {
        match &mut self.http2 {
            None => cause::ENDED_IN_HANDSHAKE,
            Some(http2) => {
                http2.end(None);
                http2.open().err().unwrap_or(FailureCause::ClosedBeforeAnswer)
            }
        }
    }

    /// Handles the end or failure of the connection, with which its HTTP/2 streams end.
    pub fn end(&mut self, errno: Option<i32>) {
        if let Some(http2) = &mut self.http2 {
            http2.end(errno);
        }
    }

    /// The HTTP/1.1 bytes that arrived with the last receive. The caller must return the memory with `keep_plain`.
    pub fn take_plain(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.plain)
    }

    /// Takes back the memory from `take_plain`.
    pub fn keep_plain(&mut self, plain: Vec<u8>) {
        self.plain = plain;
    }

    /// Whether the server has sent `close_notify`.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the protocol announces its end: TLS sends `close_notify`, without which the data may be truncated.
    pub fn ends_by_word(&self) -> bool {
        self.tls.is_some()
    }

    pub fn send_http1(&mut self, bytes: &[u8]) {
        if let Some(tls) = &mut self.tls {
            self.sent_bytes += bytes.len() as u64;
            tls.send(bytes);
        }
    }

    /// Begins a request on a stream that has none.
    ///
    /// # Errors
    /// The request was not sent.
    pub fn send_http2(&mut self, stream: u32, request: &Arc<FieldRequest>) -> Result<(), NotSent> {
        match &mut self.http2 {
            Some(http2) => http2.send(stream, request),
            None => Err(NotSent::elsewhere()),
        }
    }

    /// Notes that all acknowledgements have left, or are on their way.
    pub fn acknowledgements_left(&mut self) {
        if let Some(http2) = &mut self.http2 {
            http2.unsent_acknowledgements = 0;
        }
    }

    /// The next stream whose request has ended.
    pub fn next_end(&mut self) -> Option<(u32, StreamEnd)> {
        self.http2.as_mut()?.next_end()
    }

    /// The reader of the HTTP/2 response on a stream that has just ended; `None` if responses are not read.
    pub fn reader(&mut self, stream: u32) -> Option<&mut ResponseReader> {
        self.http2.as_mut()?.reader(stream)
    }

    /// When the final header of the last HTTP/2 response of a stream arrived.
    pub fn head_ns(&self, stream: u32) -> Option<Nanos> {
        Some(self.http2.as_ref()?.head_ns(stream))
    }

    /// Whether the response on an HTTP/2 stream has begun.
    pub fn has_head(&self, stream: u32) -> bool {
        self.http2.as_ref().is_some_and(|http2| http2.has_head(stream))
    }

    /// Cancels the request on a stream.
    pub fn cancel(&mut self, stream: u32) {
        if let Some(http2) = &mut self.http2 {
            http2.cancel(stream);
        }
    }

    /// Whether the connection ends with a GOAWAY after streams that the server has processed.
    pub fn has_taken_streams(&self) -> bool {
        self.http2.as_ref().is_some_and(Http2Session::has_taken_streams)
    }

    /// Whether the connection takes new requests.
    pub fn takes_requests(&mut self) -> bool {
        !self.has_ended && self.http2.as_mut().is_none_or(Http2Session::takes_requests)
    }

    /// Appends the GOAWAY for a protocol violation of the server (RFC 9113 section 5.4.1), and the alert that ends TLS once there is a
    /// session.
    pub fn close(&mut self, outgoing: &mut Vec<u8>) {
        if self.http2.as_ref().is_some_and(Http2Session::is_breached) {
            self.take_outgoing(outgoing);
        }
        if let Some(tls) = self.tls.as_mut().filter(|tls| !tls.is_handshaking()) {
            tls.close();
            tls.take_outgoing(outgoing);
        }
    }

    /// Appends the bytes that must be sent now; returns how many bytes of the HTTP stream left since the last call.
    pub fn take_outgoing(&mut self, outgoing: &mut Vec<u8>) -> u64 {
        if let Some(http2) = &mut self.http2 {
            self.scratch.clear();
            http2.take_outgoing(&mut self.scratch);
            self.sent_bytes += self.scratch.len() as u64;
            match &mut self.tls {
                Some(tls) => tls.send(&self.scratch),
                None => outgoing.extend_from_slice(&self.scratch),
            }
        }
        if let Some(tls) = &mut self.tls {
            tls.take_outgoing(outgoing);
        }
        std::mem::take(&mut self.sent_bytes)
    }
}
