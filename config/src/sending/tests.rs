use super::super::parse;
use super::*;
use threadcount_load::plan::ExpectedStatus;
use threadcount_model::experiment::{LoadKind, Losses};
use threadcount_model::experiment::{LoadSpec, Shape};
use threadcount_model::metric::Metric;

fn load(written: &str) -> Result<LoadSpec, String> {
    let text = format!(
        "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}}}\nloads:\n  - {{{written}}}\n"
    );
    let read = parse("x", "x.yaml", &text, false);
    read.map(|experiment| experiment.loads[0].clone()).map_err(|mistake| {
        let help = mistake_help(&mistake);
        let marked: String = text[mistake.offset()..].chars().take_while(|c| !" ,:}]".contains(*c)).collect();
        format!("{marked}: {mistake} | {help}")
    })
}

fn mistake_help(mistake: &threadcount_model::parse::diagnostic::Mistake) -> String {
    miette::Diagnostic::help(mistake).map(|help| help.to_string()).unwrap_or_default()
}

#[test]
fn each_key_is_read_and_what_is_not_written_is_as_usual() {
    let usual = load("clients: 4, duration: 1s").unwrap().sending;
    assert_eq!(usual, Sending::default());
    let all = "rate: 5/s, duration: 1s, poisson: true, seed: 7, timeout: 2s, connect_timeout: 500ms, expect: [200, 4xx], \
        http: 2, streams: 8, insecure: true, threads: 2, cores: 0-1";
    let expected = Sending {
        arrivals: Arrivals::Poisson,
        seed: 7,
        timeout_s: 2.0,
        connect_timeout_s: 0.5,
        expect: ExpectedStatus::ranges(vec![(200, 200), (400, 499)]),
        http: ProtocolChoice::Http2,
        streams: NonZeroU32::new(8).unwrap(),
        insecure: true,
        threads: NonZeroU32::new(2),
        cores: vec![0, 1],
        ..Sending::default()
    };
    assert_eq!(load(all).unwrap().sending, expected);
    assert_eq!(load("clients: 1, duration: 1s, cores: [0, 3]").unwrap().sending.cores, [0, 3]);
}

#[test]
fn addresses_files_and_responses_are_read() {
    let read = load(
        "rate: 5/s, duration: 1s, connect_to: 'a:80:b:81', resolve: ['b:81:127.0.0.9', '*:80:[::1]'], sni: a.test, \
         cacert: ca.pem, cert: /x/c.pem, tls_resumption: false, expect_body: 'regex:a,b', capture: ['id=json:/id'], \
         cookies: true, first_byte: true, follow: true, log: requests.csv.gz, grace: 0s, lateness: 1ms, lead_in: 2s",
    );
    let sending = read.unwrap().sending;
    let rules: Vec<String> = sending.resolve.iter().map(ToString::to_string).collect();
    assert_eq!(rules, ["a:80:b:81", "b:81:127.0.0.9", "*:80:::1"]);
    assert_eq!((sending.sni.as_deref(), sending.tls_resumption), (Some("a.test"), false));
    assert!(sending.ca_files[0].ends_with("ca.pem"));
    let identity = sending.identity.unwrap();
    assert_eq!((identity.certificate.to_str(), identity.key.to_str()), (Some("/x/c.pem"), Some("/x/c.pem")));
    assert_eq!(sending.expect_body.map(|check| check.to_string()).as_deref(), Some("regex:a,b"));
    assert_eq!(sending.captures.len(), 1);
    assert!(
        sending.follow
            && sending.first_byte
            && sending.cookies
            && sending.log.is_some_and(|log| log.ends_with("requests.csv.gz"))
    );
    assert_eq!((sending.grace_s, sending.lateness_s, sending.lead_in_s), (0.0, 0.001, Some(2.0)));
    let socket = load("clients: 1, duration: 1s, unix_socket: /run/x.sock").unwrap().sending.unix_socket;
    assert_eq!(socket.as_deref(), Some(std::path::Path::new("/run/x.sock")));
}

