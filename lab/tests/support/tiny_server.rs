//! A small HTTP/1.1 server for tests of the command line, with keep-alive and one thread per connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A server on a port that the system chose. `/status/404` answers 404, `/sleep/50` answers after 50 ms, `/never` never answers, and every
/// other path answers 200.
pub struct TinyServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// A request as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub line: String,
    pub headers: Vec<String>,
    pub body: String,
}

impl TinyServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &seen));
            }
        });
        Self { address, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let path = request.line.split(' ').nth(1).unwrap_or("/").to_owned();
        let printed = format!("{} {}", request.headers.join(" "), request.body);
        seen.lock().unwrap().push(request);
        let argument = |prefix: &str| path.strip_prefix(prefix).and_then(|rest| rest.parse::<u64>().ok());
        if path == "/never" {
            continue;
        }
        if let Some(ms) = argument("/sleep/") {
            thread::sleep(Duration::from_millis(ms));
        }
        let echo = argument("/echo/");
        let status = argument("/status/").or(echo).unwrap_or(200);
        let body = if echo.is_some() { printed } else { "hello".to_owned() };
        let answer = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if (&*stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<Seen> {
    let mut request = Seen { line: read_line(reader)?, ..Seen::default() };
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        request.headers.push(line);
    }
    let is_length = |line: &&String| line.to_ascii_lowercase().starts_with("content-length:");
    if let Some(length) = request.headers.iter().find(is_length) {
        let mut body = vec![0; length[15..].trim().parse().ok()?];
        std::io::Read::read_exact(reader, &mut body).ok()?;
        request.body = String::from_utf8(body).ok()?;
    }
    Some(request)
}

fn read_line(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
}
