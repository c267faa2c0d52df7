//! The server of the capacity tests, started by hand, so that it runs before the search begins.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_machine::port;

/// A server that refuses all requests while it has too many connections, so that its speed decides nothing. It ends when it is dropped.
pub struct DelayServer {
    process: Child,
    pub url: String,
}

impl DelayServer {
    pub fn start(most_connections: u32) -> Self {
        let port = port::reserved().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(port.to_string()).arg("0").stderr(Stdio::null());
        command.env("MOST_CONNECTIONS", most_connections.to_string());
        let server = Self { process: command.spawn().unwrap(), url: format!("http://127.0.0.1:{port}") };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60), "the server does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        server
    }
}

impl Drop for DelayServer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
