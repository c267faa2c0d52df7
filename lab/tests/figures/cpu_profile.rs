//! The code that uses the CPU, on real servers that hash more or less per request.

use crate::java;
use crate::schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use threadcount_servers::distribution::DistributionStore;
use threadcount_servers::tomcat::distribution::TOMCAT;

/// Only the first of several concurrent tests fetches it.
static TOMCAT_11: LazyLock<()> = LazyLock::new(|| {
    DistributionStore::of_this_machine().get(&TOMCAT, "11.0").unwrap();
});

fn measured(out: &Path, feature: u16, request: &str, variants: &str) -> Value {
    java::runtime(feature);
    java::servlets_and_probe();
    LazyLock::force(&TOMCAT_11);
    let file = out.join("it.yaml");
    let text = format!(
        "question: Which code?\nwarmup: 2s\nruns: 1\ndrop: 0\nserver: {{tomcat: \"11.0\", app: servlets}}\njdk: {feature}\n\
         jvm: [-Xmx256m]\nrequest: {request}\nvariants: {{{variants}}}\nloads: [{{clients: 4, duration: 3s}}]\n"
    );
    fs::write(&file, text).unwrap();
    let mut command = Command::new(cargo_bin("threadcount"));
    command.arg("run").arg(&file).arg("--out").arg(out.join("out")).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(out.join("out/result.json").is_file(), "{}", String::from_utf8_lossy(&output.stderr));
    schema::result_file(&out.join("out"))
}

/// The share of a record's samples that contain a method of this class.
fn share_with(record: &Value, class: &str) -> f64 {
    let profile = &record["jvm"]["cpu_profile"];
    let with = profile["stacks"].as_array().into_iter().flatten().filter(|stack| {
        let frames = stack["frames"].as_array().unwrap();
        frames.iter().any(|frame| frame.as_str().unwrap().starts_with(class))
    });
    let samples: u64 = with.map(|stack| stack["samples"].as_u64().unwrap()).sum();
    samples as f64 / profile["samples"].as_u64().unwrap() as f64
}

#[test]
fn on_java_25_the_method_that_a_variant_does_more_of_is_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let variants = "fast: {threads: platform, jvm: [-Dhashing.blocks=100]}, slow: {threads: platform, jvm: [-Dhashing.blocks=400]}";
    let result = measured(folder.path(), 25, "/hashing?sleep=0ms", variants);
    for record in result["records"].as_array().unwrap() {
        assert_eq!(record["jvm"]["cpu_profile"]["source"], "cpu-time", "{record:#}");
    }
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    let printed = page.split("fast uses ").nth(1).and_then(|rest| rest.split("</p>").next());
    let printed = printed.expect("the two are compared");
    assert!(printed.contains("in sun.security.provider."), "{printed}");
    assert!(page.contains("class=\"much-more\""), "its frame is coloured");
}

/// Samples of Java 21 lack native methods, and methods for which the JVM has its own code, such as SHA-256.
#[test]
fn on_java_21_the_servlet_that_makes_objects_is_on_the_sampled_stacks() {
    let folder = tempfile::tempdir().unwrap();
    let result = measured(folder.path(), 21, "/allocating?kb=500", "it: {threads: virtual}");
    let record = &result["records"][0];
    assert_eq!(record["jvm"]["cpu_profile"]["source"], "execution");
    let share = share_with(record, "dev.threadcount.servlets.Allocating");
    assert!(share >= 0.3, "{share}: {:#}", record["jvm"]["cpu_profile"]);
    let bytes = share_of_bytes_with(record, "dev.threadcount.servlets.Allocating", "new byte[]");
    assert!(bytes >= 0.8, "{bytes}: {:#}", record["jvm"]["allocation_profile"]);
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("flame graph of the allocation of it"), "it is in the report");
}

/// The share of the allocated bytes, as samples estimate them, below a class whose name ends with this.
fn share_of_bytes_with(record: &Value, class: &str, made: &str) -> f64 {
    let profile = &record["jvm"]["allocation_profile"];
    let with = profile["stacks"].as_array().into_iter().flatten().filter(|stack| {
        let frames: Vec<&str> =
            stack["frames"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        frames.last() == Some(&made) && frames.iter().any(|frame| frame.starts_with(class))
    });
    let bytes: u64 = with.map(|stack| stack["bytes"].as_u64().unwrap()).sum();
    bytes as f64 / profile["bytes"].as_u64().unwrap() as f64
}
