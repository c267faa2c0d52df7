//! The JVM's unified log (`-Xlog`) of collections and safepoints: the flag that enables it, and its figures over a window. Its times are
//! that JVM's `System.nanoTime()`, which is the load's clock too, so nothing has to be mapped.

pub mod file;
pub mod flag;
pub mod intervals;
pub mod line;
pub mod readings;
pub mod stops;

pub use readings::{read, read_with_stops};
