//! Processes of other users that root inspects: nothing of theirs is run, waited for, or read without end. Also JVMs that do not look like
//! the `java` of a JDK.

use crate::attach::{Killed, NOBODY, Program, classes, threadcount};
use crate::java;

use rustix::fs::{CWD, Mode, mkfifoat};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use threadcount_machine::attach::{self, CommandError, JvmProcess};
use threadcount_machine::probe::target;
use threadcount_machine::process_file;
use threadcount_machine::process_mark::ProcessMark;
use threadcount_machine::process_tree::ProcessTree;

/// A program that is no JVM and maps the file in its first argument. With a second argument it poses as a JVM: it maps the file to execute
/// it, listens where a JVM does, and answers everything without end.
const POSES_AS_A_JVM: &str = "
import mmap, os, signal, socket, sys
poses = len(sys.argv) > 2
file = open(sys.argv[1], 'rb')
mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | (mmap.PROT_EXEC if poses else 0))
signal.signal(signal.SIGQUIT, lambda *ignored: None)
server = socket.socket(socket.AF_UNIX)
path = '/tmp/.java_pid%d' % os.getpid()
if poses:
    os.umask(0o077)
    server.bind(path)
    server.listen(10)
print('up', flush=True)
while not poses:
    signal.pause()
while True:
    client = server.accept()[0]
    try:
        client.sendall(b'0\\n')
        while True:
            client.sendall(b'x' * (1 << 20))
    except OSError:
        pass
";

/// A folder like that of a JDK, whose `java` writes a file. All of it belongs to an unprivileged user.
struct ForeignJdk {
    folder: tempfile::TempDir,
}

impl ForeignJdk {
    fn new() -> Self {
        assert!(
            rustix::process::geteuid().is_root(),
            "this test shows what root does to the process of another user"
        );
        let folder = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let this = Self { folder };
        fs::create_dir_all(this.path("jdk/lib/server")).unwrap();
        fs::create_dir_all(this.path("jdk/bin")).unwrap();
        fs::write(this.path("jdk/lib/server/libjvm.so"), vec![0; 8192]).unwrap();
        fs::write(this.path("jdk/bin/java"), format!("#!/bin/sh\nid > {}\n", this.path("proof"))).unwrap();
        fs::set_permissions(this.path("jdk/bin/java"), PermissionsExt::from_mode(0o755)).unwrap();
        for name in
            ["jdk", "jdk/bin", "jdk/bin/java", "jdk/lib", "jdk/lib/server", "jdk/lib/server/libjvm.so"]
        {
            chown(this.path(name), Some(nobody()), Some(nobody())).unwrap();
        }
        this
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Starts a process of the unprivileged user.
    fn start(&self, more: &[&str]) -> Killed {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
            "/usr/bin/env",
            "python3",
            "-c",
        ]);
        command.args([POSES_AS_A_JVM, &self.path("jdk/lib/server/libjvm.so")]).args(more).current_dir("/");
        // The python of a version manager would be in root's home folder.
        command.env("PATH", "/usr/bin:/bin:/usr/local/bin").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut up = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut up).unwrap();
        assert_eq!(up, "up\n");
        Killed(child)
    }

    fn assert_nothing_was_run(&self) {
        assert!(!Path::new(&self.path("proof")).exists(), "its `java` was run");
    }
}

fn nobody() -> u32 {
    NOBODY.parse().unwrap()
}

#[test]
fn nothing_that_belongs_to_an_inspected_process_is_run_and_its_pipe_is_not_waited_for() {
    let theirs = ForeignJdk::new();
    let process = theirs.start(&[]);
    for release in ["none", "a pipe"] {
        if release == "a pipe" {
            mkfifoat(CWD, theirs.path("jdk/release"), Mode::RUSR | Mode::WUSR).unwrap();
        }
        for arguments in [&["diagnose", "--no-agent"][..], &["watch", "--json"]] {
            let pid = process.0.id().to_string();
            let output = threadcount(&[arguments[0], &pid, arguments[1]]);
            let says = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{release}: {says}");
            assert!(says.contains("is not a JVM"), "its library is not there to be executed: {says}");
        }
    }
    theirs.assert_nothing_was_run();
}

/// Whoever maps a library with that name to execute it is taken for a JVM.
#[test]
fn one_that_poses_as_a_jvm_is_read_up_to_a_limit_and_nothing_of_it_is_run() {
    let theirs = ForeignJdk::new();
    mkfifoat(CWD, theirs.path("jdk/release"), Mode::RUSR | Mode::WUSR).unwrap();
    let process = theirs.start(&["poses"]);
    let pid = process.0.id();
    let socket = format!("/tmp/.java_pid{pid}");
    assert_eq!(ProcessTree::rooted_at(pid).java_pid(), Some(pid));
    let jvm = target::inspect(pid).unwrap();
    let error = attach::diagnostic_command(&jvm, "Thread.print", Duration::from_secs(60)).unwrap_err();
    let says = error.to_string();
    // A diagnosis continues with what the kernel shows.
    for (command, flag, code) in [("diagnose", "--no-agent", 3), ("watch", "--json", 2)] {
        let output = threadcount(&[command, &pid.to_string(), flag]);
        let shown = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
        assert!(output.status.code() == Some(code) && shown.contains("is longer than 64 MiB"), "{output:?}");
    }
    drop(process);
    fs::remove_file(socket).unwrap();
    assert!(matches!(error, CommandError::TooLong { .. }), "{says}");
    assert!(says.contains("`Thread.print`, but the response is longer than 64 MiB"), "{says}");
    theirs.assert_nothing_was_run();
}

