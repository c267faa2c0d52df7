//! Tests of the experiments that come with Threadcount, as files.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what went wrong by failing"
)]

mod mistake;
mod shipped;
