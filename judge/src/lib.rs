//! What follows from what was measured: ratios, intervals, claims and trust ([`stats`]), what limits each variant
//! ([`findings`]), their sentences ([`words`]), and the document that holds all of it ([`result`]).

pub mod conclude;
pub mod finding;
pub mod findings;
pub mod result;
pub mod result_folder;
pub mod schema;
pub mod words;
