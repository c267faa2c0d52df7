//! The events of a run, for a caller that shows progress.

use std::sync::{Mutex, PoisonError};
use threadcount_judge::result::ResultDocument;
use threadcount_load::outcome::Second;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::CapacityStep;
use threadcount_model::rounds::RoundsDone;

/// An event of a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A server is being started.
    Starting {
        /// The variant.
        variant: &'a str,
        /// The load it will get.
        load: &'a str,
    },
    /// The server answered for the first time.
    Ready {
        /// Milliseconds since it was launched.
        after_ms: f64,
    },
    /// A second of the warm-up has passed.
    Warming(&'a Second),
    /// The servers of a round run side by side, and this one is measured now.
    Turn {
        /// The variant.
        variant: &'a str,
        /// The load it gets.
        load: &'a str,
    },
    /// A second of measuring has passed.
    Measuring(&'a Second),
    /// A second has passed in which the JVM recompiled its code, with the probe attached.
    Recompiling(&'a Second),
    /// A second of the explaining window has passed, with the probe in the JVM.
    Explaining(&'a Second),
    /// A step of a capacity load is over.
    Step(&'a CapacityStep),
    /// A benchmark goes on.
    Benchmarking {
        /// Whole seconds since it was launched.
        since_s: u64,
    },
    /// The run is over.
    Ended(&'a Record),
    /// A run with interference is repeated, in addition to the planned runs.
    Repeating,
    /// Every variant has had its run, and the session goes on.
    RoundEnded {
        /// The result so far.
        document: &'a ResultDocument,
        /// The load.
        load: &'a LoadSpec,
    },
    /// A run failed before anything was measured, and the session goes on without its variant.
    LeftOut(&'a Record),
    /// A load gets no more rounds.
    LoadEnded {
        /// The number of rounds, and why there are no more.
        done: &'a RoundsDone,
        /// The number of planned runs that are not needed.
        runs_saved: usize,
    },
}

/// An observer of runs, callable from any thread.
pub trait Watch: Send {
    /// Takes in an event.
    fn event(&mut self, event: Event<'_>);
}

/// A [`Watch`] that several threads share.
pub(super) struct SharedWatch<'m, 'w>(pub &'m Mutex<&'w mut dyn Watch>);

impl Watch for SharedWatch<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    }
}
