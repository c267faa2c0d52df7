//! How a server starts, is found ready, and stops: JDKs, Tomcat distributions and bases, any command.
//!
//! [`Launcher`] is the way in: `prepare` once for each variant, `launch` for each run.

pub mod benchmark;
pub mod command;
pub mod error;
pub mod http_get;
pub mod launcher;
pub mod peer;
pub mod server_process;
pub mod server_xml;
mod start;
pub mod thread_seen;
pub mod tomcat_base;
pub mod tomcat_distribution;

pub use error::LaunchError;
pub use launcher::{Launcher, RunningServer};
