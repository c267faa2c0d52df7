//! The TCP sockets of this network namespace from the kernel's `NETLINK_SOCK_DIAG` (sock_diag(7)), which `ss` uses too.

use super::cpu_clock::own_thread_cpu_ns;
use super::tcp_counters::TcpCounters;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The rest after a reading, as a multiple of its CPU time: reading all sockets of the machine may use 1 % of a core.
const REST: u32 = 99;
/// The kernel's numbers for the states.
const ESTABLISHED: u8 = 1;
const CLOSE_WAIT: u8 = 8;
const LISTEN: u8 = 10;
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const ERROR: u16 = 2;
/// `NLM_F_REQUEST | NLM_F_DUMP`
const DUMP: u16 = 0x301;
const TCP: u8 = 6;
/// The attribute `INET_DIAG_INFO` contains a `tcp_info`, `INET_DIAG_SKMEMINFO` the figures for memory and drops.
const INFO: u16 = 2;
const MEMORY: u16 = 7;
const HEADER_BYTES: usize = 16;
const MESSAGE_BYTES: usize = 72;

/// A TCP socket, as far as it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpSocket {
    pub state: SocketState,
    pub local_port: u16,
    /// The remote address; `None` if its family is unknown.
    pub remote: Option<SocketAddr>,
    /// The socket's inode; 0 if no process has accepted the connection yet.
    pub inode: u64,
    /// For a listening socket: the longest accept queue.
    pub send_queue: u32,
    pub drops: u32,
    unread_bytes: u32,
    unacknowledged_segments: u32,
    congestion_window: u32,
    segment_bytes: u32,
    unsent_bytes: u32,
    counters: Option<TcpCounters>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SocketState {
    #[default]
    Established,
    /// The other side sends no more.
    CloseWait,
    Listen,
}

impl TcpSocket {
    #[cfg(test)]
    pub fn with_segments(remote_port: u16, received_segments: u32, sent_segments: u32) -> Self {
        let counters = TcpCounters { received_segments, sent_segments, ..TcpCounters::default() };
        Self {
            remote: Some(([127, 0, 0, 1], remote_port).into()),
            counters: Some(counters),
            ..Self::default()
        }
    }

    /// Whether a request waits for its response, because something has arrived since the last send.
    pub fn has_request(&self) -> bool {
        let Some(counters) = self.counters.filter(|it| it.received_bytes > 0) else { return false };
        self.unread_bytes > 0
            || match counters.since_received_ms.cmp(&counters.since_sent_ms) {
                Ordering::Less => true,
                Ordering::Equal => !counters.is_answered_within_tick(),
                Ordering::Greater => false,
            }
    }

    /// Whether a request has waited this long for its response.
    pub fn has_request_for_ms(&self, time_ms: u32) -> bool {
        self.has_request() && self.counters.is_some_and(|it| it.since_received_ms >= time_ms)
    }

    pub fn ports(&self) -> Ports {
        (self.local_port, self.remote.map_or(0, |it| it.port()))
    }

    /// The numbers of segments with data, received and sent; `None` if an older kernel does not count them.
    pub fn segments(&self) -> Option<(u32, u32)> {
        self.counters.map(|it| (it.received_segments, it.sent_segments))
    }

    /// About the number of messages that were responded to: a request or a response may take several segments.
    pub fn messages(&self) -> Option<u32> {
        self.segments().map(|(received, sent)| received.min(sent))
    }

    /// The milliseconds since something was sent, and since something was received.
    pub fn ages_ms(&self) -> Option<(u32, u32)> {
        self.counters.map(|it| (it.since_sent_ms, it.since_received_ms))
    }

    /// Whether less than a segment waits until an earlier segment is acknowledged.
    pub fn has_held_segment(&self) -> bool {
        let may_send = (1..self.congestion_window).contains(&self.unacknowledged_segments);
        may_send && (1..self.segment_bytes).contains(&self.unsent_bytes)
    }
}

/// The local and the remote port, which are enough to tell apart connections of one listening port on loopback.
pub(super) type Ports = (u16, u16);

/// The counters of all connections; empty if the kernel does not report them.
pub(super) fn counters_by_ports() -> HashMap<Ports, TcpCounters> {
    let sockets = tcp_sockets().unwrap_or_default().into_iter();
    sockets.filter_map(|it| Some((it.ports(), it.counters?))).collect()
}

/// The listening sockets, and those that a process may still write to; `None` if the kernel does not answer.
pub(super) fn tcp_sockets() -> Option<Vec<TcpSocket>> {
    let mut sockets = of_family(AddressFamily::INET)?;
    // A kernel without IPv6 has no sockets of that family.
    sockets.extend(of_family(AddressFamily::INET6).unwrap_or_default());
    Some(sockets)
}

