//! Tests that compare figures of a real server with what they must be. `./dev test-figures` runs them one after the other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall panic"
)]

mod backend_ceiling;
#[path = "../support/cgroup.rs"]
mod cgroup;
mod cpu_profile;
mod diagnose;
mod diagnose_pools;
mod findings;
mod forecasts;
mod hangs;
mod http2_counts;
mod hung_loops;
mod hung_polls;
mod hung_pools;
mod hung_queues;
mod idle_workers;
#[path = "../support/java.rs"]
mod java;
mod limits;
#[path = "../support/one_session.rs"]
mod one_session;
mod own_service;
#[path = "../support/request_time.rs"]
mod request_time;
#[path = "../../../report/tests/results/schema.rs"]
mod schema;
mod slow_tail;
mod starved;
mod thread_caches;
mod wait_profile;
mod wait_profile_pools;
mod warm_jvm;
