//! The time of a request on real servers that wait in real pools, drivers and clients.

use crate::request_time::{
    Scene, assert_adds_up, assert_waits, has_finding, in_state, in_state_or_none, measure, time,
};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

const BOTH: &str = "virtual-21: {threads: virtual, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";
const BOTH_KINDS: &str = "platform-21: {threads: {platform: 20}, jdk: 21}, virtual-21: {threads: virtual, jdk: 21}, \
                          virtual-25: {threads: virtual, jdk: 25}";

#[test]
fn a_hikari_pool_of_ten_without_jmx_is_named_on_both_javas() {
    let result =
        measure(&Scene { app: "waits", clients: 20, variants: BOTH, request: "/pool?ms=100", seconds: 5 });
    for variant in ["virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        let site = "dev.threadcount.waits.PooledConnection.query";
        assert_waits(time, "pool", "HikariCP", site, (10.0, 20.0));
        assert!((in_state(time, "sleep").0 / 10.0 - 1.0).abs() <= 0.15, "{time:#}");
        let findings = result["findings"].as_array().unwrap();
        let wait = findings.iter().find(|it| it["rule"] == "request-waits" && it["variant"] == variant);
        let station = &wait.unwrap_or_else(|| panic!("{findings:#?}"))["figures"];
        assert_eq!(station["servers"]["count"], 10.0, "read without JMX: {findings:#?}");
        assert!(station["full_share"].as_f64().unwrap() >= 0.9, "{station:#}");
        let waiting = station["resource"]["waiting"].as_f64().unwrap();
        assert!((waiting / 10.0 - 1.0).abs() <= 0.15, "{station:#}");
    }
}

#[test]
fn a_blocking_queue_is_named_on_both_javas() {
    let result =
        measure(&Scene { app: "waits", clients: 10, variants: BOTH, request: "/queue?ms=100", seconds: 5 });
    for variant in ["virtual-21", "virtual-25"] {
        let site = "dev.threadcount.waits.Tokens.take";
        assert_waits(
            time(&result, variant),
            "queue",
            "java.util.concurrent.ArrayBlockingQueue",
            site,
            (6.0, 10.0),
        );
        assert!(has_finding(&result, variant), "{:#}", result["findings"]);
    }
}

/// A service on a free port that takes 100 ms per request.
fn slow_service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || answer_slowly(connection));
        }
    });
    port
}

fn answer_slowly(mut connection: TcpStream) {
    let lines = BufReader::new(connection.try_clone().unwrap()).lines();
    for line in lines {
        let Ok(line) = line else { return };
        if !line.is_empty() {
            continue;
        }
        thread::sleep(Duration::from_millis(100));
        if connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow").is_err() {
            return;
        }
    }
}

#[test]
fn a_slow_neighbour_is_named_by_its_address_on_both_kinds_of_thread() {
    let port = slow_service();
    let request = format!("\"/neighbour?port={port}\"");
    let result =
        measure(&Scene { app: "waits", clients: 10, variants: BOTH_KINDS, request: &request, seconds: 10 });
    for variant in ["platform-21", "virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        assert_waits(time, "socket", "", "dev.threadcount.waits.Neighbour.ask", (10.0, 10.0));
        assert_eq!(in_state(time, "socket").2["peer"], format!("127.0.0.1:{port}"), "{time:#}");
        assert!(has_finding(&result, variant), "{:#}", result["findings"]);
    }
}

/// A thread with one of the four connections waits for the response at the same line as a thread without one.
#[test]
fn how_many_wait_for_a_connection_of_jettys_client_is_read_from_its_pool_on_both_javas() {
    let port = slow_service();
    let request = format!("\"/client-pool?port={port}\"");
    let result =
        measure(&Scene { app: "waits", clients: 10, variants: BOTH, request: &request, seconds: 10 });
    for variant in ["virtual-21", "virtual-25"] {
        let site = "dev.threadcount.waits.ClientPool.ask";
        assert_waits(time(&result, variant), "future", "Jetty HttpClient", site, (10.0, 10.0));
        let findings = result["findings"].as_array().unwrap();
        let wait = findings.iter().find(|it| it["rule"] == "request-waits" && it["variant"] == variant);
        let station = &wait.unwrap_or_else(|| panic!("{findings:#?}"))["figures"];
        assert_eq!(station["resource"]["name"], format!("http://127.0.0.1:{port}"), "{station:#}");
        assert_eq!(station["servers"]["count"], 4.0, "{station:#}");
        assert!(station["full_share"].as_f64().unwrap() >= 0.9, "{station:#}");
        let waiting = station["resource"]["waiting"].as_f64().unwrap();
        assert!((waiting / 6.0 - 1.0).abs() <= 0.15, "{station:#}");
    }
}

