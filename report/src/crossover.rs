//! A crossover in words: setting, answer, the figures of each kind of thread, reasons, open questions, trust, coverage.

pub(crate) mod answer;
#[cfg(test)]
mod tests;

use crate::request_time;
use crate::sentences::capital;
use std::collections::BTreeSet;
use threadcount_judge::crossover::crossover_reasons;
use threadcount_judge::finding::{Finding, Rule};
use threadcount_judge::forecast::{self, Forecast};
use threadcount_judge::words::finding::words;
use threadcount_judge::words::reasons;
use threadcount_model::comparison::Verdict;
use threadcount_model::crossover::{Crossover, LeftOut, Treatment};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::resource_limits::SharedGroup;
use threadcount_stats::crossover::CrossoverRatio;
use threadcount_stats::crossover::comparison::{CrossoverDocument, TreatmentComparison, TreatmentFigures};
use threadcount_stats::crossover::lost_cpu::uneven_blocks;
use threadcount_stats::disturbance;
use threadcount_stats::ratio::WIDEST;

/// The reasons cover at most this many kinds of thread; the table shows all.
pub(crate) const MOST_KINDS: usize = 3;
/// Below this CPU per request, µs, it matters how the JVM compiled calls that several kinds of thread share.
const CHEAP_US: f64 = 50.0;

/// The question of a crossover in a JVM that was already running.
#[must_use]
pub fn question_of_port(port: u16) -> String {
    format!("Does another kind of thread help the requests on port {port}?")
}

/// The question when treatments were chosen and none of them is virtual threads; `None` otherwise.
#[must_use]
pub fn question_of_number(treatments: &[Treatment]) -> Option<String> {
    let is_virtual = |it: &Treatment| matches!(it, Treatment::Virtual { .. });
    let of_number = !treatments.is_empty() && !treatments.iter().any(is_virtual);
    of_number.then(|| "Does another number of threads help?".to_owned())
}

/// The scope of a crossover: what its figures cover, and what they do not.
pub(crate) fn covers(crossover: &Crossover) -> [&'static str; 2] {
    let of_whole_jvm = match crossover.alone.is_empty() {
        true => "Memory, start-up and OS threads need a JVM that is started: compare --spring-boot or --war.",
        false => "OS threads and memory were counted in a JVM's first seconds, on this kind of thread alone.",
    };
    ["requests of this port; @Async, schedulers and clients kept their threads.", of_whole_jvm]
}

/// The ratios so far, in one line.
#[must_use]
pub fn so_far(document: &CrossoverDocument) -> String {
    let name = |treatment| name(&document.crossover, treatment);
    let ratio_words = |it: &TreatmentComparison| format!("{} {}", name(it.treatment), throughput(&it.rate));
    let known: Vec<String> = document.comparisons.iter().map(ratio_words).collect();
    let counted = document.comparisons.first().map_or(0, |it| it.rate.blocks);
    let measured: BTreeSet<u32> = document.crossover.periods.iter().map(|it| it.block).collect();
    let left_out = match measured.len().saturating_sub(counted) {
        0 => String::new(),
        left_out => format!(" ({left_out} left out)"),
    };
    format!(
        "{}{left_out}, throughput against {}: {}",
        figures::plural(measured.len() as u64, "block"),
        name(baseline(&document.crossover)),
        known.join(", ")
    )
}

fn throughput(ratio: &CrossoverRatio) -> String {
    match readable(ratio) {
        Some(interval) => format!("{} {interval}", times(ratio.ratio)),
        None => "not known yet".to_owned(),
    }
}

/// The first sentence of the answer, which is that of one JVM as long as there is no other; `None` without a period that counts.
#[must_use]
pub fn first_answer(document: &CrossoverDocument) -> Option<String> {
    answer::answers(document).into_iter().next().filter(|_| !document.figures.is_empty())
}

/// The name of a kind of thread: `platform (200)` for the server's own pool, otherwise as `--treatments` spells it.
pub(crate) fn name(crossover: &Crossover, treatment: Treatment) -> String {
    let own_pool = crossover.own_threads.filter(|_| treatment == Treatment::Own);
    own_pool.map_or_else(
        || treatment.to_string(),
        |threads| format!("platform ({})", figures::count(threads.into())),
    )
}

/// The kind of thread that the others are compared with.
pub(crate) fn baseline(crossover: &Crossover) -> Treatment {
    crossover.treatments.first().copied().unwrap_or(Treatment::Own)
}

