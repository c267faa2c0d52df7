//! One server for every transport; a test chooses the reply to each request.

use crate::noticing::{Ending, Noticing, StaysOpen};
use crate::reply::{Act, Closing, Reply, Request};
use crate::transport::Transport;
use bytes::Bytes;
use h2::server::SendResponse;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

/// The time for which a server that abandons its HTTP/2 connection still reads from it, so that its response leaves.
pub const STILL_READS: Duration = Duration::from_secs(1);

/// The ways in which servers end an idle connection over HTTP/1.1 (RFC 9110 section 15.5.9).
pub const REQUEST_TIMEOUTS: [&str; 2] = [
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
    "HTTP/1.1 408 \r\nContent-Length: 3\r\nConnection: close\r\n\r\nbye",
];

/// The cookie of a redirect.
pub const REDIRECTED: &str = "redirected=yes";

/// The beginning of a stream of events over HTTP/1.1.
const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
    9\r\ndata: 1\n\n\r\n";

/// A running server. It ends with the test.
pub struct Server {
    pub port: u16,
    pub unix_socket: Option<PathBuf>,
    shared: Arc<Shared>,
}

struct Shared {
    transport: Transport,
    reply: Box<dyn Fn(&Request) -> Reply + Send + Sync>,
    acceptor: TlsAcceptor,
    /// The time before the server sends anything on a new connection, except on the first `greets_at_once` ones.
    greets_after: Duration,
    greets_at_once: u32,
    accepted: AtomicU32,
    /// Connections with lower numbers end as soon as they have no request.
    ends_before: watch::Sender<u32>,
    ended: AtomicU32,
    /// Connections over TLS that ended without close_notify.
    cut_off: AtomicU32,
    requests: AtomicU64,
    /// The number of requests on each connection.
    carried: Mutex<Vec<u64>>,
}

impl Server {
    pub fn start(transport: Transport, reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Self::listen(listener, Arc::new(Shared::new(transport, Duration::ZERO, reply)))
    }

    /// A server that greets its first connections at once and the others after a while; not over `Plain`, which has no greeting.
    pub fn start_greeting(transport: Transport, greets_at_once: u32, greets_after: Duration) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let shared = Shared::new(transport, greets_after, |_| Reply::answer("hi"));
        Self::listen(listener, Arc::new(Shared { greets_at_once, ..shared }))
    }

    /// The same server on a Unix socket.
    pub fn start_unix(
        transport: Transport,
        socket: PathBuf,
        reply: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::new(transport, Duration::ZERO, reply));
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let serving = Arc::clone(&shared);
        serve(async move {
            let listener = UnixListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn_local(Arc::clone(&serving).connection(stream));
            }
        });
        Self { port: 80, unix_socket: Some(socket), shared }
    }

    /// A server whose queue of connections is full until this many are under way, so that the kernel makes each of them wait for a second.
    /// It also delays each handshake.
    pub fn start_slow_to_open(
        transport: Transport,
        connections: usize,
        greets_after: Duration,
        reply: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        set_backlog(&listener, 0);
        let filler = TcpStream::connect(address).unwrap();
        let greets_after = if transport == Transport::Plain { Duration::ZERO } else { greets_after };
        let shared = Arc::new(Shared::new(transport, greets_after, reply));
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            crate::comes_true("its connections are under way", || {
                connecting_to(address.port()) >= connections
            });
            drop((listener.accept(), filler));
            set_backlog(&listener, 128);
            Self::listen(listener, served);
        });
        Self { port: address.port(), unix_socket: None, shared }
    }

    fn listen(listener: std::net::TcpListener, shared: Arc<Shared>) -> Self {
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = Arc::clone(&shared);
        serve(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::task::spawn_local(Arc::clone(&serving).connection(stream));
            }
        });
        Self { port, unix_socket: None, shared }
    }

    /// Ends all idle connections, over HTTP/1.1 with a 408, and waits for that. Requests that were sent before are answered.
    pub fn end_connections(&self) {
        let accepted = self.connections();
        self.shared.ends_before.send_replace(accepted);
        crate::comes_true("its connections have ended", || {
            self.shared.ended.load(Ordering::SeqCst) >= accepted
        });
    }

    /// The number of TLS connections that the client has cut off, once all have ended.
    pub fn cut_off(&self) -> u32 {
        crate::comes_true("its connections have ended", || {
            self.shared.ended.load(Ordering::SeqCst) == self.connections()
        });
        self.shared.cut_off.load(Ordering::SeqCst)
    }

    /// Waits until the server has responded to all that had been sent to it over plain HTTP/1.1. Its one thread takes requests in the order
    /// of arrival, so the response to a later request is the last.
    pub fn catch_up(&self) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        // By the second request its connection has been accepted, and so have all connections before it.
        for _ in 0..2 {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        }
    }

    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> u32 {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// The number of requests that each connection has carried.
    pub fn carried(&self) -> Vec<u64> {
        self.shared.carried.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(socket) = &self.unix_socket {
            let _ = std::fs::remove_file(socket);
        }
    }
}

