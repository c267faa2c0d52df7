//! Causes of slow requests, in words.

use threadcount_model::record::pause_ledger::PauseCause;

/// The names of a cause of slow requests.
pub struct CauseWords {
    /// The name in a list.
    pub short: &'static str,
    /// The name at the beginning of a sentence, in the plural.
    pub long: &'static str,
}

#[must_use]
pub const fn cause_words(cause: PauseCause) -> CauseWords {
    let (short, long) = match cause {
        PauseCause::GarbageCollection => ("garbage collection", "garbage collection pauses"),
        PauseCause::OtherSafepoint => {
            ("other safepoints", "stops of all threads for other reasons than garbage collection")
        }
        PauseCause::TimeToSafepoint => {
            ("time to safepoint", "waits of stopped threads for the last one that stops (time to safepoint)")
        }
        PauseCause::AllocationStall => {
            ("allocation stalls", "waits for memory that the garbage collector has not freed yet")
        }
        PauseCause::Compilation => ("compilation", "bursts of JIT compilation on a full machine"),
        PauseCause::Throttling => ("CPU throttling", "waits for the next period of the CPU quota"),
        PauseCause::Steal => ("CPU steal", "bursts of CPU steal"),
    };
    CauseWords { short, long }
}