/// How long to rest after a reading that began at this CPU time of the thread.
pub(super) fn rest_after(began_cpu_ns: u64) -> Duration {
    Duration::from_nanos(own_thread_cpu_ns().saturating_sub(began_cpu_ns)) * REST
}

fn of_family(family: AddressFamily) -> Option<Vec<TcpSocket>> {
    let flags = SocketFlags::CLOEXEC;
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG)).ok()?;
    send(&socket, &request(family.as_raw() as u8), SendFlags::empty()).ok()?;
    let mut sockets = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let (length, _) = recv(&socket, &mut buffer[..], RecvFlags::empty()).ok()?;
        let mut rest = &buffer[..length];
        while rest.len() >= HEADER_BYTES {
            let message_bytes = (number(rest, 0) as usize).clamp(HEADER_BYTES, rest.len());
            match half(rest, 4) {
                DONE => return Some(sockets),
                ERROR => return None,
                BY_FAMILY => sockets.extend(tcp_socket(&rest[HEADER_BYTES..message_bytes])),
                _ => {}
            }
            rest = &rest[message_bytes.next_multiple_of(4).min(rest.len())..];
        }
        if length == 0 {
            return None;
        }
    }
}

/// A request: a header, and an `inet_diag_req_v2` with only the family, the states and the attributes.
fn request(family: u8) -> Vec<u8> {
    const BYTES: usize = HEADER_BYTES + 56;
    let mut request = Vec::with_capacity(BYTES);
    request.extend((BYTES as u32).to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(DUMP.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([family, TCP, 1 << (INFO - 1) | 1 << (MEMORY - 1), 0]);
    request.extend((1u32 << ESTABLISHED | 1 << CLOSE_WAIT | 1 << LISTEN).to_ne_bytes());
    request.resize(BYTES, 0);
    request
}

/// Parses an `inet_diag_msg` and its attributes.
fn tcp_socket(message: &[u8]) -> Option<TcpSocket> {
    if message.len() < MESSAGE_BYTES {
        return None;
    }
    let state = match message[1] {
        ESTABLISHED => SocketState::Established,
        CLOSE_WAIT => SocketState::CloseWait,
        LISTEN => SocketState::Listen,
        _ => return None,
    };
    let mut socket = TcpSocket {
        state,
        local_port: u16::from_be_bytes([message[4], message[5]]),
        remote: remote(message),
        unread_bytes: number(message, 56),
        send_queue: number(message, 60),
        inode: u64::from(number(message, 68)),
        ..TcpSocket::default()
    };
    let mut rest = &message[MESSAGE_BYTES..];
    while rest.len() >= 4 {
        let length = usize::from(half(rest, 0)).clamp(4, rest.len());
        let value = &rest[4..length];
        match half(rest, 2) {
            INFO => {
                socket.segment_bytes = number(value, 16);
                socket.unacknowledged_segments = number(value, 24);
                socket.congestion_window = number(value, 80);
                socket.counters = TcpCounters::of_info(value);
                socket.unsent_bytes = number(value, 144);
            }
            MEMORY => socket.drops = number(value, 32),
            _ => {}
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    Some(socket)
}

fn remote(message: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes([message[6], message[7]]);
    let address: [u8; 16] = message[24..40].try_into().ok()?;
    let ip = match AddressFamily::from_raw(message[0].into()) {
        AddressFamily::INET => IpAddr::from([address[0], address[1], address[2], address[3]]),
        AddressFamily::INET6 => IpAddr::from(address).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// A number; 0 beyond the end, because an older kernel sends fewer figures.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|it| it.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_request_is_as_old_as_what_arrived_last_and_one_that_was_answered_is_none() {
        let socket = |since_received_ms, since_sent_ms| TcpSocket {
            counters: Some(TcpCounters {
                since_received_ms,
                since_sent_ms,
                received_bytes: 9,
                sent_bytes: 9,
                ..TcpCounters::default()
            }),
            ..TcpSocket::default()
        };
        assert!(socket(6_000, 7_000).has_request_for_ms(5_000));
        assert!(!socket(4_000, 7_000).has_request_for_ms(5_000), "a young one");
        assert!(!socket(6_000, 5_900).has_request_for_ms(5_000), "it has its response");
    }

    #[test]
    fn bytes_are_counted_at_the_end_that_received_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut accepted, from) = listener.accept().unwrap();
        client.write_all(b"twelve bytes").unwrap();
        accepted.read_exact(&mut [0; 12]).unwrap();
        let port = listener.local_addr().unwrap().port();
        let counters = counters_by_ports()[&(port, from.port())];
        assert_eq!((counters.received_bytes, counters.sent_bytes), (12, 0));
        assert!(counters.since_received_ms <= counters.since_sent_ms);
    }

    #[test]
    fn a_message_that_is_cut_off_is_no_socket() {
        assert_eq!(tcp_socket(&[ESTABLISHED; MESSAGE_BYTES - 1]), None);
    }
}
