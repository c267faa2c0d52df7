//! Result documents for the report tests, made up but shaped like the demo's real ones.

mod runs;

use runs::{Sizes, record};
use std::collections::BTreeMap;
use threadcount_judge::evidence::cpu_use::CpuUse;
use threadcount_judge::finding::*;
use threadcount_judge::findings::cpu_ceiling::CpuCeiling;
use threadcount_judge::findings::unbounded_requests::UnboundedRequests;
use threadcount_judge::limit::station::{KnownBy, Resource, Servers, Station};
use threadcount_judge::result::{ResultDocument, SCHEMA};
use threadcount_model::experiment::claim::Names;
use threadcount_model::experiment::*;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTimePart, TimeShare};
use threadcount_model::{
    claim_result::*, comparison::*, interval::Interval, machine::Machine, request_time::RequestTime,
    rounds::*,
};

/// The demo `tomcat-blocking`: three variants, two loads, three rounds.
pub fn demo() -> ResultDocument {
    let variants = [
        variant("platform", "Tomcat's default: 200 threads", Threads::Platform(PoolSize::Default)),
        variant("platform-sized", "a thread for each client", Threads::Platform(PoolSize::Clients)),
        variant("virtual", "a virtual thread for each request", Threads::Virtual),
    ];
    let loads = [closed("c400", 400), closed("c1000", 1_000)];
    let document = document(&variants, &loads, Sizes { rounds: 3, seconds: 12 });
    ResultDocument { request_times: request_times(), ..document }
}

/// A big result: five variants, ten minutes of series, seven rounds.
pub fn big() -> ResultDocument {
    let names = ["platform", "platform-sized", "virtual", "cached", "event-loop"];
    let variants = names.map(|name| variant(name, "", Threads::Virtual));
    document(&variants, &[closed("c400", 400)], Sizes { rounds: 7, seconds: 600 })
}

#[allow(dead_code, reason = "one of the two test programs uses it")]
/// A wide result: twelve variants under five loads, more rows than a screen can show.
pub fn wide() -> ResultDocument {
    let names = [
        "platform",
        "platform-sized",
        "virtual",
        "virtual-cache",
        "jetty",
        "jetty-virtual",
        "webflux",
        "webflux-bounded",
        "quarkus",
        "quarkus-virtual",
        "helidon",
        "an-application-with-a-rather-long-name",
    ];
    let variants = names.map(|name| variant(name, "", Threads::Virtual));
    let loads = [100, 200, 400, 800, 1_600].map(|clients| closed(&format!("c{clients}"), clients));
    document(&variants, &loads, Sizes { rounds: 2, seconds: 3 })
}

/// Text that a hostile YAML file or server could put into every string.
pub const HOSTILE: &str = "<script>alert(1)</script>\"'</script><!--<img src=x onerror=alert(2)>\u{2028}{{7*7}}|`*_\u{1}\u{1b}[31m\0\u{202e}\n]]>&amp;=1+1";

/// The demo with [`HOSTILE`] and 300 characters in every string that is not a fixed word of the schema.
pub fn hostile() -> ResultDocument {
    let mut value = serde_json::to_value(demo()).unwrap();
    poison(&mut value);
    serde_json::from_value(value).unwrap()
}

fn poison(value: &mut serde_json::Value) {
    const FIXED: [&str; 16] = [
        "size",
        "level",
        "rule",
        "shown_by",
        "verdict",
        "threads",
        "schema",
        "metric",
        "mode",
        "sending",
        "kind",
        "judged_by",
        "expression",
        "rounds",
        "state",
        "counted",
    ];
    match value {
        serde_json::Value::String(text) => *text = format!("=cmd(){text}{HOSTILE}{}", "x".repeat(300)),
        serde_json::Value::Array(items) => items.iter_mut().for_each(poison),
        serde_json::Value::Object(fields) => {
            fields
                .iter_mut()
                .filter(|(key, _)| !FIXED.contains(&key.as_str()))
                .for_each(|(_, item)| poison(item));
        }
        _ => {}
    }
}

fn variant(name: &str, note: &str, threads: Threads) -> Variant {
    let server = Server::Tomcat(TomcatServer {
        version: "11.0".into(),
        app: "servlets".into(),
        threads,
        accept_count: 2_000,
        max_connections: None,
        processor_cache: None,
    });
    Variant {
        note: (!note.is_empty()).then(|| note.to_owned()),
        jdk: Some(25),
        jvm: vec!["-Xms512m".into(), "-Xmx512m".into()],
        env: BTreeMap::from([("TZ".to_owned(), "UTC".to_owned())]),
        ..Variant::new(name, server)
    }
}

fn closed(name: &str, clients: u32) -> LoadSpec {
    let request = RequestSpec {
        headers: vec![("Accept".into(), Some("text/plain".into()))],
        ..RequestSpec::get("/thread-info?sleep=50ms")
    };
    LoadSpec {
        requests: Some(1_000_000),
        duration_s: Some(12.0),
        runs: 3,
        protocol: Protocol::Fixed { drop: 0 },
        ..LoadSpec::new(name, LoadKind::Closed { clients }, request)
    }
}

