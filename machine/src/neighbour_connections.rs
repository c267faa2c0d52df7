//! Connections that a server has opened to others, by address: how many there are, and whether each always has a request on it.
//!
//! The kernel stamps sending and receiving with a clock of a few milliseconds. A client that sends its next request at once does so in the
//! same tick as the response, so only stamps that differ tell a waiting connection from an idle one.

use super::sock_diag::{Ports, SocketState, TcpSocket};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::time::Instant;
use threadcount_model::record::neighbour::NeighbourConnections;

/// The number of addresses that are kept, those with the most connections.
const MOST_NEIGHBOURS: usize = 4;
/// A connection with fewer messages has no measurable pace.
const FEWEST_MESSAGES: u32 = 3;
/// The age, in paces, from which the last message is late. With one request after another it is never older than one request takes; with
/// several at once on a connection it often is.
const LATE: f64 = 1.25;
/// A tick of the slowest kernel clock, in ms.
const TICK_MS: f64 = 10.0;

/// The connections to one address at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NeighbourReading {
    address: SocketAddr,
    /// Whether the server itself listens at this address.
    is_own: bool,
    open: u32,
    /// Connections whose last message was sent (`waiting`) or received (`answered`).
    waiting: u32,
    answered: u32,
    /// Connections whose pace is known, and among them those whose last message is older than the pace allows.
    paced: u32,
    late: u32,
}

/// The readings of all addresses at one moment.
pub(super) type NeighbourReadings = [Option<NeighbourReading>; MOST_NEIGHBOURS];

/// The moment at which a connection was first seen, and its messages until then.
struct FirstSeen {
    at: Instant,
    messages: u32,
}

/// Reads the connections repeatedly.
#[derive(Default)]
pub(super) struct NeighbourReader {
    first: HashMap<Ports, FirstSeen>,
}

impl NeighbourReader {
    /// Takes one reading. `own` contains the inodes of the server's sockets.
    pub(super) fn read(&mut self, sockets: &[TcpSocket], own: &HashSet<u64>) -> NeighbourReadings {
        let is_listening = |it: &&TcpSocket| it.state == SocketState::Listen;
        let listening: HashSet<u16> = sockets.iter().filter(is_listening).map(|it| it.local_port).collect();
        let accepting: HashSet<u16> = sockets
            .iter()
            .filter(|it| is_listening(it) && own.contains(&it.inode))
            .map(|it| it.local_port)
            .collect();
        let opened = |socket: &&TcpSocket| {
            let is_open = socket.state == SocketState::Established && own.contains(&socket.inode);
            is_open
                && !listening.contains(&socket.local_port)
                && socket.messages().is_some_and(|messages| messages > 0)
        };
        let mut neighbours: Vec<NeighbourReading> = Vec::new();
        let mut seen = HashMap::new();
        for socket in sockets.iter().filter(opened) {
            let (Some(address), Some(messages)) = (socket.remote, socket.messages()) else { continue };
            let first = self.first.remove(&socket.ports()).filter(|first| first.messages <= messages);
            let first = first.unwrap_or_else(|| FirstSeen { at: Instant::now(), messages });
            let at = neighbours.iter().position(|it| it.address == address).unwrap_or_else(|| {
                neighbours.push(NeighbourReading {
                    address,
                    is_own: address.ip().to_canonical().is_loopback() && accepting.contains(&address.port()),
                    open: 0,
                    waiting: 0,
                    answered: 0,
                    paced: 0,
                    late: 0,
                });
                neighbours.len() - 1
            });
            neighbours[at].add(socket, &first, messages);
            seen.insert(socket.ports(), first);
        }
        self.first = seen;
        neighbours.sort_by_key(|it| std::cmp::Reverse(it.open));
        let mut most = NeighbourReadings::default();
        most.iter_mut().zip(neighbours).for_each(|(to, neighbour)| *to = Some(neighbour));
        most
    }
}

impl NeighbourReading {
    fn add(&mut self, socket: &TcpSocket, first: &FirstSeen, messages: u32) {
        let Some((since_sent_ms, since_received_ms)) = socket.ages_ms() else { return };
        self.open += 1;
        self.waiting += u32::from(since_sent_ms < since_received_ms);
        self.answered += u32::from(since_received_ms < since_sent_ms);
        let since_first = messages.saturating_sub(first.messages);
        if since_first >= FEWEST_MESSAGES {
            let pace_ms = first.at.elapsed().as_secs_f64() * 1e3 / f64::from(since_first);
            self.paced += 1;
            self.late += u32::from(f64::from(since_sent_ms) > LATE * pace_ms + TICK_MS);
        }
    }
}

