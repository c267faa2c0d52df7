//! The server of the capacity tests, started by hand: it runs already when it is searched.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_machine::port;

/// Eight requests at once, each after 50 ms: 160 requests per second. It ends when it is dropped.
pub struct DelayServer {
    process: Child,
    pub url: String,
}

impl DelayServer {
    pub fn start() -> Self {
        let port = port::reserved().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(port.to_string()).arg("50").env("WORKERS", "8").stderr(Stdio::null());
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