#[test]
fn an_overload_is_judged_by_what_is_still_done_and_needs_a_rate() {
    let overload = load("steps: [100:10s, 1k/s:30s], overload: true").unwrap();
    assert!(overload.workload.is_overload());
    assert_eq!(
        (overload.workload.answer(), overload.workload.headline()),
        (Metric::Rate, &[Metric::Rate][..])
    );
    assert!(overload.workload.expects_losses());
    assert_eq!(load("rate: 100, duration: 1s, overload: false").unwrap().workload.answer(), Metric::P50);
    for refused in ["clients: 4, duration: 1s, overload: true", "capacity: {p99: 200ms}, overload: true"] {
        assert!(load(refused).unwrap_err().to_string().contains("never requests more"), "{refused}");
    }
}

#[test]
fn a_load_whose_losses_are_expected_is_judged_by_what_is_done_and_needs_a_rate() {
    let stalled = load("rate: 100/s, duration: 20s, losses: expected").unwrap().workload;
    assert!(stalled.expects_losses() && !stalled.is_overload());
    assert_eq!(stalled.answer(), Metric::Rate);
    assert_eq!(stalled.headline(), [Metric::Rate, Metric::P50]);
    let both = load("rate: 100/s, duration: 20s, losses: expected, overload: true").unwrap().workload;
    assert!(both.is_overload());
    let refused = |text: &str| load(text).unwrap_err().to_string();
    assert!(refused("clients: 4, duration: 1s, losses: expected").contains("never waits in vain"));
    assert!(refused("rate: 5/s, duration: 1s, losses: 5%").contains("`losses` must be `expected`"));
}

#[test]
fn a_ramp_and_steps_last_as_long_as_they_were_written_and_are_called_after_their_rates() {
    let ramp = load("ramp: 100:500:30s").unwrap();
    assert_eq!(ramp.shape, Some(Shape::Ramp { from_per_s: 100.0, to_per_s: 500.0, over_s: 30.0 }));
    assert_eq!((ramp.name.as_str(), ramp.duration_s), ("ramp100-500", Some(30.0)));
    assert_eq!(
        ramp.workload,
        LoadKind::Open { rate_per_s: 300.0, clients: 1_000, losses: Losses::Unexpected }.into()
    );
    let steps = load("steps: [100:10s, 1k/s:30s], connections: 7").unwrap();
    assert_eq!((steps.name.as_str(), steps.duration_s), ("steps100-1000", Some(40.0)));
    assert_eq!(
        steps.workload,
        LoadKind::Open { rate_per_s: 775.0, clients: 7, losses: Losses::Unexpected }.into()
    );
    assert_eq!(load("steps: '100:10s, 1k/s:30s', connections: 7").unwrap(), steps);
}

