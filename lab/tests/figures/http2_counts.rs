//! HTTP/2 of a real Tomcat that takes two streams at once. Tomcat and the load generator must count each request once.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use threadcount_machine::port;
use threadcount_servers::command_line::ServerCommand;
use threadcount_servers::distribution::DistributionStore;
use threadcount_servers::http_get::BaseUrl;
use threadcount_servers::readiness::Question;
use threadcount_servers::server_process::ServerProcess;
use threadcount_servers::tomcat::distribution::TOMCAT;

const REQUESTS: usize = 2_000;

/// A server.xml with h2c, and a log of each request.
fn server_xml(port: u16) -> String {
    format!(
        r#"<Server port="-1"><Service name="Catalina">
  <Connector port="{port}" address="127.0.0.1">
    <UpgradeProtocol className="org.apache.coyote.http2.Http2Protocol" maxConcurrentStreams="2"/>
  </Connector>
  <Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps">
    <Valve className="org.apache.catalina.valves.AccessLogValve" pattern="%m %s" buffered="false"
           prefix="requests" suffix=".log" rotatable="false"/>
  </Host></Engine>
</Service></Server>"#
    )
}

/// Makes Tomcat's folder, with a page of five bytes.
fn base(folder: &Path, home: &Path, port: u16) {
    for name in ["conf", "logs", "temp", "webapps/ROOT"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    fs::write(folder.join("conf/server.xml"), server_xml(port)).unwrap();
    fs::copy(home.join("conf/web.xml"), folder.join("conf/web.xml")).unwrap();
    fs::write(folder.join("webapps/ROOT/index.html"), "hello").unwrap();
}

fn started(folder: &Path, home: &Path, port: u16) -> ServerProcess {
    let jars = ["bin/bootstrap.jar", "bin/tomcat-juli.jar"].map(|jar| home.join(jar).display().to_string());
    let property = |name: &str, value: &Path| format!("-Dcatalina.{name}={}", value.display());
    let mut arguments = java::flags("-Xmx128m");
    arguments.extend([property("home", home), property("base", folder)]);
    arguments.extend(["-cp".to_owned(), jars.join(":")]);
    arguments.extend(["org.apache.catalina.startup.Bootstrap", "start"].map(str::to_owned));
    let command = ServerCommand { program: java::runtime(25).java(), arguments, ..ServerCommand::default() };
    let mut process = ServerProcess::start(&command, &folder.join("server.log")).unwrap();
    let url = BaseUrl::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let question = Question { path: "/", is_of_health: false };
    let ready = process.wait_until_ready(
        &url,
        question,
        Duration::from_secs(120),
        &AtomicBool::new(false),
        &mut |_, _| None,
    );
    ready.unwrap_or_else(|error| panic!("{error}: {:?}", error.log_tail()));
    process
}

#[test]
fn a_tomcat_that_refuses_streams_has_counted_each_request_that_the_load_has() {
    let home = DistributionStore::of_this_machine().get(&TOMCAT, "11.0").unwrap().home;
    let folder = tempfile::tempdir().unwrap();
    let port = port::reserved().unwrap();
    base(folder.path(), &home, port);
    let process = started(folder.path(), &home, port);

    let output = Command::new(cargo_bin("threadcount"))
        .args(["load", &format!("http://127.0.0.1:{port}/"), "--http2", "--streams", "50", "-c", "2"])
        .args(["-X", "HEAD", "--json", "-n", &REQUESTS.to_string()])
        .output()
        .unwrap();
    let _ = process.stop(Duration::from_secs(60));

    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["requests"]["ok"], &report["failures"]), (&REQUESTS.into(), &serde_json::json!({})));
    // The requests that check whether Tomcat is ready are not HEAD.
    let log = fs::read_to_string(folder.path().join("logs/requests.log")).unwrap();
    assert_eq!(log.lines().filter(|line| *line == "HEAD 200").count(), REQUESTS);
}
