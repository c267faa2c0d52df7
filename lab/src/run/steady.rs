//! Decides when a server has warmed up: its figures per second no longer change, and its compiler has little left to do.
//!
//! The test looks at the last seconds of the warm-up: half of the longest warm-up, but 3 to 5 seconds.
//!
//! A level rate is not enough: a JVM that compiles on one of two cores answers at a level rate while each request costs twice the CPU that
//! it will cost later. So CPU per request must be level too and the compiler's share of the CPU small; and a JVM that still loads classes
//! runs code that no request has reached before.
//!
//! A steady state in this sense need not last: Barrett et al., "Virtual machine warmup blows hot and cold" (OOPSLA 2017), found programs
//! that become slower again, and some that never settle. So a run that was never steady is marked.

use threadcount_model::record::{COMPILER_SHARE, QUIET_COMPILER_CORES, SteadyBy, WarmUpFigure};
use threadcount_stats::compiler::is_starved;
use threadcount_stats::steady::{CPU, RATE, ServedSecond, Tolerance, is_cpu_level, is_level};

/// The fewest and the most seconds that the test looks at.
const SECONDS: (f64, f64) = (3.0, 5.0);

/// The number of seconds without compiling after which a JVM has recompiled its code.
const QUIET_S: usize = 2;
/// The number of seconds for which the compiler must be as quiet as in the measured window, if the JVM was not warm then.
const AS_MEASURED_S: usize = 4;

/// Loading a class takes some tenths of a millisecond, so this many per second cost less than 1 % of a core.
const FEW_CLASSES_PER_S: f64 = 10.0;
/// The tolerance for class loading, because a server that generates classes for its requests never stops doing so.
const CLASSES: Tolerance = CPU;

/// A server's activity in one second of its warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WarmUpSecond {
    pub rate_per_s: f64,
    pub cpu_cores: f64,
    /// The part of `cpu_cores` that the JVM's compiler threads used; 0 without a JVM.
    pub compiler_cores: f64,
    /// The mean number of compiler threads that were runnable but had no core.
    pub compiler_waiting_threads: f64,
    /// Classes that the JVM loaded; `None` without a JVM, or if its counters cannot be read.
    pub classes_per_s: Option<f64>,
}

/// Follows a JVM that recompiles its code, until its compiler has little left to do, or no more than when it was measured.
#[derive(Clone, Debug)]
pub(super) struct RecompilingTest {
    measured_share: f64,
    seconds: Vec<WarmUpSecond>,
}

impl RecompilingTest {
    /// `measured_share` is the compiler's share (0 to 1) of the server's CPU in the measured window.
    pub const fn new(measured_share: f64) -> Self {
        Self { measured_share, seconds: Vec::new() }
    }

    /// Takes in a full second. Returns whether recompiling is over, judging by the last seconds.
    pub fn is_over_after(&mut self, second: WarmUpSecond) -> bool {
        self.seconds.push(second);
        let last = |count: usize| Some(&self.seconds[self.seconds.len().checked_sub(count)?..]);
        let is_as_measured = |last: &[WarmUpSecond]| {
            compiler_share(last).is_none_or(|share| share <= self.measured_share)
                && !is_compiler_starved(last)
        };
        last(QUIET_S).is_some_and(is_compiler_quiet) || last(AS_MEASURED_S).is_some_and(is_as_measured)
    }
}

/// Follows a warm-up second by second.
#[derive(Clone, Debug)]
pub(crate) struct WarmUpTest {
    window: usize,
    /// The load is open, so its schedule determines the rate.
    open: bool,
    seconds: Vec<WarmUpSecond>,
}

impl WarmUpTest {
    /// A test for a warm-up of at most this many seconds. `open`: the schedule determines the rate.
    pub fn new(at_most_s: f64, open: bool) -> Self {
        let window = (at_most_s / 2.0).clamp(SECONDS.0, SECONDS.1).floor() as usize;
        Self { window, open, seconds: Vec::new() }
    }

