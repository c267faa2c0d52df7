//! The program as it is called: servers that print their port first and their counts when they are stopped.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};
use threadcount_bench::child::ServerProcess;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_threadcount-bench"))
}

fn ask(server: &ServerProcess, times: u32) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for _ in 0..times {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = [0; threadcount_bench::server::answer::ANSWER.len()];
        stream.read_exact(&mut answer).unwrap();
        assert!(answer.ends_with(b"Hello, World!"));
    }
}

#[test]
fn the_fixed_server_prints_its_port_and_when_stopped_what_it_counted() {
    let server = ServerProcess::start(program().arg("fixed")).unwrap();
    ask(&server, 7);
    let served = server.stop().unwrap();
    assert_eq!((served.requests, served.answers), (7, 7));
}

#[test]
fn the_fixed_servers_delay_holds_each_answer_back() {
    let server = ServerProcess::start(program().args(["fixed", "--delay", "100ms"])).unwrap();
    let start = Instant::now();
    ask(&server, 3);
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(server.stop().unwrap().answers, 3);
}

#[test]
fn the_bare_sleeping_loop_sends_exactly_what_is_due() {
    let server = ServerProcess::start(program().arg("fixed")).unwrap();
    let address = server.address().to_string();
    let output = program().args(["bare", &address, "-c", "8", "-d", "500ms", "-r", "400"]).output().unwrap();
    assert_eq!(server.stop().unwrap().requests, 200);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["answers"], 200, "{output:?}");
    assert!(said["send_lag_p99_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_stall_without_its_period_is_refused_with_the_missing_flag() {
    let output = program().args(["truth", "--stall", "200ms"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--every"));
}

#[test]
fn a_port_in_use_ends_with_a_message_that_names_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = program().args(["fixed", "--port", &port]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&port), "{output:?}");
}

#[test]
fn a_comparison_without_our_program_says_how_to_build_it() {
    let folder = std::env::temp_dir().join(format!("threadcount-bench-test-{}", std::process::id()));
    let output =
        program().args(["compare", "--threadcount", "/nowhere", "--out"]).arg(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cargo build --release"));
}
