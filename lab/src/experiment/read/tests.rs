use super::super::benchmark::Benchmark;
use super::super::capacity::Capacity;
use super::super::fault::shown;
use super::super::metric::Metric;
use super::super::{Backend, DropIn, LoadKind, PoolSize, ProbeLevel, Protocol, Server, Threads};
use super::*;

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
    parse("small", "small.yaml", text, false).unwrap_or_else(|mistake| panic!("{}", shown(&mistake)))
}

fn quick(text: &str) -> Experiment {
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
    let help = mistake.help().map(|help| help.to_string()).unwrap_or_default();
    (marked, format!("{mistake} | {help}"))
}

#[test]
fn a_file_becomes_an_experiment_with_its_defaults() {
    let experiment = good(SMALL);
    assert_eq!(experiment.name, "small");
    assert_eq!(experiment.warmup_s, 10.0);
    let load = &experiment.loads[0];
    assert_eq!((load.name.as_str(), load.requests, load.runs), ("c400", Some(1_000_000), 10));
    assert_eq!(load.kind, LoadKind::Closed { clients: 400 });
    assert_eq!(
        (load.request.method.as_str(), load.request.path.as_str()),
        ("GET", "/thread-info?sleep=50ms")
    );
    let variant = &experiment.variants[1];
    assert_eq!(variant.jvm, ["-Xms512m", "-Xmx512m", "-XX:+UseZGC"]);
    assert_eq!(variant.jdk, Some(25));
    let expected = Server::Tomcat {
        version: "11.0".into(),
        app: "servlets".into(),
        threads: Threads::Virtual,
        accept_count: 4_096,
        max_connections: None,
    };
    assert_eq!(variant.server, expected);
}

