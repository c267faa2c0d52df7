//! When a server is ready: it responds over HTTP, or it accepts a TCP connection.

use super::http_get::{Answer, BaseUrl, get};
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// Written instead of a path: ready when a connection is accepted. For servers that speak something else than HTTP.
pub const TCP: &str = "tcp";

/// Asks once, for a path with its query or for a connection.
///
/// # Errors
/// It is not ready.
pub fn ask(base: &BaseUrl, ready: &str, limit: Duration) -> io::Result<Answer> {
    if ready != TCP {
        return get(base, ready, limit);
    }
    TcpStream::connect_timeout(&base.address()?, limit)?;
    Ok(Answer { status: None, body: String::new() })
}

/// What is asked, for messages: `127.0.0.1:8080/ready`.
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
    fn a_server_that_accepts_and_says_nothing_is_ready_by_tcp_and_gone_it_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = BaseUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        assert!(ask(&base, TCP, Duration::from_secs(20)).is_ok());
        assert!(ask(&base, "/", Duration::from_millis(200)).is_err());
        assert!(words(&base, TCP).ends_with(" (TCP)") && words(&base, "/ready").ends_with("/ready"));
        drop(listener);
        assert!(ask(&base, TCP, Duration::from_secs(20)).is_err());
    }
}
