//! The activities of threads that had work in the last seconds, as seen in stack samples.

use super::window::WINDOW_S;
use crate::run::probe_lines::MOST_LATEST;
use std::collections::VecDeque;
use threadcount_judge::words::activity::{activity_words, line};
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_machine::probe::line::Line;
use threadcount_machine::probe::sampled::wait_profile;
use threadcount_model::record::wait_profile::{ThreadRole, WaitProfile};
use threadcount_model::window::Window;

/// The samples are kept as long as a window.
pub(super) const REMEMBERED_S: u64 = WINDOW_S;

/// The samples of the last seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The lines of the sampler, each with its number among all lines of the probe.
    lines: VecDeque<(usize, Nanos, Line)>,
}

/// An activity, and the mean number of threads in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Doing {
    pub threads: f64,
    pub what: String,
    pub place: String,
    pub holder: Option<String>,
}

impl Work {
    /// Adds a line of the sampler, which has this number among all lines of the probe.
    pub fn read(&mut self, number: usize, t_ns: Nanos, line: Line) {
        let began_ns = t_ns.saturating_sub(REMEMBERED_S * NANOS_PER_S);
        // The line with the reason why sampling ended is kept.
        while self.lines.front().is_some_and(|(before, at, it)| {
            (*at < began_ns && !matches!(it, Line::StacksEnded { .. })) || before + MOST_LATEST <= number
        }) {
            self.lines.pop_front();
        }
        self.lines.push_back((number, t_ns, line));
    }

    fn profile(&self) -> Option<WaitProfile> {
        let (first, last) = (self.lines.front()?.1, self.lines.back()?.1);
        let lines = self.lines.iter().map(|(_, _, line)| line);
        wait_profile(lines, Window { started_ns: first, ended_ns: last })
    }

    /// A headline (which threads were sampled, and how many), and their activities, the most frequent first.
    #[must_use]
    pub fn now(&self) -> (String, Vec<Doing>) {
        let Some(profile) = self.profile() else { return ("not sampled so far".to_owned(), Vec::new()) };
        if let Some(why) = &profile.ended {
            return (format!("not sampled: {why}"), Vec::new());
        }
        let threads = |role: ThreadRole| {
            let groups = profile.groups.iter().filter(|group| group.role == role);
            // `+ 0.0` because an empty sum is -0.0.
            groups.map(|group| profile.mean_threads(group)).sum::<f64>() + 0.0
        };
        let (role, whose) = match threads(ThreadRole::Request) > 0.0 {
            true => (ThreadRole::Request, "threads with a request"),
            false => (ThreadRole::Application, "threads with code of the application"),
        };
        let doing = profile.groups.iter().filter(|group| group.role == role).map(|group| Doing {
            threads: profile.mean_threads(group),
            what: activity_words(&group.activity),
            place: line(&group.activity).unwrap_or_default().to_owned(),
            holder: group.activity.holder.clone(),
        });
        (format!("{:.1} {whose}, on average over {REMEMBERED_S} s", threads(role)), doing.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::probe::line::parse;

    fn work(lines: &str) -> Work {
        let mut work = Work::default();
        for (number, line) in parse(lines).0.into_iter().enumerate() {
            let t_ns = match &line {
                Line::Stacks(sample) => sample.t_ns,
                Line::StackGroup(group) => group.t_ns,
                Line::StacksEnded { t_ns, .. } => *t_ns,
                _ => continue,
            };
            work.read(number, t_ns, line);
        }
        work
    }

    /// A sample of ten virtual threads, `waiting` of which wait for a pool.
    fn sample(at_s: u64, role: &str, waiting: u32) -> String {
        let t_ns = at_s * NANOS_PER_S;
        format!(
            r#"{{"type":"stacks","t_ns":{t_ns},"sample":{at_s},"platform_threads":0,"virtual_threads":10,"platform_drawn":0,"virtual_drawn":10,"platform_gone":0,"virtual_gone":0,"families":false,"cpu_ns":1}}
{{"type":"stack_group","t_ns":{t_ns},"sample":{at_s},"virtual":true,"role":"{role}","state":"pool","resource":"HikariCP","application":"shop.Orders.find:42","library":"com.zaxxer.hikari.X.y:1","holder":null,"peer":null,"count":{waiting}}}
"#
        )
    }

    #[test]
    fn threads_that_wait_are_named_with_their_place() {
        let (head, doing) = work(&(sample(1, "request", 6) + &sample(2, "request", 8))).now();
        assert_eq!(head, "7.0 threads with a request, on average over 10 s");
        let expected = Doing {
            threads: 7.0,
            what: "waiting for a HikariCP connection".to_owned(),
            place: "shop.Orders.find:42".to_owned(),
            holder: None,
        };
        assert_eq!(doing, [expected]);
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let (head, _) = work(&(sample(1, "request", 10) + &sample(20, "application", 4))).now();
        assert_eq!(head, "4.0 threads with code of the application, on average over 10 s");
    }

    #[test]
    fn why_there_are_no_samples_is_said() {
        assert_eq!(work("").now().0, "not sampled so far");
        let ended =
            r#"{"type":"stacks_ended","t_ns":1,"why":"java.lang.NoSuchFieldException: carrierThread"}"#;
        assert_eq!(work(ended).now().0, "not sampled: java.lang.NoSuchFieldException: carrierThread");
    }
}
