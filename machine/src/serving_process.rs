//! The processes of this machine that serve another process: its database, its neighbours, and the processes that serve those.
//!
//! They are found through a server's own connections: a process listens at the port of each far end, here or in a container of this
//! machine. That process belongs to the server, so its CPU is not interference.

use super::machine_sockets::MachineSockets;
use super::process_file::printable_name;
use super::process_tree::ProcessTree;
use procfs::process::Process;
use std::collections::{BTreeSet, VecDeque};

/// A process that serves another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingProcess {
    /// The root of the processes that listen at the port: a database has a process per connection.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
    pub port: u16,
}

/// The processes of this machine that the process tree of `client` is connected to, and those that they are connected to in turn, as
/// through a proxy. The tree itself and our own process are left out.
#[must_use]
pub fn serving_processes(client: u32) -> Vec<ServingProcess> {
    let sockets = MachineSockets::read();
    let tree = tree_of(client);
    let mut known = BTreeSet::from([std::process::id()]);
    known.extend(&tree);
    let mut clients = VecDeque::from([tree]);
    let mut found = Vec::new();
    while let Some(tree) = clients.pop_front() {
        for (pid, port) in sockets.serving(&tree) {
            if known.insert(pid) {
                let tree = tree_of(pid);
                known.extend(&tree);
                clients.push_back(tree);
                found.push(ServingProcess { pid, name: name(pid), port });
            }
        }
    }
    found
}

/// The ids of a process and its descendants.
fn tree_of(root: u32) -> BTreeSet<u32> {
    ProcessTree::rooted_at(root).members().iter().map(|&(pid, _)| pid.unsigned_abs()).collect()
}

fn name(pid: u32) -> String {
    Process::new(pid as i32)
        .and_then(|it| it.stat())
        .map_or_else(|_| "a process".to_owned(), |it| printable_name(&it.comm))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    /// Starts Python code as a server or as its client, which may or may not connect.
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
    /// A client; `argument` is its address and the port.
    const CLIENT: &str = "import socket,sys\nhost,port=sys.argv[1].rsplit(':',1)\n\
                          s=socket.create_connection((host,int(port)))\n\
                          print('connected',flush=True)\nsys.stdin.read()";

    /// Ends the processes, and waits until they are gone.
    fn end<const N: usize>(children: [&mut Child; N]) {
        for child in children {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    #[test]
    fn the_first_process_that_listens_at_the_far_end_serves_the_client_and_the_client_does_not_serve_it() {
        // A JVM connects from an IPv6 socket, so that is tried too.
        for host in ["127.0.0.1", "::ffff:127.0.0.1"] {
            let (mut server, port) = python(SERVER, "");
            let (mut client, _) = python(CLIENT, &format!("{host}:{port}"));
            let found = serving_processes(client.id());
            let of_server = serving_processes(server.id());
            end([&mut client, &mut server]);
            let [serving] = found.as_slice() else { panic!("{host}: {found:?}") };
            assert_eq!((serving.pid, serving.port.to_string()), (server.id(), port));
            assert!(serving.name.starts_with("python"), "{}", serving.name);
            assert_eq!(of_server, []);
        }
    }

    #[test]
    fn what_serves_a_proxy_serves_its_clients_too() {
        const PROXY: &str = "import socket,sys\nfar=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n\
                             s=socket.create_server(('127.0.0.1',0))\nprint(s.getsockname()[1],flush=True)\nsys.stdin.read()";
        let (mut server, port) = python(SERVER, "");
        let (mut proxy, proxy_port) = python(PROXY, &port);
        let (mut client, _) = python(CLIENT, &format!("127.0.0.1:{proxy_port}"));
        let found: Vec<u32> = serving_processes(client.id()).into_iter().map(|it| it.pid).collect();
        let expected = [proxy.id(), server.id()];
        end([&mut client, &mut proxy, &mut server]);
        assert_eq!(found, expected);
    }
}
