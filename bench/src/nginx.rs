//! nginx as the server of TLS and HTTP/2: with a response of its own, or in front of a server of ours, which keeps the time.

use crate::protocol::Protocol;
use crate::server::Served;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The file name of the program.
pub const PROGRAM: &str = "nginx";
/// From its start until it answers.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Its counter is read when it has started and at the end.
const OWN_REQUESTS: u64 = 2;

/// Its version, as it prints it.
#[must_use]
pub fn version(program: &Path) -> String {
    let printed = Command::new(program).arg("-v").output().map(|output| output.stderr).unwrap_or_default();
    String::from_utf8_lossy(&printed).trim().trim_start_matches("nginx version: ").to_owned()
}

/// One nginx with one process.
#[derive(Debug)]
pub struct Nginx {
    process: Child,
    address: SocketAddr,
    status: SocketAddr,
}

impl Nginx {
    /// Starts `command`, which has no arguments yet, with its files in `folder`. `behind`: the server that requests are
    /// passed on to; `None`: it responds itself, at once.
    ///
    /// # Errors
    /// When it cannot be started, or does not listen in time; its log is in the message.
    pub fn start(
        command: &mut Command,
        folder: &Path,
        protocol: Protocol,
        behind: Option<SocketAddr>,
    ) -> io::Result<Self> {
        let (address, status) = two_free_ports()?;
        if protocol.is_tls() {
            let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
            let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
            fs::write(folder.join("cert.pem"), made.cert.pem())?;
            fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())?;
        }
        fs::write(folder.join("nginx.conf"), configuration(address, status, protocol, behind))?;
        let log = folder.join("nginx.log");
        let (prefix, log) = (folder.as_os_str(), log.as_os_str());
        command.args(["-c".as_ref(), "nginx.conf".as_ref(), "-p".as_ref(), prefix, "-e".as_ref(), log]);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.map_err(|error| {
            io::Error::other(format!("nginx cannot be started: {error}; Debian has it in nginx-light"))
        })?;
        let mut nginx = Self { process, address, status };
        let begun = Instant::now();
        while nginx.requests().is_err() {
            if begun.elapsed() > START_LIMIT || nginx.process.try_wait()?.is_some() {
                let log = fs::read_to_string(log).unwrap_or_default();
                return Err(io::Error::other(format!("nginx does not listen: {}", log.trim())));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(nginx)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it counted, when it was loaded for `lasts`: it keeps no times.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn served(&self, lasts: Duration) -> io::Result<Served> {
        let requests = self.requests()?.saturating_sub(OWN_REQUESTS);
        let (answers, seconds) = (requests, lasts.as_secs_f64());
        Ok(Served { requests, answers, seconds, rate_per_s: answers as f64 / seconds, ..Served::default() })
    }

    /// The requests that it has received, this one included.
    fn requests(&self) -> io::Result<u64> {
        let mut stream = TcpStream::connect(self.status)?;
        stream.set_read_timeout(Some(START_LIMIT))?;
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        requests_in(&text).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "nginx reported no counts"))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The third number below "server accepts handled requests".
fn requests_in(text: &str) -> Option<u64> {
    text.split_once("requests")?.1.split_whitespace().nth(2)?.parse().ok()
}

fn two_free_ports() -> io::Result<(SocketAddr, SocketAddr)> {
    let [one, other] = [(); 2].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    Ok((one?.local_addr()?, other?.local_addr()?))
}

/// Idle or busy, a connection stays open: the client decides when it ends.
fn configuration(
    address: SocketAddr,
    status: SocketAddr,
    protocol: Protocol,
    behind: Option<SocketAddr>,
) -> String {
    let (tls, certificate) = if protocol.is_tls() {
        (" ssl", "ssl_certificate cert.pem; ssl_certificate_key key.pem;")
    } else {
        ("", "")
    };
    let h2 = if protocol.is_h2() { " http2" } else { "" };
    let (upstream, response) = match behind {
        None => (String::new(), "return 200 'Hello, World!';"),
        Some(server) => (
            format!("upstream ours {{ server {server}; keepalive 4096; keepalive_requests 1000000000; }}"),
            "proxy_pass http://ours; proxy_http_version 1.1; proxy_set_header Connection '';",
        ),
    };
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {kind};"))
        .join(" ");
    format!(
        "daemon off; master_process off; pid nginx.pid;\n\
         events {{ worker_connections 16384; multi_accept on; }}\n\
         http {{\n  access_log off; default_type text/plain; {temporary}\n  \
         keepalive_requests 1000000000; keepalive_timeout 1h; keepalive_time 1h; {upstream}\n  \
         server {{\n    listen {address}{tls}{h2} backlog=65535; {certificate}\n    location / {{ {response} }}\n  }}\n  \
         server {{ listen {status}; location / {{ stub_status; }} }}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_counter_is_read() {
        let text = "Active connections: 3 \nserver accepts handled requests\n 4 5 1234 \nReading: 0 Writing: 1 Waiting: 2 \n";
        assert_eq!(requests_in(text), Some(1_234));
        assert_eq!(requests_in("404 Not Found"), None);
    }

    #[test]
    fn it_speaks_the_protocol_of_the_table_and_passes_on_only_where_it_should() {
        let [address, status, ours] = [1, 2, 3].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let alone = configuration(address, status, Protocol::H2Tls, None);
        assert!(alone.contains("listen 127.0.0.1:1 ssl http2 ") && alone.contains("return 200"), "{alone}");
        let front = configuration(address, status, Protocol::Http1Tls, Some(ours));
        assert!(
            front.contains("listen 127.0.0.1:1 ssl backlog") && front.contains("server 127.0.0.1:3;"),
            "{front}"
        );
        assert!(!front.contains("return 200"), "{front}");
    }
}
