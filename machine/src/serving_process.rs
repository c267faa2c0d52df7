//! The processes of this machine that serve another one: its database, its neighbours.
//!
//! A server's own connections lead to them: the far end of each has a port at which a process listens here. That process belongs
//! to the server, and is no interference.

use super::listener::listeners;
use super::process_tree::ProcessTree;
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::Process;
use std::collections::BTreeSet;

/// A process that serves another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingProcess {
    /// The root of those that listen at the port: a database has a process per connection.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
    pub port: u16,
}

/// The processes of this machine that the process tree of `client` is connected to, without its own and ours.
#[must_use]
pub fn serving_processes(client: u32) -> Vec<ServingProcess> {
    let tree = ProcessTree::rooted_at(client);
    let members: BTreeSet<u32> = tree.members().iter().map(|&(pid, _)| pid.unsigned_abs()).collect();
    let own = tree.socket_inodes();
    let entries: Vec<TcpNetEntry> =
        tcp().unwrap_or_default().into_iter().chain(tcp6().unwrap_or_default()).collect();
    let is_own = |it: &&TcpNetEntry| it.state == TcpState::Established && own.contains(&it.inode);
    // Of a connection within this machine the far end has an entry too.
    let is_local = |it: &&TcpNetEntry| entries.iter().any(|far| far.local_address == it.remote_address);
    let ports: BTreeSet<u16> =
        entries.iter().filter(is_own).filter(is_local).map(|it| it.remote_address.port()).collect();
    let found = ports.into_iter().filter_map(|port| {
        let pid = root_of_listeners(port)?;
        let is_another = pid != std::process::id() && !members.contains(&pid);
        is_another.then(|| ServingProcess { pid, name: name(pid), port })
    });
    found.collect()
}

/// The first of the processes that listen at a port; those that it started do so too.
fn root_of_listeners(port: u16) -> Option<u32> {
    let listeners: Vec<u32> = listeners(port).collect();
    let parent = |pid: u32| Process::new(pid as i32).and_then(|it| it.stat()).map_or(0, |it| it.ppid as u32);
    listeners.iter().copied().find(|&pid| !listeners.contains(&parent(pid)))
}

fn name(pid: u32) -> String {
    Process::new(pid as i32).and_then(|it| it.stat()).map_or_else(|_| "a process".to_owned(), |it| it.comm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    /// A server of another process, and a client of it; the client connects, or does not.
    fn python(code: &str, argument: &str) -> (Child, String) {
        let mut child = Command::new("python3")
            .args(["-c", code, argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().to_owned())
    }

    const SERVER: &str = "import socket,sys,os\ns=socket.create_server(('127.0.0.1',0))\nis_parent=os.fork()\n\
                          is_parent and print(s.getsockname()[1],flush=True)\nsys.stdin.read()";
    const CLIENT: &str = "import socket,sys\ns=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n\
                          print('connected',flush=True)\nsys.stdin.read()";

    #[test]
    fn the_first_process_that_listens_at_the_far_end_serves_the_client_and_the_client_does_not_serve_it() {
        let (mut server, port) = python(SERVER, "");
        let (mut client, _) = python(CLIENT, &port);
        let found = serving_processes(client.id());
        let of_server = serving_processes(server.id());
        for child in [&mut client, &mut server] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        let [serving] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((serving.pid, serving.port.to_string()), (server.id(), port));
        assert!(serving.name.starts_with("python"), "{}", serving.name);
        assert_eq!(of_server, []);
    }
}
