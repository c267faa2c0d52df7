//! The data of an experiment, from the question to the result. The crate is pure: it serialises the data and answers questions about
//! it, while the layers above read files and processes.

pub mod backend_limit;
mod basis;
pub mod claim_result;
pub mod comparison;
pub mod crossover;
pub mod doubt;
pub mod environment;
pub mod experiment;
pub mod figures;
pub mod interval;
#[cfg(any(test, feature = "sample"))]
pub mod kept_schema;
pub mod machine;
pub mod masked;
pub mod metric;
pub mod parse;
mod probe_level;
pub mod record;
pub mod request_time;
pub mod rounds;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod thread_kind;
pub mod window;

pub use threadcount_load::printable;
