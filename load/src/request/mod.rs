//! What each request says: targets with their weights, rendered once where nothing in them varies.

use bytes::Bytes;

/// Where requests go. All targets of one load share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `https` rather than `http`.
    pub tls: bool,
    /// Host name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// What to ask, shared by all threads and never changed.
#[derive(Debug)]
pub struct RequestSource {
    origin: Origin,
    path: String,
}

/// One request, ready for the wire.
#[derive(Clone, Copy, Debug)]
pub struct RenderedRequest<'a> {
    /// The HTTP/1.1 request, head and body.
    pub bytes: &'a [u8],
    /// True for HEAD: the answer has no body whatever its head says (RFC 9112 section 6.3).
    pub is_head: bool,
    /// True where the method is idempotent, so that it may be sent again when a kept-alive connection turns out to
    /// be closed (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    /// True where `bytes` is the same at every call and lives as long as the source (no copy is needed to send it).
    pub is_static: bool,
}

/// One thread's view of the source: it holds the buffers and the random numbers.
#[derive(Debug)]
pub struct RequestWriter<'s> {
    source: &'s RequestSource,
    buffer: Vec<u8>,
}

impl RequestSource {
    /// One GET. (The `request` room grows the real constructors.)
    #[must_use]
    pub fn get(origin: Origin, path: &str) -> Self {
        Self { origin, path: path.to_owned() }
    }

    /// Where the requests go.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The view of thread `index` of `threads`. `keep_alive: false` adds `Connection: close`.
    #[must_use]
    pub fn writer(&self, index: u32, threads: u32, seed: u64, keep_alive: bool) -> RequestWriter<'_> {
        let _ = (index, threads, seed);
        let close = if keep_alive { "" } else { "Connection: close\r\n" };
        let buffer = format!(
            "GET {} HTTP/1.1\r\nHost: {}:{}\r\n{close}\r\n",
            self.path, self.origin.host, self.origin.port
        );
        RequestWriter { source: self, buffer: buffer.into_bytes() }
    }
}

impl RequestWriter<'_> {
    /// The next request for an HTTP/1.1 connection. No allocation in the steady state.
    pub fn next_http1(&mut self) -> RenderedRequest<'_> {
        RenderedRequest { bytes: &self.buffer, is_head: false, is_idempotent: true, is_static: true }
    }

    /// The next request for a library that writes it itself (hyper).
    pub fn next_http(&mut self) -> http::Request<Bytes> {
        let origin = &self.source.origin;
        let scheme = if origin.tls { "https" } else { "http" };
        let mut request = http::Request::new(Bytes::new());
        if let Ok(uri) = format!("{scheme}://{}:{}{}", origin.host, origin.port, self.source.path).parse() {
            *request.uri_mut() = uri;
        }
        request
    }
}
