//! Phrases that no report may contain, whatever the runs produce.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use threadcount_config::parse;
use threadcount_judge::conclude::{Origin, conclude};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::thread_family::{FamilySample, ThreadFamily};
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_model::sample::{run, times, with_cost, with_load};
use threadcount_report::terminal::details::details;
use threadcount_report::{Format, render, terminal};

const STATES: [ThreadState; 7] = [
    ThreadState::Running,
    ThreadState::Sleep,
    ThreadState::Queue,
    ThreadState::Semaphore,
    ThreadState::Future,
    ThreadState::Wait,
    ThreadState::Carrier,
];

fn activity() -> impl Strategy<Value = ThreadActivity> {
    (0..STATES.len(), any::<bool>(), any::<bool>()).prop_map(|(state, has_place, has_holder)| {
        ThreadActivity {
            state: STATES[state],
            application: has_place.then(|| "shop.Shop.page:9".to_owned()),
            holder: has_holder.then(|| "shop.Shop.query:20".to_owned()),
            ..ThreadActivity::default()
        }
    })
}

fn group() -> impl Strategy<Value = WaitGroup> {
    let counts = prop_oneof![vec(0.0..130.0_f64, 8), (0.0..130.0_f64).prop_map(|it| vec![it; 8])];
    (any::<bool>(), activity(), counts).prop_map(|(is_request, activity, threads)| {
        let role = if is_request { ThreadRole::Request } else { ThreadRole::Application };
        WaitGroup { role, activity, threads }
    })
}

fn family() -> impl Strategy<Value = ThreadFamily> {
    (activity(), 0..120_u32, 0.0..1.0_f64, of(0.0..900.0_f64)).prop_map(
        |(activity, working, share, switches)| {
            let sample =
                FamilySample { threads: working, working: working.into(), ..FamilySample::default() };
            ThreadFamily {
                name: "exec-*".to_owned(),
                samples: vec![sample; 8],
                request_share: share,
                activity,
                at_place: share,
                switches_per_s: switches,
                ..ThreadFamily::default()
            }
        },
    )
}

/// A run with any figures: none, hardly any, or many responses.
fn outcome() -> impl Strategy<Value = Record> {
    let rate = prop_oneof![Just(0.0), 1e-9..1e-3_f64, 0.1..20_000.0_f64];
    let figures = (rate, 0.001..5_000.0_f64, 0.0..2.0_f64, 0..400_u32, any::<bool>());
    (figures, vec(group(), 0..5), vec(family(), 0..2)).prop_map(|(figures, groups, thread_families)| {
        let (rate, ms, cores, os_threads, is_failing) = figures;
        let record = with_load(run("a", "load", rate, ms), |load| {
            load.service_time_ms = Some(times(ms));
            load.requests.failed = if is_failing { load.requests.ok / 2 } else { 0 };
        });
        let record =
            with_cost(record, |cost| (cost.machine_cpu_cores, cost.os_threads_peak) = (cores, os_threads));
        let profile = WaitProfile { samples: 8, groups, ..WaitProfile::default() };
        let jvm = JvmReadings { wait_profile: Some(profile), thread_families, ..JvmReadings::default() };
        Record { jvm: Some(jvm), ..record }
    })
}

/// Whether a text contains a phrase without a figure; `1.20x (no interval)` only resembles one.
fn has_empty_phrase(text: &str) -> bool {
    let of_nothing =
        |word: &str| matches!(word.trim_matches(['(', ',']), "0x" | "0.x" | "-0" | "-0.0" | "-0.00");
    text.split_whitespace().any(of_nothing)
        || ["()", "on more threads than", "NaN", " inf", "- -"].iter().any(|it| text.contains(it))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]
    #[test]
    fn no_report_has_a_ratio_of_nothing_a_negative_nothing_or_an_empty_place(
        runs in vec((outcome(), any::<bool>()), 1..7),
    ) {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
            loads: [{name: load, clients: 100, duration: 10s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let records = runs.into_iter().enumerate().map(|(at, (record, is_other))| Record {
            variant: if is_other { "b".to_owned() } else { record.variant },
            round: at as u32 / 2 + 1,
            ..record
        });
        let document = conclude(&experiment, records.collect(), Vec::new(), Origin::default());
        let formats = [Format::Terminal, Format::Markdown, Format::Text, Format::Junit];
        let rendered = formats.into_iter().map(|it| render(&document, it).expect("a text"));
        for text in rendered.chain([details(&document, terminal::PLAIN)]) {
            let line = text.lines().find(|line| has_empty_phrase(line));
            prop_assert!(line.is_none(), "{}", line.unwrap_or_default());
        }
    }
}
