//! Ratios, intervals, verdicts and claims over records.

pub mod claim;
pub mod comparison;
pub mod decided;
pub mod difference;
pub mod disturbance;
#[cfg(test)]
mod noise;
mod random;
pub mod ratio;
pub mod runs;
#[cfg(test)]
pub(crate) mod sample;
pub mod spread;
pub mod trust;

pub use claim::claims;
pub use comparison::compare;
pub use trust::trust;
