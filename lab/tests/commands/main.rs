//! Tests of the commands as users call them: input, options, exit codes and output.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall panic"
)]

mod bad_input;
mod history;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod load_command;
mod memory;
mod nobody_reads;
mod project_file;
mod release;
mod seeds;
mod shares;
#[path = "../support/tiny_server.rs"]
mod tiny_server;
