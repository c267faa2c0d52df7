//! The limits that cgroups (v1 and v2) set for a process, and their effect: quotas, throttling, memory, pressure.

pub mod cpu;
pub mod file;
pub mod membership;
pub mod memory;
pub mod pressure;

pub use membership::Membership;
