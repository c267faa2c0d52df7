//! Runs every command in the README, the tutorials and the how-tos with shorter times and on our own servers.

use crate::commands;
use crate::markdown::{Page, ROOT, page_names};
use crate::tiny_server::TinyServer;
use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use threadcount_machine::app::find_jar;
use threadcount_machine::jdk_finder::{Places, choose};

const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
/// Two results of servers with different response times.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/results");
const SWITCHABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Switchable.java");
const SLEEPS: &str = "public class Sleeps { public static void main(String[] a) throws Exception { Thread.sleep(3_600_000); } }";
/// `step_by_step.rs` runs its commands.
const STEP_BY_STEP: &str = "docs/how-to/write-an-experiment.md";

/// The blocks of one language.
fn blocks(page: &Page, language: &str) -> Vec<String> {
    page.blocks.iter().filter(|it| it.language == language).map(|it| it.text.text.clone()).collect()
}

/// The commands of a page that begin with `threadcount`, one per line, without their comments.
fn commands_of(page: &Page) -> Vec<String> {
    let lines = commands::lines(page).into_iter();
    let lines = lines.map(|(_, line)| line.split("   #").next().unwrap_or_default().trim().to_owned());
    lines.filter(|line| line.starts_with("threadcount ")).collect()
}

/// A JVM to look at, which ends with the test.
struct Jvm(Child);

