//! What a run cost: readings of /proc on the load's own clock, native memory, the kernel's TCP counters, the machine.

pub mod context_switches;
pub mod cpu_account;
pub mod cpu_clock;
pub mod jcmd;
pub mod jvm_flags;
pub mod jvm_threads;
pub mod machine;
pub mod native_memory;
pub mod network;
pub mod open_files;
pub mod own_cores;
pub mod probe;
pub mod process_tree;
pub mod sampler;
pub mod samples;

pub use sampler::Sampler;
pub use samples::{RawSample, Samples};
