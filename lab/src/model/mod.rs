//! The data of an experiment, from the question to the result. Pure: it knows how it is serialised and answers questions
//! about itself; reading a file or a process is done by the layers above.

pub mod backend_limit;
mod basis;
mod claim_result;
mod doubt;
pub mod environment;
pub mod experiment;
pub mod figures;
pub mod finding;
pub mod interval;
pub mod metric;
mod one_or_several;
mod probe_level;
pub mod record;
pub mod request_time;
pub mod result;
pub mod result_folder;
pub mod schema;
mod thread_kind;
pub mod window;
