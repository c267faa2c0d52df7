//! What control groups (v1 and v2) let a process use, and what they held back: quotas, throttling, memory, pressure.

pub mod cpu;
pub mod file;
pub mod membership;
pub mod memory;
pub mod pressure;

pub use membership::Membership;
