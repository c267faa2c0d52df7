//! Limits how long a JVM is watched.

use std::io;
use std::time::{Duration, Instant};
use threadcount_machine::halt::Halt;

/// How long to wait for a JVM's first reading.
const FIRST_READING_LIMIT: Duration = Duration::from_secs(10);

/// The time given by `--duration`. It begins with the first reading, so readings are shown for all of it even on a busy machine.
#[derive(Debug)]
pub struct TimeLimit {
    duration: Option<Duration>,
    attached_at: Instant,
    first_reading_at: Option<Instant>,
}

impl TimeLimit {
    /// The limit for a probe that has just been attached; without a duration it never ends.
    #[must_use]
    pub fn new(duration: Option<Duration>) -> Self {
        Self { duration, attached_at: Instant::now(), first_reading_at: None }
    }

    /// Starts the time at the first reading.
    pub fn begin(&mut self) {
        self.first_reading_at.get_or_insert_with(Instant::now);
    }

    #[must_use]
    pub fn is_over(&self) -> bool {
        self.duration.is_some_and(|duration| match self.first_reading_at {
            Some(first_reading_at) => first_reading_at.elapsed() >= duration,
            None => self.attached_at.elapsed() >= FIRST_READING_LIMIT,
        })
    }

    /// # Errors
    /// The time is over without any reading of this JVM.
    pub fn check_readings(&self, pid: u32) -> io::Result<()> {
        if self.first_reading_at.is_none() && self.is_over() {
            let waited_s = self.attached_at.elapsed().as_secs();
            let why = Halt::find(pid).map(|halt| format!(": {halt}")).unwrap_or_default();
            return Err(io::Error::other(format!("the JVM gave no reading within {waited_s} s{why}")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_begins_with_the_first_reading() {
        let mut limit = TimeLimit::new(Some(Duration::ZERO));
        assert!(!limit.is_over());
        limit.begin();
        assert!(limit.is_over());
        limit.check_readings(std::process::id()).unwrap();
    }

    #[test]
    fn a_jvm_that_gives_no_reading_is_not_waited_for() {
        let attached_at = Instant::now().checked_sub(FIRST_READING_LIMIT).unwrap();
        let limit = TimeLimit { attached_at, ..TimeLimit::new(Some(Duration::from_secs(3_600))) };
        assert!(limit.is_over());
        assert_eq!(
            limit.check_readings(std::process::id()).unwrap_err().to_string(),
            "the JVM gave no reading within 10 s"
        );
    }

    #[test]
    fn without_a_duration_it_does_not_end() {
        let mut limit = TimeLimit::new(None);
        limit.begin();
        assert!(!limit.is_over());
        limit.check_readings(std::process::id()).unwrap();
    }
}