fn document(variants: &[Variant], loads: &[LoadSpec], sizes: Sizes) -> ResultDocument {
    let experiment = experiment(variants, loads);
    let mut records = Vec::new();
    for load in loads {
        for round in 1..=sizes.rounds {
            for place in 0..variants.len() {
                let place = if round % 2 == 0 { variants.len() - 1 - place } else { place };
                records.push(record(&variants[place], load, round, records.len() as u32 + 1, sizes));
            }
        }
    }
    let comparisons = comparisons(&experiment, &records);
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: "0.1.0".into(),
        command: ["threadcount", "run", "tomcat-blocking", "--quick"].map(str::to_owned).to_vec(),
        created_at: "2026-11-20T22:58:00Z".into(),
        experiment,
        machine: Machine {
            cpu: "AMD EPYC 7B13".into(),
            cores: 2,
            memory_bytes: 25_276_518_400,
            kernel: "6.1.0-40-amd64".into(),
            os: "Debian GNU/Linux 12 (bookworm)".into(),
            max_open_files: 1_048_576,
            virtualization: Some("kvm".into()),
        },
        crossover: None,
        comparisons,
        records,
        rounds: rounds(loads, sizes),
        request_times: Vec::new(),
        findings: findings(),
        findings_not_shown: 0,
        claims: claims(),
        skipped: vec![Skipped {
            variant: "nginx".into(),
            load: None,
            why: "there is no nginx on this machine".into(),
        }],
        trusted: true,
        why_not: Vec::new(),
    }
}

/// Request times under 400 clients: each request sleeps for 50 ms, and with 200 threads it also queues for 50 ms.
pub fn request_times() -> Vec<RequestTime> {
    let time = |variant: &str, service_time_ms: f64| RequestTime {
        variant: variant.to_owned(),
        load: "c400".to_owned(),
        service_time_ms,
        rate_per_s: 400_000.0 / service_time_ms,
        runs: 3,
        samples: 120,
        counted: ThreadRole::Request,
        idle_workers: 0.0,
        parts: vec![RequestTimePart {
            activity: ThreadActivity {
                state: ThreadState::Sleep,
                application: Some("dev.threadcount.servlets.ThreadInfo.doGet:31".to_owned()),
                ..ThreadActivity::default()
            },
            threads: 400.0 * 50.0 / service_time_ms,
            time: TimeShare {
                ms: 50.0,
                interval: Some(Interval { low: 49.2, high: 50.6, confidence: 0.95 }),
            },
        }],
        without_thread: TimeShare { ms: service_time_ms - 50.0, interval: None },
        queue: None,
    };
    vec![time("platform", 100.6), time("platform-sized", 50.5), time("virtual", 50.9)]
}

fn rounds(loads: &[LoadSpec], sizes: Sizes) -> Vec<RoundsDone> {
    let done = |load: &LoadSpec| RoundsDone {
        load: load.name.clone(),
        rounds: sizes.rounds,
        at_most: 10,
        why: RoundsEnd::ComparisonsDecided,
    };
    loads.iter().map(done).collect()
}

fn experiment(variants: &[Variant], loads: &[LoadSpec]) -> Experiment {
    let published = |variant: &str, load: &str, figures: &[(&str, f64)]| Published {
        variant: variant.to_owned(),
        load: Some(load.to_owned()),
        source: Some("table 2".into()),
        figures: figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    };
    Experiment {
        name: "tomcat-blocking".into(),
        question: "Do virtual threads help a servlet that blocks for 50 ms?".into(),
        study: Some(Study {
            title: "Tomcat 11 & Virtual Threads".into(),
            date: Some("2024-02-05".into()),
            authors: Some("C. Klein".into()),
            url: Some("https://example.org/tomcat-11-virtual-threads".into()),
            machine: Some("a laptop with eight cores".into()),
        }),
        variants: variants.to_vec(),
        loads: loads.to_vec(),
        warmup_s: 15.0,
        warmup_auto: false,
        crossover: false,
        budget_s: None,
        published: vec![
            published("platform", "c400", &[("rate_per_s", 3_967.8), ("p50_ms", 100.6), ("p99_ms", 145.1)]),
            published("virtual", "c400", &[("rate_per_s", 7_881.3), ("p50_ms", 50.4), ("nmt_threads", 39.0)]),
            published("virtual", "c1000", &[("rate_per_s", 19_672.9)]),
        ],
        claims: vec![stated_claim("virtual.rate / platform.rate >= 1.9", variants, loads)],
        cores: None,
        unavailable: vec![Unavailable {
            what: "a laptop's fan stays silent".into(),
            why: "this machine has no fan".into(),
        }],
        size: SessionSize::Quick,
    }
}

