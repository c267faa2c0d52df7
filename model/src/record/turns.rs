//! Who goes first among threads that wait for the same thing.

use super::wait_profile::{ThreadRole, ThreadState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Turns at locks, monitors, semaphores, pools or queues of one kind, as far as samples of a few threads that wait show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turns {
    /// Whose threads they are.
    pub role: ThreadRole,
    /// What is waited for.
    pub state: ThreadState,
    /// Its class or product.
    pub resource: Option<String>,
    /// Threads that got it.
    pub turns: u64,
    /// Those of them that came after one that still waited.
    pub overtaking: u64,
    /// Those of these that came after one that had waited for a second or longer.
    pub overtaking_after_1s: u64,
    /// Where those that overtake are or were, most often.
    pub overtaker: Option<String>,
    /// Where those that they overtake wait, most often.
    pub overtaken: Option<String>,
    /// The longest wait of one that was overtaken, until then; 0: nobody was.
    pub longest_ms: f64,
}
