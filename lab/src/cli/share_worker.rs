//! A process that sends its share of a load and reports what it measures in lines on standard output.

use super::unwritten::Unwritten;
use super::{BAD_INPUT, plan_flags};
use miette::miette;
use std::env;
use std::io::{self, Write};
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use threadcount_load::clock::unix_now_ns;
use threadcount_load::merge::{Line, Message, PlanText, ShareBegin, ShareEnd, ShareSecond, Throttling};
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::{LoadPlan, LoadShare};
use threadcount_load::run::{self, Control};
use threadcount_machine::cgroup::Membership;
use threadcount_machine::cgroup::cpu::{ThrottleCounters, throttle_counters};
use threadcount_model::masked::masked_text;

/// The time between two messages with the clock before the start. The message with the shortest way tells most about the difference of
/// clocks.
pub(super) const CLOCK_EVERY: Duration = Duration::from_millis(200);
/// The time before the start in which no message is sent.
const QUIET_BEFORE_START_NS: u64 = 500_000_000;
/// The time between two messages with the clock during the load. They show the reader that the process lives, even if no second ends for a
/// while.
const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// Sends the plan's share from `start_at_unix_ns` on. `step` is the number of this load among several, or 0 if there is only one. The exit
/// code only says whether everything was reported: whether too many requests failed is judged for the whole load.
///
/// # Errors
/// A load that cannot be started, or an output that cannot be written.
pub(super) fn run(
    plan: &LoadPlan,
    step: u32,
    start_at_unix_ns: Option<u64>,
    stop: &AtomicBool,
) -> miette::Result<LoadOutcome> {
    let lines = Lines::new(plan.share, step);
    lines.tell(Message::Begin(begin(plan, start_at_unix_ns)))?;
    let before = Throttled::now();
    let has_ended = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        let clock = scope.spawn(|| lines.tell_clock(start_at_unix_ns, &has_ended));
        let mut error = None;
        let mut on_second = |second: &Second| {
            let told = ShareSecond::new(second).map_err(|why| miette!("{why}"));
            let told = told.and_then(|second| lines.tell(Message::Second(second)));
            error = error.take().or(told.err());
        };
        let control = Control::new(stop, &mut on_second).starting_at(start_at_unix_ns);
        let outcome = run::run(plan, control);
        has_ended.store(true, Ordering::Relaxed);
        clock.thread().unpark();
        match error {
            Some(error) => Err(error),
            None => Ok(outcome),
        }
    })?;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            let why = masked_text(&plan_flags::load_error(&error));
            lines.tell(Message::Failed { why: why.clone() })?;
            return Err(miette!("{why}"));
        }
    };
    let throttling = before.and_then(|before| Some(Throttled::now()?.since(before)));
    let end = ShareEnd::new(&outcome, throttling);
    lines.tell(Message::End(Box::new(end)))?;
    Ok(outcome)
}

/// The exit code of a share. A load that failed is a result too, and must not make whoever started the process start it again.
pub(super) fn exit_code(outcome: &LoadOutcome) -> ExitCode {
    let nothing = outcome.counts.sent == 0 && !outcome.interrupted;
    if nothing { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
}

pub(super) fn begin(plan: &LoadPlan, start_at_unix_ns: Option<u64>) -> ShareBegin {
    let named =
        |names: &[&str]| names.iter().find_map(|name| env::var(name).ok()).filter(|it| !it.is_empty());
    let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    let pod = named(&["POD_NAME", "SLURMD_NODENAME"]).unwrap_or_else(host);
    let mut begin = ShareBegin::new(pod, PlanText::new(plan));
    begin.threadcount = crate::VERSION.to_owned();
    begin.node = named(&["NODE_NAME", "SLURMD_NODENAME"]);
    begin.start_at_unix_ns = start_at_unix_ns;
    begin
}

/// Standard output. The lines of two threads are numbered in the order in which they are written.
pub(super) struct Lines {
    share: LoadShare,
    step: u32,
    next: Mutex<u32>,
}

impl Lines {
    pub const fn new(share: LoadShare, step: u32) -> Self {
        Self { share, step, next: Mutex::new(0) }
    }

    pub fn tell(&self, message: Message) -> miette::Result<()> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let line = Line::new(self.share, *next, message).of_step(self.step);
        let text = line.text().map_err(|why| miette!("{why}"))?;
        *next += 1;
        let mut out = io::stdout().lock();
        let written = out.write_all((text + "\n").as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| Unwritten::new("cannot write to stdout".to_owned(), error).into())
    }

    /// Reports the clock: often until shortly before the start, then now and then.
    fn tell_clock(&self, start_at_unix_ns: Option<u64>, has_ended: &AtomicBool) {
        let Some(start_at_unix_ns) = start_at_unix_ns else { return };
        while !has_ended.load(Ordering::Relaxed) {
            let unix_ns = unix_now_ns();
            let until_start_ns = start_at_unix_ns.saturating_sub(unix_ns);
            let is_quiet = (1..=QUIET_BEFORE_START_NS).contains(&until_start_ns);
            if !is_quiet {
                // If the output is closed, the next line of the load reports it.
                let _ = self.tell(Message::Clock { unix_ns });
            }
            let until_next = match until_start_ns {
                0 => ALIVE_EVERY,
                ns if is_quiet => Duration::from_nanos(ns) + ALIVE_EVERY,
                _ => CLOCK_EVERY,
            };
            thread::park_timeout(until_next);
        }
    }
}

/// What this process's control group has counted so far.
#[derive(Clone, Copy)]
struct Throttled(ThrottleCounters);

impl Throttled {
    fn now() -> Option<Self> {
        let levels = Membership::of_process(process::id()).cpu?;
        throttle_counters(levels.folders.first()?, levels.is_v2).map(Self)
    }

    const fn since(self, before: Self) -> Throttling {
        Throttling {
            periods: self.0.periods.saturating_sub(before.0.periods),
            throttled_periods: self.0.throttled_periods.saturating_sub(before.0.throttled_periods),
            throttled_ns: self.0.throttled_ns.saturating_sub(before.0.throttled_ns),
        }
    }
}
