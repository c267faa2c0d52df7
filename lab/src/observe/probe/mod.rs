//! The probe's lines (`jvm/probe`) as readings on the clock of the load.

pub mod line;
pub mod readings;
