//! A long open load, with the generator's memory each second: a generator that keeps samples grows.

use crate::child::{self, ServerProcess};
use crate::compare::sizes::Cores;
use crate::span;
use crate::tool::{Toolbox, threadcount::Threadcount};
use serde::Serialize;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The reading, one a second, that memory is compared with: the first minute fills histograms and buffers.
const FIRST_MINUTE: usize = 60;

/// What a soak found. Memory in KiB.
#[derive(Clone, Debug, Serialize)]
pub struct Soak {
    /// The exact command that was watched.
    pub command: String,
    /// How long it was watched, in seconds.
    pub seconds: f64,
    /// Responses of the server.
    pub answers: u64,
    /// Resident after the first minute; `None` when it was not watched that long.
    pub rss_after_first_minute_kib: Option<u64>,
    /// Resident at the last reading before the end.
    pub rss_at_end_kib: u64,
    /// Resident each second from the start.
    pub rss_kib: Vec<u64>,
}

/// Runs `threadcount load` at `rate` against a `fixed` server for `lasts`.
///
/// # Errors
/// When threadcount is not built, or a process cannot be started.
pub fn run(toolbox: &Toolbox, rate: u32, lasts: Duration, cores: Cores) -> io::Result<Soak> {
    let program = toolbox.find(Threadcount::PROGRAM).ok_or_else(|| {
        io::Error::other(format!("{} is missing: cargo build --release", toolbox.threadcount.display()))
    })?;
    let server = ServerProcess::start(child::pin(Command::new(&toolbox.bench).arg("fixed"), cores.server))?;
    let line = format!(
        "load http://{} -r {rate}/s -c 64 -d {} --threads 1 --json",
        server.address(),
        span::text(lasts)
    );
    let mut command = Command::new(&program);
    command.args(line.split(' ')).stdout(Stdio::null());
    let (started, mut rss_kib) = (Instant::now(), Vec::new());
    let spent =
        child::run(child::pin(&mut command, cores.client), lasts + Duration::from_secs(60), |memory| {
            if started.elapsed().as_secs() as usize >= rss_kib.len() {
                if rss_kib.len() == FIRST_MINUTE {
                    eprintln!("after the first minute: {}", mib(memory.rss_kib));
                }
                rss_kib.push(memory.rss_kib);
            }
        })?;
    let seconds = started.elapsed().as_secs_f64();
    if spent.too_slow || spent.status.code() == Some(2) {
        return Err(io::Error::other(format!("threadcount {line}: {}", spent.status)));
    }
    Ok(Soak {
        command: format!("{} {line}", program.display()),
        seconds,
        answers: server.stop()?.answers,
        rss_after_first_minute_kib: rss_kib.get(FIRST_MINUTE).copied(),
        rss_at_end_kib: last_before_exit(&rss_kib),
        rss_kib,
    })
}

/// The last reading but one: the very last may be of a process that was already giving its memory back.
fn last_before_exit(rss_kib: &[u64]) -> u64 {
    rss_kib.iter().rev().nth(1).or(rss_kib.last()).copied().unwrap_or(0)
}

fn mib(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}

impl Soak {
    /// The problem: memory grew by more than `margin_kib` after the first minute, or the run was too short.
    #[must_use]
    pub fn trouble(&self, margin_kib: u64) -> Option<String> {
        let Some(first) = self.rss_after_first_minute_kib else {
            return Some("too short to see whether memory grows: write e.g. -d 20m".to_owned());
        };
        let grown = self.rss_at_end_kib.saturating_sub(first);
        (grown > margin_kib).then(|| {
            format!("memory grew by {} after the first minute, more than {}", mib(grown), mib(margin_kib))
        })
    }

    /// The finding in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let rate = self.answers as f64 / self.seconds;
        let end = mib(self.rss_at_end_kib);
        let (seconds, answers) = (self.seconds, self.answers);
        let memory = match self.rss_after_first_minute_kib {
            Some(first) => format!("{} after the first minute, {end} at the end", mib(first)),
            None => format!("{end} at the end; watch for longer than a minute to see whether it grows"),
        };
        format!("{seconds:.0} s, {answers} answers ({rate:.0}/s): memory {memory}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soak(rss_kib: Vec<u64>) -> Soak {
        Soak {
            command: String::new(),
            seconds: 100.0,
            answers: 1_000_000,
            rss_after_first_minute_kib: rss_kib.get(60).copied(),
            rss_at_end_kib: last_before_exit(&rss_kib),
            rss_kib,
        }
    }

    #[test]
    fn memory_after_a_minute_is_set_against_memory_at_the_end() {
        let grows = soak((0..101).map(|second| 10_240 + second * 1_024).collect());
        assert_eq!(
            grows.sentence(),
            "100 s, 1000000 answers (10000/s): memory 70.0 MiB after the first minute, 109.0 MiB at the end"
        );
    }

    #[test]
    fn growth_beyond_the_margin_is_a_failure() {
        let grows = soak((0..101).map(|second| 10_240 + second * 10).collect());
        assert_eq!(grows.trouble(390), None, "the last but one is 390 KiB above the one after a minute");
        let trouble = grows.trouble(389).unwrap();
        assert_eq!(trouble, "memory grew by 0.4 MiB after the first minute, more than 0.4 MiB");
        assert_eq!(soak((0..101).map(|second| 10_240 - second).collect()).trouble(0), None);
    }

    #[test]
    fn less_than_a_minute_says_nothing_about_growth() {
        assert!(soak(vec![10_240; 5]).sentence().contains("longer than a minute"));
        assert!(soak(vec![10_240; 5]).trouble(u64::MAX).unwrap().contains("too short"));
    }
}
