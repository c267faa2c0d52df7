//! The TCP sockets of all processes of this machine, in every network namespace, and the processes that hold them.
//!
//! A container has its own namespace, so our own tables do not show what listens there.

use super::process_sockets::socket_inodes;
use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{Process, all_processes};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;

/// The sockets at one moment, as far as we may see them: an unprivileged user cannot see other users' files and namespaces.
#[derive(Debug, Default)]
pub(super) struct MachineSockets {
    namespaces: Vec<Namespace>,
    processes: HashMap<u32, Owner>,
    /// Processes by the inodes of their sockets.
    holders: HashMap<u64, Vec<u32>>,
}

#[derive(Debug, Default)]
struct Namespace {
    sockets: Vec<Socket>,
    /// The addresses of each connection's two ends, as this side sees them.
    connections: HashSet<(SocketAddr, SocketAddr)>,
}

/// One end of a connection, or a listener.
#[derive(Debug)]
struct Socket {
    local: SocketAddr,
    remote: SocketAddr,
    state: TcpState,
    /// The id of the user who owns the socket.
    user: u32,
    inode: u64,
}

/// The parent and the user of a process.
#[derive(Clone, Copy, Debug)]
struct Owner {
    parent: u32,
    user: u32,
}

impl MachineSockets {
    /// Reads all sockets. This searches `/proc`, which takes some milliseconds of CPU.
    pub fn read() -> Self {
        let mut all = Self::default();
        let mut namespaces = HashSet::new();
        for process in all_processes().into_iter().flatten().flatten() {
            let pid = process.pid.unsigned_abs();
            for inode in socket_inodes(&process).into_iter().flatten() {
                all.holders.entry(inode).or_default().push(pid);
            }
            if fs::metadata(format!("/proc/{pid}/ns/net")).is_ok_and(|it| namespaces.insert(it.ino())) {
                all.namespaces.push(Namespace::read(&process));
            }
            if let (Ok(stat), Ok(user)) = (process.stat(), process.uid()) {
                all.processes.insert(pid, Owner { parent: stat.ppid.unsigned_abs(), user });
            }
        }
        all
    }

    /// The processes that listen at the far ends of the clients' connections, with their ports.
    pub fn serving(&self, clients: &BTreeSet<u32>) -> Vec<(u32, u16)> {
        let is_own = |socket: &Socket| {
            let holders = self.holders.get(&socket.inode);
            socket.is_connected() && holders.into_iter().flatten().any(|holder| clients.contains(holder))
        };
        let far_ends = self.namespaces.iter().enumerate().flat_map(|(at, namespace)| {
            let own = namespace.sockets.iter().filter(|it| is_own(it));
            own.filter_map(move |it| self.far_end(at, it))
        });
        let far_ends: BTreeSet<(usize, u16)> = far_ends.collect();
        far_ends.into_iter().filter_map(|(at, port)| Some((self.listener(at, port)?, port))).collect()
    }

    /// The namespace and port of a connection's far end; `None` if it is elsewhere or invisible. Each namespace has its own loopback.
    fn far_end(&self, at: usize, near: &Socket) -> Option<(usize, u16)> {
        let has_it = |namespace: &Namespace| namespace.connections.contains(&(near.remote, near.local));
        if has_it(&self.namespaces[at]) {
            return Some((at, near.remote.port()));
        }
        if near.remote.ip().is_loopback() {
            return None;
        }
        let of_container = self.namespaces.iter().position(has_it).map(|at| (at, near.remote.port()));
        of_container.or_else(|| self.translated_far_end(near))
    }

    /// The far end of a connection to a published port or a cluster's service: DNAT in the kernel changed its destination, not its source.
    fn translated_far_end(&self, near: &Socket) -> Option<(usize, u16)> {
        let is_it = |it: &&Socket| it.is_connected() && it.remote == near.local;
        let mut all = self.namespaces.iter().enumerate();
        all.find_map(|(at, namespace)| Some((at, namespace.sockets.iter().find(is_it)?.local.port())))
    }

    /// The first process that listens at a port; the processes it started may listen there too.
    fn listener(&self, namespace: usize, port: u16) -> Option<u32> {
        let sockets = self.namespaces[namespace].sockets.iter();
        let listening: Vec<&Socket> =
            sockets.filter(|it| it.state == TcpState::Listen && it.local.port() == port).collect();
        let holders: BTreeSet<u32> =
            listening.iter().filter_map(|it| self.holders.get(&it.inode)).flatten().copied().collect();
        let parent = |pid: &u32| self.processes.get(pid).map(|it| it.parent);
        let root = holders.iter().find(|pid| parent(pid).is_none_or(|it| !holders.contains(&it)));
        root.copied().or_else(|| self.only_root_of(listening.first()?.user))
    }

    /// The likely listener if its files are invisible, by its user: a database has a user of its own, and one process that started the
    /// others. `None` if the user has several such processes, or is `root`.
    fn only_root_of(&self, user: u32) -> Option<u32> {
        let is_of_user = |pid: u32| self.processes.get(&pid).is_some_and(|it| it.user == user);
        let mut roots = self.processes.iter().filter(|(pid, it)| is_of_user(**pid) && !is_of_user(it.parent));
        let first = roots.next().map(|(pid, _)| *pid).filter(|_| user != 0)?;
        roots.next().is_none().then_some(first)
    }
}

