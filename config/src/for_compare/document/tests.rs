use super::*;
use crate::for_compare::asked::{CompareAsked, Compared};
use crate::for_compare::document;
use crate::for_compare::sample::{asked, experiment};
use crate::tests::schema::accepts;
use serde_json::Value;
use threadcount_load::plan::{AddressOverride, Arrivals, ClientIdentity, ProtocolChoice};
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{Body, LoadKind, Losses, Sending, Shape, Workload};
use threadcount_model::parse::{expected_status, ramp, steps};

fn commands() -> CompareAsked {
    let commands = [("a", "serve --port={port}"), ("b", "serve '--x y' --port={port}")];
    let commands = commands.map(|(name, command)| (name.to_owned(), command.to_owned())).into();
    let mut asked = asked("http://127.0.0.1:{port}/orders/{rand:1:9}?a=b", Compared::Commands(commands));
    asked.load.request = RequestSpec::get("/orders/{rand:1:9}?a=b");
    asked
}

fn saved(asked: &CompareAsked) -> Result<String, NotSaved> {
    document(asked).unwrap().file()
}

#[test]
fn servers_that_run_already_are_saved_with_their_addresses() {
    let targets = [("old", "http://10.0.0.7:8080"), ("new", "http://10.0.0.8:8080")];
    let compared = Compared::Targets(targets.map(|(name, url)| (name.to_owned(), url.to_owned())).into());
    let url = "/orders/{rand:1:9}?a=b".to_owned();
    let text = saved(&CompareAsked { compared, url, ..commands() }).unwrap();
    accepts(&text);
    assert!(text.contains("server: {target_url: \"http://10.0.0.8:8080\"}"), "{text}");
}

