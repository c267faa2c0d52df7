//! What a run cost: /proc, native memory and the kernel's counters, on the clock of the load.

pub mod probe;
