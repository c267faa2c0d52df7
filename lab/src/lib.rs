//! Threadcount: measures, with evidence, what happens when a JVM web server runs its requests on another thread model.
//!
//! This crate is the program: its commands, and the parts that need all other crates. docs/contributing/architecture.md shows how the
//! crates fit together.

#![allow(
    missing_docs,
    reason = "the command line is the interface; a comment that repeats a name helps nobody"
)]

/// The version of this program, with the commit if `./dev` built it.
pub const VERSION: &str = match option_env!("THREADCOUNT_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

pub mod cli;
pub mod crossover;
pub mod history;
pub mod run;
pub mod watch;
