//! Decides whether responses may wait until the thread wakes for another reason. If the kernel stamps responses, the thread need not wake
//! up for each: it can handle them when it wakes for the next due request, and their measured times are the same.
//!
//! In a virtual machine a wake costs more than everything else about a request, so half as many wakes means half the cost.

use crate::driver::Wake;

/// How many whole responses must arrive in a row, with nothing in between, before responses may wait again. The number doubles with each
/// wrong decision, up to the largest one.
const FIRST_PROOF: u32 = 64;
const LONGEST_PROOF: u32 = 4_096;

/// Whether responses may wait. The first response that could have waited grants it, the first event that should not have waited withdraws
/// it, and a row of responses that could have waited grants it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    is_granted: bool,
    /// The number of whole, stamped responses that arrived in a row.
    in_a_row: u32,
    /// The number of responses in a row that grants patience.
    proof: u32,
}

impl Default for Patience {
    /// Before anything has arrived, so that the first response decides.
    fn default() -> Self {
        Self { is_granted: false, in_a_row: 0, proof: 1 }
    }
}

impl Patience {
    /// Notes a whole response in one piece. Without a stamp, its time is when it is read, so it must not wait.
    pub(super) fn on_whole_response(&mut self, is_stamped: bool) {
        // The kernel begins to stamp a little after the socket option is set.
        let is_first = self.proof == 1 && !self.is_granted;
        if is_stamped {
            self.in_a_row = self.in_a_row.saturating_add(1);
            self.is_granted = self.in_a_row >= self.proof;
        } else if !is_first {
            self.on_anything_else();
        }
    }

    /// Notes an event whose time depends on when it is read: a part of a response (the server may send the next part only after this one is
    /// taken), the end of a connection, or a failure.
    pub(super) fn on_anything_else(&mut self) {
        if self.proof == 1 {
            self.proof = FIRST_PROOF;
        } else if self.is_granted {
            self.proof = (2 * self.proof).min(LONGEST_PROOF);
        }
        (self.is_granted, self.in_a_row) = (false, 0);
    }

    /// The events that may end the next wait.
    pub(super) fn wake(self) -> Wake {
        if self.is_granted { Wake::OnTime } else { Wake::AtOnce }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(stamps: &[bool]) -> Patience {
        let mut patience = Patience::default();
        stamps.iter().for_each(|&is_stamped| patience.on_whole_response(is_stamped));
        patience
    }

    #[test]
    fn responses_may_wait_once_one_was_stamped() {
        assert_eq!(after(&[]).wake(), Wake::AtOnce);
        assert_eq!(after(&[false, false]).wake(), Wake::AtOnce);
        assert_eq!(after(&[false, true]).wake(), Wake::OnTime);
    }

    #[test]
    fn one_response_without_a_stamp_or_in_parts_ends_it_until_a_row_of_whole_ones_has_come() {
        assert_eq!(after(&[true, false, true]).wake(), Wake::AtOnce);
        let mut patience = after(&[true]);
        patience.on_anything_else();
        let mut came = 0;
        while patience.wake() == Wake::AtOnce {
            patience.on_whole_response(true);
            came += 1;
        }
        assert_eq!(came, FIRST_PROOF);
        patience.on_anything_else();
        (0..FIRST_PROOF).for_each(|_| patience.on_whole_response(true));
        assert_eq!(patience.wake(), Wake::AtOnce, "the second time it takes twice as many");
        (0..FIRST_PROOF).for_each(|_| patience.on_whole_response(true));
        assert_eq!(patience.wake(), Wake::OnTime);
    }

    #[test]
    fn a_load_whose_responses_all_come_in_parts_never_gains_it() {
        let mut patience = Patience::default();
        for _ in 0..10_000 {
            patience.on_anything_else();
            patience.on_whole_response(true);
            assert_eq!(patience.wake(), Wake::AtOnce);
        }
    }
}
