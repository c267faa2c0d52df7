//! A single GET request that checks whether a server is ready. It is not used for load.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use threadcount_model::environment;
use ureq::Agent;
use ureq::tls::TlsConfig;

/// Maximum number of bytes that are read from a response.
const MOST_BYTES: u64 = 256 * 1024;

/// A base URL: scheme, host, port, and the path that precedes those of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    pub is_https: bool,
    /// The host as written, without brackets.
    pub host: String,
    /// The port as written, or the scheme's default.
    pub port: u16,
    /// The path without a slash at its end; often empty.
    pub path: String,
}

/// The error for a text that is not the URL of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a URL of a server; write it like http://127.0.0.1:8080 or http://127.0.0.1:{{port}}")]
pub struct NotAUrl(pub String);

impl BaseUrl {
    /// Parses `http[s]://host[:port][/path]`.
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

    /// The addresses of the host; a server may accept connections at any of them.
    ///
    /// # Errors
    /// The host's name is unknown.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status; `None` if the response is not HTTP/1, for example from an HTTP/2-only server.
    pub status: Option<u16>,
    /// The body; empty if it did not end in time.
    pub body: String,
}

/// Sends one GET request for a path with its query. Certificates are not verified, because readiness does not depend on
/// trust and the load has its own setting for that.
///
/// # Errors
/// When the connection or the TLS handshake fails, or the response does not arrive within the limit.
pub fn get(base: &BaseUrl, path: &str, limit: Duration) -> io::Result<Answer> {
    let scheme = if base.is_https { "https" } else { "http" };
    let host = if base.host.contains(':') { format!("[{}]", base.host) } else { base.host.clone() };
    let url = format!("{scheme}://{host}:{}{}{}", base.port, base.path, environment::filled_in_path(path));
    let asked =
        client(limit).get(url).header("Accept", "application/json, */*").header("Connection", "close").call();
    match asked {
        Ok(mut answer) => {
            let status = Some(answer.status().as_u16());
            let body = answer.body_mut().with_config().limit(MOST_BYTES).lossy_utf8(true).read_to_string();
            Ok(Answer { status, body: body.unwrap_or_default() })
        }
        Err(ureq::Error::Protocol(_)) => Ok(Answer { status: None, body: String::new() }),
        Err(ureq::Error::Timeout(_)) => {
            Err(io::Error::new(io::ErrorKind::TimedOut, format!("no response within {limit:?}")))
        }
        Err(error) => Err(error.into_io()),
    }
}

/// A client without proxies and redirects, for which every status is a response.
fn client(limit: Duration) -> Agent {
    let tls = TlsConfig::builder().disable_verification(true).build();
    let config = Agent::config_builder().tls_config(tls).timeout_global(Some(limit)).proxy(None);
    config.max_redirects(0).max_redirects_will_error(false).http_status_as_error(false).build().new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    fn answered_with(answer: &'static [u8]) -> io::Result<Answer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/base/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let count = stream.read(&mut request).unwrap();
            assert!(request[..count].starts_with(b"GET /base/ready?x=1 HTTP/1.1\r\n"));
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

    /// The kernel accepts connections before the server has loaded its TLS keys.
    #[test]
    fn an_https_server_that_accepts_and_says_nothing_is_not_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let asked = get(&BaseUrl::parse(&url).unwrap(), "/", Duration::from_millis(300));
        assert!(asked.is_err(), "{asked:?}");
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