pub(crate) fn setting(document: &CrossoverDocument) -> String {
    let crossover = &document.crossover;
    let load = match crossover.rate_per_s {
        Some(rate) => {
            format!("{} on {} connections", figures::rate(rate), figures::count(crossover.clients.into()))
        }
        None => figures::plural(crossover.clients, "client"),
    };
    format!("{}: {load}, {}", crossover.server, periods(document))
}

/// `40 periods in 46 seconds`, `80 periods in 2 JVMs and 92 seconds, ready after 2.1 s and 2.0 s`.
pub(crate) fn periods(document: &CrossoverDocument) -> String {
    let crossover = &document.crossover;
    let counted: usize = document.figures.iter().map(|it| it.periods).sum();
    let lasted_s = |jvm: u32| {
        let mut all = crossover.periods.iter().filter(|it| it.jvm == jvm);
        let first = all.next();
        first.zip(all.next_back().or(first)).map_or(0.0, |(first, last)| {
            last.switched_s - first.switched_s + last.washout_ms / 1e3 + last.counted_s
        })
    };
    let seconds: f64 = (0..crossover.jvms()).map(lasted_s).sum();
    let seconds = figures::plural(seconds.round() as u64, "second");
    let jvms = match crossover.jvms() {
        0 | 1 => String::new(),
        several => format!("{several} JVMs and "),
    };
    let ready = crossover.alone.iter().map(|it| figures::milliseconds(it.server.ready_after_ms));
    let ready = match &ready.collect::<Vec<String>>()[..] {
        [] => String::new(),
        ready => format!(", ready after {}", figures::listed(ready)),
    };
    format!("{} in {jvms}{seconds}{ready}", figures::plural(counted as u64, "period"))
}

/// The reasons: how many requests the server's own pool serves at once, and what requests wait for and cost per kind of thread.
pub(crate) fn why(document: &CrossoverDocument) -> Vec<String> {
    let crossover = &document.crossover;
    let name = |treatment| name(crossover, treatment);
    let reasons = crossover_reasons(crossover);
    let times = crossover.treatments.iter().filter_map(|treatment| {
        let time = reasons.request_times.iter().find(|it| it.variant == treatment.to_string())?;
        Some(format!("{}: {}.", name(*treatment), request_time::words(time).brief))
    });
    let found = crossover.treatments.iter().filter_map(|treatment| {
        let of_it =
            |it: &&Finding| it.variant == Some(treatment.to_string()) && it.rule() != Rule::ClientCeiling;
        let first = reasons.findings.iter().find(of_it)?;
        Some(format!("{}: {}.", name(*treatment), words(first).brief))
    });
    let costs = document.comparisons.iter().filter_map(|comparison| {
        let cpu = comparison.cpu_per_request.as_ref()?;
        let is_different = matches!(cpu.verdict, Verdict::Higher | Verdict::Lower);
        (is_different && readable(cpu).is_some())
            .then(|| format!("{}: {} the CPU per request.", name(comparison.treatment), shown(cpu)))
    });
    let unexplained = crossover.unexplained.as_ref().map(|why| format!("Requests were not observed: {why}."));
    let is_virtual = |it: &Treatment| matches!(it, Treatment::Virtual { .. });
    let is_asked = crossover.own_threads.is_some()
        && baseline(crossover) == Treatment::Own
        && crossover.treatments.iter().any(is_virtual);
    let expected = is_asked.then(|| expected(document)).flatten();
    let pool = own_pool(crossover).into_iter().chain(expected).chain(times.take(MOST_KINDS));
    pool.chain(found.take(MOST_KINDS)).chain(costs.take(MOST_KINDS)).chain(unexplained).collect()
}

/// `Forecast from platform (200) alone: with virtual threads 1.62x to 1.99x the throughput, then the limit is the 400 clients.`
fn expected(document: &CrossoverDocument) -> Option<String> {
    let expected = forecast::of_treatment(document, Treatment::Own)?;
    Some(forecast_words(&name(&document.crossover, Treatment::Own), &expected) + ".")
}

/// The forecast about a variant on platform threads, without a full stop.
pub(crate) fn forecast_words(about: &str, expected: &Forecast) -> String {
    format!("forecast from {about} alone: with virtual threads {}", expected.words())
}

