//! A free port for a server.

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

/// How often we try for a connection in TIME-WAIT: beyond `net.ipv4.tcp_max_tw_buckets` the kernel silently drops it.
const TRIES: u32 = 20;
const REST: Duration = Duration::from_millis(10);

/// A port that no process listens on, and that the system gives to nobody else for 60 s: a connection of its own, which this end closed
/// first, is in the state TIME-WAIT (RFC 9293, section 3.3.2). A server can listen on the port if it sets `SO_REUSEADDR`, as servers in
/// Java, Go, Node.js and Python do; for other servers there is [`free`]. If the kernel keeps no more connections in that state, this
/// returns a port like [`free`].
///
/// # Errors
/// The system has no free port.
pub fn reserved() -> io::Result<u16> {
    for _ in 1..TRIES {
        let port = ended_first()?;
        if is_kept(port) {
            return Ok(port);
        }
        sleep(REST);
    }
    ended_first()
}

/// The port of a connection that its own end closed first.
fn ended_first() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let mut client = TcpStream::connect(address)?;
    let (server, _) = listener.accept()?;
    // The end that closes first stays in TIME-WAIT.
    drop(server);
    client.read_to_end(&mut Vec::new())?;
    Ok(address.port())
}

/// Whether a socket without `SO_REUSEADDR` is refused there. The standard library sets that option for each listener.
fn is_kept(port: u16) -> bool {
    let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    socket.is_ok_and(|socket| net::bind(&socket, &address) == Err(Errno::ADDRINUSE))
}

/// A port that no process listens on. Another process may take it at any time.
///
/// # Errors
/// The system has no free port.
pub fn free() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Whether a process listens at the address.
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
    use std::collections::BTreeSet;

    #[test]
    fn a_reserved_port_is_given_to_no_other_and_a_server_listens_on_it() {
        const PORTS: usize = 600;
        let ports: BTreeSet<u16> = (0..PORTS).map(|_| reserved().unwrap()).collect();
        assert_eq!(ports.len(), PORTS);
        for &port in ports.iter().take(20) {
            // Nor is it the own port of any connection: one to a port without a listener could connect to itself.
            assert!(!is_taken((Ipv4Addr::LOCALHOST, port).into()));
            drop(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap();
        }
    }

    #[test]
    fn a_port_without_a_connection_in_time_wait_is_not_taken_for_a_reserved_one() {
        assert!(is_kept(ended_first().unwrap()));
        // Another process may take one of the ports at once.
        assert!((0..100).any(|_| !is_kept(free().unwrap())));
    }

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
