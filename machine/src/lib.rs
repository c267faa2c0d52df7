//! This machine: its JDKs, the archives that are built or fetched, ports, and what a run cost: readings of /proc on the
//! load's own clock, native memory, the kernel's TCP counters.

pub mod app;
pub mod attach;
pub mod bundle;
pub mod cache;
pub mod cgroup;
pub mod connections;
pub mod context_switches;
pub mod cpu_account;
pub mod cpu_clock;
#[cfg(test)]
mod damaged_input;
pub mod framework;
pub mod freed_memory;
pub mod guard;
pub mod home;
pub mod io_calls;
pub mod jar_file;
pub mod jdk;
pub mod jdk_finder;
pub mod jvm_flags;
pub mod jvm_log;
pub mod jvm_threads;
pub mod listener;
pub mod live_heap;
pub mod loaded_classes;
pub mod log_file;
pub mod lost_cpu;
pub mod machine;
mod machine_sockets;
pub mod native_memory;
mod neighbour_connections;
pub mod network;
pub mod open_files;
pub mod other_processes;
pub mod other_session;
pub mod own_cores;
pub mod perf_data;
pub mod port;
pub mod probe;
pub mod process_mark;
pub mod process_sockets;
pub mod process_state;
pub mod process_tree;
pub mod public_address;
pub mod resource_limits;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
pub mod sampler;
pub mod samples;
pub mod scheduling_group;
mod segment_count;
pub mod server_sockets;
pub mod serving_process;
mod sock_diag;
pub mod spring_boot;
pub mod stored;
pub mod tcp_counters;
pub mod thread_times;
pub mod trusted;

pub use sampler::Sampler;
pub use samples::{RawSample, Samples};
