//! From an address to a connection that is ready for its first request: TCP, TLS, and for HTTP/2 the server's settings.

use super::cause;
use super::http1::Http1;
use super::http2::Http2;
use super::transport::{Stream, Traffic, Transport};
use crate::failure::FailureCause;
use crate::outcome::Bytes;
use crate::plan::ProtocolChoice;
use crate::run::{LoadError, Work};
use rustls::ProtocolVersion;
use rustls::pki_types::ServerName;
use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;

/// Connections that are opened in advance at the same time: fewer than any server's backlog of unaccepted ones.
const OPENING_AT_ONCE: usize = 64;

/// A connection that speaks one protocol.
pub(super) enum Link {
    Http1(Box<Http1>),
    Http2(Http2),
}

/// Opens one thread's connections and knows what they carried.
pub(super) struct Connector<'w> {
    address: SocketAddr,
    source_addresses: &'w [IpAddr],
    next_source: Cell<usize>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    choice: ProtocolChoice,
    timeout: Duration,
    traffic: Rc<Traffic>,
    opened: Cell<u64>,
    protocol: RefCell<Option<String>>,
    in_advance: Semaphore,
}

impl<'w> Connector<'w> {
    pub fn new(work: &Work<'w>) -> Result<Self, LoadError> {
        let host = &work.plan.requests.origin().host;
        let tls = match &work.tls {
            None => None,
            Some(config) => {
                let name = ServerName::try_from(host.clone())
                    .map_err(|_| LoadError::Tls(format!("`{host}` is not a name a certificate can have")))?;
                Some((TlsConnector::from(config.clone()), name))
            }
        };
        Ok(Self {
            address: work.address,
            source_addresses: work.source_addresses,
            next_source: Cell::new(work.index as usize),
            tls,
            choice: work.plan.protocol,
            timeout: work.plan.connect_timeout,
            traffic: Rc::new(Traffic::default()),
            opened: Cell::new(0),
            protocol: RefCell::new(None),
            in_advance: Semaphore::new(OPENING_AT_ONCE),
        })
    }

    /// Bytes that all connections carried.
    pub fn traffic(&self) -> Bytes {
        self.traffic.bytes()
    }

    /// Connections that were established.
    pub fn opened(&self) -> u64 {
        self.opened.get()
    }

    /// The protocol that was spoken; without any connection, what was asked for.
    pub fn protocol(&self) -> String {
        let asked = match (self.choice, self.tls.is_some()) {
            (ProtocolChoice::Http2, true) => "HTTP/2 over TLS",
            (ProtocolChoice::Http2, false) => "HTTP/2 (h2c)",
            (ProtocolChoice::Auto | ProtocolChoice::Http1, _) => "HTTP/1.1 over TLS",
        };
        self.protocol.borrow().clone().unwrap_or_else(|| asked.to_owned())
    }

    /// Opens a connection before a request needs it.
    pub async fn connect_in_advance(&self) -> Result<Link, FailureCause> {
        let _place = self.in_advance.acquire().await;
        self.connect().await
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Result<Link, FailureCause> {
        let link = tokio::time::timeout(self.timeout, self.establish())
            .await
            .unwrap_or(Err(FailureCause::ConnectTimeout))?;
        self.opened.update(|opened| opened + 1);
        Ok(link)
    }

    async fn establish(&self) -> Result<Link, FailureCause> {
        let tcp = self.connect_tcp().await.map_err(|error| cause::of_connecting(&error))?;
        let Some((connector, name)) = &self.tls else {
            self.speaks(|| "HTTP/2 (h2c)".to_owned());
            return self.http2(Stream::Plain(tcp)).await;
        };
        let tls = connector.connect(name.clone(), tcp).await.map_err(|error| cause::of_connecting(&error))?;
        let session = tls.get_ref().1;
        let is_http2 = session.alpn_protocol() == Some(b"h2");
        if !is_http2 && self.choice == ProtocolChoice::Http2 {
            return Err(cause::HTTP2_NOT_OFFERED);
        }
        self.speaks(|| {
            let version = match session.protocol_version() {
                Some(ProtocolVersion::TLSv1_2) => " 1.2",
                Some(ProtocolVersion::TLSv1_3) => " 1.3",
                _ => "",
            };
            format!("HTTP/{} over TLS{version}", if is_http2 { "2" } else { "1.1" })
        });
        let stream = Stream::Tls(Box::new(tls));
        if is_http2 {
            return self.http2(stream).await;
        }
        Ok(Link::Http1(Box::new(Http1::new(Transport::new(stream, Rc::clone(&self.traffic))))))
    }

    async fn http2(&self, stream: Stream) -> Result<Link, FailureCause> {
        let transport = Transport::new(stream, Rc::clone(&self.traffic));
        let number = self.opened.get();
        Http2::new(transport, number).await.map(Link::Http2).map_err(|error| cause::of_http2_preface(&error))
    }

    fn speaks(&self, protocol: impl FnOnce() -> String) {
        self.protocol.borrow_mut().get_or_insert_with(protocol);
    }

    async fn connect_tcp(&self) -> std::io::Result<TcpStream> {
        let socket = if self.address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_nodelay(true)?;
        if !self.source_addresses.is_empty() {
            let turn = self.next_source.get();
            self.next_source.set(turn.wrapping_add(1));
            bind_late(&socket)?;
            socket.bind(SocketAddr::new(self.source_addresses[turn % self.source_addresses.len()], 0))?;
        }
        socket.connect(self.address).await
    }
}

/// Leaves the choice of the port to `connect`, so that each source address has the whole port range
/// (`IP_BIND_ADDRESS_NO_PORT`, ip(7)).
fn bind_late(socket: &TcpSocket) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    let on: libc::c_int = 1;
    // SAFETY: the option takes an int, which is given by address and size.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
