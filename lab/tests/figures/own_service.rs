//! The user's own service: a Spring Boot jar in one line, a saved file, and commands before and after each run.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use threadcount_config as config;
use threadcount_machine::app;
use threadcount_model::experiment::estimate::{estimate_s, longest_estimate_s};
use threadcount_model::experiment::{Experiment, JarServer, Server, Variant};
use threadcount_model::record::Record;
use threadcount_servers::http_get::{BaseUrl, get};
use threadcount_servers::request_thread;
use threadcount_servers::{Launcher, RunningServer};

const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
const AMPLE: Duration = Duration::from_secs(120);

fn threadcount(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1");
    command.env("THREADCOUNT_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.output().unwrap()
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// An application that `./dev test` has built.
fn built(module: &str) -> String {
    let jar = app::find_jar(module).unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
    jar.display().to_string()
}

fn records(out: &Path) -> Vec<Record> {
    let text = fs::read_to_string(out.join("result.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(document["records"].clone()).unwrap()
}

/// The shop lacks the address of the service behind it.
#[test]
fn a_spring_boot_jar_that_lacks_a_property_is_answered_with_it_after_one_start_or_one_round() {
    java::runtime(25);
    let jar = built("orders-spring-boot-4");
    let line =
        ["compare", "--spring-boot", &jar, "--url", "/orders/1", "--jdk", "25", "-c", "4", "--no-probe"];
    for (flag, starts) in [("--crossover", 1), ("--no-jvm-log", 1), ("--fresh", 2)] {
        let folder = tempfile::tempdir().unwrap();
        // The probe is only for fresh JVMs.
        let line = if flag == "--fresh" { &line[..] } else { &line[..line.len() - 1] };
        let output = threadcount(folder.path(), &[line, &[flag, "--out", "out"]].concat());
        let output_text = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{output_text}");
        let runs = fs::read_dir(folder.path().join("out/runs")).unwrap().count();
        assert_eq!(runs, starts, "{flag}: {output_text}");
        let flat = output_text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            flat.matches("Could not resolve placeholder 'shop.neighbour'").count(),
            1,
            "{flag}: {output_text}"
        );
        assert!(flat.contains("never became ready") && flat.contains("server.log"), "{flag}: {output_text}");
        assert!(output_text.lines().count() < 30, "{flag}: {output_text}");
    }
}

#[test]
fn kinds_of_thread_are_compared_inside_two_jvms_with_one_summary_and_the_threads_of_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    java::runtime(25);
    let jar = built("spring-boot-4");
    let line = ["compare", "--spring-boot", &jar, "--url", "/thread-info?sleep=50ms", "--jdk", "25"];
    let line = [&line[..], &["-c", "300", "--budget", "120s", "--out", "out"]].concat();
    let output = threadcount(folder.path(), &line);
    let (told, summary) = (printed(&output), String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(output.status.success(), "{told}");
    assert_eq!(summary.matches("Answer  ").count(), 1, "{summary}");
    assert!(summary.contains(" periods in 2 JVMs and ") && summary.contains(", ready after "), "{summary}");
    assert!(told.contains("first answer, of one JVM: "), "{told}");
    let os_threads = |kind: &str| {
        let row = summary.lines().find(|line| line.starts_with(kind)).unwrap_or_else(|| panic!("{summary}"));
        row.split_whitespace().next_back().unwrap().parse::<u32>().unwrap_or_else(|_| panic!("{row}"))
    };
    assert!(os_threads("platform (200) ") > 200 && os_threads("virtual ") < 100, "{summary}");
    assert!(folder.path().join("out/report.html").exists(), "{told}");
}

#[test]
fn a_spring_boot_jar_is_saved_as_a_file_that_run_reads_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    java::runtime(25);
    let jar = built("spring-boot-4");
    let line = [
        "compare",
        "--spring-boot",
        &jar,
        "--url",
        "/thread-info?format=json",
        "--jdk",
        "25",
        "-c",
        "4",
        "-d",
        "1s",
    ];
    let line = [&line[..], &["--limit", "200", "--jvm", "-Xmx64m -XX:TieredStopAtLevel=1"]].concat();
    let line = [&line[..], &["--save", "mine.yaml"]].concat();
    let saved = threadcount(folder.path(), &line);
    assert!(
        saved.status.success() && printed(&saved).contains("`threadcount run ./mine.yaml` runs it"),
        "{}",
        printed(&saved)
    );
    let experiment = config::read(&folder.path().join("mine.yaml"), false).unwrap();
    let names: Vec<&str> = experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!((names, experiment.budget_s), (vec!["platform", "virtual", "virtual-bounded"], Some(300.0)));
    let again = threadcount(folder.path(), &line);
    assert_eq!(again.status.code(), Some(2), "the file that is there stays: {}", printed(&again));

    let short = threadcount(
        folder.path(),
        &["compare", "--spring-boot", &jar, "--url", "/hello", "--save", "short.yaml"],
    );
    assert!(short.status.success(), "{}", printed(&short));
    let short = config::read(&folder.path().join("short.yaml"), false).unwrap();
    assert_eq!((short.loads[0].name.as_str(), short.loads[0].duration_s), ("c64", Some(5.0)));

    let run =
        ["run", "./mine.yaml", "--runs", "1", "--warmup", "0s", "--no-probe", "--replace", "--out", "out"];
    let run = threadcount(folder.path(), &run);
    assert!(run.status.success(), "{}", printed(&run));
    let kinds: Vec<(String, Option<bool>)> = records(&folder.path().join("out"))
        .iter()
        .map(|record| (record.variant.clone(), record.server.request_thread.as_ref().map(|it| it.is_virtual)))
        .collect();
    let kind = |name: &str, is_virtual| (name.to_owned(), Some(is_virtual));
    assert_eq!(kinds, [kind("platform", false), kind("virtual", true), kind("virtual-bounded", true)]);
}

/// An agent that delays the start of an application by ten seconds.
const SLOW_START: &str = "public class SlowStart { public static void premain(String it) throws Exception { Thread.sleep(10_000); } }";

fn slow_start(folder: &Path) -> String {
    let bin = java::jdk().home.join("bin");
    fs::write(folder.join("SlowStart.java"), SLOW_START).unwrap();
    fs::write(folder.join("manifest"), "Premain-Class: SlowStart\n").unwrap();
    let make = |tool: &str, arguments: &[&str]| {
        let made = Command::new(bin.join(tool)).args(arguments).current_dir(folder).output().unwrap();
        assert!(made.status.success(), "{}", printed(&made));
    };
    make("javac", &["SlowStart.java"]);
    make("jar", &["--create", "--file", "slow.jar", "--manifest", "manifest", "SlowStart.class"]);
    format!("-javaagent:{}", folder.join("slow.jar").display())
}

/// A service that starts in ten seconds and responds in five milliseconds has its first answer in five minutes, according to its plan. A
/// test that took five minutes would show no more.
#[test]
fn a_service_that_starts_slowly_has_its_first_answer_within_five_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let agent = slow_start(folder.path());
    let jar = built("spring-boot-4");
    let line = ["compare", "--spring-boot", &jar, "--url", "/thread-info?sleep=5ms", "--jdk", "25"];
    let saved = threadcount(folder.path(), &[&line[..], &["--jvm", &agent, "--save", "slow.yaml"]].concat());
    assert!(saved.status.success(), "{}", printed(&saved));
    let experiment = config::read(&folder.path().join("slow.yaml"), false).unwrap();
    assert!(estimate_s(&experiment).unwrap() <= 300.0 && longest_estimate_s(&experiment).unwrap() <= 300.0);
    let starts = experiment.variants.len() as f64;
    let first_round = Experiment { budget_s: Some(0.0), ..experiment };
    let first_round_s = estimate_s(&first_round).unwrap() + 10.0 * starts;
    assert!(first_round_s <= 200.0, "{first_round_s} s: one round would be the whole answer");

    let how = ["-d", "1s", "--runs", "1", "--warmup", "0s", "--no-probe", "--replace", "--out", "out"];
    let run = threadcount(folder.path(), &[&line[..], &["--jvm", &agent], &how].concat());
    assert!(run.status.success(), "{}", printed(&run));
    let ready: Vec<f64> =
        records(&folder.path().join("out")).iter().map(|it| it.server.ready_after_ms).collect();
    assert!(ready.len() == 2 && ready.iter().all(|after_ms| *after_ms >= 10_000.0), "{ready:?}");
}

#[test]
fn a_web_application_is_compared_on_a_tomcat_with_each_kind_of_thread() {
    let folder = tempfile::tempdir().unwrap();
    java::runtime(25);
    let war = app::find("servlets").unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
    let war = war.display().to_string();
    let what = ["compare", "--war", &war, "--url", "/thread-info", "--jdk", "25", "--jvm", "-Xmx64m"];
    let how =
        ["-c", "201", "-d", "1s", "--runs", "1", "--warmup", "0s", "--no-probe", "--replace", "--out", "out"];
    let output = threadcount(folder.path(), &[&what[..], &how, &["--limit", "4"]].concat());
    assert!(output.status.success(), "{}", printed(&output));
    let threads = |record: Record| {
        let thread = record.server.request_thread.expect("which thread handles a request");
        (record.variant, thread.is_virtual, thread.name)
    };
    let seen: Vec<_> = records(&folder.path().join("out")).into_iter().map(threads).collect();
    let kinds: Vec<_> = seen.iter().map(|(variant, is_virtual, _)| (variant.as_str(), *is_virtual)).collect();
    let expected =
        [("platform", false), ("virtual", true), ("platform-sized", false), ("virtual-bounded", true)];
    assert_eq!(kinds, expected, "{seen:?}");
}

/// Tomcat responds to all of its paths with 404, which a load would measure.
#[test]
fn a_web_application_that_does_not_start_is_an_error_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    java::runtime(25);
    let descriptor = "<web-app><listener><listener-class>shop.Missing</listener-class></listener></web-app>";
    fs::create_dir(folder.path().join("WEB-INF")).unwrap();
    fs::write(folder.path().join("WEB-INF/web.xml"), descriptor).unwrap();
    let make = Command::new(java::jdk().home.join("bin/jar"))
        .args(["--create", "--file", "shop.war", "WEB-INF"])
        .current_dir(folder.path())
        .status();
    assert!(make.unwrap().success());
    let line = ["compare", "--war", "shop.war", "--url", "/", "-c", "4", "--jdk", "25", "--crossover"];
    let output = threadcount(folder.path(), &line);
    assert!(!output.status.success());
    let output_text = printed(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(output_text.contains("could not start the application of variant `platform`"), "{output_text}");
    assert!(output_text.contains("ClassNotFoundException: shop.Missing"), "{output_text}");
}

#[test]
fn a_server_works_in_the_folder_that_the_line_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let variant = |name: &str| format!("{name}=sh -c 'touch {name}; exec python3 {DELAY_SERVER} {{port}} 1'");
    let (a, b) = (variant("a"), variant("b"));
    let what = ["compare", "--url", "http://127.0.0.1:{port}/", "--variant", &a, "--variant", &b];
    let how = ["--workdir", "data", "-c", "1", "-d", "300ms", "--runs", "1", "--warmup", "0s", "--no-probe"];
    let output = threadcount(folder.path(), &[&what[..], &how, &["--replace", "--out", "out"]].concat());
    assert!(output.status.success(), "{}", printed(&output));
    for name in ["a", "b"] {
        assert!(folder.path().join("data").join(name).exists(), "{name} did not work in data");
    }
}

