//! Evidence in the readings of runs that several kinds of finding rest on.

pub mod alike;
pub mod carriers;
pub mod connection_pools;
pub mod cpu_use;
pub mod in_flight;
pub(crate) mod tail;
pub mod variant_runs;
pub mod workers;
