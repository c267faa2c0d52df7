//! Memory for parts of responses, within one limit for all connections of the process.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest number of bytes that a process keeps at once of all its responses, including captured values and cookies.
pub const MOST_KEPT_BYTES: usize = 48 * 1024 * 1024;

static ALL_CONNECTIONS: Budget = Budget::new(MOST_KEPT_BYTES);

/// The number of bytes that may still be used.
#[derive(Debug)]
struct Budget(AtomicUsize);

impl Budget {
    const fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    fn take(&self, bytes: usize) -> bool {
        let left = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A part of the limit, which is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    bytes: usize,
    budget: &'static Budget,
}

impl Default for Charge {
    fn default() -> Self {
        Self { bytes: 0, budget: &ALL_CONNECTIONS }
    }
}

impl Charge {
    /// Reserves this many bytes; `None` if the limit does not allow them.
    pub fn new(bytes: usize) -> Option<Self> {
        let mut charge = Self::default();
        charge.grow(bytes).then_some(charge)
    }

    fn grow(&mut self, bytes: usize) -> bool {
        let is_granted = self.budget.take(bytes);
        self.bytes += if is_granted { bytes } else { 0 };
        is_granted
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.give_back(self.bytes);
        }
    }
}

/// Bytes that count towards the limit.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    charge: Charge,
}

impl Kept {
    /// Appends bytes. Returns `false` if the limit does not allow it; then nothing was appended.
    #[must_use]
    pub fn push(&mut self, more: &[u8]) -> bool {
        let needed = self.bytes.len() + more.len();
        if needed > self.charge.bytes {
            // The first bytes get exactly the memory they need, because many cookies and values are small.
            let roomy = needed.max(2 * self.charge.bytes);
            let held = self.charge.bytes;
            if !self.charge.grow(roomy - held) && !self.charge.grow(needed - held) {
                return false;
            }
            self.bytes.reserve_exact(self.charge.bytes - self.bytes.len());
        }
        self.bytes.extend_from_slice(more);
        true
    }

    /// Forgets the bytes and gives their memory back, so that a waiting connection takes nothing from the others.
    pub fn clear(&mut self) {
        if self.charge.bytes > 0 {
            let budget = self.charge.budget;
            *self = Self { bytes: Vec::new(), charge: Charge { bytes: 0, budget } };
        }
    }

    /// Forgets all but the last bytes; the memory stays.
    pub fn keep_last(&mut self, bytes: usize) {
        self.bytes.drain(..self.bytes.len().saturating_sub(bytes));
    }
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Kept {}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_of(budget: &'static Budget) -> Kept {
        Kept { bytes: Vec::new(), charge: Charge { bytes: 0, budget } }
    }

    #[test]
    fn all_connections_share_one_limit_and_give_back_what_they_kept() {
        static BUDGET: Budget = Budget::new(1_000);
        let (mut one, mut other) = (kept_of(&BUDGET), kept_of(&BUDGET));
        assert!(one.push(&[1; 600]));
        assert!(!other.push(&[2; 500]), "the limit is for both together");
        assert_eq!((one.len(), other.len()), (600, 0));
        assert!(other.push(&[2; 400]));
        one.clear();
        assert!(other.push(&[2; 500]));
        drop(other);
        assert!(one.push(&[1; 1_000]));
        assert!(!one.push(&[1]));
        drop(one);
        assert_eq!(BUDGET.0.load(Ordering::Relaxed), 1_000);
    }

    #[test]
    fn memory_grows_in_steps_and_the_last_step_takes_what_is_left() {
        static BUDGET: Budget = Budget::new(100);
        let mut kept = kept_of(&BUDGET);
        assert!((0..100).all(|_| kept.push(b"x")), "all of the limit can be used");
        assert!(!kept.push(b"x"));
        kept.keep_last(3);
        assert_eq!(&*kept, b"xxx");
        assert!(kept.push(&[b'y'; 97]), "in the memory that it has");
    }
}
