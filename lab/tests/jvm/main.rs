//! Tests with real JVMs: attaching, watching, and reading their log.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall panic"
)]

mod attach;
mod bearable;
mod crossover;
mod foreign;
#[path = "../support/cgroup.rs"]
mod group;
mod hostile;
mod hung_run;
#[path = "../support/java.rs"]
mod java;
mod java17;
mod jvm_log;
mod memory_needed;
#[path = "../support/one_session.rs"]
mod one_session;
mod probe_tomcat;
mod signals;
mod small_server;
mod watch;
mod watch_speaks;
mod windows;