/// A pipe that behaves like a slow disk: one of all its readers gets a byte every 20 ms.
fn slow_file(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let mut pipe = OpenOptions::new().read(true).write(true).open(path).unwrap();
    thread::spawn(move || {
        while pipe.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
}

/// Each reader holds its carrier, or the JVM makes another one. No Java leaves the carrier at a file.
#[test]
fn file_io_on_two_carriers_is_named_and_no_newer_java_is_advised() {
    let folder = tempfile::tempdir().unwrap();
    let variant = |java: u32| {
        let path = folder.path().join(format!("pipe-{java}"));
        slow_file(&path);
        let property = format!("-Dslow.file={}", path.display());
        format!(
            "virtual-{java}: {{threads: virtual, jdk: {java}, jvm: [-Djdk.virtualThreadScheduler.parallelism=2, \"{property}\"]}}"
        )
    };
    let variants = [21, 25].map(variant).join(", ");
    let result =
        measure(&Scene { app: "waits", clients: 5, variants: &variants, request: "/file", seconds: 5 });
    for variant in ["virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        assert_adds_up(time);
        let (reading, _, part) = in_state(time, "file");
        assert!(reading >= 1.7, "{time:#}");
        // The other threads have no carrier. A carrier that reads may have been replaced by another one.
        let all = reading + in_state_or_none(time, "carrier");
        assert!((all / 5.0 - 1.0).abs() <= 0.15, "{time:#}");
        let site = part["application"].as_str().unwrap_or_default();
        assert!(site.starts_with("dev.threadcount.waits.SlowFile.read:"), "{time:#}");
    }
    assert_waits_for_files(&result, "dev.threadcount.waits.SlowFile.read:");
}

/// Checks on both Javas that carriers wait for a file, with the line, and that no newer Java is advised.
fn assert_waits_for_files(result: &Value, line: &str) {
    for variant in ["virtual-21", "virtual-25"] {
        let finding_by = |rule: &str| {
            let findings = result["findings"].as_array().unwrap();
            findings.iter().find(|it| it["rule"] == rule && it["variant"] == variant)
        };
        let found = finding_by("file-io").unwrap_or_else(|| panic!("{variant}: {:#}", result["findings"]));
        assert!(found["figures"]["site"]["application"].as_str().unwrap().starts_with(line), "{found:#}");
        assert!(found["figures"]["waiting_carriers"].as_f64().unwrap() >= 0.5, "{found:#}");
        assert!(finding_by("pinned-carriers").is_none(), "{:#}", result["findings"]);
    }
}

/// H2 has five writers, and a disk that takes a byte from a pipe each time that it is forced.
#[test]
fn five_writers_of_h2_on_two_carriers_wait_for_files_and_no_newer_java_is_advised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    slow_file(&path);
    let disk = format!("\"-Dslow.file={}\"", path.display());
    let virtual_on = |java: u32| {
        format!(
            "virtual-{java}: {{threads: virtual, jdk: {java}, jvm: [-Djdk.virtualThreadScheduler.parallelism=2, {disk}]}}"
        )
    };
    let variants = [
        virtual_on(21),
        virtual_on(25),
        format!("platform-25: {{threads: {{platform: 20}}, jdk: 25, jvm: [{disk}]}}"),
    ];
    let variants = variants.join(", ");
    let result =
        measure(&Scene { app: "waits", clients: 5, variants: &variants, request: "/writers", seconds: 5 });
    assert_waits_for_files(&result, "dev.threadcount.waits.Writers.save:");
    for variant in ["virtual-21", "virtual-25", "platform-25"] {
        let time = time(&result, variant);
        assert_adds_up(time);
        assert!(in_state(time, "file").0 >= 0.5, "one of them forces the file: {time:#}");
    }
    let findings = result["findings"].as_array().unwrap();
    let of_platform = findings.iter().any(|it| it["rule"] == "file-io" && it["variant"] == "platform-25");
    assert!(!of_platform, "a platform thread keeps nobody from running: {findings:#?}");
}
