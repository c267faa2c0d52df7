//! A JIT compiler without a core.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Threads that wait, on average: a compiler with less to do is done soon.
const MANY_WAIT: f64 = 0.2;
/// Its work takes so many times as long as with a core of its own.
const LONG: f64 = 3.0;

/// Does a compiler with so many threads, on average, have work and no core?
#[must_use]
pub fn is_starved(waiting_threads: f64, running_threads: f64) -> bool {
    waiting_threads >= MANY_WAIT && times_as_long(waiting_threads, running_threads) >= LONG
}

fn times_as_long(waiting_threads: f64, running_threads: f64) -> f64 {
    (waiting_threads + running_threads) / running_threads.max(f64::MIN_POSITIVE)
}

/// Means of the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CompilerWaits {
    /// Threads of the compiler that could run and waited for a core.
    pub waiting_threads: f64,
    /// Those that ran.
    pub running_threads: f64,
    /// CPU use of the whole machine.
    pub machine_cpu_cores: f64,
    pub machine_cores: f64,
    /// The load had a warm-up; `None`: no load was sent (`watch`).
    pub warmed_up: Option<bool>,
}

impl CompilerWaits {
    /// So many times as long as with a core of its own.
    #[must_use]
    pub fn times_as_long(&self) -> f64 {
        times_as_long(self.waiting_threads, self.running_threads)
    }
}
