//! A free port for a server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// A port that no process listens on. Another process may take it before the server does; the launcher tries
/// once more then.
///
/// # Errors
/// When the system has none.
pub fn free() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Whether a process listens there.
#[must_use]
pub fn is_taken(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

/// Whether these lines of a server's log report that its port was in use.
#[must_use]
pub fn log_says_taken(lines: &[String]) -> bool {
    const WORDS: [&str; 4] = ["address already in use", "bindexception", "eaddrinuse", "was already in use"];
    lines.iter().any(|line| {
        let line = line.to_lowercase();
        WORDS.iter().any(|words| line.contains(words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_taken_while_somebody_listens() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(is_taken(listener.local_addr().unwrap()));
    }

    #[test]
    fn the_words_of_java_node_and_go_for_a_taken_port_are_known() {
        let says = |line: &str| log_says_taken(&[line.to_owned()]);
        assert!(says("Caused by: java.net.BindException: Address already in use"));
        assert!(says("Error: listen EADDRINUSE: address already in use 127.0.0.1:8080"));
        assert!(says("Web server failed to start. Port 8080 was already in use."));
        assert!(!says("Started in 1.2 s"));
    }
}