#[test]
fn a_version_needs_no_quotes_because_scalars_stay_text() {
    let Server::Tomcat { version, .. } = good(&SMALL.replace("\"11.0\"", "11.0")).variants[0].server.clone()
    else {
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
  other: {command: "other {port}", env: {A: 2}, note: another}
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
    let command = |command: &str| Server::Command {
        command: command.into(),
        url: "http://127.0.0.1:{port}".into(),
        ready: "/ready".into(),
    };
    assert_eq!((&plain.server, &other.server), (&command("run {port}"), &command("other {port}")));
    assert_eq!((plain.env["A"].as_str(), plain.env["B"].as_str(), other.env["A"].as_str()), ("1", "", "2"));
    assert_eq!(other.note.as_deref(), Some("another"));
    assert_eq!((tomcat.jdk, plain.jdk), (Some(21), None));
    assert_eq!(tomcat.jvm, ["-Xmx1g", "-Xss256k"]);
    assert!(matches!(
        tomcat.server,
        Server::Tomcat { threads: Threads::Platform(PoolSize::Clients), accept_count: 10, .. }
    ));
    assert!(matches!(pool.server, Server::Tomcat { threads: Threads::Platform(PoolSize::Fixed(400)), .. }));
    let [fast, slow] = experiment.loads.as_slice() else { panic!("two loads") };
    assert_eq!((fast.name.as_str(), fast.duration_s), ("r5000", Some(90.0)));
    assert_eq!(fast.kind, LoadKind::Open { rate_per_s: 5_000.0, clients: 10_000 });
    assert_eq!(fast.request.headers, [("Accept".to_owned(), "text/html".to_owned())]);
    assert_eq!(slow.kind, LoadKind::Open { rate_per_s: 10.0, clients: 7 });
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
    assert_eq!(experiment.loads[2].kind, LoadKind::Closed { clients: 1_000 });
    assert_eq!(experiment.loads[4].kind, LoadKind::Open { rate_per_s: 20.0, clients: 100 });
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
    assert_eq!(load.kind, LoadKind::Capacity(Capacity::under(Metric::P99, 200.0)));

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
    assert_eq!((full.loads[0].name.as_str(), full.loads[0].kind), ("knee", LoadKind::Capacity(expected)));
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
  cached: {server: {tomcat: "11.0", max_connections: 100_000}, threads: cached}
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
    let [plain, args, peer, cached, ours] = experiment.variants.as_slice() else { panic!("five variants") };
    let chain = |args: &str| Server::Jar { jar: "chain".into(), args: args.into(), ready: "/ready".into() };
    assert_eq!(plain.server, chain("--port={port} --backend={backend}"));
    assert_eq!(args.server, chain("--port={port} --threads=virtual"));
    let go = Server::Peer { peer: "go".into(), args: "-n 4".into(), ready: "/ready".into() };
    assert_eq!(peer.server, go);
    assert!(matches!(
        cached.server,
        Server::Tomcat { threads: Threads::Executor(DropIn::Cached), max_connections: Some(100_000), .. }
    ));
    assert!(matches!(ours.server, Server::Tomcat { threads: Threads::Executor(DropIn::Virtual), .. }));
    let slow = Server::Jar { jar: "slow".into(), args: "--port={port}".into(), ready: "/".into() };
    assert_eq!(plain.backend, Some(Backend { server: slow, jdk: Some(25), jvm: vec!["-Xmx64m".into()] }));
    assert_eq!(ours.backend.as_ref().and_then(|backend| backend.jdk), Some(21));
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
fn mistakes_in_jars_peers_and_backends_point_at_their_token() {
    let known = [
        ("{jar: a, peer: b}", "peer", "a server is a jar or a peer, not both | keep `jar` or `peer`"),
        ("{jar: a}", "virtual", "where does the server of `virtual` listen? | write, for example, `args:"),
        ("{jar: a, args: \"{port} {backend}\"}", "virtual", "`virtual` asks a backend at `{backend}`"),
        ("{tomcat: 11.0, max_connections: many}", "many", "`max_connections` must be a whole number"),
        ("{pear: go}", "pear", "a server has no key `pear` | did you mean `peer`?"),
    ];
    let text = |server: &str| SMALL.replacen("threads: virtual", &format!("server: {server}"), 1);
    for (server, token, message) in known {
        let (marked, said) = mistake_in(&text(server));
        assert_eq!(marked, token, "{server}: {said}");
        assert!(said.starts_with(message), "{server}: {said}");
    }
    let tail = [
        ("backend: {ready: /}", "{ready", "the backend has no server"),
        (
            "backend: {jar: a, args: \"{port}\", threads: virtual}",
            "threads",
            "the backend has no key `threads`",
        ),
        ("unavailable: [{what: x}]", "{what", "a statement that cannot be tried needs `why`"),
        ("claims: [{says: x}]", "{says", "a claim needs `claim`"),
        ("claims: [{claim: virtual.sped > 1}]", "sped", "there is no metric `sped`"),
    ];
    for (line, token, message) in tail {
        let (marked, said) = mistake_in(&format!("{SMALL}{line}\n"));
        assert_eq!(marked, token, "{line}: {said}");
        assert!(said.starts_with(message), "{line}: {said}");
    }
    let (marked, said) = mistake("requests: 1_000_000", "duration: 1s, thread_dump: yes");
    assert_eq!(marked, "yes", "{said}");
    let (marked, said) = mistake("threads: virtual", "threads: {executor: mine}");
    assert_eq!(marked, "mine", "{said}");
    let (marked, said) = mistake("threads: virtual", "args: x");
    assert_eq!(marked, "args", "{said}");
    assert!(said.starts_with("`args` configures a jar or a peer, and this server is a Tomcat"), "{said}");
}

#[test]
fn quick_changes_sizes_only_when_it_is_asked_for() {
    let text = format!(
        "{SMALL}  - {{clients: 1000, requests: 1_000_000}}\nquick: {{warmup: 8s, duration: 6s, \
            runs: 3, loads: {{c1000: {{runs: 2, requests: 5k, variants: [virtual]}}}}}}\n"
    );
    assert_eq!(good(&text).loads[0].requests, Some(1_000_000));
    assert!(!good(&text).quick);
    let small = quick(&text);
    assert!(small.quick);
    assert_eq!(small.warmup_s, 8.0);
    let sizes: Vec<_> = small.loads.iter().map(|load| (load.requests, load.duration_s, load.runs)).collect();
    assert_eq!(sizes, [(None, Some(6.0), 3), (Some(5_000), None, 2)]);
    assert_eq!(small.loads[1].only_variants, ["virtual"]);
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
    let (_, said) = mistake_in(&format!("{SMALL}runs: 2\ndrop: 2\n"));
    assert!(said.contains("of 2 runs 2 are dropped"), "{said}");
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
fn a_benchmark_has_a_method_and_iterations_and_asks_nothing() {
    let experiment = good(BENCHMARK);
    let expected = Server::Benchmark { benchmark: "sorting-bench".into(), method: "Sort.small".into() };
    assert_eq!(experiment.variants[0].server, expected);
    let load = &experiment.loads[0];
    assert_eq!(load.kind, LoadKind::Benchmark(Benchmark { forks: 2, warmups: 1, iterations: 3 }));
    assert_eq!((load.name.as_str(), load.duration_s, load.request.path.as_str()), ("jmh", Some(10.0), ""));
    let small = quick(&format!("{BENCHMARK}quick: {{duration: 1s, runs: 2}}\n"));
    assert_eq!(
        (small.loads[0].duration_s, small.loads[0].requests, small.loads[0].runs),
        (Some(1.0), None, 2)
    );
}

#[test]
fn a_benchmark_and_a_load_for_servers_do_not_go_together() {
    let known = [
        ("iterations: 3", "warmups: 3", "warmups", "a benchmark needs `iterations` | write, for example"),
        ("iterations: 3", "iterations: 3, clients: 4", "clients", "a benchmark has no `clients`"),
        (", duration: 10s", "", "{forks", "how long is this load?"),
        ("method: Sort.small", "", "small", "which benchmark is `small`? | write `server: {method"),
        (
            "{method: Sort.small}",
            "{jar: x, args: \"{port}\"}",
            "loads",
            "`small` is a server, and the load `jmh` is for benchmarks",
        ),
        (
            "forks: 2, iterations: 3",
            "clients: 3, request: /",
            "loads",
            "`small` is a benchmark, and the load `c3` is for servers",
        ),
    ];
    for (old, new, token, message) in known {
        assert!(BENCHMARK.contains(old), "{old}");
        let (marked, said) = mistake_in(&BENCHMARK.replacen(old, new, 1));
        assert_eq!(marked, token, "{new}: {said}");
        assert!(said.starts_with(message), "{new}: {said}");
    }
}

#[test]
fn quick_can_keep_some_of_the_loads() {
    let more = "  - {clients: 1000, duration: 1s}\n  - {clients: 9, duration: 1s}\n";
    let small = quick(&format!("{SMALL}{more}quick: {{only_loads: [c9, c400]}}\n"));
    let names: Vec<_> = small.loads.iter().map(|load| load.name.as_str()).collect();
    assert_eq!(names, ["c400", "c9"]);
    let (marked, said) = mistake_in(&format!("{SMALL}quick: {{only_loads: [c40]}}\n"));
    assert_eq!((marked.as_str(), said.contains("there is no load `c40`")), ("c40", true), "{said}");
}

#[test]
fn a_variant_says_how_much_the_probe_watches_in_it_or_leaves_it_to_the_command_line() {
    let told = good(&SMALL.replacen("threads: virtual,", "threads: virtual, probe: off,", 1));
    let probes: Vec<_> = told.variants.iter().map(|variant| variant.probe).collect();
    assert_eq!(probes, [None, Some(ProbeLevel::Off)]);
    let (marked, says) = mistake("threads: virtual,", "threads: virtual, probe: some,");
    assert_eq!(marked, "some");
    assert!(says.contains("off, light or full"), "{says}");
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

#[test]
fn mistakes_point_at_the_offending_token() {
    let known = [
        ("question:", "qestion:", "qestion", "an experiment has no key `qestion` | did you mean `question`?"),
        (
            "question: Do virtual threads help?",
            "runs: 3",
            "runs",
            "an experiment needs `question` | write, for example",
        ),
        (
            "clients: 400",
            "clients: many",
            "many",
            "`clients` must be a whole number from 1, and `many` is not | write it like 400",
        ),
        ("clients: 400", "clients: 0", "0", "`clients` must be a whole number from 1"),
        ("clients: 400", "clients: {a: 400}", "{a", "`clients` must be a single value, and this is a map"),
        (
            "clients: 400",
            "clients: []",
            "[",
            "`clients` is an empty list | write one value, or a list like `[100",
        ),
        ("clients: 400", "clients: [100, many]", "many", "`clients` must be a whole number from 1"),
        ("clients: 400", "clients: [100, 7, 100]", "100", "two loads are called `c100` | give it a name"),
        ("clients: 400", "clients: [1, 2], rate: [1/s]", "rate", "a load has clients or a rate, not both"),
        ("clients: 400", "rate: [1000/s, fast]", "fast", "`rate` must be a rate"),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: 200ms",
            "200ms",
            "`capacity` is a map with a limit, and this is a single value | write the response time",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {from: 10/s}",
            "{from",
            "which response time must be held?",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p98: 200ms}",
            "p98",
            "`p98` is no response time that can be limited | did you mean `p9",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {rate: 200ms}",
            "rate",
            "`rate` is no response time that can be limited",
        ),
        ("clients: 400, requests: 1_000_000", "capacity: {p99: 200}", "200", "`p99` must be a duration"),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p99: 200ms, p50: 60ms}",
            "p50",
            "a capacity has one limit | write a load for each limit",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p99: 200ms, from: 900/s, to: 800/s}",
            "800/s",
            "the highest rate, 800/s, must be above the first one, 900/s | change `from` or `to`",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p99: 200ms, resolution: 0.1%}",
            "0.1%",
            "`resolution` must lie between 1 % and 50 %",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p99: 200ms, failures: 0.001}",
            "0.001",
            "`failures` must be a share, and `0.001` is not | write it in per cent",
        ),
        (
            "clients: 400",
            "capacity: {p99: 200ms}",
            "1_000_000",
            "the steps of a capacity load have a duration | write `duration: 5s`",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p99: 200ms}, duration: 1s",
            "1s",
            "a step is too short to show whether the backlog grows | write at least `duration: 2s`",
        ),
        (
            "clients: 400, requests: 1_000_000",
            "capacity: {p99: 200ms}, rate: 5/s",
            "rate",
            "a capacity load finds its rate, it has no `rate` | bound the search",
        ),
        ("clients: 400", "clients: 9_000_000_000", "9_000_000_000", "`clients` must be smaller than"),
        (
            "clients: 400",
            "rate: fast",
            "fast",
            "`rate` must be a rate, and `fast` is not | write it like 5000/s",
        ),
        (
            "clients: 400",
            "rate: 5000/s, clients: 400",
            "rate",
            "a load has clients or a rate, not both | clients wait for their answers, a rate does not; to limit the connections of a rate write `connections: 400`",
        ),
        ("clients: 400, ", "", "{requests", "how much does this load send? | write `clients: 400`"),
        (", requests: 1_000_000", "", "{clients", "how long is this load?"),
        (
            "requests: 1_000_000",
            "duration: 12",
            "12",
            "`duration` must be a duration, and `12` is not | write the unit: 12s, 50ms, 2m, 1h, 1m30s; perhaps `12s`?",
        ),
        ("requests: 1_000_000", "duration: 0s", "0s", "`duration` must be longer than nothing"),
        (
            "threads: virtual",
            "threads: virtaul",
            "virtaul",
            "`threads` must be a thread model, and `virtaul` is not | write platform, virtual",
        ),
        ("threads: virtual", "threads: {platform: 0}", "0", "`platform` must be a whole number from 1"),
        ("  virtual:", "  platform:", "platform", "`platform` is written twice | keep one of the two"),
        ("  virtual:", "  my virtual:", "my", "`my virtual` cannot be the name of a variant"),
        (
            "jdk: 25",
            "jdk: 21.0.8",
            "21.0.8",
            "`jdk` must be a Java feature version, and `21.0.8` is not | write one number",
        ),
        ("tomcat: \"11.0\"", "tomcat: newest", "newest", "`tomcat` must be a line or a version"),
        (
            "server: {tomcat: \"11.0\", app: servlets}",
            "server: {tomcat: 11.0, command: x}",
            "command",
            "a server is a tomcat or a command, not both | keep `tomcat` or `command`",
        ),
        ("server: {tomcat: \"11.0\", app: servlets}", "", "platform", "the variant `platform` has no server"),
        (
            "server: {tomcat: \"11.0\", app: servlets}",
            "server: {command: x}",
            "threads",
            "`threads` configures a Tomcat, and this server is a command",
        ),
        (
            "{threads: virtual,",
            "{command: x,",
            "virtual",
            "where does the server of `virtual` listen? | write `{port}` in the command",
        ),
        ("request: /thread-info?sleep=50ms", "", "{clients", "what does this load ask for?"),
        (
            "request: /thread-info",
            "request: thread-info",
            "thread-info?sleep=50ms",
            "`request` must be a path",
        ),
        (
            "request: /thread-info",
            "request: http://host/thread-info",
            "http",
            "`request` must be a path, because each variant",
        ),
        ("jvm: [-Xms512m, -Xmx512m]", "jvm: {a: b}", "{a", "`jvm` must be a list"),
        ("jvm: [-Xms512m, -Xmx512m]", "env: [A]", "[A", "`env` is a map"),
        ("jvm: [-Xms512m, -Xmx512m]", "warmup: soon", "soon", "`warmup` must be a duration"),
        ("jvm: [-Xms512m, -Xmx512m]", "study: {date: 2024-02-05}", "{date", "a study needs `title`"),
    ];
    for (old, new, token, message) in known {
        let (marked, said) = mistake(old, new);
        assert_eq!(marked, token, "{new}: {said}");
        assert!(said.starts_with(message), "{new}: {said}");
    }
}

