//! The statistics of Threadcount: ratios, intervals, verdicts, claims and doubts, computed from the records of runs.

pub mod backend_limit;
mod blocks;
pub mod claim;
pub mod comparison;
pub mod compiler;
pub mod crossover;
pub mod decided;
pub mod decision;
pub mod difference;
pub mod dispersion;
pub mod disturbance;
mod doubt_groups;
pub mod holm;
pub mod hung_requests;
pub mod limit;
pub mod lost_on_purpose;
pub mod no_overload;
#[cfg(test)]
mod noise;
pub mod observed_causes;
pub mod page;
pub mod pause_ledger;
pub mod random;
pub mod ratio;
pub mod request_time;
mod resampled;
pub mod runs;
pub mod sampled_stacks;
pub mod spread;
pub mod stack_tree;
pub mod stations;
pub mod steady;
mod student;
pub mod tail;
pub mod trust;
mod two_speeds;
mod unequally_warm;
pub mod warmth;

pub use claim::claims;
pub use comparison::compare;
pub use request_time::request_times;
pub use trust::trust;
