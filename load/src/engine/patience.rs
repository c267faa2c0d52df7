//! May answers wait for the thread? Where the kernel stamps them, it need not wake up for each: it sees them when it wakes
//! for the next request that is due, and their times are the same.
//!
//! In a virtual machine a wake costs more than everything else about a request, so half of them is half of the cost.

use crate::clock::Nanos;
use crate::driver::Wake;

/// An answer waits no longer than this.
const LONGEST_REST_NS: Nanos = 1_000_000;

/// Granted by the first answer that could have waited, and lost for good by the first that should not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Patience {
    /// No answer has come yet.
    #[default]
    Unproven,
    Granted,
    Lost,
}

impl Patience {
    /// A whole answer came in one piece. Without a stamp its time is the moment when it is looked at.
    pub(super) fn on_whole_answer(&mut self, is_stamped: bool) {
        *self = match (*self, is_stamped) {
            (Self::Unproven | Self::Granted, true) => Self::Granted,
            // The kernel begins to stamp a little after it was asked to.
            (Self::Unproven, false) => Self::Unproven,
            (Self::Lost, _) | (Self::Granted, false) => Self::Lost,
        };
    }

    /// Something came whose time depends on when it is looked at: a part of an answer (the server may hold the next part
    /// back until this one is taken), the end of a connection, a failure.
    pub(super) fn on_anything_else(&mut self) {
        *self = Self::Lost;
    }

    /// How a wait until a moment may end.
    pub(super) fn wake(self, now_ns: Nanos, until_ns: Nanos) -> Wake {
        let is_soon = until_ns.saturating_sub(now_ns) <= LONGEST_REST_NS;
        if self == Self::Granted && is_soon { Wake::OnTime } else { Wake::AtOnce }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(answers: &[bool]) -> Patience {
        let mut patience = Patience::default();
        answers.iter().for_each(|&is_stamped| patience.on_whole_answer(is_stamped));
        patience
    }

    #[test]
    fn answers_may_wait_once_one_was_stamped_and_only_for_a_millisecond() {
        assert_eq!(after(&[]).wake(0, 1), Wake::AtOnce);
        assert_eq!(after(&[false, false]).wake(0, 1), Wake::AtOnce);
        assert_eq!(after(&[false, true]).wake(5, 1_000_005), Wake::OnTime);
        assert_eq!(after(&[false, true]).wake(5, 1_000_006), Wake::AtOnce);
    }

    #[test]
    fn one_answer_without_a_stamp_or_in_parts_ends_it_for_good() {
        assert_eq!(after(&[true, false, true]).wake(0, 1), Wake::AtOnce);
        let mut patience = after(&[true]);
        patience.on_anything_else();
        patience.on_whole_answer(true);
        assert_eq!(patience.wake(0, 1), Wake::AtOnce);
    }
}
