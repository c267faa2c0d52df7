//! What this kernel lets the generator use.

use crate::driver::stamps;
use crate::driver::{Driver, uring::Uring};
use std::io;

/// Found out by trying: a container may forbid what the kernel has.
#[derive(Debug)]
pub struct KernelFeatures {
    /// Whether a load goes through io_uring; with an error it goes through epoll.
    pub io_uring: io::Result<()>,
    /// Whether the kernel stamps responses when they arrive.
    pub receive_stamps: bool,
}

impl KernelFeatures {
    /// Tries them, with one connection that is never opened.
    #[must_use]
    pub fn of_this_kernel() -> Self {
        Self { io_uring: Uring::new(1, &[], false).map(drop), receive_stamps: stamps::are_known() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::epoll::Epoll;

    #[test]
    fn what_is_said_to_work_works_and_epoll_always_does() {
        let features = KernelFeatures::of_this_kernel();
        assert_eq!(features.io_uring.is_ok(), Uring::new(1, &[], features.receive_stamps).is_ok());
        assert!(Epoll::new(1, &[], features.receive_stamps).is_ok());
    }
}
