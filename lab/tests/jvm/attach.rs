//! Attaches to real JVMs without a JDK's tools: in other namespaces, of another user, beside an older probe. A refusal has a reason, and a
//! JVM is unchanged after it was watched and diagnosed.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};
use threadcount_machine::attach;
use threadcount_machine::attach::{CommandError, JvmProcess, Refusal};
use threadcount_machine::probe::{Attached, jar};

const LIMIT: Duration = Duration::from_secs(60);
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Hung.java");
pub const NOBODY: &str = "65534";

/// The processes of threadcount that these tests started, each with the process that it visited. Their ids are in the names of their
/// folders.
static STARTED: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

/// A program and its children, which end with the test.
pub struct Program {
    pub child: Child,
    /// The JVM, which may be a child of the program.
    pub jvm: u32,
}

impl Program {
    /// Starts the program and waits for the line `up` of `Hung.java`.
    pub fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut up = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut up).unwrap();
        assert_eq!(up, "up\n");
        let jvm = descendant(child.id()).unwrap_or(child.id());
        Self { child, jvm }
    }

    pub(super) fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.jvm.to_string()]).status().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        Command::new("kill").args(["-KILL", &self.jvm.to_string()]).status().ok();
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A process that is killed with the test.
pub struct Killed(pub Child);

impl Killed {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The last process in a chain of only children.
fn descendant(pid: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let child = children.split_whitespace().next()?.parse().ok()?;
    descendant(child).or(Some(child))
}

/// The compiled classes. They are not in /tmp, because a container has its own, and because this checkout may be there.
pub fn classes() -> tempfile::TempDir {
    java::probe();
    let folder = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).unwrap();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    assert!(javac.args(["--release", "21", "-d"]).arg(folder.path()).arg(SOURCE).status().unwrap().success());
    folder
}

pub fn idle(feature: u16, classes: &Path, flags: &[&str]) -> Command {
    hung("idle", feature, classes, flags)
}

fn hung(kind: &str, feature: u16, classes: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(java::runtime(feature).java());
    command
        .args(["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+EnableDynamicAgentLoading"])
        .args(flags)
        .arg("-cp")
        .arg(classes);
    command.args(["Hung", kind]);
    command
}

/// Runs threadcount without an environment in which it could find a JDK.
pub fn threadcount(arguments: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    let jar = jar::find().unwrap();
    command.env_clear().env("THREADCOUNT_APPS", jar.ancestors().nth(3).unwrap()).args(arguments);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    STARTED.lock().unwrap().insert(child.id(), arguments[1].to_owned());
    child.wait_with_output().unwrap()
}

fn assert_watched(jvm: u32) {
    let output = threadcount(&["watch", &jvm.to_string(), "--json", "-d", "3s"]);
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && lines.contains("\"type\":\"sample\""), "{says}{lines}");
    assert_diagnosed(jvm);
}

fn assert_diagnosed(jvm: u32) {
    let output = threadcount(&["diagnose", &jvm.to_string()]);
    let says = String::from_utf8_lossy(&output.stdout).into_owned();
    // On a full machine the JVM may still be busy, or too slow for the third dump, which is exit code 3.
    let lacks_time = output.status.code() == Some(3) && says.starts_with("Inconclusive: ");
    let nothing_hangs = output.status.success() && says.starts_with("Nothing hangs: ");
    assert!(nothing_hangs || (lacks_time && says.contains("responded too slowly")), "{says}");
}

