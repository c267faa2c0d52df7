//! Checking whether a server is ready: it responds over HTTP, or it accepts a TCP connection.

use super::http_get::{Answer, BaseUrl, get};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use threadcount_model::experiment::health::TCP;

/// The question that is repeated until a server is ready.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// A path with its query, or [`TCP`].
    pub path: &'a str,
    /// Whether the path is a health check. For any other path even an error status below 500 shows that the server has started,
    /// because the load may use another method or request a missing path on purpose.
    pub is_of_health: bool,
}

impl Question<'_> {
    /// Whether this status means ready; `None` stands for an accepted connection.
    #[must_use]
    pub fn is_ready(&self, status: Option<u16>) -> bool {
        status.is_none_or(|status| status < if self.is_of_health { 400 } else { 500 })
    }

    /// Whether this status shows that the health-check path is wrong.
    #[must_use]
    pub fn is_mistaken(&self, status: Option<u16>) -> bool {
        self.is_of_health && status.is_some_and(|status| (400..500).contains(&status))
    }
}

/// Asks once: requests a path with its query, or opens a connection.
///
/// # Errors
/// The server is not ready.
pub fn ask(base: &BaseUrl, ready: &str, limit: Duration) -> io::Result<Answer> {
    if ready != TCP {
        return get(base, ready, limit);
    }
    connect(&base.addresses()?, limit)?;
    Ok(Answer { status: None, body: String::new() })
}

/// Connects to the first address that accepts, in their order.
fn connect(addresses: &[SocketAddr], limit: Duration) -> io::Result<()> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host's name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, limit) {
            Ok(_) => return Ok(()),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The question in words for messages: `127.0.0.1:8080/ready`.
#[must_use]
pub fn words(base: &BaseUrl, ready: &str) -> String {
    let BaseUrl { host, port, path, .. } = base;
    if ready == TCP { format!("{host}:{port} (TCP)") } else { format!("{host}:{port}{path}{ready}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_path_of_health_is_ready_with_a_success_and_any_other_with_a_response() {
        let [health, other] = [true, false].map(|is_of_health| Question { path: "/x", is_of_health });
        for (status, of_health, of_other) in
            [(204, true, true), (302, true, true), (404, false, true), (503, false, false)]
        {
            let answers = [health, other].map(|question| question.is_ready(Some(status)));
            assert_eq!(answers, [of_health, of_other], "{status}");
        }
        assert!(health.is_ready(None), "a connection");
        let mistaken = [401, 404, 503].map(|status| health.is_mistaken(Some(status)));
        assert_eq!(mistaken, [true, true, false]);
        assert!(!other.is_mistaken(Some(404)));
    }

    #[test]
    fn a_server_that_accepts_and_says_nothing_is_ready_by_tcp_and_gone_it_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = BaseUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        assert!(ask(&base, TCP, Duration::from_secs(20)).is_ok());
        let silent = ask(&base, "/", Duration::from_millis(200)).unwrap_err();
        assert_eq!(silent.to_string(), "no response within 200ms");
        assert!(words(&base, TCP).ends_with(" (TCP)") && words(&base, "/ready").ends_with("/ready"));
        // The system never gives this port to a process that lets it choose.
        let gone = BaseUrl::parse("http://127.0.0.1:1").unwrap();
        assert!(ask(&gone, TCP, Duration::from_secs(20)).is_err());
    }

    #[test]
    fn a_server_is_ready_at_any_address_of_its_name() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (listens, gone) = (listener.local_addr().unwrap(), SocketAddr::from(([127, 0, 0, 1], 1)));
        let is_ready = |addresses: &[SocketAddr]| connect(addresses, Duration::from_secs(20)).is_ok();
        assert!(is_ready(&[listens]) && is_ready(&[gone, listens]));
        assert!(!is_ready(&[gone]) && !is_ready(&[]));
    }
}
