//! The sockets at which a process waits for what the other side sends next, as its epoll descriptors show. While a server has a request to answer
//! it waits for no further one of that connection. So a client at whose socket it waits is owed nothing, though the client sent something last: the
//! pong of a WebSocket, for instance.

use super::process_file;
use super::read_limit::ReadLimit;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

const EPOLL: &str = "anon_inode:[eventpoll]";
const EPOLLIN: u64 = 1;
/// What the names of threads contain, in lower case, that read on while they have a request: the loops of Netty and of what is built on it.
const READ_AHEAD: [&str; 4] = ["eventloop", "multithreadio", "reactor-", "grpc-"];

/// The inodes of these sockets; none of a process that reads ahead, because it waits at all of them.
pub(super) fn awaited_inodes(pid: u32) -> HashSet<u64> {
    let names = |folder: &str| {
        let files = fs::read_dir(format!("/proc/{pid}/{folder}")).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect::<Vec<_>>()
    };
    let text = |file: String| process_file::text(pid, &file, ReadLimit::KERNEL_TEXT).unwrap_or_default();
    let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let reads_ahead = |thread: &Path| {
        let name = text(format!("task/{}/comm", file_name(thread))).to_lowercase();
        READ_AHEAD.iter().any(|part| name.contains(part))
    };
    if names("task").iter().any(|thread| reads_ahead(thread)) {
        return HashSet::new();
    }
    let files = names("fd").into_iter();
    let polls = files.filter(|it| fs::read_link(it).is_ok_and(|target| target == Path::new(EPOLL)));
    let lists: Vec<String> = polls.map(|it| text(format!("fdinfo/{}", file_name(&it)))).collect();
    lists.iter().flat_map(|list| list.lines()).filter_map(awaited_inode).collect()
}

/// The socket of a line such as `tfd:       12 events:       19 data: c pos:0 ino:3f2a sdev:8`, if what can be read of it is waited for.
fn awaited_inode(line: &str) -> Option<u64> {
    let number = |name: &str| {
        let (_, behind) = line.split_once(name)?;
        u64::from_str_radix(behind.split_whitespace().next()?, 16).ok()
    };
    (line.starts_with("tfd:") && number("events:")? & EPOLLIN != 0).then(|| number(" ino:"))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_socket_is_awaited_while_its_next_bytes_are_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let inode = fs::metadata(format!("/proc/self/fd/{}", client.as_raw_fd())).unwrap().ino();
        let is_awaited = || awaited_inodes(std::process::id()).contains(&inode);
        assert!(!is_awaited());
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        epoll::add(&poll, &client, epoll::EventData::new_u64(1), epoll::EventFlags::IN).unwrap();
        assert!(is_awaited());
        epoll::modify(&poll, &client, epoll::EventData::new_u64(1), epoll::EventFlags::OUT).unwrap();
        assert!(!is_awaited(), "it only writes");
    }

    #[test]
    fn a_socket_whose_one_event_has_come_is_not_awaited() {
        let line = |events: &str| format!("tfd:       12 events: {events} data:  c  pos:0 ino:3f2a sdev:8");
        assert_eq!(awaited_inode(&line("      19")), Some(0x3f2a));
        assert_eq!(awaited_inode(&line("40000001")), Some(0x3f2a));
        assert_eq!(awaited_inode(&line("40000000")), None);
        assert_eq!(awaited_inode("pos:\t0 ino:12 events: 1"), None);
    }
}
