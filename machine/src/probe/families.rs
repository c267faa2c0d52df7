//! Platform threads with similar names: turns the probe's lines into a series for each family of threads.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::thread_family::{Executor, FamilySample, ThreadFamily};
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// A family with more threads than this cannot be sampled at one moment.
const MANY: u32 = 24;

/// A family in one sample; a family without work has no line.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct ThreadFamilyLine {
    pub t_ns: Nanos,
    pub sample: u64,
    pub name: String,
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    pub threads: u32,
    /// Threads whose stacks were taken.
    pub drawn: u32,
    pub working: u32,
    pub waiting: u32,
    /// Working threads on which a server handles a request.
    pub requests: u32,
    pub application: Option<String>,
    pub library: Option<String>,
    pub state: Option<ThreadState>,
    /// Threads in this state at this place.
    pub at_place: u32,
    pub event_loop: bool,
    /// The executor of the family. This and the next four figures are absent if there is none.
    pub executor: Option<String>,
    pub size: Option<i64>,
    pub maximum: Option<i64>,
    pub active: Option<i64>,
    pub queued: Option<i64>,
    /// Counts tasks: for an executor the completed ones, for virtual threads the number of the newest thread, for threads that each run one
    /// task all platform threads ever started. -1: not known.
    pub completed: i64,
    /// Context switches of the family's threads; -1: not known.
    pub switches: i64,
}

/// The lines read so far.
#[derive(Default)]
pub(super) struct FamilyTally {
    samples: Vec<u64>,
    families: BTreeMap<(bool, String), Vec<ThreadFamilyLine>>,
}

impl FamilyTally {
    pub(super) fn sample(&mut self, number: u64) {
        self.samples.push(number);
    }

    /// Adds the line of a family. It follows its sample; families of samples outside the window are ignored.
    pub(super) fn family(&mut self, line: &ThreadFamilyLine) {
        if self.samples.last() == Some(&line.sample) {
            self.families
                .entry((line.is_virtual, if line.is_virtual { String::new() } else { line.name.clone() }))
                .or_default()
                .push(line.clone());
        }
    }

    /// The families, those with the most working threads first.
    pub(super) fn finish(self) -> Vec<ThreadFamily> {
        let of_lines = |(_, lines): (_, Vec<ThreadFamilyLine>)| family(&lines, &self.samples);
        let mut all: Vec<ThreadFamily> = self.families.into_iter().map(of_lines).collect();
        let working = |it: &ThreadFamily| it.mean(|sample| sample.working);
        all.sort_by(|a, b| working(b).total_cmp(&working(a)));
        all
    }
}

fn family(lines: &[ThreadFamilyLine], samples: &[u64]) -> ThreadFamily {
    let none_waits = lines.iter().all(|line| line.waiting == 0);
    let sample = |number: &u64| {
        let line = lines.iter().find(|line| line.sample == *number);
        line.map_or_else(FamilySample::default, |line| family_sample(line, none_waits))
    };
    let (activity, at_place) = place(lines);
    let sum =
        |figure: fn(&ThreadFamilyLine) -> u32| lines.iter().map(|line| f64::from(figure(line))).sum::<f64>();
    let share = |threads: f64| threads / sum(|line| line.working).max(1.0);
    let loops = lines.iter().filter(|line| line.event_loop).count();
    ThreadFamily {
        name: lines.iter().map(|line| line.name.clone()).max().unwrap_or_default(),
        samples: samples.iter().map(sample).collect(),
        request_share: share(sum(|line| line.requests)),
        activity,
        at_place: share(at_place as f64),
        is_virtual: lines.iter().any(|line| line.is_virtual),
        is_event_loop: loops > 0 && 2 * loops >= lines.len(),
        executor: lines.iter().rev().find_map(executor),
        completed_per_s: per_second(lines, |line| line.completed),
        switches_per_s: per_second(lines, |line| line.switches),
    }
}

