//! Tests of a result in each format, and against its schema.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall panic"
)]

mod answer;
mod documents;
mod formats;
mod outcomes;
mod schema;
mod schemas;
mod view;
