//! The kernel interfaces that carry bytes: io_uring and epoll, behind one completion-style trait.
