//! The one engine: pacing, sending, resending, timeouts and accounting for HTTP/1.1 in the clear, over TLS, and HTTP/2,
//! over a [`driver`](crate::driver).
//!
//! One [`worker`] per thread runs its share of the connections. Plain HTTP/1.1 is read where the driver put it; TLS and
//! HTTP/2 go through a [`Session`](crate::secure::Session) without a runtime. What a request's three times mean, over
//! each protocol:
//!
//! - **due**: by the schedule in an open load. In a closed loop the moment its stream became free for it; for a connection's
//!   first request that is when the load began, because no request waited for the connections that were opened before.
//! - **sent**: when the first system call on its behalf was made: its bytes, or the connection it needed, were handed to the
//!   kernel.
//! - **last byte**: in an open load when the kernel received the byte that completed the response, by its own stamp
//!   ([`driver`](crate::driver) `stamps`), which is too early by up to 1 ms where segments arrived out of order; in a closed
//!   loop, and without a kernel stamp, when the driver read that byte: then never before it arrived. Of several responses that
//!   arrived together (HTTP/2) it is the last one's.

mod arrival;
mod connection;
mod deadlines;
mod due;
mod endings;
mod feeding;
mod free;
mod gate;
mod inspection;
mod late_looks;
mod opening;
mod pace;
mod patience;
mod peers;
mod redirects;
mod requests;
mod responses;
#[cfg(test)]
mod tests;
mod window;
mod work;
mod worker;

use crate::driver::Driver;
use crate::error::LoadError;
use crate::plan::Pacing;
use crate::priority::ask_for_real_time;
pub(crate) use gate::Gate;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU64;
pub(crate) use work::{Done, Work};
use worker::Worker;

/// Does one worker's part of a load.
pub(crate) fn work(work: Work<'_>) -> Result<Done, LoadError> {
    // A closed loop handles each response at once, so a stamp gains nothing.
    let stamps = matches!(work.plan.pacing, Pacing::Open { .. });
    let driver = Driver::new(work.share.connections(), work.endpoints, stamps).map_err(LoadError::Epoll)?;
    // The kernel may end a sleep this much late (50 µs by default), which would be our lateness. Where it cannot be set, the
    // send lag tells.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let has_real_time_priority = work.asks_for_real_time && ask_for_real_time();
    let done = Worker::new(work, driver).run().map_err(LoadError::Epoll)?;
    Ok(Done { has_real_time_priority, ..done })
}

/// CPU time that this thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * crate::clock::NANOS_PER_S + used.tv_nsec as u64
}
