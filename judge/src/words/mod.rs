//! Sentences for people, each made in one place from typed values.

pub mod activity;
pub mod findings;
pub mod metric;
pub mod pause_cause;
pub mod reasons;
