//! The process of a running server: its group, its log, and its end.

use super::command_line::ServerCommand;
use super::http_get::BaseUrl;
use super::log_space::LogSpace;
use super::readiness::{self, Question};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process_group, waitid,
};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use threadcount_machine::cpu_clock::process_cpu_ns;
use threadcount_machine::guard::Guard;
use threadcount_machine::log_file;
use threadcount_machine::process_mark::{self, ProcessMark};
use threadcount_machine::process_tree::ProcessTree;
use threadcount_model::environment;

/// Interval between two checks while waiting.
const PAUSE: Duration = Duration::from_millis(5);

/// Time between SIGTERM and SIGKILL if the process is dropped.
const DROP_LIMIT: Duration = Duration::from_secs(10);

/// A health path that responds with 4xx for this long, or until the time to become ready is over, is wrong; a server or gateway may do so
/// until its application is deployed.
const MISTAKEN_FOR: Duration = Duration::from_secs(60);

/// Timeout of one readiness request.
const QUESTION_LIMIT: Duration = Duration::from_secs(2);

/// The reason why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("Cannot write the log {path}: {source}")]
    Log { path: String, source: io::Error },
    #[error("Cannot start `{program}`: {source}")]
    NotStarted { program: String, source: io::Error },
    #[error("The server ended ({status}) before it responded at {url}{}; its log is {log}", advice_on_end(*status))]
    Ended { status: ExitStatus, url: String, log: String, log_tail: Vec<String> },
    #[error(
        "The server needs Java {needed} or newer, and the `java` that started it is older. Add --jdk {needed} (`jdk: {needed}` in a \
         file). Its log is {log}"
    )]
    OldJava { needed: u16, log: String, log_tail: Vec<String> },
    #[error("The server did not answer {url} within {limit_s} s (last: {last}); its log is {log}")]
    NotReady { url: String, limit_s: u64, last: String, log: String, log_tail: Vec<String> },
    #[error(
        "The server responds at {url} with status {status}, and is ready with 2xx or 3xx. Write a path that responds so \
         (--health PATH, or `ready` in a file). `ready: tcp` is for one that is ready when it accepts connections. Its log is {log}"
    )]
    Unhealthy { url: String, status: u16, log: String, log_tail: Vec<String> },
    #[error("A backend of the server has ended")]
    InVain,
    /// The server will never become ready, because its threads wait for each other, for example.
    #[error("After {after_s} s the server does not respond at {url}, because it hangs; its log is {log}")]
    Hangs { url: String, after_s: u64, log: String, diagnosis: Vec<String> },
    /// The user stopped us while we waited.
    #[error("Stopped while the server was starting")]
    Interrupted,
}

impl ServerError {
    /// The last lines of the server's log, if there is one; for a server that hangs, the diagnosis.
    #[must_use]
    pub fn log_tail(&self) -> &[String] {
        match self {
            Self::Ended { log_tail, .. }
            | Self::OldJava { log_tail, .. }
            | Self::NotReady { log_tail, .. }
            | Self::Unhealthy { log_tail, .. } => log_tail,
            Self::Hangs { diagnosis, .. } => diagnosis,
            Self::Log { .. } | Self::NotStarted { .. } | Self::InVain | Self::Interrupted => &[],
        }
    }
}

/// Advice for a server that ended with success: it may have gone to the background.
#[must_use]
pub fn advice_on_end(status: ExitStatus) -> &'static str {
    if status.success() { ". Its command must stay in the foreground" } else { "" }
}

/// The Java version that the classes need, if the JVM refused them as too new. Class file version 52 is Java 8, and each later
/// Java adds one.
fn needed_java(log: &[String]) -> Option<u16> {
    let refused = log.iter().find(|line| line.contains("more recent version of the Java Runtime"))?;
    let version = refused.split("class file version ").nth(1)?;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u16>().ok()?.checked_sub(44)
}

/// The reason why a process will not become ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WillNotBeReady {
    /// One of its backends has ended.
    InVain,
    /// The process hangs; these are the lines of its diagnosis.
    Hangs(Vec<String>),
}

/// The end of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Exit status or signal; `None` if unknown.
    pub status: Option<ExitStatus>,
    /// Whether the server did not end in time after SIGTERM and was killed.
    pub was_killed: bool,
}

/// The end of a program that ends by itself.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// CPU time of all its threads, in nanoseconds.
    pub cpu_ns: u64,
}

