//! Turns the probe's lines into [`JvmReadings`]: cut to the measured window, with counters as differences and events added up by site.

use super::allocation::AllocationTally;
use super::allocation_profile::AllocationProfileTally;
use super::cpu_profile::CpuTally;
use super::families::FamilyTally;
use super::line::{Carriers, Gc, Line, Pool as PoolLine, Sample, Tally};
use super::run_delay::RunDelayTally;
use super::safepoints::safepoints;
use super::stacks::StackTally;
use std::collections::{BTreeMap, HashSet};
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::jvm::{
    CarrierSample, Collection, HeapAfterGc, JvmReadings, JvmSample, Pause, PinSample, Pool, PoolSample,
    SiteReason, SiteTotal, StackSample, Total, VISIT,
};
use threadcount_model::window::Window;

/// The readings within the window; `None` without a `hello` line.
#[must_use]
pub fn readings(lines: &[Line], window: Window) -> Option<JvmReadings> {
    let mut readings = lines.iter().find_map(|line| match line {
        Line::Hello { java, .. } => Some(JvmReadings { java: java.clone(), ..JvmReadings::default() }),
        _ => None,
    })?;
    let mut sites = Sites::default();
    let mut pins_by_second = BTreeMap::new();
    let whole = whole_collections(lines);
    let mut allocation = AllocationTally::default();
    let mut stacks = StackTally::default();
    let mut families = FamilyTally::default();
    let mut delays = RunDelayTally::default();
    let mut cpu = CpuTally::default();
    let mut allocating = AllocationProfileTally::default();
    let mut before: Option<&Sample> = None;
    for line in lines {
        match line {
            Line::Sample(sample) => {
                if window.contains(sample.t_ns) {
                    allocation.count(sample.t_ns, sample.allocated_bytes);
                }
                readings.samples.extend(
                    before
                        .filter(|before| window.contains(sample.t_ns) && before.t_ns < sample.t_ns)
                        .map(|before| jvm_sample(before, sample, window)),
                );
                before = Some(sample);
            }
            Line::Carriers(carriers) if window.contains(carriers.t_ns) => {
                readings.carriers_source.get_or_insert_with(|| carriers.source.clone());
                readings.carriers.push(carrier_sample(carriers, window));
            }
            Line::Pool(pool) if window.contains(pool.t_ns) => add_pool(&mut readings.pools, pool, window),
            Line::Gc(gc) if window.contains(gc.t_ns) => readings.collections.push(collection(gc, window)),
            Line::GcPause { t_ns, duration_ns, name, .. } if window.contains(*t_ns) => {
                readings.pauses.push(Pause {
                    t_s: window.seconds(*t_ns),
                    duration_ms: ms(*duration_ns),
                    name: name.clone(),
                })
            }
            Line::HeapAfterGc { t_ns, used_bytes, gc_id } if window.contains(*t_ns) => {
                let (t_s, whole) = (window.seconds(*t_ns), whole.contains(gc_id));
                readings.heap_after_gc.push(HeapAfterGc { t_s, used_bytes: *used_bytes, whole });
            }
            Line::Pinned(tally) if window.contains_second(tally.t_ns) => {
                sites.add(Kind::Pinned, tally);
                tally.add_to(pins_by_second.entry(tally.t_ns / NANOS_PER_S).or_default());
            }
            Line::Running(tally) if window.contains_second(tally.t_ns) => {
                readings.thread_samples.count = readings.thread_samples.count.saturating_add(tally.count);
                if tally.reason.is_some() {
                    sites.add(Kind::WithoutProgress, tally);
                }
            }
            Line::CpuStack(stack) => cpu.stack(stack),
            Line::CpuSamples(samples) if window.contains_second(samples.t_ns) => cpu.samples(samples),
            Line::Stacks(sample) if window.contains(sample.t_ns) => {
                stacks.sample(sample);
                if sample.families {
                    families.sample(sample.sample);
                }
            }
            Line::ThreadFamily(family) => families.family(family),
            Line::StackGroup(group) => stacks.group(group),
            Line::StacksEnded { t_ns, why } if *t_ns <= window.ended_ns => stacks.ended(why),
            Line::Problem { t_ns, what, why } if what == VISIT && *t_ns <= window.ended_ns => {
                stacks.ended(&format!("the probe left the JVM: {why}"));
            }
            Line::RunDelay(delay) if window.contains(delay.t_ns) => delays.delay(delay),
            Line::CarrierRunTime(reading) if window.contains(reading.t_ns) => delays.carrier(reading),
            Line::HeldCarrier(held) if window.contains(held.t_ns) => delays.held(held),
            Line::Allocated(sampled) if window.contains_second(sampled.t_ns) => allocation.add(sampled),
            Line::AllocationStack(stack) => allocating.stack(stack),
            Line::AllocationSamples(samples) if window.contains_second(samples.t_ns) => {
                allocating.samples(samples);
            }
            Line::FileIo(tally) if window.contains_second(tally.t_ns) => sites.add(Kind::FileIo, tally),
            Line::NativeMemory { t_ns, kind, reserved_bytes, committed_bytes }
                if kind == "Thread Stack" && window.contains(*t_ns) =>
            {
                readings.stacks.push(StackSample {
                    t_s: window.seconds(*t_ns),
                    reserved_bytes: *reserved_bytes,
                    committed_bytes: *committed_bytes,
                });
            }
            _ => {}
        }
    }
    readings.safepoints = safepoints(lines, window);
    readings.allocation = allocation.finish();
    readings.cpu_profile = cpu.finish();
    readings.allocation_profile = allocating.finish();
    readings.wait_profile = stacks.finish(window);
    readings.thread_families = families.finish();
    readings.run_delays = delays.finish();
    readings.pins = sites.take(Kind::Pinned);
    readings.pins_series = pins_series(&pins_by_second, window);
    readings.file_io = sites.take(Kind::FileIo);
    readings.thread_samples.without_progress = sites.take(Kind::WithoutProgress);
    Some(readings)
}

