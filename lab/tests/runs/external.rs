//! A real ab with a server that counts its requests.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use threadcount_config::read;
use threadcount_model::experiment::LoadSpec;
use threadcount_servers::workload::external::{load, program};

/// Redirects each connection's one request, and counts them.
fn counting_server() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answered = Arc::new(AtomicU64::new(0));
    let counter = answered.clone();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            if connection.read(&mut [0; 1024]).is_ok_and(|bytes| bytes > 0) {
                counter.fetch_add(1, Ordering::SeqCst);
                connection.write_all(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").ok();
            }
        }
    });
    (url, answered)
}

fn spec(text: &str) -> LoadSpec {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.yaml");
    let head = "question: q\nserver: {peer: cpp}\nrequest: /\nvariants: {a: {}}\n";
    std::fs::write(&file, format!("{head}loads: [{text}]\n")).unwrap();
    read(&file, false).unwrap().loads.remove(0)
}

#[test]
fn two_real_ab_send_what_the_server_counts_and_their_cpu_is_theirs() {
    let load_spec = spec("{clients: 4, requests: 600, keep_alive: false, tool: {ab: 2}}");
    let tool = load_spec.workload.tool().unwrap();
    program(tool).unwrap_or_else(|missing| panic!("{missing}; `./dev test` does that"));
    let (url, answered) = counting_server();
    let folder = tempfile::tempdir().unwrap();
    let outcome = load(&load_spec, tool, &url, folder.path(), || false).unwrap();
    assert_eq!(answered.load(Ordering::SeqCst), 600);
    assert_eq!((outcome.report.requests.sent, outcome.report.requests.ok), (600, 600));
    let processes = &outcome.load.processes;
    assert_eq!(
        processes.iter().map(|it| (it.requests, it.failed, it.not_2xx)).collect::<Vec<_>>(),
        [(300, 0, 300); 2]
    );
    assert!(processes.iter().all(|it| it.cpu_s > 0.0 && it.cpu_share <= 2.0), "{processes:?}");
    assert!(outcome.load.times.p50_ms > 0.0 && outcome.load.times.p50_ms <= outcome.load.times.max_ms);
    assert!(outcome.started_ns < outcome.ended_ns && folder.path().join("ab-2.csv").is_file());
}
