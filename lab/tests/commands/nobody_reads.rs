//! Output that cannot be written or is too wide: a full disk, a closed stream, a reader that is gone, a narrow terminal.

use crate::tiny_server::TinyServer;
use assert_cmd::cargo::cargo_bin;
use clap::CommandFactory as _;
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::ptr;
use std::thread;
use threadcount::cli::Cli;

const RESULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/results/after");
const OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/results/before");

const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../jvm/probe/target/probe.jar");

/// Calls whose result goes to stdout.
const PRINTING: [&[&str]; 13] = [
    &["list"],
    &["list", "tomcat-blocking"],
    &["check"],
    &["self"],
    &["completions", "bash"],
    &["report", RESULT, "--format", "terminal"],
    &["report", RESULT, "--details"],
    &["report", RESULT, "--format", "md"],
    &["compare-results", OTHER, RESULT],
    &["load", "http://127.0.0.1:1/", "-n", "1"],
    &["load", "http://127.0.0.1:1/", "-n", "1", "--json", "--quiet"],
    &["--help"],
    &["load", "--help-all"],
];

/// Calls that end with a message on stderr. The kernel gives no process the id 2^22.
const REFUSED: [&[&str]; 10] = [
    &["history", "."],
    &["report", "/nowhere"],
    &["run", "/nowhere.yaml"],
    &["compare"],
    &["watch", "4194304"],
    &["diagnose", "4194304"],
    &["merge", "/nowhere"],
    &["man-pages", "/nowhere/at/all"],
    &["worker", "--no-such-flag"],
    &["lod"],
];

fn command(call: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(call).stdin(Stdio::null());
    command
}

fn ended(call: &[&str], stdout: Stdio, stderr: Stdio) -> Output {
    command(call).stdout(stdout).stderr(stderr).output().unwrap()
}

fn full() -> Stdio {
    Stdio::from(File::options().write(true).open("/dev/full").unwrap())
}

fn without_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    Stdio::from(writer)
}

#[test]
fn each_command_is_called_here() {
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        let mut calls = PRINTING.into_iter().chain(REFUSED);
        assert!(calls.any(|call| call[0] == name), "{name} is in no list");
    }
}

#[test]
fn no_command_panics_where_its_output_cannot_be_written() {
    for call in PRINTING.into_iter().chain(REFUSED) {
        for stdout in [full(), without_reader()] {
            let output = ended(call, stdout, Stdio::piped());
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(!printed.contains("panicked"), "{call:?}: {printed}");
            assert!(output.status.code().is_some_and(|code| code != 101), "{call:?}: {printed}");
        }
        for stderr in [full(), without_reader()] {
            let output = ended(call, Stdio::piped(), stderr);
            assert!(output.status.code().is_some_and(|code| code != 101), "{call:?}: {:?}", output.status);
        }
    }
}

