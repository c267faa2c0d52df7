//! The pods of a Job as seen so far, and whether a load can begin.

use super::clocks::Clocks;
use super::follow::Event;
use super::pod_state::{Loss, PodState};
use std::collections::BTreeMap;
use threadcount_load::merge::MOST_SKEW_NS;

/// The pods of a Job by index, with the states seen last.
#[derive(Clone, Debug, Default)]
pub struct SeenPods {
    states: BTreeMap<u32, (String, PodState)>,
    /// Pods that somebody other than us told to end, with the reason.
    ending: BTreeMap<u32, Loss>,
    pub clocks: Clocks,
}

/// The reason why no load can begin. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum NotReady {
    #[error("{missing} of {pods} pods did not run {when}{}: nothing was sent", in_brackets(.why))]
    #[diagnostic(help("give them more time (--start-after), or remove what they wait for"))]
    Missing {
        missing: usize,
        pods: u32,
        /// The time by which the pods had to run, in words.
        when: String,
        /// The obstacle of the first missing pod, if it is known.
        why: Option<String>,
    },
    #[error(
        "the clocks of {names} are {apart_ms} ms apart, and {} ms are allowed: nothing was sent",
        MOST_SKEW_NS / 1_000_000
    )]
    #[diagnostic(help(
        "set the clocks of the nodes by NTP; a log that arrives late on one node has the same effect"
    ))]
    Clocks { names: String, apart_ms: u64 },
}

fn in_brackets(why: &Option<String>) -> String {
    why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default()
}

impl SeenPods {
    /// Takes an event of a pod.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Pod { index, name, state } => {
                self.states.insert(*index, (name.clone(), state.clone()));
            }
            Event::Ending { index, why, .. } => {
                self.ending.insert(*index, why.clone());
            }
            _ => {}
        }
    }

    /// The name of a pod, or its index if the name is not known yet.
    #[must_use]
    pub fn name(&self, index: u32) -> String {
        self.states.get(&index).map_or_else(|| format!("pod {index}"), |(name, _)| name.clone())
    }

    /// The first pod that will not run to its end, with the reason.
    #[must_use]
    pub fn lost(&self) -> Option<(u32, &Loss)> {
        let known = self.states.keys().chain(self.ending.keys());
        known.copied().find_map(|index| Some((index, self.loss_of(index)?)))
    }

    /// The reason why this pod will not run to its end; `None` if it should.
    #[must_use]
    pub fn loss_of(&self, index: u32) -> Option<&Loss> {
        match self.states.get(&index) {
            Some((_, PodState::Lost(loss))) => Some(loss),
            _ => self.ending.get(&index),
        }
    }

    /// Whether the pod is running and was not told to end.
    #[must_use]
    pub fn runs(&self, index: u32) -> bool {
        let state = self.states.get(&index).map(|(_, state)| state);
        state == Some(&PodState::Running) && !self.ending.contains_key(&index)
    }

    /// Checks that all pods run and have begun, and that their clocks agree. Returns how closely the clocks agree, in words.
    ///
    /// # Errors
    /// The reason why the load cannot begin.
    pub fn check(
        &self,
        pods: u32,
        begun: impl Fn(u32) -> bool,
        when: &str,
    ) -> Result<Option<String>, NotReady> {
        let missing: Vec<u32> = (0..pods).filter(|&index| !(begun(index) && self.runs(index))).collect();
        if !missing.is_empty() {
            let why = missing.iter().find_map(|index| self.obstacle(*index));
            return Err(NotReady::Missing { missing: missing.len(), pods, when: when.to_owned(), why });
        }
        let Some((behind, ahead, apart_ns)) = self.clocks.furthest_apart() else { return Ok(None) };
        let (names, apart_ms) =
            (format!("{} and {}", self.name(ahead), self.name(behind)), apart_ns as f64 / 1e6);
        if apart_ns as u64 > MOST_SKEW_NS {
            return Err(NotReady::Clocks { names, apart_ms: apart_ms.round() as u64 });
        }
        Ok(Some(format!("clocks: {apart_ms:.1} ms apart at most ({names})")))
    }

    fn obstacle(&self, index: u32) -> Option<String> {
        let (name, state) = self.states.get(&index)?;
        if let Some(why) = self.ending.get(&index) {
            return Some(format!("{name}: {why}"));
        }
        match state {
            PodState::Waiting(Some(obstacle)) => Some(format!("{name}: {obstacle}")),
            PodState::Lost(loss) => Some(format!("{name}: {loss}")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn pods(states: &[PodState]) -> SeenPods {
        let mut seen = SeenPods::default();
        for (index, state) in (0..).zip(states) {
            seen.take(&Event::Pod { index, name: format!("load-{index}"), state: state.clone() });
        }
        seen
    }

    #[test]
    fn all_have_to_run_and_to_have_begun() {
        let two = pods(&[PodState::Running, PodState::Running]);
        assert_eq!(two.check(2, |_| true, "in time"), Ok(None), "no clock is known");
        let refusal = |seen: &SeenPods, begun: fn(u32) -> bool| {
            seen.check(2, begun, "in time").map_err(|error| error.to_string()).expect_err("not ready")
        };
        assert_eq!(refusal(&two, |index| index == 0), "1 of 2 pods did not run in time: nothing was sent");
        let lost = pods(&[PodState::Running, PodState::Lost(Loss::Deleted)]);
        assert!(refusal(&lost, |_| true).contains("1 of 2 pods did not run in time (load-1: "));
        assert_eq!(lost.lost(), Some((1, &Loss::Deleted)));
        let mut ending = two.clone();
        ending.take(&Event::Ending { index: 0, name: "load-0".to_owned(), why: Loss::Deleted });
        assert!(refusal(&ending, |_| true).contains("load-0"));
        assert_eq!((two.lost(), ending.lost()), (None, Some((0, &Loss::Deleted))));
    }

    #[test]
    fn clocks_have_to_agree() {
        let with_clock = |ahead_ms: u64| {
            let mut seen = pods(&[PodState::Running, PodState::Running]);
            seen.clocks.line(0, 1_000 * MS, 1_005 * MS);
            seen.clocks.line(1, (1_000 + ahead_ms) * MS, 1_005 * MS);
            seen.check(2, |_| true, "in time")
        };
        let report = "clocks: 3.0 ms apart at most (load-1 and load-0)";
        assert_eq!(with_clock(3), Ok(Some(report.to_owned())));
        let apart = with_clock(80).expect_err("too far apart").to_string();
        assert_eq!(
            apart,
            "the clocks of load-1 and load-0 are 80 ms apart, and 50 ms are allowed: nothing was sent"
        );
    }
}
