//! Sentences for people, each made in one place from typed values.

pub mod activity;
pub mod decision;
pub(crate) mod figure;
pub mod finding;
pub mod held_carrier;
pub mod metric;
pub mod pause_cause;
pub mod reasons;
pub(crate) mod site;
