//! The last seconds of a running JVM as a record: the probe's lines, and readings of /proc. We send no load, so there are no figures of
//! requests.

use crate::run::probe_lines::MOST_LATEST;
use std::collections::VecDeque;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_machine::other_processes::OtherProcesses;
use threadcount_machine::probe::line::Line;
use threadcount_machine::probe::readings::readings;
use threadcount_machine::resource_limits::LimitsReading;
use threadcount_machine::sampler::ProcessReader;
use threadcount_machine::samples::RawSample;
use threadcount_machine::{Samples, machine};
use threadcount_model::record::Record;
use threadcount_model::record::interference::BusiestProcess;
use threadcount_model::window::Window;

/// The length of the judged window in seconds.
pub const WINDOW_S: u64 = 10;
/// The shortest window in seconds that can be judged; in a shorter one chance decides.
const SHORTEST_S: u64 = 5;
/// How long lines are kept, in seconds: the flight recorder's events arrive up to two seconds late, and later on a busy machine.
const KEPT_S: u64 = WINDOW_S + 10;
/// The quota's counters must go back as far as the window, with one reading a second.
const MOST_LIMITS: usize = WINDOW_S as usize;

/// The lines and readings of the last seconds.
pub struct LiveWindow {
    pid: u32,
    reader: Option<ProcessReader>,
    hello: Option<Line>,
    lines: VecDeque<Line>,
    samples: VecDeque<RawSample>,
    limits: VecDeque<LimitsReading>,
    /// The CPU use of other processes at an earlier reading.
    others: Option<OtherProcesses>,
    busiest_other: Option<BusiestProcess>,
    /// Every event that ended before this time has been read.
    events_until_ns: Nanos,
}

impl LiveWindow {
    /// The window of a process on this machine.
    #[must_use]
    pub fn of_process(pid: u32) -> Self {
        Self { reader: Some(ProcessReader::of(pid)), ..Self::of_lines(pid) }
    }

    fn of_lines(pid: u32) -> Self {
        Self {
            pid,
            reader: None,
            hello: None,
            lines: VecDeque::new(),
            samples: VecDeque::new(),
            limits: VecDeque::new(),
            others: None,
            busiest_other: None,
            events_until_ns: 0,
        }
    }

    /// Adds a line of the probe.
    pub fn add(&mut self, line: &Line) {
        match line {
            Line::Hello { .. } => self.hello = Some(line.clone()),
            Line::EventsUntil { events_until_ns, .. } => {
                self.events_until_ns = self.events_until_ns.max(*events_until_ns);
            }
            _ => {}
        }
        let kept_from_ns = line.t_ns().saturating_sub(KEPT_S * NANOS_PER_S);
        while self.lines.len() >= MOST_LATEST || self.lines.front().is_some_and(|it| it.t_ns() < kept_from_ns)
        {
            self.lines.pop_front();
        }
        self.lines.push_back(line.clone());
    }

    /// Reads the process; once or twice a second is enough.
    pub fn read_process(&mut self) {
        if let Some(reader) = &mut self.reader {
            let sample = reader.sample_now();
            self.add_sample(sample);
            if self.limits.len() >= MOST_LIMITS {
                self.limits.pop_front();
            }
            self.limits.push_back(LimitsReading::take(self.pid));
            self.read_others();
        }
    }

    /// Reads the other processes, but not each time, because that searches `/proc`.
    fn read_others(&mut self) {
        if self.others.as_ref().is_some_and(|it| it.lasted_s() < SHORTEST_S as f64) {
            return;
        }
        let before = self.others.replace(OtherProcesses::from_now());
        self.busiest_other =
            before.filter(|_| self.do_others_use_more()).and_then(|it| it.busiest(Some(self.pid)));
    }

    fn do_others_use_more(&self) -> bool {
        let used = |figure: fn(&RawSample) -> u64| {
            let (first, last) = (self.samples.front().map(figure), self.samples.back().map(figure));
            last.zip(first).map_or(0, |(last, first)| last.saturating_sub(first))
        };
        used(|it| it.machine_busy_ns) > 2 * used(|it| it.cpu_ns)
    }

