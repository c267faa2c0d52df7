//! `compare --attach --crossover` on a real JVM: it switches, compares, and leaves the server unchanged, however it ends.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Switchable.java");
/// Far more than a crossover takes on any machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The JVM, which ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(feature: u16) -> Self {
        java::probe();
        let classes = tempfile::tempdir().unwrap();
        let javac = java::jdk().home.join("bin/javac");
        let compiled =
            Command::new(javac).args(["--release", "21", "-d"]).arg(classes.path()).arg(SOURCE).status();
        assert!(compiled.unwrap().success());
        let mut child = Command::new(java::runtime(feature).java())
            .arg("-cp")
            .arg(classes.path())
            .arg("Switchable")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        // Its only class is loaded by now.
        Self { child, port: port.trim().parse().unwrap() }
    }

    /// The kind of thread that responds.
    fn kind(&self) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response.rsplit("\r\n\r\n").next().unwrap().to_owned()
    }

    fn compare(&self, more: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("threadcount"));
        command.args(["compare", "--url", "/", "-c", "8", "--crossover", "--attach"]);
        command.arg(format!("http://127.0.0.1:{}", self.port)).args(more);
        command.env("THREADCOUNT_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn periods_alternate_no_request_is_lost_and_the_server_has_its_own_threads_again() {
    for feature in [21, 25] {
        let server = Server::start(feature);
        assert_eq!(server.kind(), "platform");
        let more = ["--treatments", "own,virtual", "--budget", "12s", "--json"];
        let output = server.compare(&more).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
        assert_eq!(document["schema"], "threadcount/crossover/1");
        let crossover = &document["crossover"];
        assert_eq!(crossover["requests"]["failed"], 0, "{errors}");
        assert!(crossover["ended_early"].is_null(), "{crossover}");
        let periods = crossover["periods"].as_array().unwrap();
        let counted: Vec<&Value> = periods.iter().filter(|it| it["left_out"].is_null()).collect();
        assert!(counted.len() >= 4, "{periods:?}");
        for treatment in ["own", "virtual"] {
            let of = counted.iter().filter(|it| it["treatment"] == treatment);
            assert_eq!(of.clone().count() * 2, counted.len(), "each block has both");
            assert!(of.clone().all(|it| it["ok"].as_u64() > Some(0)), "{periods:?}");
            let own_names = |it: &&&Value| it["thread_names"].to_string().contains("pool-");
            assert_eq!(of.clone().any(|it| own_names(&it)), treatment == "own", "{periods:?}");
        }
        assert_eq!(server.kind(), "platform");
    }
}

#[test]
fn a_tool_that_is_killed_leaves_the_servers_own_threads_behind() {
    let server = Server::start(25);
    let mut tool = server
        .compare(&["--treatments", "virtual,platform-4", "--beside-others"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + LIMIT;
    while server.kind() != "virtual" {
        assert!(Instant::now() < until && tool.try_wait().unwrap().is_none(), "it never switched");
    }
    tool.kill().unwrap();
    tool.wait().unwrap();
    while server.kind() != "platform" {
        assert!(Instant::now() < until, "it was never set back");
    }
    // It must stay so: two periods would have passed in this time.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(server.kind(), "platform");
}

#[test]
fn a_service_whose_responses_are_all_unexpected_is_not_compared_and_has_its_own_threads_again() {
    let server = Server::start(25);
    let output = server.compare(&["--expect", "204"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("had an expected response, mostly unexpected status 200"), "{errors}");
    assert_eq!(server.kind(), "platform");
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_to_write_instead() {
    let server = Server::start(25);
    let refused = |more: &[&str]| {
        let output = server.compare(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["--treatments", "own,threads"]).contains("platform-N"));
    assert!(refused(&["--treatments", "own,own"]).contains("each of them once"));
    assert_eq!(server.kind(), "platform");
}
