//! The memory of a load whose server sends large responses on all connections at once.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const MIB: usize = 1 << 20;
const BODY_BYTES: usize = 8 * MIB;
/// The responses take 240 MiB together, of which a load keeps at most 48 MiB. Copies of growing lists, and memory that the allocator has
/// not returned yet, are added.
const MOST_BYTES: usize = 160 * MIB;

/// Answers each request with a large body, in chunks if the path asks for them. Returns the port.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer_all(stream));
        }
    });
    port
}

fn answer_all(mut stream: TcpStream) {
    let (mut request, piece) = ([0; 4_096], vec![b'x'; 65_536]);
    while let Ok(count) = stream.read(&mut request)
        && count > 0
    {
        let is_chunked = request.starts_with(b"GET /chunked");
        let framing = if is_chunked {
            "Transfer-Encoding: chunked".to_owned()
        } else {
            format!("Content-Length: {BODY_BYTES}")
        };
        let (before, after) = if is_chunked { ("10000\r\n", "\r\n") } else { ("", "") };
        let mut answer = || {
            write!(stream, "HTTP/1.1 200 OK\r\n{framing}\r\n\r\n")?;
            for _ in 0..BODY_BYTES / piece.len() {
                stream.write_all(before.as_bytes())?;
                stream.write_all(&piece)?;
                stream.write_all(after.as_bytes())?;
            }
            stream.write_all(if is_chunked { b"0\r\n\r\n" } else { b"" })
        };
        if answer().is_err() {
            return;
        }
    }
}

/// The peak memory of a load with 30 connections, in bytes.
fn peak_bytes(url: &str, flags: &[&str]) -> usize {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("threadcount"));
    command.args(["load", url, "-c", "30", "-n", "30", "-t", "60s", "--quiet"]).args(flags);
    let mut load = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak_kib = 0;
    while load.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", load.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak_kib = peak.map_or(peak_kib, |kib| kib.parse().unwrap());
        thread::sleep(Duration::from_millis(5));
    }
    assert!(peak_kib > 0, "the load was never seen");
    peak_kib * 1_024
}

#[test]
fn a_load_keeps_little_of_large_responses_whatever_it_reads_of_them() {
    let port = serve();
    for (path, flags) in [
        ("plain", &["-L"][..]),
        ("chunked", &["-L"]),
        ("plain", &["--expect-body", "nothing of it"]),
        ("chunked", &["--expect-body", "regex:nothing of it"]),
        ("plain", &["--capture", "id=json:/id"]),
    ] {
        let peak = peak_bytes(&format!("http://127.0.0.1:{port}/{path}"), flags);
        assert!(peak < MOST_BYTES, "{path} {flags:?}: {} MiB", peak / MIB);
    }
}
