use super::*;
use crate::select::{Selection, select};
use threadcount_model::experiment::benchmark::Benchmark;
use threadcount_model::experiment::capacity::Capacity;
use threadcount_model::experiment::{
    Backend, BenchmarkMethod, CommandServer, DropIn, JarServer, JettyServer, LoadKind, Losses, PeerServer,
    PoolSize, ProbeLevel, Protocol, RequestLimit, Scale, Server, Subject, Threads, TomcatServer, Variant,
    Workload,
};
use threadcount_model::metric::Metric;
use threadcount_model::parse::diagnostic::shown;

mod backends;
mod mistakes;
mod read_keys;
pub(super) mod schema;

const SMALL: &str = r#"question: Do virtual threads help?
server: {tomcat: "11.0", app: servlets}
jdk: 25
jvm: [-Xms512m, -Xmx512m]
request: /thread-info?sleep=50ms
variants:
  platform: {threads: platform}
  virtual: {threads: virtual, jvm: [-XX:+UseZGC]}
loads:
  - {clients: 400, requests: 1_000_000}
"#;

fn good(text: &str) -> Experiment {
    schema::accepts(text);
    parse("small", "small.yaml", text, false).unwrap_or_else(|mistake| panic!("{}", shown(&mistake)))
}

fn quick(text: &str) -> Experiment {
    schema::accepts(text);
    parse("small", "small.yaml", text, true).unwrap_or_else(|mistake| panic!("{}", shown(&mistake)))
}

/// The mistake in `SMALL` after a replacement: (its line, its message with the help).
fn mistake(old: &str, new: &str) -> (String, String) {
    assert!(SMALL.contains(old), "{old}");
    mistake_in(&SMALL.replacen(old, new, 1))
}

fn mistake_in(text: &str) -> (String, String) {
    let mistake = parse("small", "small.yaml", text, false).expect_err("a mistake");
    let at = mistake.offset();
    let marked: String = text[at..].chars().take_while(|c| !" ,:\n}]".contains(*c)).collect();
    let help = miette::Diagnostic::help(&mistake).map(|help| help.to_string()).unwrap_or_default();
    let message = format!("{mistake} | {help}");
    schema::refuses(text, &message);
    (marked, message)
}

#[test]
fn a_file_becomes_an_experiment_with_its_defaults() {
    let experiment = good(SMALL);
    assert_eq!(experiment.name, "small");
    assert_eq!((experiment.warmup_s, experiment.warmup_auto), (10.0, true));
    let load = &experiment.loads[0];
    assert_eq!((load.name.as_str(), load.requests, load.runs), ("c400", Some(1_000_000), 15));
    assert_eq!(load.workload, LoadKind::Closed { clients: 400 }.into());
    assert_eq!(
        (load.request.method.as_str(), load.request.path.as_str()),
        ("GET", "/thread-info?sleep=50ms")
    );
    let variant = &experiment.variants[1];
    assert_eq!(variant.jvm, ["-Xms512m", "-Xmx512m", "-XX:+UseZGC"]);
    assert_eq!(variant.jdk, Some(25));
    let expected = Server::Tomcat(TomcatServer {
        version: "11.0".into(),
        app: "servlets".into(),
        threads: Threads::Virtual,
        accept_count: 4_096,
        max_connections: None,
        processor_cache: None,
    });
    assert_eq!(variant.subject, expected.into());
}

#[test]
fn a_jetty_takes_over_what_it_has_in_common_with_a_tomcat_and_has_a_limit_of_its_own() {
    let jetty = "server: {jetty: 12.1, max_concurrent_tasks: unlimited}, threads: virtual";
    let text = SMALL
        .replace("app: servlets", "app: shop, max_connections: 9, accept_count: 7")
        .replace("{threads: virtual,", &format!("{{{jetty},"));
    let expected = Server::Jetty(JettyServer {
        version: "12.1".into(),
        app: "shop".into(),
        threads: Threads::Virtual,
        accept_count: 7,
        max_concurrent_tasks: Some(0),
    });
    assert_eq!(good(&text).variants[1].server(), Some(&expected));
    let (marked, message) = mistake_in(&text.replace("threads: virtual", "threads: cached"));
    assert_eq!(marked, "cached");
    assert!(message.ends_with("write platform, virtual or {platform: 400}"), "{message}");
}

