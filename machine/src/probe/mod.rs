//! The probe (`jvm/probe`): how it gets into a JVM, and its lines as readings on the load's clock.

mod allocation;
mod allocation_profile;
pub mod attach;
pub mod choice;
mod cpu_profile;
pub mod crossover;
pub mod families;
pub mod jar;
pub mod line;
mod meeting;
pub mod readings;
pub mod run_delay;
mod safepoints;
pub mod sampled;
pub mod session;
pub mod stacks;
pub mod target;

pub use attach::Attached;
pub use choice::ProbeChoice;
pub use session::{Instruments, ProbeSession};
