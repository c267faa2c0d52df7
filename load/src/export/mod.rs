//! Histograms and series as files that other tools read: `.hgrm`, `.hlog`, CSV.
//!
//! Each writer takes any [`std::io::Write`]; opening files and naming them in messages is the caller's part.

mod csv;
mod hgrm;
mod hlog;

pub use csv::write_seconds;
pub use hgrm::write_percentiles;
pub use hlog::HistogramLog;