/// One sample of a family. `none_waits`: no thread of the family was ever seen waiting for other threads.
fn family_sample(line: &ThreadFamilyLine, none_waits: bool) -> FamilySample {
    let each = f64::from(line.threads) / f64::from(line.drawn.max(1));
    // The executor counts all its threads at one moment but does not know which of them wait for other threads; their share is estimated
    // from the few that were sampled.
    let is_whole = line.drawn >= line.threads;
    let counted = line.active.and_then(|it| u32::try_from(it).ok()).map(f64::from);
    let drawn = f64::from(line.working) + f64::from(line.waiting);
    let share = match none_waits {
        true => 1.0,
        false => f64::from(line.working) / drawn.max(1.0),
    };
    let seen = each * drawn;
    let at_work = match counted {
        Some(active) if !is_whole => active,
        // Sampling many threads takes a while, during which one task ends and another begins.
        Some(active)
            if line.threads > MANY && line.waiting == 0 && (active - seen).abs() <= (seen / 4.0).max(1.0) =>
        {
            active
        }
        _ => seen,
    };
    FamilySample {
        threads: line.threads,
        working: at_work * share,
        waiting: at_work - at_work * share,
        is_estimate: !(is_whole || none_waits && counted.is_some()),
        queued: line.queued.and_then(|it| u64::try_from(it).ok()),
    }
}

/// The place where most working threads are, over all samples.
fn place(lines: &[ThreadFamilyLine]) -> (ThreadActivity, u64) {
    let mut places: BTreeMap<(Option<&String>, Option<&String>, ThreadState), u64> = BTreeMap::new();
    for line in lines {
        if let Some(state) = line.state {
            let place = (line.application.as_ref(), line.library.as_ref(), state);
            *places.entry(place).or_default() += u64::from(line.at_place);
        }
    }
    let most = places.into_iter().max_by_key(|(_, count)| *count);
    most.map_or_else(Default::default, |((application, library, state), count)| {
        let (application, library) = (application.cloned(), library.cloned());
        (ThreadActivity { state, application, library, ..ThreadActivity::default() }, count)
    })
}

fn executor(line: &ThreadFamilyLine) -> Option<Executor> {
    Some(Executor {
        class: line.executor.clone()?,
        size: u32::try_from(line.size?).ok()?,
        maximum: u32::try_from(line.maximum?).unwrap_or_default(),
    })
}