fn limited(module: &str, are_virtual: &str, max_concurrent: &str) -> RunningServer {
    let launcher = Launcher::of_this_machine();
    java::runtime(25);
    let server = JarServer {
        jar: built(module),
        args: String::new(),
        ready: "/hello".to_owned(),
        class_path: vec!["executors".to_owned()],
    };
    let env = [
        ("SERVER_PORT", "{port}"),
        ("SPRING_THREADS_VIRTUAL_ENABLED", are_virtual),
        ("THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT", max_concurrent),
        ("THREADCOUNT_REQUEST_LIMIT_MAX_QUEUE", "0"),
    ];
    let env: BTreeMap<String, String> = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let variant =
        Variant { jdk: Some(25), jvm: java::flags("-Xmx64m"), env, ..Variant::new("x", Server::Jar(server)) };
    let folder = tempfile::tempdir().unwrap();
    launcher.prepare(&variant).unwrap();
    let server = launcher.launch(&variant, 4, &folder.path().join("run"), &AtomicBool::new(false));
    server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")))
}

#[test]
fn spring_boot_3_and_4_get_our_limit_from_outside() {
    for module in ["spring-boot-3", "spring-boot-4"] {
        let server = limited(module, "true", "1");
        let base = BaseUrl::parse(&server.url).unwrap();
        assert_eq!(request_thread::of_pool(server.pid().unwrap(), base.port), None, "on virtual threads");
        let give_up = Instant::now() + AMPLE;
        let is_rejected = || get(&base, "/hello", AMPLE).is_ok_and(|answer| answer.status == Some(503));
        let mut seen = false;
        while !seen {
            assert!(Instant::now() < give_up, "{module}: no request is rejected while one runs");
            std::thread::scope(|scope| {
                let long = scope.spawn(|| get(&base, "/thread-info?sleep=1s", AMPLE));
                while !seen && !long.is_finished() {
                    seen = is_rejected();
                }
            });
        }
        server.stop();
    }
}