fn in_its_tmp(jvm: u32) -> BTreeSet<String> {
    let files = fs::read_dir(format!("/proc/{jvm}/root/tmp")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let own = format!(".attach_pid{jvm}");
    // Other tests run JVMs at the same time. Only the folders of our processes that visited this JVM are known to be ours.
    let started = STARTED.lock().unwrap().clone();
    let is_ours = |name: &str| {
        let pid = name
            .strip_prefix("threadcount-")
            .and_then(|it| it.trim_start_matches("diagnose-").split('-').next());
        pid.and_then(|it| it.parse().ok()).is_some_and(|pid| started.get(&pid) == Some(&jvm.to_string()))
    };
    names.filter(|name| is_ours(name) || *name == own).collect()
}

/// The JVM has its own PID, mount and user namespaces, like a container, and another /tmp.
#[test]
fn a_jvm_in_a_container_is_watched_from_the_host() {
    let classes = classes();
    let java = idle(25, classes.path(), &[]);
    let mut all = vec![java.get_program().to_owned()];
    all.extend(java.get_args().map(ToOwned::to_owned));
    for user in [&[][..], &["--user", "--map-root-user"]] {
        // Without a user namespace only root can make the other namespaces.
        if user.is_empty() && !rustix::process::geteuid().is_root() {
            continue;
        }
        let mut container = Command::new("unshare");
        container.args(user).args(["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"]);
        container.args(["mount -t tmpfs tmpfs /tmp && cd / && exec \"$@\"", "sh"]).args(&all);
        let container = Program::start(container);
        let status = fs::read_to_string(format!("/proc/{}/status", container.jvm)).unwrap();
        assert!(status.lines().any(|line| line.starts_with("NSpid:") && line.ends_with("\t1")), "{status}");
        assert_watched(container.jvm);
        // The container has its own /tmp, which nobody else uses.
        let files = fs::read_dir(format!("/proc/{}/root/tmp", container.jvm)).unwrap().flatten();
        let names: Vec<String> = files.map(|it| it.file_name().into_string().unwrap()).collect();
        assert!(
            !names.iter().any(|name| name.contains("threadcount") || name.contains("attach")),
            "{names:?}"
        );
    }
}

/// Only root can try this. Other users are refused, with the reason.
#[test]
fn a_jvm_of_another_user_is_watched_by_root() {
    let classes = classes();
    if !rustix::process::geteuid().is_root() {
        let error = JvmProcess::find(1).unwrap_err();
        assert!(matches!(error, Refusal::AnotherUser { .. }), "{error}");
        return;
    }
    let java = idle(25, classes.path(), &[]);
    let mut other = Command::new("setpriv");
    other
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"])
        .arg(java.get_program())
        .args(java.get_args());
    other.current_dir("/");
    let other = Program::start(other);
    assert_watched(other.jvm);
}

fn refusal(jvm: u32) -> Refusal {
    JvmProcess::find(jvm).unwrap_err()
}

#[test]
fn what_refuses_says_why_and_leaves_no_file() {
    let classes = classes();
    let stopped = Program::start(idle(25, classes.path(), &[]));
    stopped.signal("-STOP");
    comes_true("it is stopped", || matches!(JvmProcess::find(stopped.jvm), Err(Refusal::Stopped { .. })));
    stopped.signal("-CONT");
    let mut by_file = idle(25, classes.path(), &[]);
    by_file.env("JDK_JAVA_OPTIONS", "-XX:+DisableAttachMechanism");
    let locked = Program::start(by_file);
    assert!(
        matches!(refusal(locked.jvm), Refusal::AttachDisabled { .. }),
        "the command line does not show it"
    );
    for program in [&stopped, &locked] {
        let cwd = PathBuf::from(format!("/proc/{}/cwd/.attach_pid{}", program.jvm, program.jvm));
        assert!(!cwd.exists() && in_its_tmp(program.jvm).is_empty());
    }
    let gone = stopped.jvm;
    let known = JvmProcess::find(gone).unwrap();
    drop(stopped);
    let error = attach::diagnostic_command(&known, "VM.version", LIMIT).unwrap_err();
    assert!(matches!(error, CommandError::Refused(Refusal::NoSuchProcess { .. })), "{error}");
}

/// An OpenJ9 JVM is recognized by its library, so any program with such a library will do.
#[test]
fn an_openj9_jvm_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libj9vm29.so");
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let any = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|it| it.contains("libgcc_s"));
    fs::copy(any.unwrap(), &library).unwrap();
    let sleeper = Killed(Command::new("sleep").arg("600").env("LD_PRELOAD", &library).spawn().unwrap());
    let pid = sleeper.0.id();
    comes_true("it is loaded", || {
        fs::read_to_string(format!("/proc/{pid}/maps")).unwrap().contains("libj9vm29.so")
    });
    let refused = refusal(pid);
    for command in ["diagnose", "watch"] {
        let output = threadcount(&[command, &pid.to_string()]);
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && says.contains("OpenJ9"), "{command}: {says}");
    }
    assert!(matches!(refused, Refusal::OpenJ9 { .. }), "{refused}");
    assert!(refused.to_string().contains("only HotSpot JVMs"), "{refused}");
}

/// The folder has the lock of a process that does not exist any more. The next visit removes it.
#[test]
fn what_a_killed_diagnosis_left_goes_away_with_the_next_one() {
    let classes = classes();
    let idle = Program::start(idle(25, classes.path(), &[]));
    let left = left_by_a_killed_diagnosis(idle.jvm);
    assert_diagnosed(idle.jvm);
    assert!(left.exists(), "it may belong to one that has just begun");
    let long_ago = SystemTime::now() - Duration::from_secs(3_600);
    fs::File::open(&left).unwrap().set_modified(long_ago).unwrap();
    assert_diagnosed(idle.jvm);
    assert!(!left.exists());
}

