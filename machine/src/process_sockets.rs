//! The TCP sockets of a process: its listening ports, its connections, and their unread data.

use super::read_interest::awaited_inodes;
use super::sock_diag::{Ports, counters_by_ports};
use super::tcp_counters::TcpCounters;
use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::net::SocketAddr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    pub local_port: u16,
    pub remote: SocketAddr,
    /// Bytes received but not yet read by the process.
    pub unread_bytes: u32,
    /// Bytes written but not yet acknowledged by the other side.
    pub unsent_bytes: u32,
    /// Whether the process has accepted the connection; until then it belongs to the kernel.
    pub is_accepted: bool,
    /// Whether the process waits for what the other side sends next.
    pub is_awaited: bool,
    /// The kernel's counters; `None` for a process in another network namespace, or if the kernel does not report them.
    pub counters: Option<TcpCounters>,
}

/// The sockets at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSockets {
    /// Connections to a port that the process listens on.
    pub inbound: Vec<Connection>,
    /// Connections that the process has opened.
    pub outbound: Vec<Connection>,
}

impl ProcessSockets {
    /// Reads the sockets of a process; `None` if its files cannot be seen.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let process = Process::new(i32::try_from(pid).ok()?).ok()?;
        let inodes: HashSet<u64> = socket_inodes(&process)?.collect();
        let entries: Vec<TcpNetEntry> =
            [process.tcp().ok(), process.tcp6().ok()].into_iter().flatten().flatten().collect();
        let counters = if is_our_network(pid) { counters_by_ports() } else { HashMap::new() };
        let awaited = awaited_inodes(pid);
        Some(of_entries(&entries, &inodes, &awaited, &counters))
    }
}

fn of_entries(
    entries: &[TcpNetEntry],
    inodes: &HashSet<u64>,
    awaited: &HashSet<u64>,
    counters: &HashMap<Ports, TcpCounters>,
) -> ProcessSockets {
    let is_own = |entry: &&TcpNetEntry| inodes.contains(&entry.inode);
    let listening: HashSet<u16> = entries
        .iter()
        .filter(is_own)
        .filter(|it| it.state == TcpState::Listen)
        .map(|it| it.local_address.port())
        .collect();
    let mut sockets = ProcessSockets::default();
    for entry in entries {
        let is_accepted = inodes.contains(&entry.inode);
        let local_port = entry.local_address.port();
        let is_inbound = listening.contains(&local_port);
        let is_open = matches!(entry.state, TcpState::Established | TcpState::CloseWait);
        if !is_open || !(is_accepted || is_inbound && entry.inode == 0) {
            continue;
        }
        let connection = Connection {
            local_port,
            remote: entry.remote_address,
            unread_bytes: entry.rx_queue,
            unsent_bytes: entry.tx_queue,
            is_accepted,
            is_awaited: awaited.contains(&entry.inode),
            counters: counters.get(&(local_port, entry.remote_address.port())).copied(),
        };
        if is_inbound { sockets.inbound.push(connection) } else { sockets.outbound.push(connection) }
    }
    sockets
}

/// The inodes of a process's sockets; `None` if its files cannot be seen.
pub(super) fn socket_inodes(process: &Process) -> Option<impl Iterator<Item = u64> + use<>> {
    Some(process.fd().ok()?.flatten().filter_map(|file| match file.target {
        FDTarget::Socket(inode) => Some(inode),
        _ => None,
    }))
}

fn is_our_network(pid: u32) -> bool {
    let network = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    network("self").is_some() && network("self") == network(&pid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    #[test]
    fn a_connection_that_nobody_accepted_has_its_bytes_unread() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = TcpStream::connect(address).unwrap();
        waiting.write_all(b"GET").unwrap();
        let read = || ProcessSockets::read(std::process::id()).unwrap();
        let of_ours = |sockets: &ProcessSockets| {
            let ours = sockets.inbound.iter().filter(|it| it.local_port == address.port());
            ours.map(|it| (it.is_accepted, it.unread_bytes)).collect::<Vec<_>>()
        };
        // Sent bytes may not have arrived yet.
        let comes = |expected: [(bool, u32); 1]| {
            let begun = Instant::now();
            while of_ours(&read()) != expected {
                assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", of_ours(&read()));
                sleep(Duration::from_millis(1));
            }
        };
        comes([(false, 3)]);
        let accepted = listener.accept().unwrap();
        comes([(true, 3)]);
        let outbound = read().outbound;
        let own = waiting.local_addr().unwrap().port();
        assert!(outbound.iter().any(|it| it.local_port == own && it.remote == address));
        drop(accepted);
    }
}