#[test]
fn a_full_disk_behind_stdout_is_named_and_is_exit_code_4() {
    for call in PRINTING {
        let output = ended(call, full(), Stdio::piped());
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(
            printed.contains("No space left on device") && printed.contains("stdout"),
            "{call:?}: {printed}"
        );
        assert_eq!(output.status.code(), Some(4), "{call:?}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure_of_a_command_that_prints() {
    for call in PRINTING.iter().filter(|call| call[0] != "load") {
        let output = ended(call, without_reader(), Stdio::piped());
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(!printed.contains("Broken pipe"), "{call:?}: {printed}");
        assert!(output.status.code() != Some(1) || call[0] == "check", "{call:?}: {printed}");
    }
}

/// The exit code of a command on a terminal with this many columns, and its output on stdout and stderr.
fn on_a_terminal(ws_col: u16, call: &[&str]) -> (Option<i32>, String) {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize { ws_row: 24, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both descriptors are written, and only the size is read.
    let code = unsafe {
        libc::openpty(&raw mut ours, &raw mut theirs, ptr::null_mut(), ptr::null_mut(), &raw const size)
    };
    assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the descriptors are new, and nobody else has them.
    let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let mut child = {
        let stderr = theirs.try_clone().unwrap();
        command(call).stdout(theirs).stderr(stderr).spawn().unwrap()
    };
    // Reading fails when the last writer is gone.
    let reader = thread::spawn(move || {
        let (mut file, mut all, mut part) = (File::from(ours), Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = file.read(&mut part) {
            all.extend_from_slice(&part[..length]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let status = child.wait().unwrap();
    (status.code(), reader.join().unwrap())
}

#[test]
fn no_command_panics_on_a_terminal_of_ten_columns() {
    for call in PRINTING.into_iter().chain(REFUSED) {
        let (code, printed) = on_a_terminal(10, call);
        assert!(code.is_some_and(|code| code != 101) && !printed.contains("panicked"), "{call:?}: {printed}");
        assert!(!printed.trim().is_empty(), "{call:?}");
    }
}

/// Calls with words that all fit, because addresses and paths are not broken.
const FITTING: [&[&str]; 13] = [
    &["list"],
    &["list", "tomcat-blocking"],
    &["check"],
    &["compare-results", OTHER, RESULT],
    &["history", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/results")],
    &["load", "http://127.0.0.1:1/", "-n", "1"],
    &["load", "http://127.0.0.1:1/", "-r", "50", "-d", "1s"],
    &["load", "http://127.0.0.1:1/", "--cookies", "--disable-keepalive"],
    &["history", "no-such-folder"],
    &["report", RESULT, "--format", "terminal"],
    &["report", RESULT, "--format", "text"],
    &["report", RESULT, "--details"],
    &["load", "http://127.0.0.1:1/", "--header", "without a colon"],
];

#[test]
fn lines_fit_a_terminal_of_80_columns_and_words_stay_whole() {
    for (columns, call) in [80, 40].into_iter().flat_map(|columns| FITTING.map(|call| (columns, call))) {
        let (_, printed) = on_a_terminal(columns, call);
        let plain = anstream::adapter::strip_str(&printed).to_string();
        for line in plain.lines().flat_map(|line| line.split('\r')).filter(|line| !line.contains('│')) {
            let longest = line.split_whitespace().map(|word| word.chars().count()).max().unwrap_or_default();
            let most = usize::from(columns).max(longest + 6);
            assert!(line.chars().count() <= most, "{columns} {call:?}: {line}\n{plain}");
        }
    }
}

#[test]
fn a_terminal_of_112_columns_shows_the_whole_question_of_each_experiment() {
    let (code, printed) = on_a_terminal(112, &["list"]);
    assert!(code == Some(0) && printed.lines().count() > 20 && !printed.contains('…'), "{printed}");
}

#[test]
fn a_load_that_is_over_at_once_is_not_shown_as_complete_and_starting() {
    let server = TinyServer::start();
    let (code, printed) = on_a_terminal(80, &["load", &server.url("/"), "-n", "1"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(!printed.contains("100 %  starting"), "{printed}");
}

/// Runs a call with a limit of threads. For root there is no such limit, so root uses another user.
fn with_threads(most: u64, folder: &Path, call: &[&str]) -> Output {
    const OTHER_USER: u32 = 23_456;
    let mut command = Command::new(folder.join("threadcount"));
    command.args(call).current_dir(folder).stdin(Stdio::null());
    let set_limit = move || {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: this makes only system calls, on values of this function.
        let is_set = unsafe {
            (libc::geteuid() != 0 || libc::setuid(OTHER_USER) == 0)
                && libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) == 0
        };
        if is_set { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec this makes only system calls.
    unsafe { command.pre_exec(set_limit) };
    command.output().unwrap()
}

#[test]
fn no_command_panics_where_no_thread_can_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let of_all = || Permissions::from_mode(0o777);
    fs::set_permissions(folder.path(), of_all()).unwrap();
    let program = folder.path().join("threadcount");
    fs::copy(cargo_bin("threadcount"), &program).unwrap();
    fs::set_permissions(&program, of_all()).unwrap();
    fs::copy(PROBE, folder.path().join("probe.jar")).unwrap();
    let experiment = "question: Does it run?\nrequest: /\nwarmup: 1s\nvariants:\n  \
        one: {command: \"/usr/bin/python3 -m http.server -b 127.0.0.1 {port}\"}\n\
        loads: [{clients: 1, duration: 1s, runs: 1}]\n";
    fs::write(folder.path().join("mine.yaml"), experiment).unwrap();
    let said_by = |most, call: &[&str]| {
        let output = with_threads(most, folder.path(), call);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|code| code != 101), "{most}: {printed}");
        assert!(!printed.contains("panicked"), "{most}: {printed}");
        printed
    };
    for most in 1..8 {
        said_by(most, &["run", "./mine.yaml", "--replace", "--out", "out"]);
    }
    // The worker starts a thread before anything else.
    let worker_output = said_by(0, &["worker", "--share", "0/1"]);
    assert!(worker_output.contains("cannot start a thread"), "{worker_output}");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_signal() {
    let folder = tempfile::tempdir().unwrap();
    let script = "ulimit -f 1; exec \"$0\" man-pages \"$1\"";
    let mut limited = Command::new("bash");
    let output =
        limited.args(["-c", script]).arg(cargo_bin("threadcount")).arg(folder.path()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{printed}");
    assert!(printed.contains("File too large"), "{printed}");
}

#[test]
fn man_pages_name_the_folder_that_is_missing() {
    let output = ended(&["man-pages", "/nowhere/at/all"], Stdio::piped(), Stdio::piped());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("/nowhere/at/all: the pages cannot be written"), "{printed}");
    assert!(printed.contains("make the folder first"), "{printed}");
    assert_eq!(output.status.code(), Some(2), "{printed}");
}
