//! What the last wait brought and has not been handed over yet.

use super::Uring;
use crate::driver::{Slot, socket};

/// A wait that brought fewer completions than this brought all: the kernel does at least so much of its work in one
/// (`IO_LOCAL_TW_DEFAULT_MAX` in io_uring.c, Linux 6.13; earlier ones do all).
const LEAST_WORK: u64 = 20;

/// Completions by their number, counted from the first of the ring.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// So many were taken.
    pub taken: u64,
    /// So many were there after the last wait.
    pub waited: u64,
    /// So many of the last wait were taken before it.
    before: u64,
    /// For so many the sockets have it noted.
    noted: u64,
}

impl Pending {
    /// A wait is over, and so many are to be taken.
    pub fn wait_ended(&mut self, there: usize) {
        self.before = self.taken;
        self.waited = self.taken + there as u64;
    }

    /// The next one is taken. True: it was there when the wait ended.
    pub fn take(&mut self) -> bool {
        self.taken += 1;
        self.taken <= self.waited
    }

    /// May the kernel hold more than the last wait brought?
    fn may_be_partial(&self) -> bool {
        self.waited - self.before >= LEAST_WORK
    }
}

impl Uring {
    pub(super) fn has_completion(&mut self, slot: Slot) -> bool {
        if self.pending.taken >= self.pending.waited {
            return false;
        }
        if self.pending.noted < self.pending.waited {
            self.note_completions();
        }
        self.sockets[slot as usize].last_completion > self.pending.taken
    }

    pub(super) fn has_nothing_to_read(&mut self, slot: Slot, is_stale: bool) -> bool {
        if self.has_completion(slot) {
            return false;
        }
        let is_known = !is_stale && !self.pending.may_be_partial();
        is_known || !self.sockets[slot as usize].fd.as_ref().is_some_and(socket::has_input)
    }

    /// Notes at each socket which of the completions that are to be taken is its last. One of an earlier connection counts as well:
    /// the socket is then used a little later.
    fn note_completions(&mut self) {
        let mut number = self.pending.taken;
        let mut completions = self.ring.completion();
        for completion in &mut completions {
            number += 1;
            if let Some(socket) = self.sockets.get_mut(completion.user_data() as Slot as usize) {
                socket.last_completion = number;
            }
        }
        // They stay in the ring: they count as taken only when this is dropped.
        std::mem::forget(completions);
        self.pending.noted = number;
    }
}
