//! Checks that everything in the documentation exists and works as described.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall panic"
)]

mod commands;
mod example;
mod generated;
mod markdown;
mod pages;
mod step_by_step;
#[path = "../support/tiny_server.rs"]
mod tiny_server;
mod walkthrough;
