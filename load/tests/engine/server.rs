//! Servers that behave exactly as a test needs: one thread per connection, on a port the system chose.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// A response with two body bytes that keeps the connection.
pub const HI: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// A running server; it stops accepting when dropped, and its connections end with their clients.
pub struct Server {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    pub accepted: Arc<AtomicU32>,
    pub requests: Arc<AtomicU32>,
}

/// The server's side of one connection.
pub struct Conversation {
    stream: TcpStream,
    received: Vec<u8>,
    requests: Arc<AtomicU32>,
}

impl Server {
    /// A server that runs `talk` on every connection.
    pub fn start(talk: impl Fn(&mut Conversation) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, accepted, requests) = (Arc::default(), Arc::<AtomicU32>::default(), Arc::default());
        let (talk, server) = (Arc::new(talk), Self { address, stop, accepted, requests });
        let (stop, accepted, requests) =
            (server.stop.clone(), server.accepted.clone(), server.requests.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                accepted.fetch_add(1, Ordering::SeqCst);
                let (talk, requests) = (talk.clone(), requests.clone());
                let Ok(stream) = stream else { continue };
                let mut conversation = Conversation { stream, received: Vec::new(), requests };
                thread::spawn(move || talk(&mut conversation));
            }
        });
        server
    }

    /// Answers every request with `HI`.
    pub fn answering() -> Self {
        Self::start(|conversation| while conversation.request().is_some() && conversation.say(HI) {})
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Conversation {
    /// The head of the next request; `None` when the client has closed.
    pub fn request(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.received.drain(..end + 4).collect();
                self.requests.fetch_add(1, Ordering::SeqCst);
                return Some(String::from_utf8(head).unwrap());
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(count) if count > 0 => self.received.extend_from_slice(&piece[..count]),
                _ => return None,
            }
        }
    }

    /// Takes the body that follows a head; false when the client closed before its end.
    pub fn body(&mut self, mut len: usize) -> bool {
        let here = len.min(self.received.len());
        self.received.drain(..here);
        len -= here;
        std::io::copy(&mut (&self.stream).take(len as u64), &mut std::io::sink())
            .is_ok_and(|n| n == len as u64)
    }

    /// Whether the client sent more than it should have before its response.
    pub fn has_more(&self) -> bool {
        !self.received.is_empty()
    }

    /// Sends bytes; false when the client has gone.
    pub fn say(&mut self, bytes: &[u8]) -> bool {
        self.stream.set_nodelay(true).is_ok() && self.stream.write_all(bytes).is_ok()
    }

    /// Sends bytes and closes, so that both arrive together.
    pub fn say_with_close(&mut self, bytes: &[u8]) {
        use rustix::net::{SendFlags, send};
        assert_eq!(send(&self.stream, bytes, SendFlags::MORE), Ok(bytes.len()));
        self.close();
    }

    /// Waits until the client has closed.
    pub fn wait_for_close(&mut self) {
        while self.request().is_some() {}
    }

    /// Closes in the ordinary way.
    pub fn close(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Closes with a reset instead of an end.
    pub fn reset(&mut self) {
        let at_once = Some(Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&self.stream, at_once).unwrap();
        // The old stream is dropped for any other, and dropping it sends the reset.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    }
}