/// The folder of a diagnosis that is killed during its visit. It is stopped while we look, so that the visit cannot end meanwhile. If a
/// visit ends between two looks, another diagnosis is started.
fn left_by_a_killed_diagnosis(jvm: u32) -> PathBuf {
    let give_up = Instant::now() + LIMIT;
    loop {
        let mut command = Command::new(cargo_bin("threadcount"));
        command.args(["diagnose", &jvm.to_string()]).stdin(Stdio::null());
        let mut diagnosis = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let id = diagnosis.0.id();
        STARTED.lock().unwrap().insert(id, jvm.to_string());
        while !diagnosis.has_ended() {
            assert!(Instant::now() < give_up, "it has not begun");
            diagnosis.signal(Signal::STOP);
            let folder = in_its_tmp(jvm).into_iter().find(|it| it.contains(&format!("-{id}-")));
            let folder = folder.map(|it| Path::new("/tmp").join(it));
            if let Some(left) = folder.filter(|it| it.join("probe.jar").exists()) {
                return left;
            }
            diagnosis.signal(Signal::CONT);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_probe_that_cannot_start_leaves_no_open_socket() {
    let classes = classes();
    let idle = Program::start(idle(25, classes.path(), &[]));
    let jvm = JvmProcess::find(idle.jvm).unwrap();
    let jar = jar::find().unwrap();
    let fail = || {
        let options = format!("{}=jar={},out=unix:/nowhere/socket", jar.display(), jar.display());
        let answer = attach::command(&jvm, "load", ["instrument", "false", &options], LIMIT).unwrap();
        assert!(answer.contains("return code: 102"), "{answer}");
    };
    let sockets = || {
        let files = fs::read_dir(format!("/proc/{}/fd", idle.jvm)).unwrap().flatten();
        let links = files.filter_map(|it| fs::read_link(it.path()).ok());
        links.filter(|it| it.to_string_lossy().starts_with("socket:")).count()
    };
    fail();
    let once = sockets();
    (0..5).for_each(|_| fail());
    // The JVM closes its end of a connection only after we have the answer.
    comes_true("no socket is left", || sockets() <= once);
}

#[test]
fn a_file_that_shall_hold_a_recording_keeps_what_it_has_when_the_pid_is_wrong() {
    java::probe();
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.jfr"), folder.path().join("new.jfr"));
    fs::write(&old, "a recording").unwrap();
    for file in [&old, &new] {
        let output = threadcount(&["watch", "4194304", "--json", "--record", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
    }
    assert_eq!(fs::read_to_string(&old).unwrap(), "a recording");
    assert!(!new.exists());
}

/// Up to version 1, the class of the agent was the probe itself, on the class path.
#[test]
fn a_jvm_that_holds_an_older_probe_gets_the_new_one_beside_it() {
    let classes = classes();
    let older = tempfile::tempdir().unwrap();
    let source = older.path().join("Probe.java");
    fs::write(
        &source,
        "package dev.threadcount.probe; public class Probe { public static void agentmain(String argument) { } }",
    )
    .unwrap();
    fs::write(older.path().join("manifest"), "Agent-Class: dev.threadcount.probe.Probe\n").unwrap();
    let run = |tool: &str, arguments: &[&str]| {
        let mut command = Command::new(java::jdk().home.join("bin").join(tool));
        assert!(command.current_dir(older.path()).args(arguments).status().unwrap().success());
    };
    run("javac", &["--release", "21", "-d", "out", "Probe.java"]);
    run("jar", &["cfm", "older.jar", "manifest", "-C", "out", "."]);
    for feature in [21, 25] {
        let idle = Program::start(idle(feature, classes.path(), &[]));
        let jvm = JvmProcess::find(idle.jvm).unwrap();
        let options = format!("{}=x", older.path().join("older.jar").display());
        let loaded = attach::command(&jvm, "load", ["instrument", "false", &options], LIMIT).unwrap();
        assert!(loaded.contains("return code: 0"), "{loaded}");
        let mut attached = Attached::to(idle.jvm, &jar::find().unwrap(), None).unwrap();
        assert!(attached.next_line().unwrap().contains("\"probe\":3"));
    }
}

pub(super) fn comes_true(what: &str, condition: impl Fn() -> bool) {
    let give_up = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < give_up, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The condition of a JVM, as far as its user would notice a change.
#[derive(Debug, PartialEq, Eq)]
struct Condition {
    threads: BTreeSet<String>,
    files: Vec<String>,
    recordings: String,
    in_tmp: BTreeSet<String>,
}

fn open_files(jvm: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{jvm}/fd")).unwrap().flatten();
    let links = descriptors.filter_map(|it| fs::read_link(it.path()).ok()).map(|it| it.display().to_string());
    let mut files: Vec<String> = links.map(|it| it.split('[').next().unwrap().to_owned()).collect();
    files.sort_unstable();
    files
}

fn condition(jvm: u32) -> Condition {
    let process = JvmProcess::find(jvm).unwrap();
    let ask = |command: &str| attach::diagnostic_command(&process, command, LIMIT).unwrap();
    ask("GC.run");
    let name = |line: &str| Some(line.strip_prefix('"')?.rsplit_once("\" ")?.0.to_owned());
    // Compiler threads come and go. The threads of the flight recorder stay after any recording.
    let is_own =
        |name: &String| !name.contains("Compiler") && !name.starts_with("JFR") && !name.contains("-worker-");
    // The JVM closes its end of a connection only after we have the answer.
    let mut files = open_files(jvm);
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let now = open_files(jvm);
        if now == files {
            break;
        }
        files = now;
    }
    Condition {
        threads: ask("Thread.print").lines().filter_map(name).filter(is_own).collect(),
        files,
        recordings: ask("JFR.check").lines().last().unwrap_or_default().to_owned(),
        in_tmp: in_its_tmp(jvm),
    }
}

/// Waits until the probe has ended. After its reader is gone it closes one thing after the other.
fn settled(jvm: u32) -> Condition {
    let give_up = Instant::now() + LIMIT;
    let mut last = condition(jvm);
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = condition(jvm);
        if now == last && now.threads.iter().all(|name| !name.starts_with("threadcount")) {
            return now;
        }
        assert!(Instant::now() < give_up, "{now:?}");
        last = now;
    }
}

/// The number of probes in the JVM's heap.
fn probes(jvm: u32) -> usize {
    let process = JvmProcess::find(jvm).unwrap();
    let histogram = attach::diagnostic_command(&process, "GC.class_histogram", LIMIT).unwrap();
    let of_a_loader = |line: &&str| line.split_whitespace().nth(3) == Some("dev.threadcount.probe.Sampler");
    histogram.lines().filter(of_a_loader).count()
}

/// The entries of one list that are not in the other, with multiplicity.
fn beyond(files: &[String], before: &[String]) -> Vec<String> {
    let mut left = before.to_vec();
    let is_new = |file: &&String| match left.iter().position(|it| it == *file) {
        Some(at) => {
            left.swap_remove(at);
            false
        }
        None => true,
    };
    files.iter().filter(is_new).cloned().collect()
}

/// The second visit is compared with the state after the first one. What a JVM makes once when somebody attaches (the listener, the
/// recorder's threads, the agent's file) stays, but must not grow.
#[test]
fn a_jvm_that_was_watched_and_diagnosed_is_as_it_was() {
    let classes = classes();
    for feature in [21, 25] {
        let idle = Program::start(hung("idle-server", feature, classes.path(), &[]));
        let (new, once) = first_visit(&idle);
        // The JDK keeps an agent's file open, and its source of random numbers once it has been used.
        assert!(
            new.iter().all(|it| it.ends_with("/probe.jar") || it.ends_with("random")) && new.len() <= 3,
            "{new:?}"
        );
        assert_watched(idle.jvm);
        assert_eq!(settled(idle.jvm), once);
        // The flight recorder remembers the last stream or two, which do not add up.
        assert_watched(idle.jvm);
        assert!(probes(idle.jvm) <= 2, "{}", probes(idle.jvm));
    }
    // In a JVM that has never used a channel, ours is the first, and leaves what the JDK keeps for all channels.
    let (new, _) = first_visit(&Program::start(idle(25, classes.path(), &[])));
    assert_eq!(new.iter().filter(|it| it.starts_with("socket:")).count(), 1, "{new:?}");
}

/// The files that are open after the first visit and were not before, and the JVM's condition after it.
fn first_visit(program: &Program) -> (Vec<String>, Condition) {
    let fresh = settled(program.jvm);
    assert_watched(program.jvm);
    let once = settled(program.jvm);
    assert_eq!(
        (&once.threads, &once.recordings, &once.in_tmp),
        (&fresh.threads, &fresh.recordings, &fresh.in_tmp)
    );
    (beyond(&once.files, &fresh.files), once)
}