fn serve(accepting: impl Future<Output = ()> + Send + 'static) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, accepting);
    });
}

/// The number of connections that the kernel is still trying to make to a port (state 02 in proc_net_tcp(5)).
fn connecting_to(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let remote = format!(":{port:04X}");
    let is_one = |line: &str| {
        let mut columns = line.split_whitespace().skip(2);
        columns.next().is_some_and(|at| at.ends_with(&remote)) && columns.next() == Some("02")
    };
    table.lines().filter(|line| is_one(line)).count()
}

fn set_backlog(listener: &std::net::TcpListener, backlog: i32) {
    // SAFETY: a system call on an open socket.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), backlog) }, 0, "{}", io::Error::last_os_error());
}

fn acceptor(transport: Transport) -> TlsAcceptor {
    let key = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let private = PrivateKeyDer::try_from(key.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], private)
        .unwrap();
    let name: &[u8] = if transport.is_http2() { b"h2" } else { b"http/1.1" };
    config.alpn_protocols = vec![name.to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

impl Shared {
    fn new(
        transport: Transport,
        greets_after: Duration,
        reply: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self {
            transport,
            reply: Box::new(reply),
            acceptor: acceptor(transport),
            greets_after,
            greets_at_once: 0,
            accepted: AtomicU32::new(0),
            ends_before: watch::Sender::new(0),
            ended: AtomicU32::new(0),
            cut_off: AtomicU32::new(0),
            requests: AtomicU64::new(0),
            carried: Mutex::default(),
        }
    }

    async fn connection(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + AsRawFd + Unpin + 'static) {
        let connection = self.accepted.fetch_add(1, Ordering::SeqCst);
        self.carried.lock().unwrap().push(0);
        if connection >= self.greets_at_once {
            sleep(self.greets_after).await;
        }
        let fd = stream.as_raw_fd();
        if self.transport.has_tls() {
            if let Ok(stream) = self.acceptor.accept(StaysOpen(stream)).await {
                let stream = Noticing { stream, cut_off: &self.cut_off };
                self.speak(stream, fd, connection).await;
            }
        } else {
            self.speak(stream, fd, connection).await;
        }
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns when the connection must end, and everything that had arrived over it by then could be read.
    async fn is_to_end(&self, connection: u32) {
        let mut ends_before = self.ends_before.subscribe();
        let _ = ends_before.wait_for(|&before| connection < before).await;
        sleep(Duration::from_millis(5)).await;
    }

    async fn speak(&self, stream: impl AsyncRead + AsyncWrite + Unpin, fd: RawFd, connection: u32) {
        let closing = Cell::new(None);
        let stream = Ending { stream, closing: &closing };
        let close = |how| {
            closing.set(Some(how));
            if how == Closing::Fin {
                end_writing(fd);
            }
        };
        if self.transport.is_http2() {
            self.http2(stream, fd, connection, close).await;
        } else {
            self.http1(stream, fd, connection, close).await;
        }
    }

    fn reply_to(&self, connection: u32, nth: u32, path: &str, cookie: &str) -> Reply {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.carried.lock().unwrap()[connection as usize] += 1;
        let request = Request { connection, nth, path: path.to_owned(), cookie: cookie.to_owned() };
        (self.reply)(&request)
    }

    async fn http1(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        fd: RawFd,
        connection: u32,
        close: impl Fn(Closing),
    ) {
        let (mut bytes, mut nth) = (Vec::new(), 0);
        loop {
            let head = tokio::select! {
                biased;
                head = next_head(&mut stream, &mut bytes) => head,
                () = self.is_to_end(connection) => return end(&mut stream, REQUEST_TIMEOUTS[0]).await,
            };
            let Some(head) = head else { return };
            nth += 1;
            let path = head.split(' ').nth(1).unwrap_or_default();
            let mut fields = head.lines().filter_map(|line| line.split_once(": "));
            let cookie = fields.find(|(name, _)| name.eq_ignore_ascii_case("cookie"));
            let cookie = cookie.map_or("", |(_, value)| value);
            let Reply { after, act } = self.reply_to(connection, nth, path, cookie);
            sleep(after).await;
            match act {
                Act::Answer { fields, body } => {
                    if !say(&mut stream, &fields, &body).await {
                        return;
                    }
                }
                Act::AnswerInTwo { body_after } => {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n").await;
                    let _ = stream.flush().await;
                    sleep(body_after).await;
                    let _ = stream.write_all(b"hi").await;
                }
                Act::Redirect { status, location, ends } => {
                    let close = if ends { "Connection: close\r\n" } else { "" };
                    let response = format!(
                        "HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nSet-Cookie: {REDIRECTED}\r\n{close}Content-Length: 5\r\n\r\nmoved"
                    );
                    let _ = stream.write_all(response.as_bytes()).await;
                    let _ = stream.flush().await;
                    if ends {
                        return end(&mut stream, "").await;
                    }
                }
                Act::Events => {
                    let _ = stream.write_all(EVENTS.as_bytes()).await;
                    let _ = stream.flush().await;
                    while next_head(&mut stream, &mut bytes).await.is_some() {}
                    return;
                }
                Act::AnswerAndEnd { farewell, is_apart } => {
                    if is_apart {
                        say(&mut stream, &[], "hi").await;
                        sleep(Duration::from_millis(20)).await;
                        return end(&mut stream, farewell).await;
                    }
                    let together = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi{farewell}");
                    return end(&mut stream, &together).await;
                }
                Act::AnswerAndAbandon { farewell } => {
                    say(&mut stream, &[], "hi").await;
                    unread(fd).await;
                    return end(&mut stream, farewell).await;
                }
                Act::AnswerAndClose(closing) => {
                    say(&mut stream, &[], "hi").await;
                    close(closing);
                    while next_head(&mut stream, &mut bytes).await.is_some() {}
                    return;
                }
                Act::Close => return,
                Act::Reset => return reset_at_close(fd),
                Act::Silence => {
                    while next_head(&mut stream, &mut bytes).await.is_some() {}
                    return;
                }
            }
        }
    }

    async fn http2(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        fd: RawFd,
        connection: u32,
        close: impl Fn(Closing),
    ) {
        let Ok(mut session) = h2::server::handshake(stream).await else { return };
        let mut nth = 0;
        // Streams without a response must be kept, because dropping them would reset them.
        let (mut silent, mut endless) = (Vec::new(), Vec::new());
        loop {
            let accepted = tokio::select! {
                biased;
                accepted = session.accept() => accepted,
                () = self.is_to_end(connection) => return,
            };
            let Some(Ok((request, mut respond))) = accepted else { return };
            nth += 1;
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            let cookie = request.headers().get("cookie").map_or("", |cookie| cookie.to_str().unwrap());
            let Reply { after, act } = self.reply_to(connection, nth, path, cookie);
            match act {
                // Answered at once rather than in a task: on a busy machine, a connection that must end could otherwise overtake its
                // response.
                Act::Answer { fields, body } if after.is_zero() => answer(&mut respond, fields, body),
                Act::Answer { fields, body } => {
                    tokio::task::spawn_local(async move {
                        sleep(after).await;
                        answer(&mut respond, fields, body);
                    });
                }
                Act::AnswerInTwo { body_after } => {
                    tokio::task::spawn_local(async move {
                        let mut sending = respond.send_response(http::Response::new(()), false).unwrap();
                        sleep(body_after).await;
                        let _ = sending.send_data(Bytes::from("hi"), true);
                    });
                }
                Act::Redirect { status, location, .. } => {
                    tokio::task::spawn_local(async move {
                        sleep(after).await;
                        let response = http::Response::builder().status(status).header("location", location);
                        let response = response.header("set-cookie", REDIRECTED).body(()).unwrap();
                        let _ = respond.send_response(response, true);
                    });
                }
                Act::Events => {
                    let mut sending = respond.send_response(http::Response::new(()), false).unwrap();
                    let _ = sending.send_data(Bytes::from("data: 1\n\n"), false);
                    endless.push(sending);
                }
                Act::AnswerAndEnd { .. } => {
                    let mut sending = respond.send_response(http::Response::new(()), false).unwrap();
                    sending.send_data(Bytes::from("hi"), true).unwrap();
                    session.graceful_shutdown();
                }
                Act::AnswerAndAbandon { .. } => {
                    let mut sending = respond.send_response(http::Response::new(()), false).unwrap();
                    sending.send_data(Bytes::from("hi"), true).unwrap();
                    let next = tokio::time::timeout(STILL_READS, session.accept()).await;
                    assert!(next.is_err(), "it was to come later, and not to be read");
                    return unread(fd).await;
                }
                Act::AnswerAndClose(closing) => {
                    answer(&mut respond, Vec::new(), "hi".to_owned());
                    // A connection without news writes and flushes its frames before it waits.
                    let waits = poll_fn(|it| Poll::Ready(session.poll_accept(it).is_pending())).await;
                    assert!(waits, "the next request was to come later");
                    close(closing);
                    while let Some(Ok(_)) = session.accept().await {}
                    return;
                }
                Act::Close => return sleep(after).await,
                Act::Reset => {
                    sleep(after).await;
                    return reset_at_close(fd);
                }
                Act::Silence => silent.push(respond),
            }
        }
    }
}

fn answer(respond: &mut SendResponse<Bytes>, fields: Vec<(&'static str, String)>, body: String) {
    let mut head = http::Response::builder();
    for (name, value) in fields {
        head = head.header(name, value);
    }
    if let Ok(mut sending) = respond.send_response(head.body(()).unwrap(), false) {
        let _ = sending.send_data(Bytes::from(body), true);
    }
}

async fn say(stream: &mut (impl AsyncWrite + Unpin), fields: &[(&'static str, String)], body: &str) -> bool {
    let mut head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in fields {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let whole = format!("{head}\r\n{body}");
    stream.write_all(whole.as_bytes()).await.is_ok() && stream.flush().await.is_ok()
}

/// Sends the last bytes of a connection and ends it.
async fn end(stream: &mut (impl AsyncWrite + Unpin), farewell: &str) {
    let _ = stream.write_all(farewell.as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn next_head(stream: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = bytes.drain(..end + 4).collect();
            return Some(String::from_utf8(head).unwrap());
        }
        if !stream.read_buf(bytes).await.is_ok_and(|read| read > 0) {
            return None;
        }
    }
}

/// Sends the FIN of a socket, from which one can still read.
fn end_writing(fd: RawFd) {
    // SAFETY: a system call on an open socket.
    unsafe { libc::shutdown(fd, libc::SHUT_WR) };
}

/// Makes the close of a socket reset its connection (SO_LINGER, socket(7)).
fn reset_at_close(fd: RawFd) {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    let size = size_of::<libc::linger>() as libc::socklen_t;
    // SAFETY: the option takes a linger, which is given by address and size.
    let done =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, (&raw const at_once).cast(), size) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// Waits until bytes have arrived that are not read.
async fn unread(fd: RawFd) {
    while unread_bytes(fd) == 0 {
        sleep(Duration::from_millis(1)).await;
    }
}

/// The number of bytes that have arrived and were not read (FIONREAD, tcp(7)).
fn unread_bytes(fd: RawFd) -> i32 {
    let mut count: libc::c_int = 0;
    // SAFETY: the request writes one int.
    unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut count) };
    count
}
