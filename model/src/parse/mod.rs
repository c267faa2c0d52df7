//! Values as people write them, on the command line and in YAML alike: `10k`, `5000/s`, `1m30s`, `2xx`.
//!
//! If a text cannot be read, the error says what to write instead. The caller adds the flag's name, or the line and the caret.

pub mod claim;
mod cores;
pub mod diagnostic;
pub mod fields;
pub mod key_spec;
mod log_file;
mod number;
mod rate;
mod status;
pub mod suggest;
mod time;
mod value;
pub mod value_kinds;
pub mod yaml;

pub use cores::{Cores, cores};
pub use log_file::log_file;
pub use number::{count, figure, figure_unit, positive, positive_u32, share, split_number};
pub use rate::{ramp, rate, steps};
pub use status::expected_status;
pub use time::{duration, load_duration, seconds, timeout, warm_up};