fn jvm_sample(before: &Sample, sample: &Sample, window: Window) -> JvmSample {
    let between_s = (sample.t_ns - before.t_ns) as f64 / NANOS_PER_S as f64;
    JvmSample {
        t_s: window.seconds(sample.t_ns),
        heap_used_bytes: sample.heap_used_bytes,
        heap_committed_bytes: sample.heap_committed_bytes,
        allocated_bytes_per_s: sample.allocated_bytes.saturating_sub(before.allocated_bytes) as f64
            / between_s,
        cpu_cores: sample.process_cpu_ns.saturating_sub(before.process_cpu_ns) as f64
            / (between_s * NANOS_PER_S as f64),
        rss_bytes: u64::try_from(sample.rss_bytes).unwrap_or_default(),
        platform_threads: sample.platform_threads,
    }
}

fn carrier_sample(carriers: &Carriers, window: Window) -> CarrierSample {
    CarrierSample {
        t_s: window.seconds(carriers.t_ns),
        parallelism: carriers.parallelism,
        threads: carriers.threads,
        mounted: carriers.mounted,
        queued: carriers.queued,
        // If the number is unknown, no carrier may be mistaken for a held one.
        running: u32::try_from(carriers.running).unwrap_or(carriers.mounted),
    }
}

fn add_pool(pools: &mut Vec<Pool>, line: &PoolLine, window: Window) {
    let known = |value: i64| u32::try_from(value).ok();
    let sample = PoolSample {
        t_s: window.seconds(line.t_ns),
        busy: known(line.busy),
        size: known(line.size),
        queued: u64::try_from(line.queued).ok(),
    };
    // A Tomcat on virtual threads has a pool without figures.
    let has_figures = [sample.busy, sample.size].iter().any(Option::is_some) || sample.queued.is_some();
    let samples = has_figures.then_some(sample).into_iter();
    match pools.iter_mut().find(|pool| pool.kind == line.kind && pool.name == line.name) {
        Some(pool) => {
            pool.max = known(line.max);
            pool.samples.extend(samples);
        }
        None => pools.push(Pool {
            kind: line.kind,
            name: line.name.clone(),
            max: known(line.max),
            samples: samples.collect(),
        }),
    }
}

fn collection(gc: &Gc, window: Window) -> Collection {
    Collection {
        t_s: window.seconds(gc.t_ns),
        duration_ms: ms(gc.duration_ns),
        pauses_ms: ms(gc.pauses_ns),
        longest_pause_ms: ms(gc.longest_pause_ns),
        name: gc.name.clone(),
        cause: gc.cause.clone(),
    }
}

/// The ids of the collections that covered the whole heap and freed what is dead. `G1Old` is G1's concurrent cycle, which leaves the
/// freeing to later young collections; its full collection is `G1Full`.
fn whole_collections(lines: &[Line]) -> HashSet<u64> {
    const PARTIAL: [&str; 4] = ["New", "Scavenge", "Minor", "G1Old"];
    let whole = |line: &Line| match line {
        Line::Gc(gc) if PARTIAL.iter().all(|name| !gc.name.contains(name)) => Some(gc.gc_id),
        _ => None,
    };
    lines.iter().filter_map(whole).collect()
}