#[test]
fn each_mistake_points_at_its_key_or_value_and_says_what_to_write() {
    let known = [
        (
            "clients: 4, duration: 1s, poisson: true",
            "poisson: clients send when their responses are complete, not at random | write `rate: 5000/s`",
        ),
        ("rate: 5/s, duration: 1s, poisson: yes", "yes: `poisson` must be true or false"),
        (
            "clients: 4, duration: 1s, seed: -1",
            "-1: `seed` must be a whole number, and `-1` is not | write a whole number",
        ),
        (
            "clients: 4, duration: 1s, timeout: 2",
            "2: `timeout` must be a duration, and `2` is not | it has no unit: write 2s",
        ),
        (
            "clients: 4, duration: 1s, timeout: 0s",
            "0s: `timeout` must be a duration, and `0s` is not | it must be longer",
        ),
        (
            "clients: 4, duration: 1s, expect: [200, 999]",
            "999: `expect` must be the status codes of a response, and `999` is not | `999` is not a status from 100 to 599",
        ),
        ("clients: 4, duration: 1s, http: 3", "3: `http` must be 1.1 or 2, and `3` is not | write `http: 2`"),
        (
            "clients: 4, duration: 1s, http: 1.1, streams: 4",
            "streams: a connection of HTTP/1.1 carries one request at once | write `http: 2`",
        ),
        ("clients: 4, duration: 1s, insecure: 1", "1: `insecure` must be true or false"),
        (
            "clients: 4, duration: 1s, threads: 0",
            "0: `threads` must be a whole number from 1, and `0` is not | it must be at least 1",
        ),
        (
            "clients: 4, duration: 1s, cores: 3-1",
            "3-1: `cores` must be numbers of cores, and `3-1` is not | write core numbers or ranges",
        ),
        (
            "clients: 4, duration: 1s, driver: epoll",
            "driver: epoll is the only driver since 0.3 | leave `driver` out",
        ),
        (
            "clients: 4, duration: 1s, tool: {ab: 1}, timeout: 5s",
            "timeout: `timeout` is not for a load that another tool sends | leave out one",
        ),
        ("iterations: 3, duration: 1s, timeout: 5s", "timeout: a benchmark has no `timeout` | leave it out"),
        (
            "ramp: 100:500",
            "100: `ramp` must be a ramp, and `100:500` is not | write first rate, last rate and time, e.g. 100:5000:30s",
        ),
        (
            "steps: [100:10s, 500]",
            "500: `steps` must be rates with their times, and `500` is not | in `500`: write rate and time",
        ),
        (
            "clients: 4, duration: 1s, lateness: 1ms",
            "lateness: `lateness` needs `rate`: a closed loop sends as soon as it has its response",
        ),
        (
            "ramp: '1:2:3s', lead_in: 1s",
            "lead_in: `lead_in` is for closed loops and constant rates: a changing rate is counted from its beginning",
        ),
        (
            "clients: 4, requests: 100, lead_in: 1s",
            "lead_in: `lead_in` is for loads that a time ends: leave it out, or `requests`",
        ),
        (
            "clients: 1M, duration: 1s, http: 2, streams: 100",
            "streams: `clients` or `connections` times `streams` is 100000000. At most 16777216 requests",
        ),
        ("clients: 4, duration: 1s, sni: a b", "sni: `sni` a b: not a host name"),
        (
            "clients: 4, duration: 1s, key: k.pem",
            "key: a key needs its certificate | write `cert: client.pem`",
        ),
        (
            "clients: 4, duration: 1s, unix_socket: /x, resolve: 'a:80:1.2.3.4'",
            "resolve: `unix_socket` has no host and port: leave out `resolve` and `connect_to`",
        ),
        (
            "clients: 4, duration: 1s, keep_alive: false, cookies: true",
            "cookies: `cookies` needs connections that are kept alive: leave out `keep_alive: false`",
        ),
        (
            "clients: 4, duration: 1s, capture: 'id=json:id'",
            "'id=json: `capture` must be a value of a response, and `id=json:id` is not | a JSON pointer begins",
        ),
        (
            "clients: 4, duration: 1s, capture: ['a=json:/b', 'a=json:/c']",
            "capture: `capture` has a twice: give each a name of its own",
        ),
        (
            "clients: 4, duration: 1s, expect_body: 'regex:(a'",
            "'regex: `expect_body` must be a text or regex:PATTERN, and `regex:(a` is not | `(a` is not a regular",
        ),
        (
            "clients: 4, duration: 1s, log: x/y.csv",
            "x/y.csv: `log` must be the name of a file, and `x/y.csv` is not | write a name without a folder",
        ),
        (
            "clients: 4, duration: 1s, request: '/{capture:id}'",
            "request: a request sends `{capture:id}`, and `capture` does not say where it comes from | write `capture:",
        ),
        (
            "ramp: 0:0:3s",
            "0: `ramp` must be a ramp, and `0:0:3s` is not | one of its two rates must be above 0",
        ),
        ("steps: []", "[: `steps` is an empty list | leave the key out"),
        ("ramp: 1:2:3s, steps: [1:2s]", "steps: a load has a ramp or a steps, not both"),
        (
            "clients: 4, ramp: 1:2:3s",
            "ramp: a load has clients or a ramp, not both | clients wait for their responses, a rate does not. To limit the connections of a rate write `connections: 4`",
        ),
    ];
    for (written, expected) in known {
        let message = load(written).unwrap_err();
        assert!(message.starts_with(expected), "{written}\n{message}");
    }
}