#[test]
fn commands_are_saved_with_what_they_share_at_the_top() {
    let mut asked = commands();
    (asked.runs, asked.budget_s, asked.warmup) = (Some(3), Some(300.0), WarmUpTime::AtMost(2.5));
    asked.crossover = true;
    asked.surroundings.jdks = vec![25];
    asked.surroundings.jvm = vec!["-Xmx64m".to_owned(), "-XX:+UseSerialGC".to_owned()];
    asked.surroundings.env.insert("A_B".to_owned(), "1: # x".to_owned());
    asked.surroundings.workdir = Some("/some/folder".into());
    asked.surroundings.before = Some("seed 'a b'".to_owned());
    let text = saved(&asked).unwrap();
    accepts(&text);
    for line in [
        "question: \"What changes between a and b?\"",
        "server: {url: \"http://127.0.0.1:{port}\"}",
        "jdk: 25",
        "jvm: [\"-Xmx64m\", \"-XX:+UseSerialGC\"]",
        "workdir: /some/folder",
        "before: \"seed 'a b'\"",
        "env: {A_B: \"1: # x\"}",
        "request: \"/orders/{rand:1:9}?a=b\"",
        "    server: {command: \"serve --port={port}\"}",
        "warmup: 2.5s    # ",
        "crossover: true # ",
        "budget: 5m      # ",
        "runs: 3         # ",
        "drop: 0",
        "  - {clients: 64, duration: 10s}",
        "# claims: [\"b.p99 <= 1.1 * a.p99\"]",
    ] {
        assert!(text.lines().any(|it| it.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn a_service_is_saved_as_one_server_whose_variants_differ_in_few_keys() {
    let folder = tempfile::tempdir().unwrap();
    let war = folder.path().join("shop.war");
    std::fs::write(&war, "PK").unwrap();
    let mut asked = CompareAsked { url: "/a".to_owned(), compared: Compared::War(war.clone()), ..commands() };
    asked.surroundings.limit = Some(200);
    let text = saved(&asked).unwrap();
    accepts(&text);
    let server = format!("server: {{tomcat: \"11.0\", app: {}}}\n", scalar(&war.display().to_string()));
    assert!(text.contains(&server), "{text}");
    assert!(
        text.contains("    threads: {virtual: {bound: 200, queue: 1000, queue_timeout: 1000ms}}\n"),
        "{text}"
    );
    assert!(text.contains("    compare_with: virtual\n") && text.matches("tomcat").count() == 1, "{text}");
}

/// Settings in which every field differs from its default.
fn unusual_sending() -> Sending {
    let file = |name: &str| std::path::absolute(name).unwrap();
    Sending {
        arrivals: Arrivals::Poisson,
        seed: 7,
        timeout_s: 0.25,
        connect_timeout_s: 2.0,
        expect: expected_status("200,404,5xx").unwrap(),
        http: ProtocolChoice::Http2,
        streams: std::num::NonZeroU32::new(8).unwrap(),
        insecure: true,
        threads: std::num::NonZeroU32::new(2),
        cores: vec![0, 1],
        resolve: vec![AddressOverride::connect_to("a:80:b:81").unwrap()],
        unix_socket: Some(file("x.sock")),
        sni: Some("a.test".to_owned()),
        ca_files: vec![file("ca.pem")],
        identity: Some(ClientIdentity::new(file("c.pem"), file("k.pem"))),
        tls_resumption: false,
        lateness_s: 0.001,
        lead_in_s: Some(3.0),
        grace_s: 1.0,
        log: Some("requests.csv".into()),
        expect_body: Some("regex:^ok".parse().unwrap()),
        follow: true,
        first_byte: true,
        cookies: true,
        captures: vec!["id=json:/a b".parse().unwrap()],
    }
}

fn with_pace(asked: &mut CompareAsked, shape: Option<Shape>) {
    let (mean, highest) = shape.as_ref().map_or((20.0, 20.0), |it| (it.mean_per_s(), it.highest_per_s()));
    let clients = LoadKind::connections_for(highest);
    let open = LoadKind::Open { rate_per_s: mean, clients, losses: Losses::Unexpected };
    let name = Workload::from(open).default_name(shape.as_ref());
    let duration_s = shape.as_ref().map(Shape::lasts_s).or(Some(1.5));
    asked.load = LoadSpec { duration_s, shape, ..LoadSpec::new(&name, open, RequestSpec::get("/")) };
}

#[test]
fn each_setting_of_the_flags_runs_and_is_saved() {
    let shapes = [None, Some(ramp("100:500:90s").unwrap()), Some(steps("100:10s,2.5:500ms").unwrap())];
    for shape in shapes {
        let mut asked = commands();
        with_pace(&mut asked, shape);
        asked.load.sending = Sending { unix_socket: None, lead_in_s: None, ..unusual_sending() };
        asked.load.more_requests = vec![RequestSpec {
            method: "PUT".to_owned(),
            headers: vec![("Accept".to_owned(), None), ("X-A".to_owned(), Some("b: c".to_owned()))],
            body: Some(Body::Text("{\"a\": \"{seq:1}\"}\n".to_owned())),
            ..RequestSpec::get("/b?c={capture:id}")
        }];
        assert_eq!(experiment(&asked).unwrap().loads, [asked.load.clone()]);
        let text = saved(&asked).unwrap();
        accepts(&text);
        assert_eq!(crate::parse("x", "x.yaml", &text, false).unwrap().loads, [asked.load]);
    }
    // A setting that excludes one of them.
    let mut asked = commands();
    let Sending { unix_socket, lead_in_s, .. } = unusual_sending();
    asked.load.sending = Sending { unix_socket, lead_in_s, ..Sending::default() };
    asked.load.keep_alive = false;
    assert_eq!(experiment(&asked).unwrap().loads, [asked.load]);
}

#[test]
fn no_setting_of_a_load_is_forgotten_by_the_test_of_all() {
    let json = |sending: &Sending| serde_json::to_value(sending).unwrap();
    let (Value::Object(usual), Value::Object(unusual)) =
        (json(&Sending::default()), json(&unusual_sending()))
    else {
        panic!("maps")
    };
    let same: Vec<_> = unusual.iter().filter(|(key, value)| usual.get(*key) == Some(value)).collect();
    assert!(same.is_empty(), "{same:?}");
}

#[test]
fn what_means_something_else_in_a_file_runs_and_is_not_saved() {
    let refused = |change: fn(&mut RequestSpec)| {
        let mut asked = commands();
        change(&mut asked.load.request);
        assert_eq!(experiment(&asked).unwrap().loads, [asked.load.clone()]);
        saved(&asked).unwrap_err().why
    };
    let binary = refused(|request| request.body = Some(Body::Bytes { base64: "/9g=".to_owned() }));
    assert!(binary.starts_with("a body is not text"), "{binary}");
    let of_a_file = refused(|request| {
        request.method = "POST".to_owned();
        request.body = Some(Body::Text("@missing".to_owned()));
    });
    assert!(of_a_file.contains("cannot read"), "{of_a_file}");
    let variable = refused(|request| request.headers = vec![("A".to_owned(), Some("${PATH}".to_owned()))]);
    assert_eq!(variable, "the requests");
    let twice = refused(|request| request.headers = vec![("A".to_owned(), None), ("A".to_owned(), None)]);
    assert_eq!(twice, "`A` is written twice");
}
