//! How a server starts, is found ready, and stops: JDKs, Tomcat distributions and bases, any command.
//!
//! [`Launcher`] is the way in: `prepare` once for each variant, `launch` for each run.

pub mod app;
pub mod benchmark;
pub mod cache;
pub mod command;
pub mod error;
pub mod guard;
pub mod http_get;
pub mod jdk;
pub mod jdk_finder;
pub mod launcher;
pub mod log_file;
pub mod peer;
pub mod port;
pub mod server_process;
pub mod server_xml;
mod start;
pub mod thread_seen;
pub mod tomcat_base;
pub mod tomcat_distribution;

pub use error::LaunchError;
pub use launcher::{Launcher, RunningServer};