fn own_pool(crossover: &Crossover) -> Option<String> {
    let is_shown = crossover.rate_per_s.is_none() && crossover.treatments.contains(&Treatment::Own);
    let threads = crossover.own_threads.filter(|_| is_shown)?;
    let clients = figures::count(crossover.clients.into());
    let (own, pool) = (name(crossover, Treatment::Own), figures::count(threads.into()));
    Some(if threads < crossover.clients {
        format!("{own}: its {pool} threads serve {pool} of {clients} requests at once; the others wait.")
    } else {
        format!("{own}: its {pool} threads are enough for {clients} clients.")
    })
}

/// Name, throughput, its ratio, p50, p99, CPU per request, memory, OS threads.
pub(crate) fn cells(document: &CrossoverDocument, of: &TreatmentFigures) -> [String; 8] {
    let crossover = &document.crossover;
    let ms = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figures::milliseconds);
    let compared = document.comparisons.iter().find(|it| it.treatment == of.treatment);
    let alone = crossover.alone.iter().find(|it| it.variant == of.treatment.to_string());
    let in_whole_jvm = |metric: Metric| {
        let value = alone.and_then(|it| metric.of(it));
        value.map_or_else(|| "–".to_owned(), |value| figures::figure(metric, value))
    };
    [
        name(crossover, of.treatment),
        figures::rate(of.rate_per_s),
        match compared {
            Some(it) => shown(&it.rate),
            None if of.treatment == baseline(crossover) => "baseline".to_owned(),
            None => "–".to_owned(),
        },
        ms(of.p50_ms),
        ms(of.p99_ms),
        ms(of.cpu_us_per_request.map(|it| it / 1e3)),
        in_whole_jvm(Metric::MemoryNeeded),
        in_whole_jvm(Metric::OsThreads),
    ]
}

pub(crate) fn shown(ratio: &CrossoverRatio) -> String {
    readable(ratio)
        .map_or_else(|| "too few blocks".to_owned(), |interval| format!("{} {interval}", times(ratio.ratio)))
}

/// The interval, unless it is too wide to act on.
fn readable(ratio: &CrossoverRatio) -> Option<String> {
    let interval = ratio.interval?;
    interval.is_readable(ratio.ratio).then(|| figures::interval(interval))
}

pub(crate) fn times(ratio: f64) -> String {
    format!("{}x", figures::ratio(ratio))
}

/// The cautions that apply to every ratio of a crossover.
pub(crate) fn of_all_kinds(document: &CrossoverDocument) -> impl Iterator<Item = String> {
    [cold_jvm(&document.crossover), shared_group(document), cheap_requests(document)].into_iter().flatten()
}

/// The caution that the JVM may still have been compiling during the periods.
fn cold_jvm(crossover: &Crossover) -> Option<String> {
    let words = match crossover.warm_up.steady {
        Some(true) => return None,
        Some(false) => "the JVM was still warming up during the periods",
        None => "it is not known whether the JVM was warm during the periods",
    };
    Some(format!("{words}; a second crossover with --attach compares it warm."))
}

/// The caution that a JVM running several kinds of thread may handle a short request differently than a JVM with one kind.
fn cheap_requests(document: &CrossoverDocument) -> Option<String> {
    let cpu_us = document.figures.iter().find_map(|it| it.cpu_us_per_request)?;
    let cpu = figures::milliseconds(cpu_us / 1e3);
    (cpu_us < CHEAP_US).then(|| {
        format!("a request takes {cpu} of CPU, so fresh JVMs, with one kind of thread each, may differ; compare them.")
    })
}

/// The caution that client and server shared the CPU, as they would not on two machines.
fn shared_group(document: &CrossoverDocument) -> Option<String> {
    let group = document.crossover.shared_group?;
    fills_the_cpu(document).then(|| reasons::shared_group(group) + ".")
}

/// Whether the server uses at least half of the cores with any kind of thread; true if unknown.
fn fills_the_cpu(document: &CrossoverDocument) -> bool {
    let of_cores = document.crossover.periods.iter().find_map(|it| Some(it.lost_cpu?.of_cores));
    let Some(of_cores) = of_cores else { return true };
    let cores = |it: &TreatmentFigures| Some(it.cpu_us_per_request? * it.rate_per_s / 1e6);
    document.figures.iter().any(|it| cores(it).is_none_or(|it| SharedGroup::matters(it, of_cores)))
}

