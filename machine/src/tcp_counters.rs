//! What the kernel counts of each TCP socket of our network namespace (`sock_diag(7)`, `struct tcp_info`).

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::collections::HashMap;

const BY_FAMILY: u16 = 20;
const REQUEST_AND_DUMP: u16 = 0x301;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const TCP: u8 = 6;
/// `INET_DIAG_INFO`: the answer's attribute with `tcp_info`, and its bit in the question.
const INFO: u16 = 2;
const INFO_BIT: u8 = 1 << (INFO - 1);
const ALL_STATES: u32 = u32::MAX;
const HEADER_BYTES: usize = 16;
/// `struct inet_diag_msg`: the attributes follow it.
const MESSAGE_BYTES: usize = 72;
const FAMILIES: [u8; 2] = [2, 10];

/// Of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    /// Since the last byte was sent and received; both since the connection began where there was none.
    pub since_sent_ms: u32,
    pub since_received_ms: u32,
    /// What the other side has confirmed.
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

/// Local port and remote port: enough to tell connections of one listening port on loopback apart.
pub type Ports = (u16, u16);

/// Of all connections; empty where the kernel does not say it.
#[must_use]
pub fn read() -> HashMap<Ports, TcpCounters> {
    FAMILIES.iter().filter_map(|family| read_family(*family).ok()).flatten().collect()
}

fn read_family(family: u8) -> rustix::io::Result<Vec<(Ports, TcpCounters)>> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
    send(&socket, &question(family), SendFlags::empty())?;
    let mut found = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let (bytes, _) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        if !parse(&buffer[..bytes], &mut found) || bytes == 0 {
            return Ok(found);
        }
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`, in the machine's order of bytes.
fn question(family: u8) -> Vec<u8> {
    const BYTES: u32 = 72;
    let mut bytes = BYTES.to_ne_bytes().to_vec();
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, TCP, INFO_BIT, 0]);
    bytes.extend(ALL_STATES.to_ne_bytes());
    bytes.resize(BYTES as usize, 0);
    bytes
}

/// Whether more messages follow.
fn parse(mut bytes: &[u8], found: &mut Vec<(Ports, TcpCounters)>) -> bool {
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let length = length as usize;
        if kind == DONE || kind == ERROR || length < HEADER_BYTES || length > bytes.len() {
            return false;
        }
        found.extend(message(&bytes[HEADER_BYTES..length]));
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    true
}

fn message(bytes: &[u8]) -> Option<(Ports, TcpCounters)> {
    let port = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let ports = (port(4)?, port(6)?);
    let mut attributes = bytes.get(MESSAGE_BYTES..)?;
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        if kind == INFO {
            return Some((ports, counters(attributes.get(4..usize::from(length))?)?));
        }
        attributes = attributes.get(aligned(usize::from(length).max(4))..)?;
    }
    None
}

/// By their places in `struct tcp_info` (linux/tcp.h).
fn counters(info: &[u8]) -> Option<TcpCounters> {
    let u64_at = |at: usize| Some(u64::from_ne_bytes(info.get(at..at + 8)?.try_into().ok()?));
    Some(TcpCounters {
        since_sent_ms: u32_at(info, 44)?,
        since_received_ms: u32_at(info, 52)?,
        sent_bytes: u64_at(120)?,
        received_bytes: u64_at(128)?,
    })
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn bytes_are_counted_at_the_end_that_received_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut accepted, from) = listener.accept().unwrap();
        client.write_all(b"twelve bytes").unwrap();
        accepted.read_exact(&mut [0; 12]).unwrap();
        let port = listener.local_addr().unwrap().port();
        let counters = read()[&(port, from.port())];
        assert_eq!((counters.received_bytes, counters.sent_bytes), (12, 0));
        assert!(counters.since_received_ms <= counters.since_sent_ms);
    }

    #[test]
    fn what_is_cut_off_ends_the_answer() {
        let mut found = Vec::new();
        assert!(!parse(&[64, 0, 0, 0, 20, 0, 0, 0], &mut found) && found.is_empty());
    }
}