/// A server in its own session and process group. Dropping it ends the group, first with SIGTERM; its [`Guard`] kills the group
/// if Threadcount itself is killed.
pub struct ServerProcess {
    child: Child,
    group: Pid,
    /// The mark that all its processes carry in their environment.
    mark: ProcessMark,
    /// Must outlive the group.
    _guard: Guard,
    log: PathBuf,
    _log_space: LogSpace,
    started: Instant,
}

impl ServerProcess {
    /// Starts the server. Standard output and error go to the log, which is created anew.
    ///
    /// # Errors
    /// When the log cannot be created or the program cannot be started.
    pub fn start(command: &ServerCommand, log: &Path) -> Result<Self, ServerError> {
        let log_failed = |source| ServerError::Log { path: log.display().to_string(), source };
        let not_started =
            |source| ServerError::NotStarted { program: command.program.display().to_string(), source };
        let output = File::create(log).map_err(log_failed)?;
        let errors = output.try_clone().map_err(log_failed)?;
        let log_space = LogSpace::keep_small(output.try_clone().map_err(log_failed)?).map_err(not_started)?;
        let mark = ProcessMark::new();
        let mut guard = Guard::start().map_err(not_started)?;
        let mut starting = Command::new(&command.program);
        starting
            .args(&command.arguments)
            // The recorded command keeps `${NAME}`; only the process gets the value.
            .envs(command.env.iter().map(|(name, value)| (name, environment::filled_in(value))))
            .env(process_mark::VARIABLE, mark.value())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        if let Some(folder) = &command.folder {
            starting.current_dir(folder);
        }
        // A session of its own gives the server its own scheduling group (sched(7), "The autogroup feature"). In one group with the load
        // generator each of its threads would compete with the generator, which favours servers with many threads.
        // SAFETY: `setsid` may be called between fork and exec.
        unsafe { starting.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
        let started = Instant::now();
        let child = starting.spawn().map_err(not_started)?;
        let watched = guard.watch(child.id(), &mark);
        let group = Pid::from_child(&child);
        let log = log.to_owned();
        let process = Self { child, group, mark, _guard: guard, log, _log_space: log_space, started };
        watched.map_err(not_started)?;
        Ok(process)
    }

    /// The id of the started process and of its group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit status of the server; `None` if it is still running.
    pub fn has_exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The end of the process and its CPU time by the kernel's account; `None` while it runs. Nothing else may have waited for it.
    pub(crate) fn end_and_cpu(&mut self) -> io::Result<Option<Ended>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if waitid(WaitId::Pid(self.group), options)?.is_none() {
            return Ok(None);
        }
        // A process keeps its CPU clock until it is waited for.
        let cpu_ns = process_cpu_ns(self.group.as_raw_pid()).unwrap_or(0);
        Ok(Some(Ended { status: self.child.wait()?, cpu_ns }))
    }

