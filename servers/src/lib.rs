//! Starting a server, waiting until it is ready, and stopping it. Each kind of server is a folder behind one trait, `ServerKind`.
//!
//! The entry point is [`Launcher`]: call `prepare` once per variant and `launch` for each run.

mod backends;
pub mod base_folder;
mod command;
pub mod command_line;
pub mod distribution;
pub mod error;
pub mod http_get;
mod jar;
pub mod jetty;
pub mod keys;
pub mod kind;
pub mod kinds;
pub mod launch_spec;
pub mod launcher;
mod log_space;
mod observer;
mod own_commands;
pub mod peer;
pub mod placeholders;
pub mod readiness;
pub mod request_thread;
pub mod running_server;
pub mod server_process;
pub mod target;
pub mod threads;
pub mod tomcat;
pub mod workload;

pub use backends::{BackendEnd, BackendTarget};
pub use error::LaunchError;
pub use launcher::Launcher;
pub use running_server::RunningServer;