impl Jvm {
    fn start(source: &Path) -> Self {
        let jdks = Places::of_this_machine().find();
        let java = choose(&jdks, Some(25)).unwrap().java();
        let mut command = Command::new(java);
        Self(command.arg(source).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// The first line of its output.
    fn line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The Spring Boot application that `./dev test` has built.
fn application() -> String {
    find_jar("spring-boot-4").unwrap().display().to_string()
}

/// The services that take the place of the reader's own.
struct Surroundings {
    folder: tempfile::TempDir,
    server: TinyServer,
    /// The second of two servers that are compared.
    other_server: TinyServer,
    jvm: Jvm,
    /// A JVM whose threads can be switched, which ends with the test.
    _service: Jvm,
    service_url: String,
}

impl Surroundings {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("Sleeps.java");
        std::fs::write(&source, SLEEPS).unwrap();
        let jvm = Jvm::start(&source);
        let mut service = Jvm::start(Path::new(SWITCHABLE));
        let service_url = format!("http://127.0.0.1:{}", service.line());
        let [server, other_server] = [TinyServer::start(), TinyServer::start()];
        Self { server, other_server, jvm, _service: service, service_url, folder }
    }

    /// The same command with short times.
    fn in_small(&self, command: &str) -> String {
        let delayed = |name: &str| format!("{name}='python3 {DELAY_SERVER} {{port}} 5'");
        let is_attaching = command.contains("--attach http");
        let url = if is_attaching { self.service_url.clone() } else { self.server.url("/") };
        let address = if is_attaching { "http://127.0.0.1:8080" } else { "http://127.0.0.1:8080/" };
        let mut small = without_lengths(command)
            .replace(address, &url)
            .replace("http://10.0.0.7:8080/", &url)
            .replace("http://10.0.0.7:8080", url.trim_end_matches('/'))
            .replace("http://10.0.0.8:8080", &self.other_server.url(""))
            .replace("-d 5s", "-d 1s")
            .replace("-d 10s", "-d 1s")
            .replace("-d 1m", "-d 1s")
            .replace("-d 1h", "-d 1s")
            .replace("-r 5000/s", "-r 100/s")
            .replace("-r 20000/s", "-r 200/s")
            .replace("-c 400", "-c 20")
            .replace("-c 100", "-c 20")
            .replace("-c 300", "-c 20")
            .replace("-c 50", "-c 20")
            .replace("out/before", &format!("{RESULTS}/before"))
            .replace("out/after", &format!("{RESULTS}/after"))
            .replace("PID", &self.jvm.0.id().to_string())
            .replace("app.jar --url /orders/1", &format!("'{}' --url /hello", application()));
        for name in ["platform", "virtual", "before", "after"] {
            if let Some((before, after)) = small.split_once(&format!("--variant {name}='")) {
                let rest = after.split_once('\'').unwrap().1;
                small = format!("{before}--variant {}{rest}", delayed(name));
            }
        }
        let has = |flag: &str| command.split_whitespace().any(|word| word == flag);
        let more = match command.split_whitespace().nth(1).unwrap() {
            // Pods need a cluster, which only `./dev cluster-test` has.
            _ if has("--kubernetes") && !has("--dry-run") => " --dry-run",
            _ if has("--kubernetes") => "",
            "run" => " --runs 1 --variant virtual --warmup 500ms --no-probe",
            "compare" if has("--crossover") => " --budget 12s",
            "compare" if is_attaching => "",
            "compare" if !has("-d") => " --runs 1 --warmup 200ms --no-probe -d 1s",
            "compare" => " --runs 1 --warmup 200ms --no-probe",
            "watch" if !has("-d") => " -d 2s --json",
            "watch" if !has("--json") => " --json",
            _ => "",
        };
        // Flags come before a redirection. In a claim, `>` is within quotes.
        match small.rsplit_once(" > ").filter(|(_, file)| !file.contains('\'')) {
            Some((call, file)) => format!("{call}{more} > {file}"),
            None => small + more,
        }
    }

    fn run(&self, small: &str) {
        let words = shlex::split(small).unwrap();
        let (call, file) = match words.iter().position(|it| it == ">") {
            Some(at) => (&words[1..at], words.get(at + 1)),
            None => (&words[1..], None),
        };
        let output = Command::new(cargo_bin("threadcount"))
            .args(call)
            .current_dir(self.folder.path())
            .env("THREADCOUNT_HOME", ROOT)
            .output()
            .unwrap();
        if let Some(file) = file {
            std::fs::write(self.folder.path().join(file), &output.stdout).unwrap();
        }
        let printed = String::from_utf8_lossy(&output.stderr);
        // Other programs may use the cores that the experiment's claim is about.
        let is_doubted = output.status.code() == Some(3) && printed.contains("other processes used");
        // A gate may fail, because the speed of these servers does not matter here.
        let is_gate = call.iter().any(|it| it == "--worse-by") && output.status.code() != Some(2);
        let is_condition = printed.contains(": --fail-if `");
        assert!(output.status.success() || is_doubted || is_gate || is_condition, "{small}\n{printed}");
        assert!(!output.stdout.is_empty(), "{small}");
    }
}

/// The command without its number and length of runs, which the short command sets itself.
fn without_lengths(command: &str) -> String {
    let mut words = command.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if ["--runs", "--warmup", "--budget"].contains(&word) {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// Runs the commands of these pages in one folder, each of them once.
fn walk(pages: &[PathBuf], at_least: usize) {
    let surroundings = Surroundings::start();
    let mut done = BTreeSet::new();
    for page in pages.iter().map(|it| Page::read(it)) {
        for command in commands_of(&page) {
            let small = surroundings.in_small(&command);
            if done.insert(small.clone()) {
                surroundings.run(&small);
            }
        }
    }
    assert!(done.len() >= at_least, "{done:#?}");
}

fn pages_in(folder: &str) -> Vec<PathBuf> {
    let is_here = |it: &PathBuf| it.starts_with(folder) && it != Path::new(STEP_BY_STEP);
    page_names().into_iter().filter(is_here).collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    walk(&["README.md".into()], 11);
}

#[test]
fn every_command_of_the_tutorials_runs() {
    walk(&pages_in("docs/tutorials"), 8);
}

#[test]
fn every_command_of_the_how_tos_runs() {
    // This page comes first, because a report needs something that was run.
    let mut pages = pages_in("docs/how-to");
    pages.sort_by_key(|it| !it.ends_with("reproduce-a-study.md"));
    walk(&pages, 18);
}

#[test]
fn the_workflow_of_a_build_runs_the_commands_that_its_page_explains() {
    let mut page = Page::read(Path::new("docs/how-to/run-in-ci.md"));
    let explained = commands_of(&page);
    page.blocks.retain(|it| it.language == "yaml");
    page.blocks.iter_mut().for_each(|block| {
        block.language = "sh".to_owned();
        block.text.text = block.text.text.lines().map(|line| line.trim_start().to_owned() + "\n").collect();
    });
    let without_indent = |it: &String| it.split_whitespace().collect::<Vec<_>>().join(" ");
    let [explained, run] =
        [explained, commands_of(&page)].map(|it| it.iter().map(without_indent).collect::<Vec<_>>());
    assert_eq!(run, explained);
    assert_eq!(run.len(), 2, "it compares, and it reports");
}

#[test]
fn the_two_commands_are_those_of_the_dev_script() {
    let output = Command::new("./dev").arg("help").current_dir(ROOT).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    for line in blocks(&Page::read(Path::new("README.md")), "sh")[0].lines() {
        let command = line.split("   #").next().unwrap().trim();
        assert!(help.contains(command), "{command} is not in\n{help}");
    }
}
