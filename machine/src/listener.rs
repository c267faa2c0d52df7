//! The process that listens at a port of this machine.

use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::{FDTarget, all_processes};

/// Its id; `None`: nobody listens there, or nobody whose files we may see.
#[must_use]
pub fn listener(port: u16) -> Option<u32> {
    let entries = tcp().unwrap_or_default().into_iter().chain(tcp6().unwrap_or_default());
    let is_it = |entry: &TcpNetEntry| entry.state == TcpState::Listen && entry.local_address.port() == port;
    let inodes: Vec<u64> = entries.filter(is_it).map(|entry| entry.inode).collect();
    if inodes.is_empty() {
        return None;
    }
    all_processes().ok()?.flatten().find_map(|process| {
        let files = process.fd().ok()?.flatten();
        let mut sockets = files.filter_map(|file| match file.target {
            FDTarget::Socket(inode) => Some(inode),
            _ => None,
        });
        sockets.any(|inode| inodes.contains(&inode)).then_some(process.pid as u32)
    })
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
