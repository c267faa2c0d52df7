//! Threads that stay on their carrier, in words.

use threadcount_model::record::run_delay::HeldCarrier;
use threadcount_model::record::wait_profile::ThreadState;

/// Where it is, as far as the frames say.
pub fn place(held: &HeldCarrier) -> &str {
    let frame = held.application.as_ref().or(held.library.as_ref());
    frame.map_or("a place without a frame of the application", String::as_str)
}

/// What the threads do there.
pub const fn does(state: ThreadState) -> &'static str {
    match state {
        ThreadState::File => "read or write a file",
        ThreadState::Native => "wait in native code",
        ThreadState::NameLookup => "resolve the name of a host",
        ThreadState::Running => "compute or spin",
        _ => "wait without leaving it",
    }
}
