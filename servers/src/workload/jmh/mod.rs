//! Microbenchmarks: JMH starts its own JVMs, warms them up and repeats a method. There is no server and no load.

pub mod jar;
mod keys;
pub mod load_keys;
pub mod scores;

pub use keys::keys;
