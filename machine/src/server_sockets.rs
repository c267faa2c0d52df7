//! A server's sockets, seen from outside: connections not yet accepted, requests without a response, and drops.

use super::neighbour_connections::{self, NeighbourReader, NeighbourReadings};
use super::segment_count::{SegmentCount, SegmentCounter};
use super::sock_diag::{SocketState, TcpSocket, rest_after, tcp_sockets};
use super::{cpu_clock::own_thread_cpu_ns, process_tree::ProcessTree};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::server_sockets::ServerSockets;

/// The age from which a request without a response counts as old, in milliseconds.
const OLD_MS: u32 = 5_000;
/// How often the server's sockets are searched again, because it may open another port.
const PORTS_AGAIN: Duration = Duration::from_secs(5);

/// The sockets of a server at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketReading {
    connections: u32,
    in_flight: u32,
    old_requests: u32,
    not_accepted: u32,
    accept_queue_limit: u32,
    /// Connection attempts dropped since the sockets were created.
    dropped: u64,
    held_segments: u32,
    segments: SegmentCount,
    neighbours: NeighbourReadings,
}

impl SocketReading {
    /// Continues the counters from a window that directly precedes this one.
    pub(super) fn after(self, first: Option<Self>, last: Option<Self>) -> Self {
        let segments = self.segments.after(first.map(|it| it.segments), last.map(|it| it.segments));
        Self { segments, ..self }
    }
}

/// Reads the sockets of one server.
pub(super) struct SocketReader {
    own: HashSet<u64>,
    ports_again: Instant,
    again: Instant,
    segments: SegmentCounter,
    neighbours: NeighbourReader,
}

impl SocketReader {
    pub fn new() -> Self {
        Self {
            own: HashSet::new(),
            ports_again: Instant::now(),
            again: Instant::now(),
            segments: SegmentCounter::default(),
            neighbours: NeighbourReader::default(),
        }
    }

    /// Reads the sockets; `None` if they are unreadable, the server does not listen, or it is too early to read again.
    pub fn read(&mut self, server: &ProcessTree) -> Option<SocketReading> {
        let (now, began_cpu_ns) = (Instant::now(), own_thread_cpu_ns());
        if now < self.again {
            return None;
        }
        let sockets = tcp_sockets()?;
        if now >= self.ports_again {
            self.own = server.socket_inodes();
            self.ports_again = now + PORTS_AGAIN;
        }
        let reading = reading(&sockets, &self.own, &mut self.segments);
        let reading =
            reading.map(|it| SocketReading { neighbours: self.neighbours.read(&sockets, &self.own), ..it });
        self.again = now + rest_after(began_cpu_ns);
        reading
    }
}

/// One reading. `inodes` are those of the server's sockets.
fn reading(
    sockets: &[TcpSocket],
    inodes: &HashSet<u64>,
    segments: &mut SegmentCounter,
) -> Option<SocketReading> {
    let is_own = |it: &&TcpSocket| it.state == SocketState::Listen && inodes.contains(&it.inode);
    let listening: Vec<&TcpSocket> = sockets.iter().filter(is_own).collect();
    if listening.is_empty() {
        return None;
    }
    // A request that the server sends to itself is part of a request that is counted already.
    let ends_here: HashSet<(u16, u16)> = sockets
        .iter()
        .filter(|it| inodes.contains(&it.inode))
        .filter_map(|it| Some((it.remote?.port(), it.local_port)))
        .collect();
    let is_of_itself =
        |it: &TcpSocket| it.remote.is_some_and(|remote| ends_here.contains(&(it.local_port, remote.port())));
    let is_at_port = |socket: &&TcpSocket| {
        socket.state == SocketState::Established
            && listening.iter().any(|own| own.local_port == socket.local_port)
            && !is_of_itself(socket)
    };
    let connections = || sockets.iter().filter(is_at_port);
    let count = |is_meant: fn(&TcpSocket) -> bool| connections().filter(|it| is_meant(it)).count() as u32;
    Some(SocketReading {
        connections: connections().count() as u32,
        in_flight: count(TcpSocket::has_request),
        old_requests: count(|it| it.has_request_for_ms(OLD_MS)),
        not_accepted: count(|it| it.inode == 0),
        accept_queue_limit: listening.iter().map(|it| it.send_queue).max().unwrap_or_default(),
        dropped: listening.iter().map(|it| u64::from(it.drops)).sum(),
        held_segments: count(TcpSocket::has_held_segment),
        segments: segments.count(connections()),
        neighbours: NeighbourReadings::default(),
    })
}

/// The lowest decile of the connections not accepted, because the first and the last reading may lie beside the load.
fn usually(readings: &[(Nanos, SocketReading)]) -> u32 {
    let mut counts: Vec<u32> = readings.iter().map(|(_, it)| it.not_accepted).collect();
    counts.sort_unstable();
    counts.get(counts.len().div_ceil(10)).copied().unwrap_or_default()
}

/// The server's outgoing connections over a window.
pub(super) fn neighbours_within(readings: &[(Nanos, SocketReading)]) -> Vec<NeighbourConnections> {
    neighbour_connections::within(&readings.iter().map(|(_, it)| it.neighbours).collect::<Vec<_>>())
}

