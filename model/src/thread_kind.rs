//! The kinds of Java threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of Java thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadKind {
    /// A thread with an OS thread of its own, in a pool or an event loop.
    Platform,
    /// A thread that the JVM schedules on carriers.
    Virtual,
}

impl ThreadKind {
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Virtual => "virtual",
        }
    }
}