/// `compare` with the same server twice, with a trace of each command in a file.
fn with_commands(folder: &Path, before: &str, after: &str) -> (Output, String) {
    let server = format!("python3 {DELAY_SERVER} {{port}} 1");
    let (a, b) = (format!("a={server}"), format!("b={server}"));
    let mut line = vec!["compare", "--url", "http://127.0.0.1:{port}/", "--variant", &a, "--variant", &b];
    line.extend([
        "--runs",
        "1",
        "-d",
        "300ms",
        "-c",
        "1",
        "--warmup",
        "0s",
        "--no-probe",
        "--replace",
        "--out",
        "out",
    ]);
    line.extend(["--env", "WHAT=trace", "--before", before, "--after", after]);
    let output = threadcount(folder, &line);
    (output, fs::read_to_string(folder.join("trace")).unwrap_or_default())
}

#[test]
fn commands_run_before_and_after_each_run_and_see_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let (output, trace) =
        with_commands(folder.path(), "sh -c 'echo before >> $WHAT'", "sh -c 'echo after >> $WHAT'");
    assert!(output.status.success(), "{}", printed(&output));
    assert_eq!(trace, "before\nafter\nbefore\nafter\n");
}

#[test]
fn a_command_that_fails_ends_its_run_with_its_output_and_what_was_set_up_is_torn_down() {
    let folder = tempfile::tempdir().unwrap();
    let (output, trace) =
        with_commands(folder.path(), "sh -c 'echo no such table; exit 3'", "sh -c 'echo after >> $WHAT'");
    let told = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let expected = "The command before the server of variant `a` ended (exit status: 3): sh -c 'echo no such table; exit 3'";
    assert!(told.contains(expected) && told.contains("no such table"), "{told}");
    assert_eq!(trace, "after\nafter\n");

    let folder = tempfile::tempdir().unwrap();
    let (output, _) = with_commands(folder.path(), "true", "false");
    let failure = records(&folder.path().join("out"))[0].failure.clone().unwrap();
    assert!(
        failure.why.starts_with("The command after the server of variant `a` ended (exit status: 1)"),
        "{failure:?}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_service_that_runs_already_is_loaded_and_observed_without_a_verdict() {
    java::probe();
    let server = limited("spring-boot-4", "false", "100");
    let port = BaseUrl::parse(&server.url).unwrap().port;
    let thread = request_thread::of_pool(server.pid().unwrap(), port).expect("a thread of Tomcat's pool");
    assert!(thread.name.starts_with("http-nio-") && !thread.is_virtual, "{thread:?}");
    let folder = tempfile::tempdir().unwrap();
    let line = ["compare", "--attach", &server.url, "--url", "/hello", "-c", "1", "-d", "6s"];
    let output = threadcount(folder.path(), &line);
    let told = printed(&output);
    assert!(output.status.success(), "{told}");
    let expected = format!("The probe was in process {} meanwhile", server.pid().unwrap());
    assert!(told.contains(&expected) && told.contains("no verdict") && told.contains("  limit: "), "{told}");
    assert!(!folder.path().join("out").exists(), "there is no result");
    server.stop();
}

/// A Tomcat on virtual threads with a servlet whose lock lets one request at a time pass.
fn one_by_one(folder: &Path) -> RunningServer {
    let file = folder.join("it.yaml");
    let experiment = "question: q\nserver: {tomcat: \"11.0\", app: servlets}\njdk: 25\njvm: [-Xmx128m]\nrequest: /hello\n\
        variants: {virtual: {threads: virtual}}\nloads: [{clients: 10, duration: 1s}]\n";
    fs::write(&file, experiment).unwrap();
    java::runtime(25);
    let launcher = Launcher::of_this_machine();
    let variant = config::read(&file, false).unwrap().variants[0].clone();
    launcher.prepare(&variant).unwrap();
    let server = launcher.launch(&variant, 10, &folder.join("run"), &AtomicBool::new(false));
    server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")))
}

#[test]
fn what_requests_wait_for_in_a_service_that_runs_already_is_said_with_its_milliseconds() {
    java::probe();
    let folder = tempfile::tempdir().unwrap();
    let server = one_by_one(folder.path());
    let attached = |path: &str| {
        let line = ["compare", "--attach", &server.url, "--url", path, "-c", "10", "-d", "8s"];
        let output = threadcount(folder.path(), &line);
        assert!(output.status.success(), "{}", printed(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let told = attached("/one-by-one?sleep=50ms");
    let lines = |what: &str| told.lines().filter(|line| line.starts_with(what)).collect::<Vec<_>>();
    let [time] = lines("  time: ")[..] else { panic!("{told}") };
    assert!(time.contains(" waiting for a ReentrantLock (OneByOne.withLock:"), "{told}");
    let limits = lines("  limit: ");
    let is_lock = |limit: &&str| {
        limit.contains("1 request runs at once")
            && limit
                .contains("are waiting for a ReentrantLock at dev.threadcount.servlets.OneByOne.withLock:")
    };
    assert!(limits.iter().any(is_lock), "{told}");
    let findings = lines("  finding: ");
    let says_it_again = |it: &&str| it.contains("requests spend") || it.contains("limited by the load");
    assert!(!findings.iter().any(says_it_again), "{told}");

    // A look-alike: ten requests that sleep, and wait for nobody.
    let told = attached("/thread-info?sleep=50ms");
    assert!(told.contains("  time: ") && told.contains(" sleeping ("), "{told}");
    assert!(!told.contains("threads with a request are") && !told.contains("requests spend"), "{told}");
    server.stop();
}
