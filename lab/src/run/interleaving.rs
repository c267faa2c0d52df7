//! Servers of one round that run side by side and take turns under load.
//!
//! Two servers that are measured one after the other are measured on two machines: the CPU that the host gives changes by some per cent
//! within seconds. In short turns both get the same share (Abedi & Brecht, "Conducting repeatable experiments in highly variable cloud
//! computing environments", ICPE 2017, call this randomized multiple interleaved trials).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Decides whose turn it is among a fixed number of runs in a ring.
pub(super) struct Interleaving {
    ring: Mutex<Ring>,
    passed: Condvar,
}

struct Ring {
    holder: usize,
    /// For each run, whether it has not ended yet.
    is_in: Vec<bool>,
}

impl Ring {
    /// Passes the turn to the next run that has not ended; the last run left keeps it.
    fn pass(&mut self) {
        let runs = self.is_in.len();
        let next = (1..=runs).map(|steps| (self.holder + steps) % runs).find(|&place| self.is_in[place]);
        self.holder = next.unwrap_or(self.holder);
    }
}

impl Interleaving {
    /// A ring of `runs` runs; the first run has the first turn.
    pub fn of(runs: usize) -> Self {
        Self { ring: Mutex::new(Ring { holder: 0, is_in: vec![true; runs] }), passed: Condvar::new() }
    }

    /// The place of one run in the ring.
    pub const fn seat(&self, place: usize) -> Seat<'_> {
        Seat { interleaving: self, place }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one run. When it is dropped, the run leaves the ring and the next one gets the turn.
pub(super) struct Seat<'i> {
    interleaving: &'i Interleaving,
    place: usize,
}

impl Seat<'_> {
    /// Waits until it is our turn.
    pub fn wait(&self) {
        let is_others = |ring: &mut Ring| ring.holder != self.place;
        let _ring = self.interleaving.passed.wait_while(self.interleaving.ring(), is_others);
    }

    /// Gives every other run a turn and waits until it is ours again.
    pub fn pass(&self) {
        self.interleaving.ring().pass();
        self.interleaving.passed.notify_all();
        self.wait();
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut ring = self.interleaving.ring();
        ring.is_in[self.place] = false;
        if ring.holder == self.place {
            ring.pass();
        }
        drop(ring);
        self.interleaving.passed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// The order in which three runs take the given numbers of turns, for example if the second ends after two.
    fn order(turns: [usize; 3]) -> String {
        let (all, done) = (Interleaving::of(3), Mutex::new(String::new()));
        thread::scope(|scope| {
            for (place, turns) in turns.into_iter().enumerate() {
                let (seat, done) = (all.seat(place), &done);
                scope.spawn(move || {
                    seat.wait();
                    for _ in 0..turns {
                        done.lock().unwrap().push(char::from(b'a' + place as u8));
                        seat.pass();
                    }
                });
            }
        });
        done.into_inner().unwrap()
    }

    #[test]
    fn runs_take_turns_in_a_ring_whichever_thread_comes_first() {
        assert_eq!(order([3, 3, 3]), "abcabcabc");
    }

    #[test]
    fn a_run_that_has_ended_is_passed_over() {
        assert_eq!(order([4, 2, 3]), "abcabcaca");
        assert_eq!(order([0, 0, 2]), "cc");
    }
}