/// The pins in every second of the window, including seconds without pins; empty if there was no pin at all.
fn pins_series(pins: &BTreeMap<Nanos, Total>, window: Window) -> Vec<PinSample> {
    if pins.is_empty() {
        return Vec::new();
    }
    let seconds = window.started_ns / NANOS_PER_S..=window.ended_ns / NANOS_PER_S;
    let sample = |second: Nanos| {
        let total = pins.get(&second).copied().unwrap_or_default();
        let t_s = window.seconds(second * NANOS_PER_S + NANOS_PER_S / 2);
        PinSample { t_s, pinned_ms: total.total_ms, count: total.count }
    };
    seconds.filter(|second| window.contains_second(second * NANOS_PER_S)).map(sample).collect()
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Pinned,
    FileIo,
    WithoutProgress,
}

/// Tallies added up by site.
#[derive(Default)]
struct Sites(BTreeMap<(Kind, Place), Total>);

/// The holder, application and top frames; and the reason.
type Place = ([Option<String>; 3], Option<SiteReason>);

impl Sites {
    fn add(&mut self, kind: Kind, tally: &Tally) {
        let frames = [tally.holder.clone(), tally.application.clone(), tally.top.clone()];
        tally.add_to(self.0.entry((kind, (frames, tally.reason.clone()))).or_default());
    }