    fn add_sample(&mut self, sample: RawSample) {
        let kept_from_ns = sample.at_ns.saturating_sub(KEPT_S * NANOS_PER_S);
        while self.samples.front().is_some_and(|it| it.at_ns < kept_from_ns) {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The window that can be judged: it ends with the last events that have arrived. `None` if too little is known yet.
    fn window(&self) -> Option<Window> {
        let ended_ns = self.events_until_ns;
        let first_ns = self.hello.as_ref()?.t_ns().max(self.samples.front()?.at_ns);
        let started_ns = ended_ns.saturating_sub(WINDOW_S * NANOS_PER_S).max(first_ns);
        (ended_ns >= started_ns + SHORTEST_S * NANOS_PER_S).then_some(Window { started_ns, ended_ns })
    }

    /// The record, and the length of its window in seconds.
    #[must_use]
    pub fn record(&self) -> Option<(Record, f64)> {
        let window = self.window()?;
        let samples = Samples::new(self.samples.iter().copied().collect(), machine::cores());
        let (cost, process_series) = samples.cut(window);
        let lines: Vec<Line> = self.hello.iter().chain(&self.lines).cloned().collect();
        let record = Record {
            cost: Some(cost?),
            busiest_other_process: self.busiest_other.clone(),
            process_series,
            server_sockets: samples.sockets(window),
            neighbours: samples.neighbours(window),
            jvm: readings(&lines, window),
            resource_limits: self.limits.front().map(LimitsReading::until_now),
            ..Record::default()
        };
        Some((record, window.length_ns() as f64 / NANOS_PER_S as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_judge::explain::explain_window;
    use threadcount_judge::finding::Rule;
    use threadcount_machine::probe::line::parse;

    /// A JVM on Java 21 that has been watched for `seconds`; its two carriers are pinned during the first `pinned_s`.
    fn watched(seconds: u64, pinned_s: u64) -> LiveWindow {
        let mut text = "{\"type\":\"hello\",\"t_ns\":0,\"pid\":7,\"java\":\"21.0.8\",\"level\":\"light\",\"processors\":2}\n".to_owned();
        let mut window = LiveWindow::of_lines(7);
        for second in 0..=seconds {
            let t_ns = second * NANOS_PER_S;
            if second < pinned_s {
                text += &format!(
                    "{{\"type\":\"pinned\",\"t_ns\":{t_ns},\"count\":20,\"total_ns\":1900000000,\"longest_ns\":99000000,\
                     \"holder\":\"Shop.save:7\",\"application\":null,\"top\":null,\"reason\":null}}\n"
                );
            }
            text += &format!("{{\"type\":\"events_until\",\"t_ns\":{t_ns},\"events_until_ns\":{t_ns}}}\n");
            window.add_sample(RawSample {
                at_ns: t_ns,
                cpu_ns: t_ns / 10,
                machine_busy_ns: t_ns / 5,
                ..RawSample::default()
            });
        }
        let (lines, skipped) = parse(&text);
        assert_eq!(skipped, 0);
        lines.iter().for_each(|line| window.add(line));
        window
    }

    fn rules(window: &LiveWindow) -> Vec<Rule> {
        let (record, _) = window.record().unwrap();
        explain_window(&record).iter().map(|it| it.rule()).collect()
    }

    #[test]
    fn the_rules_of_a_run_judge_the_last_seconds() {
        assert_eq!(rules(&watched(12, 100)), [Rule::PinnedCarriers]);
        let (record, seconds) = watched(12, 100).record().unwrap();
        assert_eq!(seconds, 10.0);
        let cost = record.cost.unwrap();
        assert!((cost.cpu_cores - 0.1).abs() < 1e-9 && (cost.window_s - 10.0).abs() < 1e-9, "{cost:?}");
        assert!(record.measured.is_none(), "nobody sends a load");
    }

    #[test]
    fn what_is_over_is_no_limit_any_more() {
        assert_eq!(rules(&watched(30, 15)), []);
    }

    #[test]
    fn a_few_seconds_are_not_judged() {
        assert!(watched(4, 100).record().is_none());
        assert!(LiveWindow::of_lines(7).record().is_none());
        assert_eq!(watched(6, 100).record().unwrap().1, 6.0);
    }

    #[test]
    fn it_does_not_grow() {
        let long = watched(1_000, 1_000);
        assert!(long.lines.len() < 3 * KEPT_S as usize && long.samples.len() <= KEPT_S as usize + 1);
    }
}
