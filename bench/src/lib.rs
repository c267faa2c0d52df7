//! Threadcount's load generator measured against other load generators, and the servers it takes to do that.
//!
//! ```text
//! server/   the servers: a fixed response, after a known time (fixed: at once; truth: stalls on purpose)
//! nginx     the server of TLS and HTTP/2, alone or in front of one of ours
//! protocol  HTTP/1.1 or HTTP/2, in the clear or over TLS
//! bare      the floors: send/receive loops that parse nothing, closed and open
//! tool/     one file per load generator: how it is called, how its figures are read
//! child     one process on one core: its CPU by wait4, its peak memory
//! compare/  rounds, medians, the JSON file and docs/measurements/benchmarks.md
//! ```

pub mod bare;
pub mod child;
pub mod compare;
pub mod nginx;
pub mod protocol;
pub mod server;
pub mod soak;
pub mod span;
pub mod tool;
