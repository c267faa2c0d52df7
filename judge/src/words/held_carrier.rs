//! Threads that stay on their carrier, in words.

use threadcount_model::record::run_delay::HeldCarrier;
use threadcount_model::record::wait_profile::ThreadState;

/// The place where a thread holds its carrier, if the frames show it.
pub fn place(held: &HeldCarrier) -> &str {
    let frame = held.application.as_ref().or(held.library.as_ref());
    frame.map_or("a place without a frame of the application", String::as_str)
}

/// The verb, in the plural, for threads in this state on their carrier.
pub const fn does(state: ThreadState) -> &'static str {
    match state {
        ThreadState::File => "read or write a file",
        ThreadState::Native => "wait in native code",
        ThreadState::NameLookup => "resolve the name of a host",
        ThreadState::Running => "compute or spin",
        _ => "wait without leaving it",
    }
}