/// The connections over a window, by address.
pub(super) fn within(readings: &[NeighbourReadings]) -> Vec<NeighbourConnections> {
    let mut addresses: Vec<SocketAddr> = readings.iter().flatten().flatten().map(|it| it.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let over_window = |address: SocketAddr| {
        let of_address: Vec<NeighbourReading> =
            readings.iter().flatten().flatten().filter(|it| it.address == address).copied().collect();
        let sum =
            |figure: fn(&NeighbourReading) -> u32| of_address.iter().map(|it| u64::from(figure(it))).sum();
        NeighbourConnections {
            address: address.to_string(),
            is_own: of_address.iter().any(|it| it.is_own),
            readings: of_address.len() as u32,
            fewest: of_address.iter().map(|it| it.open).min().unwrap_or_default(),
            most: of_address.iter().map(|it| it.open).max().unwrap_or_default(),
            waiting: sum(|it| it.waiting),
            answered: sum(|it| it.answered),
            paced: sum(|it| it.paced),
            late: sum(|it| it.late),
        }
    };
    addresses.into_iter().map(over_window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sock_diag::tcp_sockets;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::time::Duration;

    /// Reads the connections of this process, which has both ends; returns those opened to the listener.
    fn read(reader: &mut NeighbourReader, to: SocketAddr) -> Option<NeighbourReading> {
        let sockets = tcp_sockets().expect("readable");
        let opened = sockets.iter().filter(|it| it.remote == Some(to)).map(|it| it.inode).collect();
        reader.read(&sockets, &opened).into_iter().flatten().next()
    }

    #[test]
    fn a_connection_waits_from_its_request_to_the_response_and_is_then_answered() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let mut server = listener.accept().unwrap().0;
        let mut reader = NeighbourReader::default();
        let pause = || std::thread::sleep(Duration::from_millis(30));
        let mut byte = [0];
        client.write_all(b"q").unwrap();
        server.read_exact(&mut byte).unwrap();
        pause();
        assert_eq!(read(&mut reader, address), None, "a connection that has never had a response");
        server.write_all(b"a").unwrap();
        client.read_exact(&mut byte).unwrap();
        pause();
        let seen = read(&mut reader, address).expect("open");
        assert_eq!((seen.open, seen.waiting, seen.answered), (1, 0, 1));
        client.write_all(b"q").unwrap();
        server.read_exact(&mut byte).unwrap();
        pause();
        let seen = read(&mut reader, address).expect("open");
        assert_eq!((seen.open, seen.waiting, seen.answered), (1, 1, 0));
    }

    #[test]
    fn a_port_of_the_servers_own_is_known_as_that() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let mut server = listener.accept().unwrap().0;
        client.write_all(b"q").unwrap();
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"a").unwrap();
        client.read_exact(&mut [0]).unwrap();
        let sockets = tcp_sockets().expect("readable");
        let is_own = |own: &dyn Fn(&TcpSocket) -> bool| {
            let own = sockets.iter().filter(|it| own(it)).map(|it| it.inode).collect();
            NeighbourReader::default().read(&sockets, &own).into_iter().flatten().next().expect("open").is_own
        };
        let is_opened = |it: &TcpSocket| it.remote == Some(address);
        assert!(is_own(&|it| is_opened(it) || it.local_port == address.port()));
        assert!(!is_own(&is_opened), "another process listens there");
    }

    #[test]
    fn readings_of_an_address_are_added_up_over_the_window() {
        let at = |port: u16, open, waiting| {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            Some(NeighbourReading {
                address,
                is_own: false,
                open,
                waiting,
                answered: open - waiting,
                paced: open,
                late: 1,
            })
        };
        let window = within(&[[at(1, 5, 5), at(2, 1, 0), None, None], [at(1, 4, 3), None, None, None]]);
        assert_eq!(window.len(), 2);
        let five = &window[0];
        assert_eq!((five.address.as_str(), five.readings, five.fewest, five.most), ("127.0.0.1:1", 2, 4, 5));
        assert_eq!((five.waiting, five.answered, five.paced, five.late), (8, 1, 9, 2));
    }
}
