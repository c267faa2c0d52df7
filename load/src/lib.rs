//! A load generator that costs next to nothing and never lies about time.
//!
//! HTTP and time only, without JVMs or experiments. The flow is one way:
//!
//! ```text
//! LoadPlan ──> Schedule (when is each request due?)      pure, no clock, no I/O
//!     │            │
//!     └──> RequestSource (bytes of each request)       ──> engine ──> Recorder ──> LoadOutcome ──> LoadReport
//!                                                      (one thread per core,      (everything      (the JSON
//!                                                       epoll below it)           that happened)   contract)
//! ```
//!
//! Three times belong to every request, all on [`clock`]'s one monotonic clock: when it was **due**, when it was
//! **sent**, and when its last byte **arrived**. Response time is due → last byte, service time is sent → last byte,
//! send lag is due → sent. All three are recorded for every request; none is corrected afterwards
//! (Tene, "How NOT to Measure Latency", 2013, names the mistake: coordinated omission).

#[cfg(not(target_os = "linux"))]
compile_error!("threadcount-load works on Linux only: it sends through epoll");

/// The example in `README.md`, compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod clock;
mod collect;
pub mod command_line;
mod counts;
#[cfg_attr(test, allow(dead_code, reason = "the engine's own tests run over a driver without a kernel"))]
mod driver;
mod endpoint;
mod engine;
mod error;
pub mod export;
mod failing_body;
pub mod failure;
pub mod health;
mod heartbeat;
pub mod http1;
mod http2;
pub mod limits;
pub mod log;
pub mod merge;
pub mod outcome;
#[cfg(feature = "sample")]
pub mod parsers;
pub mod periods;
pub mod plan;
pub mod pods;
pub mod printable;
mod priority;
mod random;
pub mod recorder;
pub mod report;
pub mod request;
mod resolve;
pub mod response;
pub mod run;
mod schedule;
pub mod secrets;
mod secure;
pub mod setting;
pub mod share;
pub mod slowest;
pub mod times;
pub mod whole_file;

pub use driver::stamps::kernel_stamps_receives;