    /// The last lines of the server's log.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        log_file::tail(&self.log)
    }

    /// Requests a path until a response means ready, or connects until a connection is accepted. Returns the time since the start.
    ///
    /// # Errors
    /// When the server ends, is not ready within the limit, lacks the health path, `interrupted` becomes true, or `looked_into` finds
    /// why it will not become ready. `looked_into` gets the process id and the time since the start.
    pub fn wait_until_ready(
        &mut self,
        base: &BaseUrl,
        question: Question<'_>,
        limit: Duration,
        interrupted: &AtomicBool,
        looked_into: &mut dyn FnMut(u32, Duration) -> Option<WillNotBeReady>,
    ) -> Result<Duration, ServerError> {
        let url = readiness::words(base, question.path);
        let mut mistaken_since = None;
        let log = self.log.display().to_string();
        loop {
            let asked = readiness::ask(base, question.path, QUESTION_LIMIT.min(limit));
            let after = self.started.elapsed();
            // If the server has ended, the response came from another process on this port.
            if let Some(status) = self.has_exited() {
                let log_tail = self.log_tail();
                return Err(match needed_java(&log_tail) {
                    Some(needed) => ServerError::OldJava { needed, log, log_tail },
                    None => ServerError::Ended { status, url, log, log_tail },
                });
            }
            let last = match asked {
                Ok(answer) if question.is_ready(answer.status) => return Ok(after),
                Ok(answer) => {
                    let (status, is_mistaken) =
                        (answer.status.unwrap_or_default(), question.is_mistaken(answer.status));
                    mistaken_since = mistaken_since.or(Some(after)).filter(|_| is_mistaken);
                    if mistaken_since.is_some_and(|since| after >= limit.min(since + MISTAKEN_FOR)) {
                        return Err(ServerError::Unhealthy { url, status, log, log_tail: self.log_tail() });
                    }
                    format!("status {status}")
                }
                Err(error) => error.to_string(),
            };
            if interrupted.load(Ordering::Relaxed) {
                return Err(ServerError::Interrupted);
            }
            match looked_into(self.pid(), after) {
                None => {}
                Some(WillNotBeReady::InVain) => return Err(ServerError::InVain),
                Some(WillNotBeReady::Hangs(diagnosis)) => {
                    return Err(ServerError::Hangs { url, after_s: after.as_secs(), log, diagnosis });
                }
            }
            if after > limit {
                let limit_s = limit.as_secs();
                return Err(ServerError::NotReady { url, limit_s, last, log, log_tail: self.log_tail() });
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Sends SIGTERM to the group, and SIGKILL to the rest of it and its descendants once the server has ended or the limit
    /// has passed. It also waits for a JVM below a shell, which may have a flight recording to write.
    pub fn stop(mut self, limit: Duration) -> Stopped {
        let was_killed = self.end(limit);
        Stopped { status: self.child.wait().ok(), was_killed }
    }

    /// Ends the group and returns whether it had to be killed.
    fn end(&mut self, limit: Duration) -> bool {
        let tree = ProcessTree::rooted_at(self.pid());
        let members = tree.members();
        let jvm = tree.java_pid().and_then(|jvm| members.iter().find(|(pid, _)| *pid as u32 == jvm).copied());
        if self.has_exited().is_none() {
            kill_process_group(self.group, Signal::TERM).ok();
        }
        let give_up = Instant::now() + limit;
        while (self.has_exited().is_none() || jvm.is_some_and(is_alive)) && Instant::now() < give_up {
            std::thread::sleep(PAUSE);
        }
        let was_killed = self.has_exited().is_none();
        self.kill();
        kill_strays(&members);
        was_killed
    }

    fn kill(&mut self) {
        if self.has_exited().is_none() || test_kill_process_group(self.group).is_ok() {
            kill_process_group(self.group, Signal::KILL).ok();
        }
        self.child.wait().ok();
        kill_strays(&self.mark.processes());
    }
}

impl Drop for ServerProcess {
    /// Begins with SIGTERM, because on SIGKILL a client like `docker run` cannot stop what it controls.
    fn drop(&mut self) {
        if self.has_exited().is_none() {
            self.end(DROP_LIMIT);
        }
        self.kill();
    }
}

/// Kills descendants that left the group. The start time rules out a new process with the same id.
fn kill_strays(members: &[(i32, u64)]) {
    for &member in members.iter().filter(|&&member| is_alive(member)) {
        if let Some(pid) = Pid::from_raw(member.0) {
            kill_process(pid, Signal::KILL).ok();
        }
    }
}

fn is_alive((pid, started_ticks): (i32, u64)) -> bool {
    let process = procfs::process::Process::new(pid).and_then(|it| it.stat());
    process.is_ok_and(|stat| stat.starttime == started_ticks && stat.state != 'Z')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_java_that_a_refused_class_needs_is_read_from_the_log() {
        let line = "Error: LinkageError occurred while loading main class App\n\tjava.lang.UnsupportedClassVersionError: App has been \
            compiled by a more recent version of the Java Runtime (class file version 69.0), this version of the Java Runtime only \
            recognizes class file versions up to 61.0";
        let log: Vec<String> = line.lines().map(str::to_owned).collect();
        assert_eq!(needed_java(&log), Some(25));
        assert_eq!(needed_java(&["Started App, class file version 69.0 is fine".to_owned()]), None);
    }

    #[test]
    fn a_server_begins_a_session_and_so_a_scheduling_group_of_its_own() {
        let arguments = vec!["600".to_owned()];
        let sleep = ServerCommand { program: "sleep".into(), arguments, env: BTreeMap::new(), folder: None };
        let folder = tempfile::tempdir().unwrap();
        let server = ServerProcess::start(&sleep, &folder.path().join("server.log")).unwrap();
        let pid = server.group.as_raw_pid();
        let session = procfs::process::Process::new(pid).and_then(|it| it.stat()).unwrap().session;
        assert_eq!(session, pid);
    }
}