    /// Takes in a full second. Seconds after the steady state are ignored, because the load is then being stopped.
    pub fn second(&mut self, second: WarmUpSecond) {
        if self.is_steady() != Some(true) {
            self.seconds.push(second);
        }
    }

    /// Whether the server is warm now; `None` if too few seconds have passed.
    pub fn is_steady(&self) -> Option<bool> {
        Some(self.unsteady()?.is_empty())
    }

    /// The figures that still change or are too large; `None` if too few seconds have passed.
    pub fn unsteady(&self) -> Option<Vec<WarmUpFigure>> {
        let last = self.last()?;
        let rates: Vec<f64> = last.iter().map(|it| it.rate_per_s).collect();
        let served = |it: &WarmUpSecond| ServedSecond { rate_per_s: it.rate_per_s, cpu_cores: it.cpu_cores };
        let cpu = is_cpu_level(&last.iter().map(served).collect::<Vec<_>>(), self.open);
        let figure = if self.open { WarmUpFigure::Cpu } else { WarmUpFigure::CpuPerRequest };
        let figures = [
            (WarmUpFigure::Rate, is_level(&rates, RATE)),
            (figure, cpu),
            (WarmUpFigure::Compiler, is_compiler_quiet(last)),
            (WarmUpFigure::ClassLoading, is_class_loading_over(last)),
        ];
        Some(figures.into_iter().filter(|(_, is_steady)| !is_steady).map(|(figure, _)| figure).collect())
    }

    /// The compiler's share of the server's CPU in the last seconds; `None` if they are too few, or the server used no CPU.
    pub fn compiler_share(&self) -> Option<f64> {
        self.last().and_then(compiler_share)
    }

    /// Classes loaded per second in the last seconds; `None` if they are too few, or unknown.
    pub fn classes_per_s(&self) -> Option<f64> {
        self.last().and_then(classes_per_s)
    }

    /// The figures that must be level.
    pub const fn judged_by(&self) -> SteadyBy {
        if self.open { SteadyBy::RateAndCpu } else { SteadyBy::Rate }
    }

    fn last(&self) -> Option<&[WarmUpSecond]> {
        Some(&self.seconds[self.seconds.len().checked_sub(self.window)?..])
    }
}

fn compiler_share(last: &[WarmUpSecond]) -> Option<f64> {
    let cpu = mean(last, |second| second.cpu_cores);
    (cpu > 0.0).then(|| mean(last, |second| second.compiler_cores) / cpu)
}

/// The compiler does little, and not because other threads take its core.
fn is_compiler_quiet(last: &[WarmUpSecond]) -> bool {
    let running = mean(last, |second| second.compiler_cores);
    let does_little =
        running <= QUIET_COMPILER_CORES || compiler_share(last).is_none_or(|share| share <= COMPILER_SHARE);
    does_little && !is_compiler_starved(last)
}

fn is_compiler_starved(last: &[WarmUpSecond]) -> bool {
    is_starved(
        mean(last, |second| second.compiler_waiting_threads),
        mean(last, |second| second.compiler_cores),
    )
}

fn classes_per_s(last: &[WarmUpSecond]) -> Option<f64> {
    let known: Option<Vec<f64>> = last.iter().map(|second| second.classes_per_s).collect();
    threadcount_stats::runs::mean(&known?)
}

fn is_class_loading_over(last: &[WarmUpSecond]) -> bool {
    classes_per_s(last).is_none_or(|mean| {
        mean <= FEW_CLASSES_PER_S
            || is_level(
                &last.iter().map(|it| it.classes_per_s.unwrap_or_default()).collect::<Vec<_>>(),
                CLASSES,
            )
    })
}

fn mean(last: &[WarmUpSecond], figure: impl Fn(&WarmUpSecond) -> f64) -> f64 {
    last.iter().map(figure).sum::<f64>() / last.len().max(1) as f64
}

#[cfg(test)]
mod tests;
