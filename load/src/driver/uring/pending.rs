//! What the last wait brought and has not been handed over yet.

use super::{Socket, Uring};
use crate::driver::{Slot, socket};
use io_uring::cqueue;

/// A wait that brought fewer completions than this brought all: the kernel does at least so much of its work in one
/// (`IO_LOCAL_TW_DEFAULT_MAX` in io_uring.c, Linux 6.13; earlier ones do all).
const LEAST_WORK: usize = 20;

/// Completions of the last wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// So many came.
    came: usize,
    /// So many of them are still to be taken.
    left: usize,
    /// So many that are still to be taken are counted at their sockets, of those and of later ones.
    counted: usize,
}

impl Pending {
    /// A wait is over, and so many are to be taken.
    pub fn wait_ended(&mut self, came: usize) {
        (self.came, self.left) = (came, came);
    }

    /// May the kernel hold more than the last wait brought?
    fn may_be_partial(&self) -> bool {
        self.came >= LEAST_WORK
    }
}

impl Uring {
    /// A completion is taken. True: the last wait brought it.
    #[inline]
    pub(super) fn count_off(&mut self, completion: &cqueue::Entry) -> bool {
        if self.pending.counted > 0 {
            self.pending.counted -= 1;
            if let Some(socket) = socket_of(&mut self.sockets, completion) {
                socket.pending = socket.pending.saturating_sub(1);
            }
        }
        let is_of_wait = self.pending.left > 0;
        self.pending.left = self.pending.left.saturating_sub(1);
        is_of_wait
    }

    pub(super) fn has_completion(&mut self, slot: Slot) -> bool {
        if self.pending.left == 0 {
            return false;
        }
        if self.pending.counted == 0 {
            self.count_completions();
        }
        self.sockets[slot as usize].pending > 0
    }

    pub(super) fn has_nothing_to_read(&mut self, slot: Slot, is_stale: bool) -> bool {
        if self.has_completion(slot) {
            return false;
        }
        let is_known = !is_stale && !self.pending.may_be_partial();
        is_known || !self.sockets[slot as usize].fd.as_ref().is_some_and(socket::has_input)
    }

    /// Counts the completions that are to be taken at their sockets. One of an earlier connection counts as well: the socket is
    /// then used a little later.
    fn count_completions(&mut self) {
        let mut completions = self.ring.completion();
        for completion in &mut completions {
            self.pending.counted += 1;
            if let Some(socket) = socket_of(&mut self.sockets, &completion) {
                socket.pending = socket.pending.saturating_add(1);
            }
        }
        // They stay in the ring: they are taken from it only when this is dropped.
        std::mem::forget(completions);
    }
}

fn socket_of<'s>(sockets: &'s mut [Socket], completion: &cqueue::Entry) -> Option<&'s mut Socket> {
    sockets.get_mut(completion.user_data() as Slot as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::outgoing::Outgoing;
    use std::mem::offset_of;

    #[test]
    fn what_each_send_and_receive_needs_lies_in_one_cache_line() {
        let copies = offset_of!(Socket, outgoing) + Outgoing::COPY_AT;
        assert!(copies <= 64, "{copies}");
    }
}
