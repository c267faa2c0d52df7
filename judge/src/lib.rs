//! Conclusions from measurements: what limits each variant ([`findings`]), its sentences ([`words`]), and the document that contains
//! all of it ([`result`]).

pub mod conclude;
pub mod crossover;
pub mod decision;
pub mod evidence;
pub mod evident;
pub mod explain;
pub mod finding;
pub mod findings;
pub mod forecast;
mod grade;
pub mod limit;
pub mod published;
pub mod result;
pub mod result_folder;
pub mod schema;
pub mod unreadable;
pub mod words;