/// The figures over a window; `None` if there is no reading.
pub(super) fn within(readings: &[(Nanos, SocketReading)]) -> Option<ServerSockets> {
    let ((first_ns, first), (last_ns, last)) = (readings.first()?, readings.last()?);
    let mean = |figure: fn(&SocketReading) -> u32| {
        readings.iter().map(|(_, it)| f64::from(figure(it))).sum::<f64>() / readings.len() as f64
    };
    let elapsed_s = last_ns.saturating_sub(*first_ns) as f64 / NANOS_PER_S as f64;
    let requests = first.segments.requests_until(last.segments).filter(|_| elapsed_s > 0.0);
    Some(ServerSockets {
        readings: readings.len() as u32,
        connections: mean(|it| it.connections),
        in_flight: mean(|it| it.in_flight),
        old_requests: last.old_requests,
        not_accepted: mean(|it| it.not_accepted),
        usually_not_accepted: usually(readings),
        accept_queue_limit: last.accept_queue_limit,
        dropped: last.dropped.saturating_sub(first.dropped),
        held_segments: mean(|it| it.held_segments),
        requests_per_s: requests.map(|requests| requests as f64 / elapsed_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};

    fn own() -> SocketReading {
        SocketReader::new().read(&ProcessTree::rooted_at(std::process::id())).expect("readable")
    }

    fn in_port(port: u16) -> SocketReading {
        let sockets = tcp_sockets().expect("readable");
        let own = sockets.iter().filter(|it| it.local_port == port).map(|it| it.inode).collect();
        reading(&sockets, &own, &mut SegmentCounter::default()).expect("it listens")
    }

    /// Waits for a reading that satisfies `is_it`, because what was sent may not have arrived yet.
    fn comes(port: u16, is_it: impl Fn(&SocketReading) -> bool) -> SocketReading {
        let begun = Instant::now();
        loop {
            let seen = in_port(port);
            if is_it(&seen) {
                return seen;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{seen:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn connections_that_nobody_accepted_are_counted_apart_from_accepted_ones() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let clients: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
        let accepted: Vec<_> = (0..2).map(|_| listener.accept().unwrap()).collect();
        let seen = comes(address.port(), |it| (it.connections, it.not_accepted) == (5, 3));
        assert!(seen.accept_queue_limit > 0, "{seen:?}");
        assert_eq!(own().connections, 0, "this process has both ends of each");
        drop((clients, accepted));
    }

    #[test]
    fn a_request_is_in_flight_until_its_response_was_sent() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut idle = TcpStream::connect(address).unwrap();
        let mut waits = TcpStream::connect(address).unwrap();
        let mut ends: Vec<TcpStream> = (0..2).map(|_| listener.accept().unwrap().0).collect();
        let pause = || std::thread::sleep(Duration::from_millis(30));
        idle.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut request = [0; 18];
        ends[0].read_exact(&mut request).unwrap();
        pause();
        ends[0].write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        pause();
        assert_eq!(in_port(address.port()).in_flight, 0);
        waits.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        comes(address.port(), |unread| unread.in_flight == 1);
        ends[1].read_exact(&mut request).unwrap();
        assert_eq!(in_port(address.port()).in_flight, 1, "read");
    }

    #[test]
    fn a_connection_that_was_answered_at_once_is_idle_and_one_that_asks_again_at_once_is_not() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut pairs: Vec<(TcpStream, TcpStream)> =
            (0..20).map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0)).collect();
        let ask = |(client, server): &mut (TcpStream, TcpStream)| {
            client.write_all(b"?").unwrap();
            server.read_exact(&mut [0]).unwrap();
        };
        for pair in &mut pairs {
            for _ in 0..5 {
                ask(pair);
                pair.1.write_all(b"!").unwrap();
                pair.0.read_exact(&mut [0]).unwrap();
            }
        }
        comes(address.port(), |it| it.in_flight == 0);
        pairs.iter_mut().take(7).for_each(ask);
        assert_eq!(in_port(address.port()).in_flight, 7);
        for pair in &mut pairs[..7] {
            pair.1.write_all(b"!").unwrap();
            pair.0.read_exact(&mut [0]).unwrap();
            ask(pair);
        }
        assert_eq!(in_port(address.port()).in_flight, 7, "each asks again in the tick of its response");
    }

    #[test]
    fn drops_are_those_of_this_socket_and_not_of_another_one() {
        let [full, idle] = [1, 2].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        rustix::net::listen(&full, 1).unwrap();
        let address = full.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(50));
        let clients: Vec<_> = (0..6).map(|_| connect()).collect();
        comes(address.port(), |it| it.dropped > 0);
        assert_eq!(in_port(idle.local_addr().unwrap().port()).dropped, 0);
        drop(clients);
    }

    #[test]
    fn a_small_segment_behind_an_unacknowledged_one_is_held_and_one_without_is_not() {
        let held = |nodelay: bool| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            server.set_nodelay(nodelay).unwrap();
            // At first the kernel acknowledges at once, later only together with data, or after 40 ms.
            let mut buffer = [0; 100];
            let held = (0..60).filter(|_| {
                client.write_all(b"request").unwrap();
                server.read_exact(&mut buffer[..7]).unwrap();
                server.write_all(b"head").unwrap();
                server.write_all(b"body").unwrap();
                let seen = in_port(listener.local_addr().unwrap().port()).held_segments;
                client.read_exact(&mut buffer[..8]).unwrap();
                seen > 0
            });
            let held = held.count();
            client.shutdown(Shutdown::Both).unwrap();
            held
        };
        assert!(held(false) > 5);
        assert_eq!(held(true), 0);
    }
}
