//! Writes histograms and series in formats that other tools read: `.hgrm`, `.hlog`, CSV.
//!
//! Each writer takes any [`std::io::Write`]; the caller opens files and names them in messages.

mod csv;
mod hgrm;
mod hlog;

pub use csv::write_seconds;
pub use hgrm::write_percentiles;
pub use hlog::HistogramLog;
