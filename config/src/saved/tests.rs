use super::*;
use crate::for_compare::asked::{CompareAsked, Compared, Surroundings};
use crate::tests::schema::accepts;
use threadcount_load::plan::Arrivals;
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{Body, LoadKind, Losses, RequestSpec, Workload};
use threadcount_model::parse::{expected_status, ramp, steps};

fn commands() -> CompareAsked {
    let commands = [("a", "serve --port={port}"), ("b", "serve '--x y' --port={port}")];
    CompareAsked {
        url: "http://127.0.0.1:{port}/orders/{rand:1:9}?a=b".to_owned(),
        compared: Compared::Commands(
            commands.map(|(name, command)| (name.to_owned(), command.to_owned())).into(),
        ),
        surroundings: Surroundings::default(),
        load: LoadSpec {
            duration_s: Some(10.0),
            ..LoadSpec::new(
                "c64",
                LoadKind::Closed { clients: 64 },
                RequestSpec::get("/orders/{rand:1:9}?a=b"),
            )
        },
        runs: None,
        crossover: false,
        budget_s: None,
        warmup: WarmUpTime::Auto,
        ready: None,
    }
}

fn saved(asked: CompareAsked) -> Result<String, NotSaved> {
    text(&crate::for_compare::experiment(asked).unwrap())
}

#[test]
fn servers_that_run_already_are_saved_with_their_addresses() {
    let targets = [("old", "http://10.0.0.7:8080"), ("new", "http://10.0.0.8:8080")];
    let compared = Compared::Targets(targets.map(|(name, url)| (name.to_owned(), url.to_owned())).into());
    let url = "/orders/{rand:1:9}?a=b".to_owned();
    let text = saved(CompareAsked { compared, url, ..commands() }).unwrap();
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
    let text = saved(asked).unwrap();
    accepts(&text);
    for line in [
        "question: \"What changes between a and b?\"",
        "server: {url: \"http://127.0.0.1:{port}\", ready: ",
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
    let asked = CompareAsked { url: "/a".to_owned(), compared: Compared::War(war.clone()), ..commands() };
    let text = saved(asked).unwrap();
    accepts(&text);
    let server = format!("server: {{tomcat: \"11.0\", app: {}}}\n", path(&war));
    assert!(text.contains(&server), "{text}");
    assert!(
        text.contains("    threads: {virtual: {bound: 200, queue: 1000, queue_timeout: 1000ms}}\n"),
        "{text}"
    );
    assert!(text.contains("    compare_with: virtual\n") && text.matches("tomcat").count() == 1, "{text}");
}

#[test]
fn each_setting_of_a_load_is_saved() {
    let shapes = [None, Some(ramp("100:500:90s").unwrap()), Some(steps("100:10s,2.5:500ms").unwrap())];
    for shape in shapes {
        let mut asked = commands();
        let (mean, highest) = shape.as_ref().map_or((20.0, 20.0), |it| (it.mean_per_s(), it.highest_per_s()));
        let open = LoadKind::Open {
            rate_per_s: mean,
            clients: LoadKind::connections_for(highest),
            losses: Losses::of(shape.is_some(), true),
        };
        let name = Workload::from(open).default_name(shape.as_ref());
        asked.load = LoadSpec {
            duration_s: shape.as_ref().map(|it| it.lasts_s()).or(Some(1.5)),
            shape,
            ..LoadSpec::new(&name, open, RequestSpec::get("/"))
        };
        let sending = &mut asked.load.sending;
        (sending.arrivals, sending.seed) = (Arrivals::Poisson, 7);
        (sending.timeout_s, sending.connect_timeout_s, sending.grace_s) = (0.25, 2.0, 1.0);
        sending.expect = expected_status("200,404,5xx").unwrap();
        sending.captures = vec!["id=json:/a b".parse().unwrap()];
        (sending.cores, sending.cookies, sending.insecure) = (vec![0, 1], true, true);
        (sending.first_byte, sending.follow) = (true, true);
        sending.ca_files = vec!["ca.pem".into()];
        sending.log = Some("some/folder/requests.csv".into());
        asked.load.more_requests = vec![RequestSpec {
            method: "PUT".to_owned(),
            headers: vec![("Accept".to_owned(), None), ("X-A".to_owned(), Some("b: c".to_owned()))],
            body: Some(Body::Text("{\"a\": \"{seq:1}\"}\n".to_owned())),
            ..RequestSpec::get("/b?c={capture:id}")
        }];
        accepts(&saved(asked).unwrap());
    }
}

#[test]
fn what_means_something_else_in_a_file_is_refused() {
    let with = |change: fn(&mut CompareAsked)| {
        let mut asked = commands();
        change(&mut asked);
        saved(asked).map(drop).map_err(|refused| refused.why)
    };
    assert_eq!(with(|_| {}), Ok(()));
    let binary = with(|asked| asked.load.request.body = Some(Body::Bytes { base64: "/9g=".to_owned() }));
    assert!(binary.unwrap_err().starts_with("a body is not text"));
    let of_a_file = with(|asked| {
        asked.load.request.method = "POST".to_owned();
        asked.load.request.body = Some(Body::Text("@missing".to_owned()));
    });
    assert!(of_a_file.unwrap_err().contains("cannot read"));
    let variable =
        with(|asked| asked.load.request.headers = vec![("A".to_owned(), Some("${PATH}".to_owned()))]);
    assert_eq!(variable, Err("the load or its requests".to_owned()));
}
