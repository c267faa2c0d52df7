//! Finds the process that listens at a port of this machine.

use super::process_sockets::socket_inodes;
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::{Process, all_processes};

/// The listener's id, the first if several processes share the socket; `None` if nobody listens, or we may not see who.
#[must_use]
pub fn listener(port: u16) -> Option<u32> {
    let entries = tcp().unwrap_or_default().into_iter().chain(tcp6().unwrap_or_default());
    let is_it = |entry: &TcpNetEntry| entry.state == TcpState::Listen && entry.local_address.port() == port;
    let inodes: Vec<u64> = entries.filter(is_it).map(|entry| entry.inode).collect();
    let mut processes = (!inodes.is_empty()).then(all_processes)?.ok()?.flatten();
    let holds_one =
        |it: &Process| socket_inodes(it).is_some_and(|mut all| all.any(|inode| inodes.contains(&inode)));
    processes.find(holds_one).map(|it| it.pid.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn who_listens_is_found_and_who_is_connected_is_not() {
        let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let connected = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        assert_eq!(listener(listening.local_addr().unwrap().port()), Some(std::process::id()));
        assert_eq!(listener(connected.local_addr().unwrap().port()), None);
    }
}
