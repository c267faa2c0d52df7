//! The search for a capacity: which rate next, and what a step shows. No clock, no server: `run` drives it.

mod search;
mod step;

#[cfg(test)]
mod simulation;

pub use search::{Next, Search};
pub use step::{Judgement, StepFigures, judge};
