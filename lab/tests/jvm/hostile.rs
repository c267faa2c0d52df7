//! `threadcount diagnose` when a source of evidence fails, and when names of threads look like output of the JVM.

use super::attach::comes_true;
use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::thread::sleep;
use std::time::{Duration, Instant};
use threadcount_machine::attach::{JvmProcess, Need};
use threadcount_machine::probe::attach::load_agent;
use threadcount_machine::probe::jar;

const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Hostile.java");
const HUNG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Hung.java");
const GIVE_UP: Duration = Duration::from_secs(60);

/// A JVM that is killed with the test.
struct Jvm(Child);

impl Jvm {
    /// Starts the JVM and waits for its line `up`.
    fn start(command: Command) -> Self {
        Self::start_with_log(command, Stdio::null())
    }

    fn start_with_log(mut command: Command, log: Stdio) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut up = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut up).unwrap();
        assert_eq!(up, "up\n");
        Self(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.pid().to_string()]).status().unwrap().success());
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn classes(source: &str) -> tempfile::TempDir {
    java::probe();
    // The classes are not in /tmp, because a test mounts it anew.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    assert!(javac.args(["--release", "21", "-d"]).arg(folder.path()).arg(source).status().unwrap().success());
    folder
}

fn hostile(feature: u16, kind: &str, classes: &Path) -> Command {
    let mut command = Command::new(java::runtime(feature).java());
    command
        .args(java::flags("-Xmx64m"))
        .args(["-XX:+UseSerialGC", "-cp"])
        .arg(classes)
        .args(["Hostile", kind]);
    command
}

