//! Tests of mistakes in a file, each with the place of the caret.

use super::*;

#[test]
fn mistakes_in_jars_peers_and_backends_point_at_their_token() {
    let known = [
        ("{jar: a, peer: b}", "peer", "a server is a jar or a peer, not both | keep `jar` or `peer`"),
        ("{jar: a}", "virtual", "where does the server of `virtual` listen? | write, for example, `args:"),
        ("{jar: a, args: \"{port} {backend}\"}", "virtual", "`virtual` refers to a backend at `{backend}`"),
        ("{tomcat: 11.0, max_connections: many}", "many", "`max_connections` must be a whole number"),
        (
            "{tomcat: 11.0, processor_cache: 0}",
            "0",
            "`processor_cache` must be a whole number from 1, and `0` is not | write a number from 1, or unlimited",
        ),
        ("{jetty: newest}", "newest", "`jetty` must be a line or a version"),
        (
            "{jetty: 12.1, max_concurrent_tasks: 0}",
            "0",
            "`max_concurrent_tasks` must be a whole number from 1",
        ),
        (
            "{target_url: 10.0.0.7}",
            "10.0.0.7",
            "`target_url` must be the base URL of a server that runs, and `10.0.0.7` is not",
        ),
        ("{target_url: \"http://a/b\"}", "\"http", "`target_url` must be the base URL"),
        ("{pear: go}", "pear", "a server has no key `pear` | did you mean `peer`?"),
    ];
    let text = |server: &str| SMALL.replacen("threads: virtual", &format!("server: {server}"), 1);
    for (server, token, message) in known {
        let (marked, printed) = mistake_in(&text(server));
        assert_eq!(marked, token, "{server}: {printed}");
        assert!(printed.starts_with(message), "{server}: {printed}");
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
        let (marked, printed) = mistake_in(&format!("{SMALL}{line}\n"));
        assert_eq!(marked, token, "{line}: {printed}");
        assert!(printed.starts_with(message), "{line}: {printed}");
    }
    let (marked, printed) = mistake("requests: 1_000_000", "duration: 1s, thread_dump: yes");
    assert_eq!(marked, "yes", "{printed}");
    let (marked, printed) = mistake("threads: virtual", "threads: {executor: mine}");
    assert_eq!(marked, "mine", "{printed}");
    let (marked, printed) = mistake("threads: virtual", "threads: {virtual: {bound: 0}}");
    assert_eq!(marked, "0", "{printed}");
    let (_, printed) = mistake("threads: virtual", "threads: {virtual: {queue: 5}}");
    assert!(printed.starts_with("a limit on virtual threads needs `bound`"), "{printed}");
    let (marked, printed) = mistake("threads: virtual", "threads: {virtual: {bound: 5, queue_timeout: 60d}}");
    assert_eq!(marked, "60d", "{printed}");
    let (marked, printed) = mistake("threads: virtual", "args: x");
    assert_eq!(marked, "args", "{printed}");
    assert!(
        printed.starts_with("`args` configures a jar or a peer, and this server is a Tomcat"),
        "{printed}"
    );
}

#[test]
fn turns_are_for_steady_loads_of_servers_without_others_behind_them() {
    let known = [
        ("requests: 1_000_000, interleave: 1s", "interleave", "requests that are counted are sent at one go"),
        ("duration: 20s, interleave: 20s", "interleave", "a turn of 20 s is not shorter than the load"),
        ("duration: 20s, interleave: 1s, log: all.csv.gz", "interleave", "a log holds one window"),
        (
            "duration: 20s, interleave: 1s, tool: {ab: 1}",
            "interleave",
            "a search, a benchmark and an external tool",
        ),
        ("duration: 20s, interleave: often", "often", "`interleave`"),
    ];
    for (size, token, message) in known {
        let (marked, printed) = mistake("requests: 1_000_000", size);
        assert_eq!(marked, token, "{size}: {printed}");
        assert!(printed.starts_with(message), "{size}: {printed}");
    }
    let text = SMALL.replacen("requests: 1_000_000", "duration: 20s, interleave: 1s", 1);
    let (_, printed) = mistake_in(&format!("{text}backend: {{jar: slow, args: \"{{port}}\"}}\n"));
    assert!(printed.contains("has a server behind it"), "{printed}");
}

#[test]
fn a_benchmark_and_a_load_for_servers_do_not_go_together() {
    let known = [
        ("iterations: 3", "warmups: 3", "warmups", "a benchmark needs `iterations` | write, for example"),
        ("iterations: 3", "iterations: 3, clients: 4", "clients", "a benchmark has no `clients`"),
        ("iterations: 3", "iterations: 3, capacity: {p99: 1s}", "capacity", "a benchmark has no `capacity`"),
        (
            "iterations: 3",
            "iterations: 3, keep_alive: false",
            "keep_alive",
            "a benchmark has no `keep_alive`",
        ),
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
        let (marked, printed) = mistake_in(&BENCHMARK.replacen(old, new, 1));
        assert_eq!(marked, token, "{new}: {printed}");
        assert!(printed.starts_with(message), "{new}: {printed}");
    }
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
            "`clients` must be a whole number from 1, and `many` is not | write a whole number, e.g. 64",
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
        (
            "clients: 400",
            "clients: 9_000_000_000",
            "9_000_000_000",
            "`clients` must be a whole number from 1, and `9_000_000_000` is not | it must be below 4_294_967_296",
        ),
        (
            "clients: 400",
            "rate: fast",
            "fast",
            "`rate` must be a rate, and `fast` is not | write requests per second or per minute, e.g. 5000/s",
        ),
        (
            "clients: 400",
            "rate: 5000/s, clients: 400",
            "rate",
            "a load has clients or a rate, not both | clients wait for their responses, a rate does not. To limit the connections of a rate write `connections: 400`. For both write two loads",
        ),
        ("clients: 400, ", "", "{requests", "how much does this load send? | write `clients: 400`"),
        (", requests: 1_000_000", "", "{clients", "how long is this load?"),
        (
            "requests: 1_000_000",
            "duration: 12",
            "12",
            "`duration` must be a duration, and `12` is not | it has no unit: write 12s for seconds, 12ms for milliseconds",
        ),
        (
            "requests: 1_000_000",
            "duration: 0s",
            "0s",
            "`duration` must be a duration, and `0s` is not | it must be longer than 0",
        ),
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
            "`threads` configures a servlet container, and this server is a command",
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
        let (marked, printed) = mistake(old, new);
        assert_eq!(marked, token, "{new}: {printed}");
        assert!(printed.starts_with(message), "{new}: {printed}");
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
            "published: [{variant: virtual, p97_ms: 1}]",
            "p97_ms",
            "there is no metric `p97_ms` | did you mean `p9",
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
        let (marked, printed) = mistake_in(&format!("{SMALL}{tail}\n"));
        assert_eq!(marked, token, "{tail}: {printed}");
        assert!(printed.starts_with(message), "{tail}: {printed}");
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