/// The growth of a counter per second; `None` if fewer than two samples know it. A counter that is read seldom appears in several lines;
/// the first of them has the time of the reading, unless that was before the window.
fn per_second(lines: &[ThreadFamilyLine], counter: fn(&ThreadFamilyLine) -> i64) -> Option<f64> {
    let mut readings: Vec<&ThreadFamilyLine> = lines.iter().filter(|line| counter(line) >= 0).collect();
    let last = *readings.last()?;
    readings.dedup_by_key(|line| counter(line));
    let (first, last) = match readings.as_slice() {
        [_, first, .., last] => (*first, *last),
        [first, ..] => (*first, last),
        [] => return None,
    };
    let seconds = last.t_ns.saturating_sub(first.t_ns) as f64 / NANOS_PER_S as f64;
    (seconds > 0.0).then(|| (counter(last) - counter(first)).max(0) as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::read;
    use super::*;

    const S: u64 = NANOS_PER_S;

    fn stacks(sample: u64) -> String {
        let t_ns = (11 + sample) * S;
        format!(
            r#"{{"type":"stacks","t_ns":{t_ns},"sample":{sample},"platform_threads":9,"virtual_threads":0,"platform_drawn":9,"virtual_drawn":0,"platform_gone":0,"virtual_gone":0,"families":true,"cpu_ns":1}}"#
        )
    }

    fn line(sample: u64, name: &str, (threads, drawn): (u32, u32), (working, waiting): (u32, u32)) -> String {
        let t_ns = (11 + sample) * S;
        let completed = 100 * sample;
        format!(
            r#"{{"type":"thread_family","t_ns":{t_ns},"sample":{sample},"name":"{name}","virtual":false,"threads":{threads},"drawn":{drawn},"working":{working},"waiting":{waiting},"requests":{working},"application":"shop.A.load:6","library":null,"state":"sleep","at_place":{working},"event_loop":false,"executor":"java.util.concurrent.ThreadPoolExecutor","size":64,"maximum":200,"active":60,"queued":36,"completed":{completed},"switches":-1}}"#
        )
    }

    #[test]
    fn a_family_has_a_figure_in_each_sample_and_none_where_it_had_no_work() {
        let lines = [stacks(0), line(0, "load-*", (2, 2), (2, 0)), stacks(1), stacks(2)];
        let family = &read(&[&lines[..], &[line(2, "load-*", (2, 2), (1, 1))]].concat()).thread_families[0];
        let working: Vec<f64> = family.samples.iter().map(|sample| sample.working).collect();
        assert_eq!((family.name.as_str(), working.as_slice()), ("load-*", &[2.0, 0.0, 1.0][..]));
        assert_eq!(family.activity.application.as_deref(), Some("shop.A.load:6"));
        assert_eq!((family.request_share, family.at_place), (1.0, 1.0));
        assert_eq!(family.executor.as_ref().map(|it| (it.size, it.maximum)), Some((64, 200)));
        assert_eq!(family.completed_per_s, Some(100.0));
        assert_eq!(family.switches_per_s, None);
        assert_eq!(family.samples[0].queued, Some(36));
    }

    #[test]
    fn a_counter_that_is_read_once_a_second_has_the_time_of_its_readings() {
        let in_tenths = |line: String, tenths: u64| {
            line.replace(
                &format!("\"t_ns\":{}", (11 + tenths) * S),
                &format!("\"t_ns\":{}", 11 * S + tenths * S / 10),
            )
        };
        let at = |(tenths, switches): (u64, u64)| {
            let line = line(tenths, "job", (2, 2), (1, 0));
            let line = line.replace("\"switches\":-1", &format!("\"switches\":{switches}"));
            [stacks(tenths), line].map(|it| in_tenths(it, tenths))
        };
        // The counter is read 0.5 s before the first line, then at 0.5, 1.5 and 2.5 s.
        let counted = [(0, 80), (5, 120), (9, 120), (15, 160), (25, 200), (33, 200)];
        let lines: Vec<String> = counted.into_iter().flat_map(at).collect();
        let read = read(&lines);
        assert_eq!(read.thread_families[0].switches_per_s, Some(40.0));
    }

    #[test]
    fn of_a_large_family_the_executor_counts_those_with_a_task_and_the_drawn_ones_say_what_they_do() {
        let read = read(&[stacks(0), line(0, "exec-*", (200, 10), (8, 2))]);
        let sample = read.thread_families[0].samples[0];
        assert_eq!((sample.working, sample.waiting, sample.is_estimate), (48.0, 12.0, true));
        let whole = |working, waiting| {
            let sample = super::super::readings::tests::read(&[
                stacks(0),
                line(0, "exec-*", (200, 200), (working, waiting)),
            ]);
            let sample = sample.thread_families[0].samples[0];
            (sample.working, sample.waiting, sample.is_estimate)
        };
        let none_waits =
            super::super::readings::tests::read(&[stacks(0), line(0, "exec-*", (200, 10), (0, 0))]);
        let sample = none_waits.thread_families[0].samples[0];
        assert_eq!((sample.working, sample.is_estimate), (60.0, false), "no drawn one has a task");
        assert_eq!(whole(3, 57), (3.0, 57.0, false));
        assert_eq!(whole(61, 0), (60.0, 0.0, false), "one ended meanwhile");
    }

    #[test]
    fn a_family_of_a_sample_before_the_window_is_not_counted() {
        let early = line(0, "load-*", (2, 2), (2, 0));
        assert_eq!(read(&[early]).thread_families, []);
    }
}