fn diagnose(pid: u32, options: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    let jar = jar::find().unwrap();
    command.env("THREADCOUNT_APPS", jar.ancestors().nth(3).unwrap());
    command.args(["diagnose", &pid.to_string()]).args(options).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_deadlock_is_found_where_the_jvm_cannot_write_its_dump_of_all_threads_and_the_reason_is_told() {
    let classes = classes(HOSTILE);
    for java in [21, 25] {
        let jvm = Jvm::start(hostile(java, "blind", classes.path()));
        let output = diagnose(jvm.pid(), &["--no-agent"]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(1), "Java {java}: {text}");
        assert!(
            text.starts_with("Deadlock: 2 threads wait for each other in a circle.\n  thread pay-"),
            "{text}"
        );
        assert!(
            text.contains("Not seen: virtual threads (Thread.dump_to_file): java.util.Illegal"),
            "{text}"
        );
    }
}

#[test]
fn a_name_that_looks_like_what_the_jvm_prints_makes_no_thread_and_no_deadlock() {
    let classes = classes(HOSTILE);
    for (java, kind) in [(21, "forge"), (25, "forge"), (21, "forge-thread"), (25, "forge-thread")] {
        let jvm = Jvm::start(hostile(java, kind, classes.path()));
        let output = diagnose(jvm.pid(), &["--no-agent"]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(0), "Java {java}, {kind}: {text}");
        assert!(text.starts_with("Nothing hangs: ") && !text.contains("shop.Orders"), "{text}");
    }
}

#[test]
fn a_hostile_name_is_escaped_and_masked_and_the_file_of_a_diagnosis_is_its_owners_alone() {
    let classes = classes(HOSTILE);
    let jvm = Jvm::start(hostile(25, "deadlock", classes.path()));
    let folder = tempfile::tempdir().unwrap();
    let (mine, out) = (folder.path().join("mine"), folder.path().join("hang.json"));
    fs::write(&mine, "mine").unwrap();
    std::os::unix::fs::symlink(&mine, &out).unwrap();
    let output = diagnose(jvm.pid(), &["--no-agent", "--out", out.to_str().unwrap()]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("Nothing hangs")), "{text}");
    assert!(text.contains("thread jdbc:x?password=***"), "{text}");
    let written = fs::symlink_metadata(&out).unwrap();
    assert_eq!((written.is_file(), written.permissions().mode() & 0o777), (true, 0o600));
    let document = fs::read_to_string(&out).unwrap();
    assert!(!document.contains("hunter2") && document.contains("Hostile.take"), "{document}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}

#[test]
fn a_probe_that_fails_gives_its_reason_to_us_and_leaves_nothing_in_the_log_of_the_service() {
    let classes = classes(HOSTILE);
    for java in [21, 25] {
        let folder = tempfile::tempdir().unwrap();
        let (log, lines) = (folder.path().join("log"), folder.path().join("lines"));
        let command = hostile(java, "deadlock", classes.path());
        let jvm = Jvm::start_with_log(command, fs::File::create(&log).unwrap().into());
        let found = JvmProcess::find(jvm.pid()).unwrap();
        for wrong in ["limit_ms=0", "limit_ms=x"] {
            let argument = format!("out=file:{},level=locks,{wrong}", lines.display());
            load_agent(&found, &jar::find().unwrap(), &argument, &Need::LOCKS, GIVE_UP).unwrap();
        }
        let lines = fs::read_to_string(&lines).unwrap();
        let refused: Vec<&str> = lines.lines().filter(|line| line.contains("\"refused\"")).collect();
        assert_eq!(refused.len(), 2, "Java {java}: {lines}");
        assert!(refused[0].contains("the locks were not read within 0 ms"), "{lines}");
        let log = fs::read_to_string(&log).unwrap();
        assert!(!log.contains("Exception") && !log.contains("dev.threadcount"), "Java {java}: {log}");
    }
}

/// A folder without room is mounted as /tmp, so the test must be root.
#[test]
fn a_deadlock_is_found_where_the_tmp_of_the_jvm_is_full() {
    let classes = classes(HOSTILE);
    let java = hostile(25, "deadlock", classes.path());
    let mut full = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        full.args(["--user", "--map-root-user"]);
    }
    full.args(["--mount", "sh", "-c"]);
    full.arg("mount -t tmpfs -o size=16k tmpfs /tmp; cat /dev/zero > /tmp/full 2>/dev/null; exec \"$@\"")
        .arg("sh");
    full.arg(java.get_program()).arg("-XX:-UsePerfData").args(java.get_args());
    let jvm = Jvm::start(full);
    let output = diagnose(jvm.pid(), &[]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("Deadlock: 2 threads wait for each other in a circle.\n"), "{text}");
    for missing in
        ["virtual threads (Thread.dump_to_file): ", "collections and the heap (performance data): "]
    {
        assert!(text.contains(&format!("Not seen: {missing}")), "{text}");
    }
}

#[test]
fn a_process_that_is_stopped_and_one_that_takes_no_commands_are_told_by_the_kernel() {
    let classes = classes(HUNG);
    let idle = |flag: &str| {
        let mut command = Command::new(java::runtime(25).java());
        command.args(java::flags("-Xmx64m")).args([flag, "-cp"]).arg(classes.path()).args(["Hung", "idle"]);
        Jvm::start(command)
    };
    let stopped = idle("-XX:+UseSerialGC");
    stopped.signal("-STOP");
    let output = diagnose(stopped.pid(), &[]);
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.starts_with("The JVM takes no commands: its process is stopped (SIGSTOP or Ctrl-Z)"),
        "{printed}"
    );
    assert!(printed.contains("kill -CONT"), "{printed}");
    let deaf = idle("-XX:+DisableAttachMechanism");
    let output = diagnose(deaf.pid(), &[]);
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(3), "nothing shows that it hangs: {printed}");
    for words in
        ["the kernel shows what its process does", " threads: ", " descriptors are in use: ", "DisableAttach"]
    {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

#[test]
fn a_jvm_that_is_stopped_during_its_diagnosis_is_said_to_be_stopped_and_not_to_be_slow() {
    let classes = classes(HUNG);
    let mut command = Command::new(java::runtime(25).java());
    command.args(java::flags("-Xmx64m")).args(["-XX:+UseSerialGC", "-cp"]).arg(classes.path());
    command.args(["Hung", "idle"]);
    let jvm = Jvm::start(command);
    let output = thread::scope(|scope| {
        let diagnosed = scope.spawn(|| diagnose(jvm.pid(), &[]));
        // The JVM has opened its socket for the first command, and the last of three dumps comes two seconds later.
        comes_true("it was asked", || Path::new(&format!("/tmp/.java_pid{}", jvm.pid())).exists());
        jvm.signal("-STOP");
        diagnosed.join().unwrap()
    });
    jvm.signal("-CONT");
    let printed = text(&output);
    assert!(printed.contains("its process is stopped (SIGSTOP or Ctrl-Z)"), "{printed}");
    assert!(!printed.contains("slowly"), "{printed}");
}

#[test]
fn a_jvm_that_writes_its_log_to_a_pipe_that_nobody_reads_stands_in_that_write() {
    let classes = classes(HUNG);
    let mut command = Command::new(java::runtime(25).java());
    command.args(java::flags("-Xmx64m")).args(["-Xlog:safepoint*=debug:stderr", "-XX:+UseSerialGC", "-cp"]);
    command.arg(classes.path()).args(["Hung", "idle"]).stdin(Stdio::null());
    let mut jvm = Jvm(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let _unread = jvm.0.stderr.take().unwrap();
    let mut up = String::new();
    BufReader::new(jvm.0.stdout.take().unwrap()).read_line(&mut up).unwrap();
    let pid = jvm.pid();
    fill_pipe(&format!("/proc/{pid}/fd/2"));
    // An operation of the VM Thread, which writes some lines about it.
    let mut jcmd = Command::new(java::jdk().home.join("bin/jcmd"));
    let jcmd = jcmd.args([&pid.to_string(), "Thread.print"]).stdin(Stdio::null()).stdout(Stdio::null());
    let _waits = Jvm(jcmd.stderr(Stdio::null()).spawn().unwrap());
    let give_up = Instant::now() + GIVE_UP;
    while !writes_to_pipe(pid) {
        assert!(Instant::now() < give_up, "its VM Thread does not write");
        sleep(Duration::from_millis(5));
    }
    let output = diagnose(pid, &[]);
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains(" s: VM Thread stands in a write to standard error, a pipe to "), "{printed}");
    assert!(printed.contains("-Xlog:async"), "{printed}");
}

fn fill_pipe(path: &str) {
    let mut pipe = fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap();
    for size in [4_096, 1] {
        while pipe.write(&vec![b'x'; size]).is_ok() {}
    }
}

fn writes_to_pipe(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let read = |path: &Path, name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
    tasks
        .map(|it| it.path())
        .any(|it| read(&it, "comm") == "VM Thread\n" && read(&it, "wchan").contains("pipe_write"))
}

#[test]
fn a_document_of_a_diagnosis_names_the_sources_that_gave_nothing() {
    let classes = classes(HOSTILE);
    let jvm = Jvm::start(hostile(25, "blind", classes.path()));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("hang.json");
    diagnose(jvm.pid(), &["--no-agent", "--out", out.to_str().unwrap()]);
    let document: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let missing = document["missing_sources"].as_array().unwrap();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0]["source"], "thread-dump");
    assert!(missing[0]["why"].as_str().unwrap().contains("IllegalFormatConversionException"), "{missing:?}");
}
