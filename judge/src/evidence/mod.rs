//! Evidence in the readings of runs that several kinds of finding rest on.

pub mod carriers;
pub mod cpu_use;
pub(crate) mod tail;
pub mod variant_runs;