#[test]
fn a_version_needs_no_quotes_because_scalars_stay_text() {
    let experiment = good(&SMALL.replace("\"11.0\"", "11.0"));
    let Some(Server::Tomcat(TomcatServer { version, .. })) = experiment.variants[0].server() else {
        panic!("a Tomcat")
    };
    assert_eq!(version, "11.0");
}

#[test]
fn every_key_is_understood() {
    let experiment = good(
        r#"
question: q
study: {title: T, date: 2024-02-05, authors: A, url: http://x, machine: M}
server: {command: "run {port}", ready: /ready}
env: {A: 1, B: }
warmup: 500ms
runs: 2
variants:
  plain: {}
  other: {command: "other {port}", env: {A: 2}, label: another server, note: another}
  tomcat: {server: {tomcat: 10.1.59, accept_count: 10}, threads: {platform: clients}, jdk: 21, jvm: -Xmx1g -Xss256k}
  pool: {server: {tomcat: 11.0}, threads: {platform: 400}}
loads:
  - {rate: 5k/s, duration: 1m30s, request: {method: POST, path: /x, headers: {Accept: text/html}, body: hello}}
  - {rate: 10/s, connections: 7, requests: 1k, name: slow, runs: 9, variants: [plain], request: /y}
published:
  - {variant: other, load: slow, source: Table 3, rate: 9.5, p99_ms: 1.5}
claims:
  - other@slow.rate within 5% of plain@slow.rate
"#,
    );
    let [plain, other, tomcat, pool] = experiment.variants.as_slice() else { panic!("four variants") };
    let command = |command: &str| {
        Server::Command(CommandServer {
            command: command.into(),
            url: "http://127.0.0.1:{port}".into(),
            ready: "/ready".into(),
        })
    };
    assert_eq!(
        (plain.server(), other.server()),
        (Some(&command("run {port}")), Some(&command("other {port}")))
    );
    assert_eq!((plain.env["A"].as_str(), plain.env["B"].as_str(), other.env["A"].as_str()), ("1", "", "2"));
    assert_eq!(other.note.as_deref(), Some("another"));
    assert_eq!((other.label.as_deref(), plain.label.as_deref()), (Some("another server"), None));
    assert_eq!((tomcat.jdk, plain.jdk), (Some(21), None));
    assert_eq!(tomcat.jvm, ["-Xmx1g", "-Xss256k"]);
    assert!(matches!(
        tomcat.server(),
        Some(Server::Tomcat(TomcatServer {
            threads: Threads::Platform(PoolSize::Clients),
            accept_count: 10,
            ..
        }))
    ));
    assert!(matches!(
        pool.server(),
        Some(Server::Tomcat(TomcatServer { threads: Threads::Platform(PoolSize::Fixed(400)), .. }))
    ));
    let [fast, slow] = experiment.loads.as_slice() else { panic!("two loads") };
    assert_eq!((fast.name.as_str(), fast.duration_s), ("r5000", Some(90.0)));
    assert_eq!(
        fast.workload,
        LoadKind::Open { rate_per_s: 5_000.0, clients: 4_000, losses: Losses::Unexpected }.into()
    );
    assert_eq!(fast.request.headers, [("Accept".to_owned(), Some("text/html".to_owned()))]);
    assert_eq!(
        slow.workload,
        LoadKind::Open { rate_per_s: 10.0, clients: 7, losses: Losses::Unexpected }.into()
    );
    assert_eq!((slow.runs, slow.only_variants.as_slice()), (9, ["plain".to_owned()].as_slice()));
    let published = &experiment.published[0];
    assert_eq!(published.figures.keys().collect::<Vec<_>>(), ["p99_ms", "rate_per_s"]);
    assert_eq!(experiment.study.and_then(|study| study.date).as_deref(), Some("2024-02-05"));
}

#[test]
fn a_list_of_clients_or_rates_is_one_load_each() {
    let text = SMALL.replace(
        "  - {clients: 400, requests: 1_000_000}",
        "  - {clients: [100, 400, 1k], duration: 30s, runs: 2}\n  - {name: slow, rate: [10/s, 20/s], duration: 5s}",
    );
    let experiment = good(&text);
    let names: Vec<_> = experiment.loads.iter().map(|load| load.name.as_str()).collect();
    assert_eq!(names, ["c100", "c400", "c1000", "slow-r10", "slow-r20"]);
    assert_eq!(experiment.loads[2].workload, LoadKind::Closed { clients: 1_000 }.into());
    assert_eq!(
        experiment.loads[4].workload,
        LoadKind::Open { rate_per_s: 20.0, clients: 64, losses: Losses::Unexpected }.into()
    );
    assert!(experiment.loads[..3].iter().all(|load| (load.duration_s, load.runs) == (Some(30.0), 2)));

    let text = format!(
        "{text}quick: {{duration: 4s, loads: {{c400: {{duration: 6s}}}}}}\nclaims: [virtual@c400.rate > 1]\n"
    );
    let lengths: Vec<_> = quick(&text).loads.iter().map(|load| load.duration_s.unwrap_or(0.0)).collect();
    assert_eq!(lengths, [4.0, 6.0, 4.0, 4.0, 4.0]);
}

#[test]
fn a_capacity_load_has_a_limit_bounds_and_steps() {
    let with = |load: &str| SMALL.replace("{clients: 400, requests: 1_000_000}", load);
    let plain = good(&with("{capacity: {p99: 200ms}}"));
    let load = &plain.loads[0];
    assert_eq!((load.name.as_str(), load.requests, load.duration_s), ("capacity", None, Some(5.0)));
    assert_eq!(load.workload, Workload::Capacity(Capacity::under(Metric::P99, 200.0)));

    let all = "{capacity: {mean_ms: 0.5s, from: 10/s, to: 2k/s, failures: 0.5%, resolution: 2%}, connections: 9, \
        duration: 4s, name: knee}";
    let expected = Capacity {
        metric: Metric::Mean,
        limit_ms: 500.0,
        from_per_s: 10.0,
        to_per_s: 2_000.0,
        resolution: 0.02,
        failures: 0.005,
        connections: Some(9),
    };
    let full = good(&with(all));
    assert_eq!((full.loads[0].name.as_str(), full.loads[0].workload), ("knee", Workload::Capacity(expected)));
    assert_eq!(
        good(&format!("{}claims: [virtual.capacity / platform.capacity > 2]\n", with(all))).claims.len(),
        1
    );

    assert_eq!(quick(&with(all)).loads[0].duration_s, Some(3.0));
    let quicker = |sizes: &str| quick(&format!("{}quick: {{{sizes}}}\n", with(all))).loads[0].duration_s;
    assert_eq!((quicker("duration: 1s"), quicker("requests: 5k")), (Some(2.0), Some(3.0)));
}

#[test]
fn jars_peers_backends_and_our_executors_are_understood() {
    let experiment = good(
        r#"
question: q
server: {jar: chain, args: "--port={port} --backend={backend}", ready: /ready}
backend: {jar: slow, args: "--port={port}", ready: /, jvm: -Xmx64m}
jdk: 25
request: /x
variants:
  plain: {}
  args: {args: "--port={port} --threads=virtual"}
  peer: {server: {peer: go, args: "-n 4"}}
  cached: {server: {tomcat: "11.0", max_connections: 100_000, processor_cache: unlimited}, threads: cached}
  bounded: {server: {tomcat: "11.0"}, threads: {virtual: {bound: 10, queue: 0, queue_timeout: 1.5s}}}
  bounded-default: {server: {tomcat: "10.1"}, threads: {virtual: {bound: 300}}}
  ours: {server: {tomcat: "10.0"}, threads: {executor: virtual}, backend: {command: "other {port}", jdk: 21}}
loads:
  - {clients: 4, duration: 1s, warmup: 0s, thread_dump: true}
claims:
  - plain.rate > 1
  - {claim: args.elapsed < 2s, says: the whole load takes less than two seconds}
unavailable:
  - {what: a million users, why: too few file descriptors}
"#,
    );
    let [plain, args, peer, cached, bounded, bounded_default, ours] = experiment.variants.as_slice() else {
        panic!("seven variants")
    };
    let chain = |args: &str| {
        Server::Jar(JarServer {
            jar: "chain".into(),
            args: args.into(),
            ready: "/ready".into(),
            class_path: Vec::new(),
        })
    };
    assert_eq!(plain.server(), Some(&chain("--port={port} --backend={backend}")));
    assert_eq!(args.server(), Some(&chain("--port={port} --threads=virtual")));
    let go = Server::Peer(PeerServer { peer: "go".into(), args: "-n 4".into(), ready: "/ready".into() });
    assert_eq!(peer.server(), Some(&go));
    assert!(matches!(
        cached.server(),
        Some(Server::Tomcat(TomcatServer {
            threads: Threads::Executor(DropIn::Cached),
            max_connections: Some(100_000),
            processor_cache: Some(-1),
            ..
        }))
    ));
    let limit = |max_concurrent, max_queue, queue_timeout_ms| {
        Threads::Executor(DropIn::BoundedVirtual(RequestLimit {
            max_concurrent,
            max_queue,
            queue_timeout_ms,
        }))
    };
    let threads = |variant: &Variant| variant.server().and_then(Server::threads).cloned();
    assert_eq!(threads(bounded), Some(limit(10, 0, 1_500)));
    assert_eq!(threads(bounded_default), Some(limit(300, 1_000, 1_000)));
    assert!(matches!(
        ours.server(),
        Some(Server::Tomcat(TomcatServer { threads: Threads::Executor(DropIn::Virtual), .. }))
    ));
    let slow = Server::Jar(JarServer {
        jar: "slow".into(),
        args: "--port={port}".into(),
        ready: "/".into(),
        class_path: Vec::new(),
    });
    let behind = Backend {
        jdk: Some(25),
        jvm: vec!["-Xmx64m".into()],
        ready_is_written: true,
        ..Backend::new("backend", slow)
    };
    assert_eq!(plain.backends, [behind]);
    assert_eq!(ours.backends.iter().map(|backend| backend.jdk).collect::<Vec<_>>(), [Some(21)]);
    let load = &experiment.loads[0];
    assert_eq!((load.warmup_s, experiment.warmup_s(load), load.thread_dump), (Some(0.0), 0.0, true));
    assert_eq!(experiment.claims[0].says, None);
    assert_eq!(experiment.claims[1].claim, "args.elapsed < 2s");
    assert!(experiment.claims[1].says.as_ref().is_some_and(|says| says.starts_with("the whole load")));
    assert_eq!(experiment.unavailable[0].why, "too few file descriptors");
    let json = serde_json::to_string(&experiment).expect("JSON");
    assert_eq!(serde_json::from_str::<Experiment>(&json).expect("the same"), experiment);
}

#[test]
fn quick_changes_sizes_only_when_it_is_asked_for() {
    let text = format!(
        "{SMALL}  - {{clients: 1000, requests: 1_000_000}}\nquick: {{warmup: 8s, duration: 6s, \
            runs: 3, loads: {{c1000: {{runs: 2, requests: 5k, variants: [virtual]}}}}}}\n"
    );
    assert_eq!(good(&text).loads[0].requests, Some(1_000_000));
    assert!(!good(&text).size.is_short());
    let small = quick(&text);
    assert!(small.size.is_short());
    assert_eq!(small.warmup_s, 8.0);
    let sizes: Vec<_> = small.loads.iter().map(|load| (load.requests, load.duration_s, load.runs)).collect();
    assert_eq!(sizes, [(None, Some(6.0), 3), (Some(5_000), None, 2)]);
    assert_eq!(small.loads[1].only_variants, ["virtual"]);
}

#[test]
fn the_claims_of_a_study_are_decided_in_short_rounds_and_an_experiment_of_ones_own_runs_as_it_is_written() {
    let decided = |text: &str| parse("x", "x.yaml", text, SessionSize::Decided).unwrap();
    let own = format!("{SMALL}  - {{clients: 1000, requests: 1_000_000}}\n");
    assert_eq!(decided(&own).loads, good(&own).loads);
    let study = format!("{own}study: {{title: T}}\n");
    let sizes = |text: &str| -> Vec<_> {
        decided(text).loads.iter().map(|load| (load.requests, load.duration_s, load.runs)).collect()
    };
    assert_eq!(sizes(&study), [(None, Some(6.0), 8), (None, Some(6.0), 8)]);
    assert_eq!((decided(&study).budget_s, decided(&study).size), (Some(660.0), SessionSize::Decided));
    assert_eq!(decided(&format!("{study}budget: 3m\n")).budget_s, Some(180.0), "a shorter one stays");
    assert_eq!(decided(&study).loads[0].protocol, Protocol::Adaptive { at_least: 3 });
    let exact = Selection { runs: Some(2), ..Selection::default() };
    assert_eq!(select(decided(&study), &exact).unwrap().budget_s, None);
    assert_eq!(sizes(&format!("{study}decided: {{loads: {{c1000: {{requests: 5k}}}}}}\n"))[1].0, Some(5_000));
    let scaled = format!("{study}decided: {{loads: {{c1000: {{for_cores: 16}}}}}}\n");
    assert_eq!(decided(&scaled).loads[1].scale, Some(Scale::new(16)));
}

#[test]
fn a_fixed_protocol_has_its_rounds_and_drops_the_first() {
    let experiment =
        good(&format!("{SMALL}  - {{clients: 9, duration: 1s, drop: 0}}\nruns: 7\ndrop: 2\nbudget: 10m\n"));
    assert_eq!((experiment.loads[0].runs, experiment.loads[0].protocol), (7, Protocol::Fixed { drop: 2 }));
    assert_eq!((experiment.loads[1].runs, experiment.loads[1].protocol), (7, Protocol::Fixed { drop: 0 }));
    assert_eq!(experiment.budget_s, Some(600.0));
    assert_eq!(good(&format!("{SMALL}runs: 7\n")).loads[0].protocol, Protocol::Adaptive { at_least: 3 });
    let in_small = quick(&format!("{SMALL}runs: 7\ndrop: 2\nquick: {{budget: 110s}}\n"));
    assert_eq!((in_small.loads[0].runs, in_small.loads[0].protocol), (3, Protocol::Adaptive { at_least: 2 }));
    assert_eq!(in_small.budget_s, Some(110.0));
    let (_, message) = mistake_in(&format!("{SMALL}runs: 2\ndrop: 2\n"));
    assert!(message.contains("of 2 runs 2 are dropped"), "{message}");
}

#[test]
fn quick_without_a_section_is_short_all_the_same() {
    let small = quick(SMALL);
    assert_eq!(
        (small.loads[0].requests, small.loads[0].duration_s, small.loads[0].runs),
        (None, Some(10.0), 3)
    );
}

#[test]
fn a_load_without_any_quick_variant_is_left_out() {
    let text = format!(
        "{SMALL}  - {{clients: 9, duration: 1s, variants: [platform]}}\nquick: {{variants: [virtual]}}\n"
    );
    assert_eq!(quick(&text).loads.len(), 1);
}

const BENCHMARK: &str = "question: q\nserver: {benchmark: sorting-bench}\n\
    variants: {small: {server: {method: Sort.small}}}\nloads: [{forks: 2, iterations: 3, duration: 10s}]\n";

#[test]
fn a_server_that_runs_already_has_an_address_and_nothing_of_a_start() {
    let text = "question: q\njdk: 25\njvm: [-Xmx1g]\nrequest: /\nbackend: {jar: a, args: \"{port}\"}\n\
        variants: {here: {server: {tomcat: 11.0}}, there: {server: {target_url: \"http://10.0.0.7:8080/\"}}}\n\
        loads: [{clients: 4, duration: 1s}]\n";
    let experiment = good(text);
    let there = &experiment.variants[1];
    assert_eq!(there.target().map(|it| it.target_url.as_str()), Some("http://10.0.0.7:8080"));
    assert_eq!((there.jdk, there.jvm.len(), there.backends.len()), (None, 0, 0), "not known");
    assert_eq!((experiment.variants[0].jdk, experiment.variants[0].backends.len()), (Some(25), 1));
    for key in ["threads: virtual", "jdk: 21", "jvm: [-Xmx1g]", "probe: \"off\""] {
        let with_key = text.replacen("8080/\"}}", &format!("8080/\"}}, {key}}}"), 1);
        let (marked, message) = mistake_in(&with_key);
        assert!(key.starts_with(&marked) && message.contains("one that runs already"), "{key}: {message}");
    }
}

#[test]
fn a_benchmark_has_a_method_and_iterations_and_asks_nothing() {
    let experiment = good(BENCHMARK);
    let benchmark = BenchmarkMethod { jar: "sorting-bench".into(), method: "Sort.small".into() };
    assert_eq!(experiment.variants[0].subject, Subject::Benchmark { benchmark });
    let load = &experiment.loads[0];
    assert_eq!(load.workload, Workload::Jmh(Benchmark { forks: 2, warmups: 1, iterations: 3 }));
    assert_eq!((load.name.as_str(), load.duration_s, load.request.path.as_str()), ("jmh", Some(10.0), ""));
    let small = quick(&format!("{BENCHMARK}quick: {{duration: 1s, runs: 2}}\n"));
    assert_eq!(
        (small.loads[0].duration_s, small.loads[0].requests, small.loads[0].runs),
        (Some(1.0), None, 2)
    );
}

#[test]
fn quick_can_keep_some_of_the_loads() {
    let more = "  - {clients: 1000, duration: 1s}\n  - {clients: 9, duration: 1s}\n";
    let small = quick(&format!("{SMALL}{more}quick: {{only_loads: [c9, c400]}}\n"));
    let names: Vec<_> = small.loads.iter().map(|load| load.name.as_str()).collect();
    assert_eq!(names, ["c400", "c9"]);
    let (marked, message) = mistake_in(&format!("{SMALL}quick: {{only_loads: [c40]}}\n"));
    assert_eq!((marked.as_str(), message.contains("there is no load `c40`")), ("c40", true), "{message}");
}

#[test]
fn a_variant_says_whether_the_probe_watches_it_or_leaves_it_to_the_command_line() {
    let experiment = good(&SMALL.replacen("threads: virtual,", "threads: virtual, probe: off,", 1));
    let probes: Vec<_> = experiment.variants.iter().map(|variant| variant.probe).collect();
    assert_eq!(probes, [None, Some(ProbeLevel::Off)]);
    let (marked, says) = mistake("threads: virtual,", "threads: virtual, probe: some,");
    assert_eq!(marked, "some");
    assert!(says.contains("off or light"), "{says}");
}

#[test]
fn a_label_has_room_beside_the_figures() {
    let (marked, says) =
        mistake("threads: virtual,", "threads: virtual, label: a text of more than 24 characters,");
    assert_eq!(marked, "a");
    assert!(says.contains("1 to 24 characters"), "{says}");
}

#[test]
fn a_mistake_shows_the_line_a_caret_and_what_to_write() {
    let text = SMALL.replace("clients: 400", "clinets: 400");
    let mistake = parse("small", "small.yaml", &text, false).expect_err("a mistake");
    insta::assert_snapshot!(shown(&mistake));
}

#[test]
fn a_mistake_in_a_claim_points_into_the_file() {
    let text = format!("{SMALL}claims:\n  - \"virtual.rate / platfrom.rate >= 1.9\"\n");
    let mistake = parse("small", "small.yaml", &text, false).expect_err("a mistake");
    assert_eq!(&text[mistake.offset()..mistake.offset() + 8], "platfrom");
    insta::assert_snapshot!(shown(&mistake));
}