/// A JDK made of links to another one, except for the files by whose place a JVM is found. It has no `java`, because its launcher has
/// another name.
fn jdk_with_a_launcher_of_its_own(folder: &Path) -> std::path::PathBuf {
    let (real, home) = (java::jdk().home, folder.join("jdk of the shop"));
    for inner in ["bin", "lib", "lib/server"] {
        fs::create_dir_all(home.join(inner)).unwrap();
    }
    for entry in fs::read_dir(real.join("lib")).unwrap().map(Result::unwrap) {
        let to = home.join("lib").join(entry.file_name());
        if entry.file_name() == "libjli.so" || entry.file_name() == "jvm.cfg" {
            fs::copy(entry.path(), to).unwrap();
        } else if entry.file_name() != "server" {
            symlink(entry.path(), to).unwrap();
        }
    }
    for entry in fs::read_dir(real.join("lib/server")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), home.join("lib/server").join(entry.file_name())).unwrap();
    }
    symlink(real.join("conf"), home.join("conf")).unwrap();
    fs::copy(real.join("bin/java"), home.join("bin/shop")).unwrap();
    home
}

#[test]
fn a_jvm_of_another_launcher_is_known_also_after_its_jdk_was_replaced() {
    let classes = classes();
    let home = jdk_with_a_launcher_of_its_own(classes.path());
    let mut shop = Command::new(home.join("bin/shop"));
    shop.args([
        "-Xmx64m",
        "-XX:+UseSerialGC",
        "-XX:+EnableDynamicAgentLoading",
        "-XX:NativeMemoryTracking=summary",
    ]);
    shop.arg("-cp").arg(classes.path()).args(["Hung", "idle"]);
    let shop = Program::start(shop);
    let pid = shop.jvm;
    assert_eq!(fs::read_to_string(format!("/proc/{pid}/comm")).unwrap(), "shop\n");
    let (library, new) = (home.join("lib/server/libjvm.so"), home.join("lib/server/new"));
    fs::copy(&library, &new).unwrap();
    fs::rename(&new, &library).unwrap();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    assert!(maps.contains("libjvm.so (deleted)"), "{maps}");

    let mut tree = ProcessTree::rooted_at(pid);
    assert_eq!(tree.java_pid(), Some(pid));
    let reading = tree.read();
    assert!(reading.jvm.jit_ns > 0, "its compilers have worked: {reading:?}");
    let version = threadcount_machine::running_java::java_below(pid).unwrap();
    assert_eq!(version.describe(), java::jdk().describe());
    assert!(threadcount_machine::native_memory::read(pid).is_some());
    let output = threadcount(&["diagnose", &pid.to_string(), "--no-agent"]);
    let says = String::from_utf8_lossy(&output.stdout).into_owned();
    // On a full machine it may be too slow for the third dump, which is exit code 3.
    let lacks_time = output.status.code() == Some(3) && says.contains("responded too slowly");
    assert!(says.starts_with("Nothing hangs: ") || lacks_time, "{says}{output:?}");
}

/// A JVM may keep no performance data. Then it is asked for its version, and one that does not answer is accepted within seconds.
#[test]
fn a_jvm_without_performance_data_tells_its_version_itself() {
    let classes = classes();
    let mut command = Command::new(java::jdk().java());
    command
        .args(["-Xmx64m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp"])
        .arg(classes.path())
        .args(["Hung", "idle"]);
    let idle = Program::start(command);
    let began = Instant::now();
    let version = threadcount_machine::running_java::java_of(&JvmProcess::find(idle.jvm).unwrap());
    assert_eq!(version.map(|it| it.describe()), Some(java::jdk().describe()), "{:?}", began.elapsed());
}

/// Any user may do that to its own process: prctl(2), `PR_SET_MM_MAP`.
const DECLARES_ITS_MEMORY_TO_BE_ITS_COMMAND_LINE: &str = "
import ctypes, mmap, sys
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_uint64
after_name = open('/proc/self/stat').read().rsplit(')', 1)[1].split()
field = lambda number: int(after_name[number - 3])
length = 1 << 30
memory = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
code_to_stack = [field(26), field(27), field(45), field(46), field(47), libc.sbrk(0), field(28)]
words = code_to_stack + [begin, begin + length] * 2 + [0, 0xffffffff << 32]
layout = (ctypes.c_uint64 * len(words))(*words)
print(libc.prctl(35, 14, ctypes.byref(layout), ctypes.sizeof(layout), 0), flush=True)
sys.stdin.read()
";

#[test]
fn a_command_line_or_environment_without_end_is_read_up_to_a_limit() {
    let mut command = Command::new("python3");
    command
        .args(["-c", DECLARES_ITS_MEMORY_TO_BE_ITS_COMMAND_LINE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut process = Killed(command.spawn().unwrap());
    let mut done = String::new();
    BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut done).unwrap();
    assert_eq!(done, "0\n", "this kernel has no PR_SET_MM_MAP (CONFIG_CHECKPOINT_RESTORE)");
    let pid = process.0.id();
    let error = process_file::arguments(pid).unwrap_err().to_string();
    assert_eq!(error, "the command line or environment is longer than 8 MiB, and no more of it is read");
    let none = ProcessMark::new().processes();
    assert!(none.is_empty(), "{none:?}");
    assert_eq!(ProcessTree::rooted_at(pid).java_pid(), None);
}