fn stated_claim(claim: &str, variants: &[Variant], loads: &[LoadSpec]) -> StatedClaim {
    let names = Names {
        variants: variants.iter().map(|variant| variant.name.as_str()).collect(),
        loads: loads.iter().map(|load| load.name.as_str()).collect(),
    };
    let expression = threadcount_model::parse::claim::parse(claim, &names).unwrap();
    StatedClaim { claim: claim.into(), expression, says: None }
}

fn comparisons(experiment: &Experiment, records: &[Record]) -> Vec<Comparison> {
    let baseline = &experiment.variants[0].name;
    let mut all = Vec::new();
    for load in &experiment.loads {
        for variant in experiment.variants.iter().skip(1) {
            let figures = |name: &str, metric: Metric| -> Vec<f64> {
                let mine = records.iter().filter(|record| record.variant == name && record.load == load.name);
                mine.filter_map(|record| metric.of(record)).collect()
            };
            let ratios = Metric::ALL.into_iter().filter_map(|metric| {
                ratio(metric, &figures(&variant.name, metric), &figures(baseline, metric))
            });
            all.push(Comparison {
                variant: variant.name.clone(),
                baseline: baseline.clone(),
                load: load.name.clone(),
                ratios: ratios.collect(),
                differences: Vec::new(),
            });
        }
    }
    all
}

fn ratio(metric: Metric, variant: &[f64], baseline: &[f64]) -> Option<Ratio> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (variant_value, baseline_value) = (mean(variant), mean(baseline));
    if !(variant_value.is_finite() && baseline_value > 0.0) {
        return None;
    }
    let ratio = variant_value / baseline_value;
    let (low, high) = (ratio * 0.985, ratio * 1.015);
    let verdict = match (low, high) {
        _ if metric == Metric::Max => Verdict::NotEnoughRuns,
        (low, _) if low > 1.0 => Verdict::Higher,
        (_, high) if high < 1.0 => Verdict::Lower,
        _ => Verdict::NoDifference,
    };
    let interval = (metric != Metric::Max).then_some(Interval { low, high, confidence: 0.95 });
    let runs = (variant.len() as u32, baseline.len() as u32);
    Some(Ratio {
        metric,
        variant_value,
        baseline_value,
        ratio,
        interval,
        verdict,
        runs,
        basis: Basis::default(),
    })
}

fn findings() -> Vec<Finding> {
    let finding = |variant: &str, load: &str, fact: Fact| Finding {
        variant: Some(variant.to_owned()),
        load: Some(load.to_owned()),
        runs: Some(RunsShowing { showing: 3, complete: 3 }),
        fact,
    };
    let cpu = CpuUse {
        in_use_cores: 1.98,
        machine_cores: 2.0,
        server_cores: 1.4,
        generator_cores: 0.4,
        ..CpuUse::default()
    };
    let pool = |fastest_ms, rate_per_s| {
        Fact::PoolCeiling(Station {
            resource: Resource::ServerPool,
            servers: Some(Servers { count: 200.0, known_by: KnownBy::Gauge }),
            in_flight: Some(400.0),
            rate_per_s: Some(rate_per_s),
            unqueued_ms: Some(fastest_ms),
            ..Station::default()
        })
    };
    let clients = Station {
        resource: Resource::Clients,
        servers: Some(Servers { count: 400.0, known_by: KnownBy::Gauge }),
        rate_per_s: Some(7_846.0),
        service_time_ms: Some(50.9),
        unqueued_ms: Some(50.1),
        ..Station::default()
    };
    let full = CpuCeiling {
        cpu,
        rate_per_s: Some(18_100.0),
        large_part: None,
        allocates_more_than: None,
        busiest_other: None,
    };
    let full_heap = UnboundedRequests {
        virtual_thread_stacks: 900.0,
        live_bytes: 4.6e8,
        heap_bytes: 5.12e8,
        least_variant: "platform".to_owned(),
        least_live_bytes: 1e8,
    };
    let of_all = Finding { variant: None, load: None, runs: None, fact: Fact::UnboundedRequests(full_heap) };
    vec![
        finding("platform", "c400", pool(50.2, 3_960.0)),
        finding("virtual", "c400", Fact::ClientCeiling(clients)),
        finding("platform", "c1000", pool(50.4, 3_955.0)),
        finding("virtual", "c1000", Fact::CpuCeiling(full)),
        of_all,
    ]
}

fn claims() -> Vec<ClaimResult> {
    let claim = |claim: &str, published, measured, holds: Option<bool>, why: Option<NotTried>| ClaimResult {
        claim: claim.to_owned(),
        says: holds.map(|_| format!("the study says so of {}", &claim[..7])),
        published,
        measured,
        holds,
        why,
        decided: holds == Some(true),
        ..ClaimResult::default()
    };
    vec![
        claim("virtual.rate / platform.rate >= 1.9", Some(1.986), Some(1.981), Some(true), None),
        claim("virtual.os_threads <= 20", None, Some(27.0), Some(false), None),
        claim(
            "cached.rate >= 5000",
            None,
            None,
            None,
            Some(NotTried::Unreadable { why: "there is no variant `cached`".into() }),
        ),
    ]
}
