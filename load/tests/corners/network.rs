//! A network namespace with one other host, which this file implements: it sends what a real host sends when segments are lost.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The address of this side.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The address of the host that this file implements.
pub const HOST: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
pub const PORT: u16 = 80;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

const IP_BYTES: usize = 20;
const TCP_BYTES: usize = 20;

/// Moves the calling thread, and those that it will start, into a network namespace with one host. The host answers each request in three
/// segments, and sends the middle one later than the others.
///
/// # Panics
/// This machine does not allow it: these tests need root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and /dev/net/tun.
pub fn enter(middle_after: Duration) -> Network {
    let needs = "this test needs root and /dev/net/tun";
    // SAFETY: the call affects this thread alone.
    let moved = unsafe { libc::unshare(libc::CLONE_NEWNET) };
    assert_eq!(moved, 0, "{needs}: unshare(CLONE_NEWNET): {}", io::Error::last_os_error());
    let device = tun().unwrap_or_else(|error| panic!("{needs}: {error}"));
    let is_over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_over);
    thread::spawn(move || {
        let mut host = Host { device, middle_after, connections: HashMap::new(), later: Vec::new() };
        while !stop.load(Ordering::Relaxed) {
            host.turn();
        }
    });
    Network { is_over }
}

/// The network, which ends when this is dropped.
pub struct Network {
    is_over: Arc<AtomicBool>,
}

impl Drop for Network {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Creates a device whose packets are read and written here, gives it our address and switches it on (tuntap.rst, netdevice(7)).
fn tun() -> io::Result<File> {
    let device = OpenOptions::new().read(true).write(true).open("/dev/net/tun")?;
    let mut request = interface();
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    ioctl(&device, libc::TUNSETIFF, &mut request)?;
    // SAFETY: a new socket without another owner.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    for (what, address) in
        [(libc::SIOCSIFADDR, OURS), (libc::SIOCSIFNETMASK, Ipv4Addr::new(255, 255, 255, 0))]
    {
        let mut request = interface();
        let internet = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) },
            sin_zero: [0; 8],
        };
        // SAFETY: both are 16 bytes of plain numbers, laid out as the address family requires.
        request.ifr_ifru.ifru_addr =
            unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(internet) };
        ioctl(&socket, what, &mut request)?;
    }
    let mut request = interface();
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    ioctl(&socket, libc::SIOCSIFFLAGS, &mut request)?;
    Ok(device)
}

fn interface() -> libc::ifreq {
    // SAFETY: plain numbers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"corner0") {
        *place = *byte as libc::c_char;
    }
    request
}

fn ioctl(file: &impl AsRawFd, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: these requests take an ifreq.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), what, &raw mut *request) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The host's side of a connection.
#[derive(Clone, Copy)]
struct Connection {
    /// The number of our next byte.
    next: u32,
    /// The number of the client's next byte.
    acknowledged: u32,
}

struct Host {
    device: File,
    middle_after: Duration,
    /// The connections, by the client's port.
    connections: HashMap<u16, Connection>,
    later: Vec<(Instant, Vec<u8>)>,
}

impl Host {
    /// Sends the segments that are due, and handles a packet if one arrives soon.
    fn turn(&mut self) {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.later).into_iter().partition(|(at, _)| *at <= now);
        self.later = later;
        let due: Vec<(Instant, Vec<u8>)> = due;
        for (_, packet) in due {
            self.send(&packet);
        }
        let mut waiting = libc::pollfd { fd: self.device.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the array has one entry.
        if unsafe { libc::poll(&raw mut waiting, 1, 2) } == 1 {
            let mut packet = [0; 4096];
            let len = self.device.read(&mut packet).unwrap_or(0);
            self.receive(&packet[..len]);
        }
    }

    fn send(&mut self, packet: &[u8]) {
        // An error means that the client has gone and needs nothing.
        let _ = self.device.write(packet);
    }

    fn receive(&mut self, packet: &[u8]) {
        if packet.len() < IP_BYTES + TCP_BYTES || packet[0] >> 4 != 4 || packet[9] != libc::IPPROTO_TCP as u8
        {
            return;
        }
        let total = usize::from(u16::from_be_bytes([packet[2], packet[3]])).min(packet.len());
        let tcp = &packet[usize::from(packet[0] & 15) * 4..total];
        let client = u16::from_be_bytes([tcp[0], tcp[1]]);
        let number = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let payload = &tcp[usize::from(tcp[12] >> 4) * 4..];
        let flags = tcp[13];
        if flags & RST != 0 {
            self.connections.remove(&client);
        } else if flags & SYN != 0 {
            let fresh = Connection { next: 1_000, acknowledged: number.wrapping_add(1) };
            self.send(&segment(client, fresh, SYN | ACK, b""));
            self.connections.insert(client, Connection { next: 1_001, ..fresh });
        } else if let Some(connection) = self.connections.get_mut(&client) {
            if number != connection.acknowledged {
                return;
            }
            let end = number.wrapping_add(payload.len() as u32).wrapping_add(u32::from(flags & FIN));
            connection.acknowledged = end;
            let connection = *connection;
            if flags & FIN != 0 {
                self.connections.remove(&client);
                self.send(&segment(client, connection, FIN | ACK, b""));
            } else if payload.ends_with(b"\r\n\r\n") {
                self.answer(client, connection);
            }
        }
    }

    /// Sends the first and the last segment of a response now, and the middle one later.
    fn answer(&mut self, client: u16, mut connection: Connection) {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n{}", "x".repeat(300));
        let answer = answer.as_bytes();
        let mut from = 0;
        for (number, to) in [120, 220, answer.len()].into_iter().enumerate() {
            let packet = segment(client, connection, PSH | ACK, &answer[from..to]);
            connection.next = connection.next.wrapping_add((to - from) as u32);
            from = to;
            if number == 1 {
                self.later.push((Instant::now() + self.middle_after, packet));
            } else {
                self.send(&packet);
            }
        }
        self.connections.insert(client, connection);
    }
}

/// A packet from the host (RFC 791, RFC 9293).
fn segment(client: u16, connection: Connection, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; IP_BYTES + TCP_BYTES];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&((IP_BYTES + TCP_BYTES + payload.len()) as u16).to_be_bytes());
    packet[8] = 64;
    packet[9] = libc::IPPROTO_TCP as u8;
    packet[12..16].copy_from_slice(&HOST.octets());
    packet[16..20].copy_from_slice(&OURS.octets());
    let sum = checksum(&[&packet[..IP_BYTES]]);
    packet[10..12].copy_from_slice(&sum);
    packet[20..22].copy_from_slice(&PORT.to_be_bytes());
    packet[22..24].copy_from_slice(&client.to_be_bytes());
    packet[24..28].copy_from_slice(&connection.next.to_be_bytes());
    packet[28..32].copy_from_slice(&connection.acknowledged.to_be_bytes());
    packet[32] = 5 << 4;
    packet[33] = flags;
    packet[34..36].copy_from_slice(&60_000_u16.to_be_bytes());
    packet.extend_from_slice(payload);
    let length = (TCP_BYTES + payload.len()) as u16;
    let pseudo = [&packet[12..20], &[0, packet[9]], &length.to_be_bytes()].concat();
    let sum = checksum(&[&pseudo, &packet[IP_BYTES..]]);
    packet[36..38].copy_from_slice(&sum);
    packet
}

/// The Internet checksum (RFC 1071); all parts but the last have an even length.
fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 =
        words.map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u32::from(low))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    (!((folded & 0xffff) + (folded >> 16)) as u16).to_be_bytes()
}