impl Namespace {
    /// The namespace of a process.
    fn read(process: &Process) -> Self {
        let entries = [process.tcp().ok(), process.tcp6().ok()].into_iter().flatten().flatten();
        let socket =
            |it: TcpNetEntry| Socket::new([it.local_address, it.remote_address], it.state, it.uid, it.inode);
        Self::with(entries.map(socket).collect())
    }

    fn with(sockets: Vec<Socket>) -> Self {
        let connected = sockets.iter().filter(|it| it.is_connected());
        Self { connections: connected.map(|it| (it.local, it.remote)).collect(), sockets }
    }
}

impl Socket {
    /// A JVM's sockets are IPv6, so over IPv4 their connections have mapped addresses (RFC 4291, 2.5.5.2), while the database's ends do
    /// not; both are made canonical.
    fn new(ends: [SocketAddr; 2], state: TcpState, user: u32, inode: u64) -> Self {
        let [local, remote] = ends.map(|it| SocketAddr::new(it.ip().to_canonical(), it.port()));
        Self { local, remote, state, user, inode }
    }

    fn is_connected(&self) -> bool {
        self.state == TcpState::Established
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: u32 = 10;
    const DATABASE: u32 = 20;
    /// The process of the database that has the connection.
    const SESSION: u32 = 21;
    const POSTGRES: u32 = 101;

    fn socket(local: &str, remote: &str, state: TcpState, inode: u64) -> Socket {
        Socket::new([local, remote].map(|it| it.parse().unwrap()), state, POSTGRES, inode)
    }

    /// A server connected to a database, with the addresses as each end sees them, in these two namespaces.
    fn connected(of_server: [&str; 2], of_database: [&str; 2], namespaces: [usize; 2]) -> MachineSockets {
        let mut sockets = [Vec::new(), Vec::new()];
        let mut add = |namespace: usize, [local, remote]: [&str; 2], state, inode| {
            sockets[namespace].push(socket(local, remote, state, inode));
        };
        add(namespaces[0], of_server, TcpState::Established, 1);
        add(namespaces[1], ["0.0.0.0:5432", "0.0.0.0:0"], TcpState::Listen, 2);
        add(namespaces[1], of_database, TcpState::Established, 3);
        let owners = [(SERVER, 1, 1_000), (DATABASE, 1, POSTGRES), (SESSION, DATABASE, POSTGRES), (1, 0, 0)];
        MachineSockets {
            namespaces: sockets.into_iter().map(Namespace::with).collect(),
            processes: owners.map(|(pid, parent, user)| (pid, Owner { parent, user })).into(),
            holders: [(1, vec![SERVER]), (2, vec![SESSION, DATABASE]), (3, vec![SESSION])].into(),
        }
    }

    /// A server connected to a database over the loopback.
    fn connected_here() -> MachineSockets {
        connected(["127.0.0.1:4000", "127.0.0.1:5432"], ["127.0.0.1:5432", "127.0.0.1:4000"], [0, 0])
    }

    fn serving(sockets: &MachineSockets) -> Vec<(u32, u16)> {
        sockets.serving(&BTreeSet::from([SERVER]))
    }

    #[test]
    fn the_far_end_of_a_mapped_address_is_found_and_its_first_listener_serves() {
        let mapped = ["[::ffff:127.0.0.1]:4000", "[::ffff:127.0.0.1]:5432"];
        let of_jvm = connected(mapped, ["127.0.0.1:5432", "127.0.0.1:4000"], [0, 0]);
        for sockets in [connected_here(), of_jvm] {
            assert_eq!(serving(&sockets), [(DATABASE, 5432)]);
            assert_eq!(
                sockets.serving(&BTreeSet::from([DATABASE, SESSION])),
                [],
                "its clients do not serve it"
            );
        }
    }

    #[test]
    fn the_database_in_a_container_serves_and_the_loopback_of_another_namespace_is_not_ours() {
        let across = |near, far| serving(&connected([near, far], [far, near], [0, 1]));
        assert_eq!(across("172.17.0.1:4000", "172.17.0.2:5432"), [(DATABASE, 5432)]);
        assert_eq!(across("127.0.0.1:4000", "127.0.0.1:5432"), []);
    }

    #[test]
    fn a_destination_that_the_kernel_has_changed_leads_to_the_database_and_another_machine_to_nothing() {
        let from = "10.0.0.5:4000";
        let published = |of_database| serving(&connected([from, "10.0.0.5:15432"], of_database, [0, 1]));
        assert_eq!(published(["172.17.0.2:5432", from]), [(DATABASE, 5432)]);
        assert_eq!(published(["172.17.0.2:5432", "10.0.0.9:4000"]), []);
    }

    #[test]
    fn a_listener_whose_files_may_not_be_seen_is_the_only_root_of_its_user() {
        let mut hidden = connected_here();
        hidden.holders.retain(|_, pids| pids.contains(&SERVER));
        assert_eq!(serving(&hidden), [(DATABASE, 5432)]);
        hidden.processes.insert(30, Owner { parent: 1, user: POSTGRES });
        assert_eq!(serving(&hidden), [], "that user has another one");
        hidden.processes.remove(&30);
        hidden.processes.values_mut().for_each(|it| it.user = 0);
        let listening = &mut hidden.namespaces[0].sockets;
        listening.iter_mut().for_each(|it| it.user = 0);
        assert_eq!(serving(&hidden), [], "root has many");
    }
}
