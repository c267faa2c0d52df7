//! The search for a capacity: which rate next, and what a step shows. No clock, no server: `run` drives it.

pub mod keys;
mod search;
mod step;

#[cfg(test)]
mod simulation;

pub use search::{Next, Search};
pub use step::{Judgement, StepFigures, judge};
