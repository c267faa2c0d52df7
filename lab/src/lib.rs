//! Threadcount: what changes when a JVM web server runs its requests on another thread model, with evidence.
//!
//! Each of these layers imports only layers below it; `tests/layers.rs` fails where one does not. They are listed from the
//! top to the bottom. docs/architecture.md has the picture.

#![allow(
    missing_docs,
    reason = "the command line is the interface; a comment that repeats a name helps nobody"
)]

pub mod cli;

pub mod history;
pub mod report;
pub mod watch;

pub mod diagnose;

pub mod run;

pub mod findings;
pub mod stats;

pub mod config;

pub mod workload;

pub mod server;

pub mod probe;

#[cfg(feature = "kubernetes")]
pub mod cluster;

pub mod host;

pub mod parse;

pub mod model;
