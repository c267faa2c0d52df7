//! Headings of the help that several groups of flags stand under.

pub const PACE: &str = "How much";
pub const GENERATOR: &str = "Load generator";
pub const OUTPUT: &str = "Output";
