//! The order in which threads are served that wait for the same thing.

use super::wait_profile::{ThreadRole, ThreadState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Turns at locks, monitors, semaphores, pools or queues of one kind, as far as samples of a few waiting threads show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turns {
    /// The role of the waiting threads.
    pub role: ThreadRole,
    /// The state of a thread that waits for the resource.
    pub state: ThreadState,
    /// The class or product of the resource.
    pub resource: Option<String>,
    /// Number of threads that got the resource.
    pub turns: u64,
    /// Turns of threads that arrived after a thread that was still waiting.
    pub overtaking: u64,
    /// Turns of threads that arrived after a thread that had waited for a second or longer.
    pub overtaking_after_1s: u64,
    /// The most frequent place of the overtaking threads.
    pub overtaker: Option<String>,
    /// The most frequent place where overtaken threads wait.
    pub overtaken: Option<String>,
    /// The longest wait so far of a thread when it was overtaken; 0: no thread was overtaken.
    pub longest_ms: f64,
}