/// The cautions that apply to the ratio of one kind of thread.
pub(crate) fn cautions(comparison: &TreatmentComparison, crossover: &Crossover) -> Vec<String> {
    let (treatment, baseline) = (name(crossover, comparison.treatment), name(crossover, baseline(crossover)));
    let carried = comparison.carry_over.map(|change| {
        format!(
            "{treatment}: its ratio to {baseline} changes {} within a period, after each switch.",
            times(change)
        )
    });
    let changes = comparison.trend.map(|change| {
        format!("{treatment}: its ratio to {baseline} changed {} over the session.", times(change))
    });
    let wide = comparison.rate.interval.is_some_and(|it| it.half_width() > WIDEST);
    let wide = wide.then(|| {
        format!("{treatment}: the interval is wide; --crossover with a longer --budget narrows it.")
    });
    two_jvms(comparison, &treatment).into_iter().chain(changes).chain(carried).chain(wide).collect()
}

/// All cautions, without their full stops.
pub(crate) fn all_cautions(document: &CrossoverDocument) -> Vec<String> {
    let of_kinds = document.comparisons.iter().flat_map(|it| cautions(it, &document.crossover));
    of_all_kinds(document).chain(of_kinds).map(|it| it.trim_end_matches('.').to_owned()).collect()
}

/// `virtual: two JVMs differ, throughput 1.01x and 1.20x, median response time 0.98x and 2.53x.`; `None` if they agree.
fn two_jvms(comparison: &TreatmentComparison, treatment: &str) -> Option<String> {
    let all = [
        (Some(&comparison.rate), "throughput"),
        (comparison.p50.as_ref(), "median response time"),
        (comparison.p99.as_ref(), "p99"),
    ];
    let differing = all.into_iter().filter_map(|(ratio, noun)| {
        let [one, other] = ratio?.differing_jvms?;
        Some(format!("{noun} {} and {}", times(one), times(other)))
    });
    let differing: Vec<String> = differing.collect();
    (!differing.is_empty()).then(|| format!("{treatment}: two JVMs differ, {}.", differing.join(", ")))
}

pub(crate) fn trust(crossover: &Crossover) -> String {
    let requests = crossover.requests;
    let lost = match requests.failed {
        0 => "none failed".to_owned(),
        failed => format!("{} failed", figures::count(failed)),
    };
    let mut text = match requests.ok + requests.failed {
        0 => "No request was sent.".to_owned(),
        sent => format!("{}, {lost}.", figures::plural(sent, "request")),
    };
    let left_out =
        |why: LeftOut| crossover.periods.iter().filter(|it| it.left_out == Some(why)).count() as u64;
    for (why, words) in [
        (LeftOut::NotWashedOut, "in which requests of the kind before still ran"),
        (LeftOut::OtherThreads, "in which requests ran on another kind of thread"),
        (LeftOut::NoRequest, "in which no request ran on threads that can be switched"),
        (LeftOut::BlockIncomplete, "of a block that was broken off"),
        (LeftOut::WarmingUp, "before the JVM was warm"),
    ] {
        let count = left_out(why);
        if count > 0 {
            text += &format!(" Left out: {} {words}.", figures::plural(count, "period"));
        }
    }
    if let Some(by) = disturbance::of_crossover(crossover) {
        text += &format!(" {}.", capital(&reasons::interference(&by)));
    }
    if let Some(words) = lost_cpu(crossover) {
        text += &format!(" {words}.");
    }
    if let Some(why) = &crossover.ended_early {
        text += &format!(" Ended early: {}.", why.trim_end_matches('.'));
    }
    text
}

/// `3 of 14 blocks left out: other processes used up to 0.6 cores`. `None`: no block lost CPU unevenly.
fn lost_cpu(crossover: &Crossover) -> Option<String> {
    let uneven = uneven_blocks(crossover);
    let largest = uneven.largest?;
    let (cores, by) = if largest.stolen_cores > largest.other_processes_cores {
        (largest.stolen_cores, "the hypervisor took".to_owned())
    } else {
        let busiest = crossover.busiest_other_process.as_ref();
        let mostly =
            busiest.map_or_else(String::new, |it| format!(", mostly {},", reasons::busiest_process(it)));
        (largest.other_processes_cores, format!("other processes{mostly} used"))
    };
    let (count, all) = (uneven.blocks.len(), uneven.of_blocks);
    let is_left_out = crossover.periods.iter().any(|it| it.left_out == Some(LeftOut::LostCpu));
    Some(if is_left_out {
        format!("{count} of {all} blocks left out: {by} up to {cores:.1} cores")
    } else {
        format!(
            "No block left out, although {by} up to {cores:.1} cores in {count} of {all}: too few would remain"
        )
    })
}
