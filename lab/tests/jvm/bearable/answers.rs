//! A JVM that takes on demand all that its limits leave, and what is needed around it.

use crate::group::Group;
use crate::java;

use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Answers.java");
const BOTH: [u16; 2] = [21, 25];

/// A JVM that runs `Answers.java` and ends with the test.
pub struct Answers {
    pub jvm: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    user: u32,
    /// The port at which it serves requests; `None`: it serves none.
    port: Option<u16>,
    pub classes: tempfile::TempDir,
}

impl Answers {
    pub fn start(feature: u16, flags: &[&str]) -> Self {
        Self::start_as(0, &[], feature, flags)
    }

    /// Starts the JVM as another user without capabilities, below these words of a command. Only root can do so.
    pub fn start_as(user: u32, below: &[&str], feature: u16, flags: &[&str]) -> Self {
        assert!(rustix::process::geteuid().is_root(), "run the tests as root");
        java::probe();
        // The classes are not in /tmp, which is full in one of the tests.
        let classes = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(classes.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut javac = Command::new(java::jdk().home.join("bin/javac"));
        javac.args(["--release", "21", "-d"]).arg(classes.path()).arg(SOURCE);
        assert!(javac.status().unwrap().success());
        let java = java::runtime(feature).java();
        let mut words = below.iter().map(Path::new).chain([java.as_path()]);
        let mut jvm = as_user(user, words.next().unwrap());
        jvm.args(words).args([
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+EnableDynamicAgentLoading",
        ]);
        jvm.args(flags).arg("-cp").arg(classes.path()).arg("Answers").current_dir("/");
        jvm.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut jvm = jvm.spawn().unwrap();
        let (to, from) = (jvm.stdin.take().unwrap(), BufReader::new(jvm.stdout.take().unwrap()));
        let mut started = Self { jvm, to, from, user, port: None, classes };
        started.read_answer("up");
        started
    }

    pub fn pid(&self) -> String {
        self.jvm.id().to_string()
    }

    /// Reads an answer. Lines of the JVM's own log may stand between the answers.
    fn read_answer(&mut self, expected: &str) {
        let mut line = String::new();
        while line.trim_end() != format!("answer: {expected}") {
            line.clear();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the JVM has ended");
            self.port = line.trim_end().strip_prefix("port: ").map(|it| it.parse().unwrap()).or(self.port);
        }
    }

    /// Starts the JVM in this control group.
    pub fn start_in(group: &Group, feature: u16, flags: &[&str]) -> Self {
        let processes = group.processes().display().to_string();
        let below = ["sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", &processes];
        Self::start_as(0, &below, feature, flags)
    }

    pub fn ask(&mut self, question: &str) {
        writeln!(self.to, "{question}").expect("the JVM lives");
        self.read_answer(question);
    }

    /// Changes a limit of the running JVM, as its user.
    pub fn limit(&self, option: &str) {
        let mut prlimit = as_user(self.user, Path::new("prlimit"));
        assert!(prlimit.args(["--pid", &self.pid(), option]).status().unwrap().success(), "{option}");
    }

    pub fn count(&self, folder: &str) -> usize {
        fs::read_dir(format!("/proc/{}/{folder}", self.pid())).unwrap().count()
    }

    /// A figure of /proc/PID/status, in bytes.
    pub fn status_bytes(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
    }

    /// The output of a command about this JVM, which must still answer afterwards.
    pub fn told(&mut self, command: &[&str]) -> String {
        let mut threadcount = Command::new(cargo_bin("threadcount"));
        let output = threadcount.args(command).arg(self.pid()).stdin(Stdio::null()).output().unwrap();
        let all = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&all).replace("\n  │ ", " ");
        assert!(output.status.code().is_some_and(|code| code <= 3), "{told}");
        self.ask("still there");
        told
    }

    /// Diagnoses and watches the JVM, loads it if it serves requests, and checks what each command prints.
    pub fn bears(&mut self, diagnosed: &str, watched: &str) {
        let told = self.told(&["diagnose"]);
        assert!(told.contains(diagnosed), "{told}");
        let told = self.told(&["watch", "-d", "1s"]);
        assert!(told.contains(watched), "{told}");
        for kind in [&[][..], &["--crossover"][..]] {
            let told = self.port.is_some().then(|| self.compared(kind));
            assert!(told.as_ref().is_none_or(|told| told.contains(watched)), "{told:?}");
        }
    }

    pub fn compared(&mut self, more: &[&str]) -> String {
        let url = format!("http://127.0.0.1:{}/", self.port.expect("it serves requests"));
        let all = [&["compare", "--url", &url][..], more, &["--attach"][..]].concat();
        self.told(&all)
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.jvm.kill().ok();
        self.jvm.wait().ok();
    }
}

pub fn as_user(user: u32, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    let id = user.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(program);
    command
}

/// Runs a test with both Javas at the same time.
pub fn on_both(test: impl Fn(u16) + Sync) {
    thread::scope(|scope| {
        let running = BOTH.map(|feature| {
            scope.spawn({
                let test = &test;
                move || test(feature)
            })
        });
        running.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// A file system in memory that ends with the test.
pub struct Mounted(pub tempfile::TempDir);

impl Mounted {
    pub fn new(options: &str) -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder.path());
        assert!(mount.status().unwrap().success(), "run the tests as root");
        Self(folder)
    }

    pub fn flag(&self) -> String {
        format!("-Djava.io.tmpdir={}", self.0.path().display())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(self.0.path()).status().ok();
    }
}
