//! Tests of experiments and of the servers that they start.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall panic"
)]

mod backends;
mod benchmark;
mod capacity;
#[path = "../support/cgroup.rs"]
mod cgroup;
mod endings;
mod external;
#[path = "../support/java.rs"]
mod java;
mod launch;
mod load_settings;
mod observe;
mod other_programs;
mod peers;
mod received_results;
mod resource_limits;
mod result_folders;
mod run_command;
#[path = "../../../report/tests/results/schema.rs"]
mod schema;
mod sending;
mod servers;
mod variants_that_fail;
