//! The capacity search: the choice of the next rate, and the verdict on a step. It has no clock and no server; `run` drives it.

pub mod keys;
mod search;
mod step;

#[cfg(test)]
mod simulation;

pub use search::{Next, Search};
pub use step::{Judgement, StepFigures, judge};
