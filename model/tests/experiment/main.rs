//! Tests of the questions that an experiment answers about itself, read from YAML as users write it.

#![expect(clippy::expect_used, reason = "a test that cannot go on shall panic")]

mod estimate;
mod explaining;
mod health;
mod open_files;
mod pairs;
mod plan;
mod protocol;
mod thread_settings;
mod warm_up;
