//! Plain HTTP/1.1 over a [`driver`](crate::driver): the cheap path that every verdict stands on.

use crate::run::{Done, LoadError, Work};

/// Does one worker's part of a load.
pub(crate) fn work(work: Work<'_>) -> Result<Done, LoadError> {
    let _ = work;
    todo!("this room is being built")
}
