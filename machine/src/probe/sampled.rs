//! The readings of a live view: the wait profile from the sampler's lines alone, and the delays from the canary's.

use super::line::Line;
use super::run_delay::{RunDelayLine, RunDelayTally};
use super::stacks::StackTally;
use threadcount_model::record::run_delay::RunDelays;
use threadcount_model::record::wait_profile::WaitProfile;
use threadcount_model::window::Window;

/// The wait profile of the window; `None` without a sample in it, and without a reason for that.
#[must_use]
pub fn wait_profile<'a>(lines: impl Iterator<Item = &'a Line>, window: Window) -> Option<WaitProfile> {
    let mut tally = StackTally::default();
    for line in lines {
        match line {
            Line::Stacks(sample) if window.contains(sample.t_ns) => tally.sample(sample),
            Line::StackGroup(group) => tally.group(group),
            Line::StacksEnded { t_ns, why } if *t_ns <= window.ended_ns => tally.ended(why),
            _ => {}
        }
    }
    tally.finish(window)
}

/// The delays in these lines; `None` if there are no lines.
#[must_use]
pub fn run_delays<'a>(lines: impl Iterator<Item = &'a RunDelayLine>) -> Option<RunDelays> {
    let mut tally = RunDelayTally::default();
    lines.for_each(|line| tally.delay(line));
    tally.finish()
}
