//! Servers for TLS and HTTP/2 that misbehave on purpose, each on a port that the system chooses.

use bytes::Bytes;
use h2::Reason;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, SupportedProtocolVersion};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What the server does with requests over HTTP/2.
#[derive(Clone, Copy, Debug)]
pub enum Http2 {
    /// Answers with this status and a short body.
    Answer(u16),
    /// Resets every nth request.
    Reset { every: u64, reason: Reason },
    /// Sends GOAWAY on each connection after this many requests, and responds to the earlier ones.
    Retire { after: u64 },
    /// Ends each connection with a GOAWAY at its first request.
    GoAway(Reason),
    /// Closes each connection at its first request.
    Close,
    /// Announces ten bytes, sends five and ends.
    Short,
    /// Sends the head and closes the connection.
    Cut,
    /// Reads the whole body, then responds.
    ReadAll,
    /// Never responds.
    Silent,
    /// Answers the very first request after this time, and every other at once.
    StallOnce(Duration),
    /// Allows this many concurrent streams, and responds after a moment.
    Narrow(u32),
}

/// A running server. It ends with the test.
pub struct Server {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
}

/// What the server saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub requests: AtomicU64,
    pub connections: AtomicU64,
    pub body_bytes: AtomicU64,
    pub most_at_once: AtomicU64,
    at_once: AtomicU64,
}

impl Server {
    /// HTTP/2 in the clear.
    pub fn h2c(how: Http2) -> Self {
        start(move |stream, seen| async move { http2(stream, how, seen).await })
    }

    /// A server for TLS with these ALPN names: HTTP/2 if it is negotiated, else the raw response over HTTP/1.1.
    pub fn tls(alpn: &'static [&'static [u8]], how: Http2, http1: Http1) -> Self {
        Self::tls_of(rustls::DEFAULT_VERSIONS, alpn, how, http1)
    }

    /// The same server with these TLS versions.
    pub fn tls_of(
        versions: &[&'static SupportedProtocolVersion],
        alpn: &'static [&'static [u8]],
        how: Http2,
        http1: Http1,
    ) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(tls_config(versions, alpn)));
        start(move |stream, seen| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                    http2(stream, how, seen).await;
                } else {
                    http1_answers(stream, http1, seen).await;
                }
            }
        })
    }

    /// A server for plain HTTP/1.1, to which every request is a bad request.
    pub fn plain_http1() -> Self {
        start(|mut stream, _| async move {
            let _ = stream.read_buf(&mut Vec::new()).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
            // Closing with unread bytes would reset the connection before its response is read.
            while stream.read_buf(&mut Vec::new()).await.is_ok_and(|read| read > 0) {}
        })
    }

    pub fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.seen.connections.load(Ordering::SeqCst)
    }
}

/// The response to each request over HTTP/1.1, and whether the server then closes.
#[derive(Clone, Copy, Debug)]
pub struct Http1 {
    pub answer: &'static str,
    pub closes: bool,
}

impl Http1 {
    pub const KEEP_ALIVE: Self =
        Self { answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", closes: false };
}

fn tls_config(versions: &[&'static SupportedProtocolVersion], alpn: &[&[u8]]) -> ServerConfig {
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let private = PrivateKeyDer::try_from(key.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], private)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

fn start<F>(serve: impl Fn(TcpStream, Arc<Seen>) -> F + Send + 'static) -> Server
where
    F: Future<Output = ()> + 'static,
{
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Seen::default());
    let shared = Arc::clone(&seen);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let listener = TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                shared.connections.fetch_add(1, Ordering::SeqCst);
                tokio::task::spawn_local(serve(stream, Arc::clone(&shared)));
            }
        });
    });
    Server { address, seen }
}

async fn http1_answers(mut stream: TlsStream<TcpStream>, how: Http1, seen: Arc<Seen>) {
    let mut bytes = Vec::new();
    loop {
        while let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            bytes.drain(..end + 4);
            seen.requests.fetch_add(1, Ordering::SeqCst);
            if how.closes {
                // Both leave with one write, because the client may have sent its next request before an end that comes later.
                let session = stream.get_mut().1;
                session.writer().write_all(how.answer.as_bytes()).unwrap();
                session.send_close_notify();
                let _ = stream.shutdown().await;
                return;
            }
            if stream.write_all(how.answer.as_bytes()).await.is_err() || stream.flush().await.is_err() {
                return;
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(read) if read > 0 => {}
            _ => return,
        }
    }
}

async fn http2(stream: impl AsyncRead + AsyncWrite + Unpin, how: Http2, seen: Arc<Seen>) {
    let mut builder = h2::server::Builder::new();
    if let Http2::Narrow(streams) = how {
        builder.max_concurrent_streams(streams);
    }
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else { return };
    let mut taken = 0;
    // Streams without a response must be kept, because dropping them would reset them.
    let mut silent = Vec::new();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        taken += 1;
        let number = seen.requests.fetch_add(1, Ordering::SeqCst) + 1;
        match how {
            Http2::Answer(status) => answer(&mut respond, status),
            Http2::Reset { every, reason } if number.is_multiple_of(every) => respond.send_reset(reason),
            Http2::Reset { .. } => answer(&mut respond, 200),
            Http2::Retire { after } => {
                answer(&mut respond, 200);
                if taken == after {
                    connection.graceful_shutdown();
                }
            }
            Http2::GoAway(reason) => connection.abrupt_shutdown(reason),
            Http2::Close => return,
            Http2::Short => {
                let head = http::Response::builder().header("content-length", "10").body(()).unwrap();
                let mut body = respond.send_response(head, false).unwrap();
                body.send_data(Bytes::from_static(b"five!"), true).unwrap();
            }
            Http2::Cut => {
                let body = respond.send_response(http::Response::new(()), false).unwrap();
                let _ = tokio::time::timeout(Duration::from_millis(20), connection.accept()).await;
                drop(body);
                return;
            }
            Http2::ReadAll => {
                let (mut body, seen) = (request.into_body(), Arc::clone(&seen));
                tokio::task::spawn_local(async move {
                    while let Some(Ok(data)) = body.data().await {
                        body.flow_control().release_capacity(data.len()).unwrap();
                        seen.body_bytes.fetch_add(data.len() as u64, Ordering::SeqCst);
                    }
                    answer(&mut respond, 200);
                });
            }
            Http2::Silent => silent.push(respond),
            Http2::StallOnce(time) => {
                if number == 1 {
                    tokio::time::sleep(time).await;
                }
                answer(&mut respond, 200);
            }
            Http2::Narrow(_) => {
                let seen = Arc::clone(&seen);
                let now = seen.at_once.fetch_add(1, Ordering::SeqCst) + 1;
                seen.most_at_once.fetch_max(now, Ordering::SeqCst);
                tokio::task::spawn_local(async move {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    seen.at_once.fetch_sub(1, Ordering::SeqCst);
                    answer(&mut respond, 200);
                });
            }
        }
    }
}

fn answer(respond: &mut h2::server::SendResponse<Bytes>, status: u16) {
    let head = http::Response::builder().status(status).body(()).unwrap();
    if let Ok(mut body) = respond.send_response(head, false) {
        let _ = body.send_data(Bytes::from_static(b"hi"), true);
    }
}