    /// The sites of one kind, the one with the most time first.
    fn take(&mut self, wanted: Kind) -> Vec<SiteTotal> {
        let mut sites: Vec<SiteTotal> = self
            .0
            .iter()
            .filter(|((kind, _), _)| *kind == wanted)
            .map(|((_, ([holder, application, top], reason)), total)| SiteTotal {
                holder: holder.clone(),
                application: application.clone(),
                top: top.clone(),
                reason: reason.clone(),
                total: *total,
            })
            .collect();
        let by_time = |a: &SiteTotal, b: &SiteTotal| b.total.total_ms.total_cmp(&a.total.total_ms);
        sites.sort_by(|a, b| by_time(a, b).then(b.total.count.cmp(&a.total.count)));
        sites
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::line::parse;
    use super::*;

    const S: u64 = NANOS_PER_S;
    const WINDOW: Window = Window { started_ns: 10 * S, ended_ns: 20 * S };

    /// The readings from a probe's lines, for a window from 10 to 20 s.
    pub fn read(lines: &[String]) -> JvmReadings {
        let hello =
            r#"{"type":"hello","t_ns":1,"pid":2,"java":"21","vendor":"x","level":"light","processors":2}"#;
        let (lines, skipped) = parse(&format!("{hello}\n{}", lines.join("\n")));
        assert_eq!(skipped, 0);
        readings(&lines, WINDOW).unwrap()
    }

    fn sample(at_s: f64, allocated: u64, cpu_ns: u64) -> String {
        format!(
            r#"{{"type":"sample","t_ns":{},"heap_used_bytes":5,"heap_committed_bytes":6,"allocated_bytes":{allocated},
            "process_cpu_ns":{cpu_ns},"rss_bytes":7,"os_threads":9,"platform_threads":8}}"#,
            (at_s * 1e9) as u64
        )
        .replace('\n', "")
    }

    fn tally(kind: &str, second: u64, count: u64, total_ns: u64, holder: &str) -> String {
        format!(
            r#"{{"type":"{kind}","t_ns":{},"count":{count},"total_ns":{total_ns},"longest_ns":{total_ns},
            "holder":"{holder}","application":null,"top":null,"reason":null}}"#,
            second * S
        )
        .replace('\n', "")
    }

    #[test]
    fn counters_become_differences_over_the_time_between_the_samples_taken() {
        let readings = read(&[sample(9.5, 1_000, 0), sample(11.5, 5_000, 2 * S), sample(20.5, 9_000, 3 * S)]);
        assert_eq!(
            readings.samples.len(),
            1,
            "the first has nothing before it, the last is after the window"
        );
        assert_eq!(readings.samples[0].allocated_bytes_per_s, 2_000.0);
        assert_eq!(readings.samples[0].cpu_cores, 1.0);
        assert_eq!(readings.samples[0].t_s, 1.5);
    }

    #[test]
    fn pins_are_added_up_by_site_within_the_window() {
        let readings = read(&[
            tally("pinned", 9, 100, S, "A.a:1"),
            tally("pinned", 10, 2, 3_000_000, "A.a:1"),
            tally("pinned", 11, 1, 9_000_000, "A.a:1"),
            tally("pinned", 11, 1, 20_000_000, "B.b:2"),
            tally("pinned", 20, 100, S, "A.a:1"),
        ]);
        let sites: Vec<_> = readings.pins.iter().map(|site| (site.holder.as_deref(), site.total)).collect();
        assert_eq!(
            sites,
            [
                (Some("B.b:2"), Total { count: 1, total_ms: 20.0, longest_ms: 20.0 }),
                (Some("A.a:1"), Total { count: 3, total_ms: 12.0, longest_ms: 9.0 }),
            ]
        );
    }

    #[test]
    fn files_are_added_up_by_site_and_by_what_is_done_with_them() {
        let write = |second, ms: u64| {
            let line = tally("file_io", second, 1, ms * 1_000_000, "x");
            line.replace("\"reason\":null", "\"reason\":\"file write /data/shop.db\"")
        };
        let files = read(&[write(9, 900), write(12, 7), write(13, 8)]).file_io;
        let what = SiteReason::File("write /data/shop.db".to_owned());
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].reason, Some(what));
        assert_eq!(files[0].total, Total { count: 2, total_ms: 15.0, longest_ms: 8.0 });
    }

    #[test]
    fn pins_have_a_series_with_every_second_of_the_window_and_none_where_nothing_was_pinned() {
        let readings = read(&[
            tally("pinned", 9, 100, S, "A.a:1"),
            tally("pinned", 11, 1, 9_000_000, "A.a:1"),
            tally("pinned", 11, 2, 20_000_000, "B.b:2"),
            tally("pinned", 20, 100, S, "A.a:1"),
        ]);
        let series: Vec<_> = readings.pins_series.iter().map(|it| (it.t_s, it.pinned_ms, it.count)).collect();
        assert_eq!(series[..3], [(0.5, 0.0, 0), (1.5, 29.0, 3), (2.5, 0.0, 0)]);
        assert_eq!(series.len(), 10);
        assert_eq!(read(&[tally("file_io", 11, 1, 1, "A.a:1")]).pins_series, []);
    }

    #[test]
    fn looks_are_counted_and_those_without_progress_are_kept_by_site() {
        let yields = |count| {
            tally("running", 12, count, 0, "A.a:1").replace("\"reason\":null", "\"reason\":\"yield\"")
        };
        let readings = read(&[tally("running", 11, 7, 0, "x"), yields(3), tally("running", 21, 100, 0, "x")]);
        assert_eq!(readings.thread_samples.count, 10);
        assert_eq!(readings.thread_samples.without_progress.len(), 1);
        assert_eq!(readings.thread_samples.without_progress[0].total.count, 3);
    }

    #[test]
    fn the_heap_after_collections_is_cut_to_the_window_and_a_concurrent_cycle_of_g1_is_not_a_whole_one() {
        let after = |at_s: u64, used: u64| {
            format!(r#"{{"type":"heap_after_gc","t_ns":{},"used_bytes":{used},"gc_id":{at_s}}}"#, at_s * S)
        };
        let gc = |at_s: u64, name: &str| {
            format!(
                r#"{{"type":"gc","t_ns":{},"duration_ns":1,"pauses_ns":1,"longest_pause_ns":1,"name":"{name}","cause":"x","gc_id":{at_s}}}"#,
                at_s * S
            )
        };
        let readings = read(&[
            after(9, 1),
            gc(9, "G1Old"),
            after(12, 2),
            gc(12, "G1New"),
            gc(15, "SerialOld"),
            after(15, 3),
            after(16, 4),
            gc(16, "G1Old"),
        ]);
        let heap: Vec<_> =
            readings.heap_after_gc.iter().map(|it| (it.t_s, it.used_bytes, it.whole)).collect();
        assert_eq!(heap, [(2.0, 2, false), (5.0, 3, true), (6.0, 4, false)]);
    }

    #[test]
    fn pool_that_does_not_tell_its_busy_threads_has_none_rather_than_minus_one() {
        let pool = |at_s: u64, busy: i64| {
            format!(
                r#"{{"type":"pool","t_ns":{},"kind":"tomcat","name":"http","busy":{busy},"max":200,"size":10,"queued":-1}}"#,
                at_s * S
            )
        };
        let readings = read(&[pool(11, 7), pool(12, -1), pool(21, 9)]);
        assert_eq!(readings.pools.len(), 1);
        assert_eq!(readings.pools[0].max, Some(200));
        let busy: Vec<_> =
            readings.pools[0].samples.iter().map(|sample| (sample.busy, sample.queued)).collect();
        assert_eq!(busy, [(Some(7), None), (None, None)]);
    }

    #[test]
    fn safepoints_are_added_up_within_the_window() {
        let at = |second| tally("safepoint", second, 2, 3_000_000, "x");
        let readings = read(&[at(9), at(12), at(13), at(20)]);
        assert_eq!(readings.safepoints, Total { count: 4, total_ms: 6.0, longest_ms: 3.0 });
    }

    #[test]
    fn why_the_probe_left_before_the_end_is_kept() {
        let readings = read(&[format!(
            r#"{{"type":"problem","t_ns":{},"what":"visit","why":"3 MiB are free"}}"#,
            12 * S
        )]);
        let profile = readings.wait_profile.unwrap();
        assert_eq!(profile.ended.as_deref(), Some("the probe left the JVM: 3 MiB are free"));
    }

    #[test]
    fn a_jvm_that_never_said_hello_has_no_readings() {
        assert_eq!(readings(&[], WINDOW), None);
    }
}