#[test]
fn mistakes_further_down_point_at_their_token_too() {
    let known = [
        (
            "published: [{variant: virtuel, rate: 1}]",
            "virtuel",
            "there is no variant `virtuel` | did you mean `virtual`?",
        ),
        ("published: [{variant: virtual, load: c40, rate: 1}]", "c40", "there is no load `c40`"),
        (
            "published: [{variant: virtual, p98_ms: 1}]",
            "p98_ms",
            "there is no metric `p98_ms` | did you mean `p9",
        ),
        ("published: [{variant: virtual, rate: high}]", "high", "`rate_per_s` must be a number"),
        ("published: [{rate: 1}]", "{rate", "which variant was this?"),
        ("published: {rate: 1}", "{rate", "`published` must be a list"),
        ("claims: [virtual.speed > 3]", "speed", "there is no metric `speed`"),
        ("claims: [\"virtual.rate > \\u0078\"]", "\"virtual.rate", "`x` names no known variant"),
        ("quick: {variants: [virtuel]}", "virtuel", "there is no variant `virtuel`"),
        ("quick: {variants: []}", "[", "`variants` is empty"),
        ("quick: {loads: {c40: {runs: 1}}}", "c40", "there is no load `c40`"),
        ("quick: {durations: 1s}", "durations", "`quick` has no key `durations` | did you mean `duration`?"),
        ("  - {clients: 400, duration: 1s}", "{clients", "two loads are called `c400`"),
    ];
    for (tail, token, message) in known {
        let (marked, said) = mistake_in(&format!("{SMALL}{tail}\n"));
        assert_eq!(marked, token, "{tail}: {said}");
        assert!(said.starts_with(message), "{tail}: {said}");
    }
}

#[test]
fn an_empty_or_broken_file_is_a_mistake_and_not_a_panic() {
    for text in ["", "x", "[]", "question: {", "\u{feff}question: q", "question: q\nvariants: {}\nloads: []"]
    {
        let mistake = parse("small", "small.yaml", text, false).expect_err(text);
        assert!(!shown(&mistake).is_empty());
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read(Path::new("/nowhere/x.yaml"), false).expect_err("an error");
    assert!(error.to_string().starts_with("cannot read /nowhere/x.yaml: "), "{error}");
}
