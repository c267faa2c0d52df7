//! Finds out why a JVM hangs or crawls: takes snapshots of its threads, locks, CPU use and collections, and judges them.

mod child_process;
mod commands;
mod evidence;
mod file_locks;
pub mod frame;
mod gather;
mod gc_use;
mod judge;
mod jvm_description;
mod kernel;
mod libraries;
mod locks;
mod merge;
#[cfg(feature = "sample")]
pub mod parsers;
mod profile;
mod record;
mod run_time;
mod scheduler;
pub mod server_use;
mod thread_dump;
mod thread_names;
mod thread_print;
mod time_left;
pub mod verdict;
mod writers;

pub use evidence::{Evidence, MissingSource, Source};
pub use gather::{Options, gather};
pub use judge::judge;
pub use kernel::{KernelCause, KernelFact};
pub use record::{Gathered, Record};
