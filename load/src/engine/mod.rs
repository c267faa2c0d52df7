//! Plain HTTP/1.1 over a [`driver`](crate::driver): the cheap path that every verdict stands on.
//!
//! One [`worker`] per thread runs its share of the connections and shares nothing with the others. What a request's three
//! times mean here:
//!
//! - **due**: by the schedule in an open load. In a closed loop the moment its connection became free for it; for a
//!   connection's first request that is when the connection was established in advance, because nobody waited for that.
//! - **sent**: when the first system call on its behalf was made: its bytes, or the connection it needed, were handed to the
//!   kernel. With io_uring several requests leave with one call and share the stamp taken right before it; the last of
//!   them is then stamped early by the time the kernel takes for the others (tens of microseconds at most).
//! - **last byte**: when the driver saw the byte that completed the answer, never before it came. With io_uring one
//!   reading of the clock, right after the wait, serves all that the wait brought.

mod answers;
mod connection;
mod deadlines;
mod pace;
mod requests;
mod worker;

use crate::driver::{Driver, epoll::Epoll};
use crate::plan::DriverChoice;
use crate::run::{Done, LoadError, Work};
use rustix::time::{ClockId, clock_gettime};
use worker::Worker;

/// Does one worker's part of a load.
pub(crate) fn work(work: Work<'_>) -> Result<Done, LoadError> {
    match work.plan.driver {
        DriverChoice::Epoll | DriverChoice::Auto | DriverChoice::IoUring => work_with::<Epoll>(work),
    }
}

fn work_with<D: Driver>(work: Work<'_>) -> Result<Done, LoadError> {
    let failed = |source| LoadError::Driver { driver: D::NAME, source };
    let driver = D::new(worker::slots(&work), work.address).map_err(failed)?;
    Worker::new(work, driver).run().map_err(failed)
}

/// CPU time that this thread has used, in nanoseconds.
fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * crate::clock::NANOS_PER_S + used.tv_nsec as u64
}
