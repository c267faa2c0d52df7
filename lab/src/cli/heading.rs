//! Headings that several groups of flags share in the help.

pub const PACE: &str = "How much";
pub const GENERATOR: &str = "Load generator";
pub const OUTPUT: &str = "Output";
