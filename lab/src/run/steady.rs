//! When has a server warmed up? When what it does in a second no longer changes, and its compiler has little left to do.
//!
//! The test is about the last seconds of the warm-up: half of the longest warm-up, but 3 to 5 of them.
//!
//! A level rate is not enough: a JVM that compiles on one of two cores answers at a level rate, and each request costs
//! twice the CPU that it will cost. So CPU per request has to be level too, and the compiler's share of the CPU small; and
//! a JVM that still loads classes has code that no request has come through before.
//!
//! A steady state in this sense is not for ever: Barrett et al., "Virtual machine warmup blows hot and cold" (OOPSLA
//! 2017), found programs that become slower again, and some that never settle. So a run that was never steady is marked.

use threadcount_model::record::{COMPILER_SHARE, QUIET_COMPILER_CORES, SteadyBy, WarmUpFigure};
use threadcount_stats::compiler::is_starved;
use threadcount_stats::steady::{CPU, RATE, ServedSecond, Tolerance, is_cpu_level, is_level};

/// The fewest and the most seconds that the test takes.
const SECONDS: (f64, f64) = (3.0, 5.0);

/// A JVM has compiled anew when its compiler is quiet for so many seconds ...
const QUIET_S: usize = 2;
/// ... or, where it was not warm when it was measured, no busier than then for so many.
const AS_MEASURED_S: usize = 4;

/// A class takes some tenths of a millisecond: so few in a second cost less than 1 % of a core.
const FEW_CLASSES_PER_S: f64 = 10.0;
/// A server that makes classes for its requests goes on doing so.
const CLASSES: Tolerance = CPU;

/// What a server did in a second of its warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WarmUpSecond {
    pub rate_per_s: f64,
    pub cpu_cores: f64,
    /// The part of it in the JVM's compiler threads; 0 where there is no JVM.
    pub compiler_cores: f64,
    /// Its threads that could run and had no core, on average.
    pub compiler_waiting_threads: f64,
    /// Classes that the JVM loaded; `None`: there is no JVM, or it does not count them where we could read it.
    pub classes_per_s: Option<f64>,
}

/// Follows a JVM that compiles its code anew, until its compiler has little left to do, or no more than when it was measured.
#[derive(Clone, Debug)]
pub(super) struct RecompilingTest {
    measured_share: f64,
    seconds: Vec<WarmUpSecond>,
}

impl RecompilingTest {
    /// `measured_share`: what the compiler took of the server's CPU in the measured window, a part of 1.
    pub const fn new(measured_share: f64) -> Self {
        Self { measured_share, seconds: Vec::new() }
    }

    /// A full second has passed. Is it over, by this one and those before it?
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
    /// The schedule holds the rate.
    open: bool,
    seconds: Vec<WarmUpSecond>,
}

impl WarmUpTest {
    /// For a warm-up of at most so many seconds. `open`: the schedule holds the rate.
    pub fn new(at_most_s: f64, open: bool) -> Self {
        let window = (at_most_s / 2.0).clamp(SECONDS.0, SECONDS.1).floor() as usize;
        Self { window, open, seconds: Vec::new() }
    }

    /// A full second has passed. After it was steady nothing counts any more: what is left of the load is being stopped.
    pub fn second(&mut self, second: WarmUpSecond) {
        if self.is_steady() != Some(true) {
            self.seconds.push(second);
        }
    }

    /// Is the server warm now? `None`: too few seconds have passed.
    pub fn is_steady(&self) -> Option<bool> {
        Some(self.unsteady()?.is_empty())
    }

    /// What still changes, or is still too large. `None`: too few seconds have passed.
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

    /// The compiler's share of the server's CPU in the last seconds. `None`: too few, or the server used none.
    pub fn compiler_share(&self) -> Option<f64> {
        self.last().and_then(compiler_share)
    }

    /// Classes loaded per second in the last seconds. `None`: too few, or not known.
    pub fn classes_per_s(&self) -> Option<f64> {
        self.last().and_then(classes_per_s)
    }

    /// What has to be level.
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

/// It does little, and not because others have its core.
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
