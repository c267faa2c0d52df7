//! Workloads: loads of our own generator, capacity searches, external load tools, and JMH microbenchmarks, which need no
//! server.

pub mod capacity;
pub mod external;
pub mod jmh;
pub mod load_plan;
pub mod order;
pub mod programs;
