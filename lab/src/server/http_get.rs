//! The smallest HTTP client that can ask a server whether it is there. The load does not go through it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// More of an answer is not read.
const MOST_BYTES: u64 = 256 * 1024;

/// A base URL: scheme, host and port, and the path before those of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// `https`?
    pub is_https: bool,
    /// The host as written, without brackets.
    pub host: String,
    /// As written, or the scheme's own.
    pub port: u16,
    /// Without a slash at its end; often empty.
    pub path: String,
}

/// A URL that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a URL of a server; write it like http://127.0.0.1:8080 or http://127.0.0.1:{{port}}")]
pub struct NotAUrl(pub String);

impl BaseUrl {
    /// Understands `http[s]://host[:port][/path]`.
    ///
    /// # Errors
    /// [`NotAUrl`] with the text.
    pub fn parse(url: &str) -> Result<Self, NotAUrl> {
        let wrong = || NotAUrl(url.to_owned());
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let is_https = match scheme {
            "http" => false,
            "https" => true,
            _ => return Err(wrong()),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (authority, if is_https { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        if host.is_empty() { Err(wrong()) } else { Ok(Self { is_https, host, port, path }) }
    }

    /// Its first address.
    ///
    /// # Errors
    /// When the name has none.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let mut addresses = (self.host.as_str(), self.port).to_socket_addrs()?;
        addresses
            .next()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host's name has no address"))
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status; `None`: it is not HTTP/1 (HTTP/2 without upgrade, or TLS, where only the connection is tried).
    pub status: Option<u16>,
    /// The body.
    pub body: String,
}

/// Asks once for a path (with query). HTTP/1.0, so that the end of the connection is the end of the answer.
/// Of an https server only the connection is made.
///
/// # Errors
/// When nobody listens, or no byte comes within the limit.
pub fn get(base: &BaseUrl, path: &str, limit: Duration) -> io::Result<Answer> {
    let give_up = Instant::now() + limit;
    let mut stream = TcpStream::connect_timeout(&base.address()?, limit)?;
    if base.is_https {
        return Ok(Answer { status: None, body: String::new() });
    }
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    let (host, port, before) = (&base.host, base.port, &base.path);
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let request = format!(
        "GET {before}{path} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json, */*\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let bytes = read_answer(&mut stream, give_up)?;
    if bytes.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the connection was closed without an answer",
        ));
    }
    Ok(understand(&String::from_utf8_lossy(&bytes)))
}

/// Everything until the end of the connection. A server that keeps it open is heard until the limit.
fn read_answer(stream: &mut TcpStream, give_up: Instant) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    while Instant::now() < give_up && (bytes.len() as u64) < MOST_BYTES {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if !bytes.is_empty() => break,
            Err(error) => return Err(error),
        }
        if is_whole(&bytes) {
            break;
        }
    }
    Ok(bytes)
}

/// Has the body the length that the head promised?
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| body.len() >= length)
}

fn understand(text: &str) -> Answer {
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.get(..3)?.parse().ok());
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Answer { status, body: body.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn answered_with(answer: &'static [u8]) -> io::Result<Answer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/base/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let count = stream.read(&mut request).unwrap();
            assert!(request[..count].starts_with(b"GET /base/ready?x=1 HTTP/1.0\r\n"));
            stream.write_all(answer).unwrap();
        });
        let answer = get(&BaseUrl::parse(&url).unwrap(), "/ready?x=1", Duration::from_secs(20));
        server.join().unwrap();
        answer
    }

    #[test]
    fn status_and_body_of_an_answer_are_read() {
        let answer = answered_with(b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi").unwrap();
        assert_eq!(answer, Answer { status: Some(200), body: "hi".to_owned() });
        assert_eq!(answered_with(b"HTTP/1.1 503 Busy\r\n\r\n").unwrap().status, Some(503));
    }

    #[test]
    fn something_that_is_not_http_1_has_no_status() {
        assert_eq!(answered_with(b"\x00\x00\x12\x04").unwrap().status, None);
    }

    #[test]
    fn an_end_without_an_answer_is_an_error() {
        assert_eq!(answered_with(b"").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn urls_are_understood_or_refused_with_an_example() {
        let url = |host: &str, port, path: &str| {
            Ok(BaseUrl { is_https: false, host: host.to_owned(), port, path: path.to_owned() })
        };
        assert_eq!(BaseUrl::parse("http://localhost:8080"), url("localhost", 8080, ""));
        assert_eq!(BaseUrl::parse("http://[::1]:8080/api/"), url("::1", 8080, "/api"));
        assert_eq!(BaseUrl::parse("http://[::1]/"), url("::1", 80, ""));
        assert!(BaseUrl::parse("https://a.example").unwrap().is_https);
        for wrong in ["localhost:8080", "ftp://a", "http://", "http://a:b"] {
            assert!(BaseUrl::parse(wrong).unwrap_err().to_string().contains("write it like"), "{wrong}");
        }
    }
}
