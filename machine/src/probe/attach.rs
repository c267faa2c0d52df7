//! Loads the probe into a running JVM and reads its lines. When the connection is dropped, the probe ends and leaves the JVM as it was.

use super::choice::{LIGHT, Out, agent_argument};
use super::line::Line;
use super::meeting::Meeting;
use super::target::{self, TargetError};
use crate::attach;
use crate::attach::{CommandError, JvmProcess, Need};
use crate::beneath;
use crate::halt::Halt;
use crate::process_file::printable;
use crate::read_limit::{ReadLimit, TOO_LONG};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, BufRead, BufReader, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threadcount_load::clock::now_ns;
use threadcount_model::record::jvm::VISIT;

/// The agent's main method threw an exception.
const AGENT_FAILED: &str = "return code: 102";
/// The errors of a JVM that lacks a module the probe needs.
const MISSING_CLASS: [&str; 2] = ["NoClassDefFoundError", "ClassNotFoundException"];
/// The answer of a JVM that has loaded an agent.
const LOADED: &str = "return code: 0";
/// How long detaching may take: the probe checks its connection twice a second, but writing a large recording takes longer.
pub const DETACH_LIMIT: Duration = Duration::from_secs(10);
/// How long loading the agent may take. A JVM that answers does so within a second, or some seconds on a busy machine.
const LOAD_LIMIT: Duration = Duration::from_secs(30);
/// How long to wait for a garbage collection, which an application that allocates needs within some seconds.
const HEAP_LIMIT: Duration = Duration::from_secs(5);
/// How often the kernel is asked for the limits of a JVM with a probe in it.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long to read the error message of an agent that failed and so has closed its connection.
const WORDS_LIMIT: Duration = Duration::from_secs(1);
const MOST_WORDS_BYTES: u64 = 64 << 10;

/// The reason why the probe is not in the JVM.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The process does not allow attaching.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The JVM did not carry out the command.
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(
        "Cannot listen for the probe in {folder}: {source}; it needs a folder that both processes can write"
    )]
    Socket { folder: String, source: io::Error },
    #[error("The JVM {pid} did not load the probe: {answer}")]
    Refused { pid: u32, answer: String },
    /// The probe was loaded but did not begin.
    #[error("The probe did not begin in the JVM {pid}: {why}")]
    NotBegun { pid: u32, why: String },
    #[error(
        "The probe in the JVM {pid} is version {theirs}, and threadcount needs {ours}: probe.jar is from another build; run `./dev build`"
    )]
    OtherVersion { pid: u32, theirs: String, ours: u32 },
    #[error(
        "Process {pid} has other files or another user than threadcount, so it cannot write the lines of a run"
    )]
    Foreign { pid: u32 },
}

/// The version of the lines and of the agent's argument: `Probe.VERSION` in `jvm/probe`.
pub const VERSION: u32 = 3;

/// Loads the probe, which writes its lines to a file. Returns when the JVM has loaded it, which takes about half a second.
///
/// # Errors
/// Why it could not attach, as a sentence with what to do.
pub fn load(pid: u32, jar: &Path, lines: &Path) -> Result<(), AttachError> {
    let jvm = target::inspect(pid)?;
    if jvm.is_foreign() {
        return Err(AttachError::Foreign { pid });
    }
    let argument = agent_argument(Out::File(lines), LIGHT, None);
    let loaded = load_agent(&jvm, jar, &argument, &Need::WATCH, LOAD_LIMIT);
    // The probe writes its first line before the JVM reports that the probe is loaded.
    let first = beneath::open_regular(lines)
        .and_then(|file| ReadLimit::PROBE_LINE.read_line(&mut BufReader::new(file)))
        .unwrap_or_default();
    loaded.map_err(|error| in_words_of_jvm(pid, error, first.lines()))?;
    if first.is_empty() { Err(without_line(pid)) } else { check_begun(pid, &first) }
}

/// The error for a probe that was loaded and wrote nothing.
fn without_line(pid: u32) -> AttachError {
    let why = Halt::find(pid).map_or_else(
        || "it wrote no line; the standard error of the JVM has the reason".to_owned(),
        |halt| halt.to_string(),
    );
    AttachError::NotBegun { pid, why }
}

/// Loads the probe into a JVM that sees the jar at this path and has the resources that the probe needs.
///
/// # Errors
/// The reason why it could not.
pub fn load_agent(
    jvm: &JvmProcess,
    jar: &Path,
    argument: &str,
    need: &Need,
    limit: Duration,
) -> Result<(), AttachError> {
    attach::check_bears(jvm, need, limit)?;
    let jar = jar.to_string_lossy();
    // Names the jar once more for an agent of an earlier version that is already in the JVM and loads this jar beside its own.
    let options = format!("{jar}=jar={},{argument}", super::choice::encoded(Path::new(&*jar)));
    let answer = attach::command(jvm, "load", ["instrument", "false", &options], limit)?;
    if answer.contains(LOADED) { Ok(()) } else { Err(refusal(jvm.pid, &answer)) }
}

fn refusal(pid: u32, text: &str) -> AttachError {
    let text = printable(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut answer = lines.collect::<Vec<_>>().join(" ");
    if answer.ends_with(AGENT_FAILED) {
        answer.push_str(
            "; its own standard error has the reason, such as a full CPU, or no thread, heap, metaspace or code cache left for it",
        );
    }
    AttachError::Refused { pid, answer }
}

/// Replaces an error by the reason that the agent managed to write as a line, if there is one.
fn in_words_of_jvm<'a>(
    pid: u32,
    error: AttachError,
    mut lines: impl Iterator<Item = &'a str>,
) -> AttachError {
    let AttachError::Refused { .. } = error else { return error };
    let Some(AttachError::NotBegun { mut why, .. }) = lines.find_map(|line| check_begun(pid, line).err())
    else {
        return error;
    };
    if MISSING_CLASS.iter().any(|name| why.contains(name)) {
        why.push_str(
            ". A program that is started with -m, or on a runtime made by jlink, needs --add-modules jdk.jfr,jdk.management",
        );
    }
    AttachError::NotBegun { pid, why }
}

/// The probe in a running JVM, and its lines.
pub struct Attached {
    pid: u32,
    lines: BufReader<UnixStream>,
    /// A line that was read already, such as the first one when attaching, or a line of ours.
    next: Option<String>,
    /// When the limits of the JVM were last read.
    looked: Instant,
    meeting: Arc<Meeting>,
}

impl Attached {
    /// Attaches to a JVM. `recording` names the JFR file that shall exist after detaching.
    ///
    /// # Errors
    /// Why it could not attach, as a sentence with what to do.
    pub fn to(pid: u32, jar: &Path, recording: Option<&Path>) -> Result<Self, AttachError> {
        Self::at(pid, jar, LIGHT, recording)
    }

    /// Attaches to a JVM that may have too little room for a recording. Then there is none, and a `problem` line gives the reason.
    ///
    /// # Errors
    /// Why it could not attach, as a sentence with what to do.
    pub fn with_what_it_bears(pid: u32, jar: &Path) -> Result<Self, AttachError> {
        Self::at(pid, jar, &format!("{LIGHT},events=optional"), None)
    }

    fn at(pid: u32, jar: &Path, level: &str, recording: Option<&Path>) -> Result<Self, AttachError> {
        let Connected { stream, meeting } = connect(pid, jar, level, recording)?;
        let (lines, meeting) = (BufReader::new(stream), Arc::new(meeting));
        let mut attached = Self { pid, lines, next: None, looked: Instant::now(), meeting };
        let hello = attached.read_line().ok().flatten().ok_or_else(|| without_line(pid))?;
        check_begun(pid, &hello)?;
        check_version(pid, Some(&hello))?;
        attached.next = Some(hello);
        attached.lines.get_ref().set_read_timeout(None).map_err(|_| without_line(pid))?;
        Ok(attached)
    }

    /// A handle for ending the reading from another thread.
    ///
    /// # Errors
    /// No file descriptor is left.
    pub fn detacher(&self) -> io::Result<Detacher> {
        let stream = self.lines.get_ref().try_clone()?;
        Ok(Detacher { stream, meeting: Arc::clone(&self.meeting) })
    }

    /// Waits for the next line, and returns it without its end. `None`: the JVM has ended, or the probe was detached. If we detach it because the
    /// JVM comes near to a limit, the last line gives the reason.
    pub fn next_line(&mut self) -> Option<String> {
        self.leave_if_unbearable();
        if let Some(line) = self.next.take() {
            return Some(line);
        }
        loop {
            match self.read_line() {
                // A line that is too long is skipped, just as the probe drops lines for which its reader has no room.
                Err(error) if error.kind() == TOO_LONG => {
                    self.lines.skip_until(b'\n').ok()?;
                }
                line => return line.ok().flatten(),
            }
        }
    }

    /// Detaches the probe if the JVM comes near to a limit. The probe sends several lines a second, so this is called often enough.
    fn leave_if_unbearable(&mut self) {
        if self.next.is_some() || self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        if let Some(lack) = attach::lack(self.pid, &Need::STAY) {
            let problem = serde_json::json!({"type": "problem", "t_ns": now_ns(), "what": VISIT, "why": lack.to_string()});
            self.next = Some(problem.to_string());
            self.lines.get_ref().shutdown(Shutdown::Read).ok();
        }
    }

    /// Reads a line; `None` if there are no more.
    fn read_line(&mut self) -> io::Result<Option<String>> {
        let line = ReadLimit::PROBE_LINE.read_line(&mut self.lines)?;
        Ok((!line.is_empty()).then(|| line.trim_end().to_owned()))
    }
}

/// Checks that a JVM has room for the probe, before it has work to do for us.
///
/// # Errors
/// Why it could not attach, as a sentence with what to do.
pub fn check_room(pid: u32) -> Result<(), AttachError> {
    let jvm = target::inspect(pid)?;
    attach::wait_for_heap(&jvm, &Need::WATCH, HEAP_LIMIT);
    Ok(attach::check_bears(&jvm, &Need::WATCH, LOAD_LIMIT)?)
}

/// The socket to the agent in a JVM, and the folder that contains it.
pub(super) struct Connected {
    pub stream: UnixStream,
    pub meeting: Meeting,
}

/// Loads the agent at this level, and receives its lines through a socket.
pub(super) fn connect(
    pid: u32,
    jar: &Path,
    level: &str,
    recording: Option<&Path>,
) -> Result<Connected, AttachError> {
    let jvm = target::inspect(pid)?;
    let folder =
        if jvm.is_foreign() { "its /tmp".into() } else { std::env::temp_dir().display().to_string() };
    let failed = |source| AttachError::Socket { folder: folder.clone(), source };
    let (mut meeting, listener) = Meeting::prepare(jvm, jar).map_err(failed)?;
    let recording = recording.map(|file| meeting.recording(file));
    // The folder keeps the first handle of the JVM, so the JVM is inspected again for the command.
    let jvm = target::inspect(pid)?;
    attach::wait_for_heap(&jvm, &Need::WATCH, HEAP_LIMIT);
    let argument = agent_argument(Out::Socket(&meeting.socket()), level, recording.as_deref());
    // The probe connects before the JVM reports that it is loaded.
    listener.set_nonblocking(true).map_err(failed)?;
    load_agent(&jvm, &meeting.jar(), &argument, &Need::WATCH, LOAD_LIMIT).map_err(|error| {
        let mut text = String::new();
        // The agent has already closed each of its connections.
        while let Ok((stream, _)) = listener.accept() {
            stream.set_read_timeout(Some(WORDS_LIMIT)).ok();
            stream.take(MOST_WORDS_BYTES).read_to_string(&mut text).ok();
        }
        in_words_of_jvm(pid, error, text.lines())
    })?;
    // A probe that failed closes its connection, and the agent opens another one to give the reason.
    let connections = std::iter::from_fn(|| listener.accept().ok());
    let (stream, _) = connections.last().ok_or_else(|| AttachError::Refused {
        pid,
        answer: "it loaded the probe, which did not connect; the JVM's own output has the reason".to_owned(),
    })?;
    stream.set_nonblocking(false).map_err(failed)?;
    // The other end need not be the probe, and may never write a line.
    stream.set_read_timeout(Some(LOAD_LIMIT)).map_err(failed)?;
    Ok(Connected { stream, meeting })
}

pub(super) fn check_begun(pid: u32, first: &str) -> Result<(), AttachError> {
    match serde_json::from_str(first) {
        Ok(Line::Refused { why, .. }) => Err(AttachError::NotBegun { pid, why: printable(&why) }),
        _ => Ok(()),
    }
}

pub(super) fn check_version(pid: u32, hello: Option<&str>) -> Result<(), AttachError> {
    let hello: serde_json::Value = hello.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    match hello["probe"].as_u64() {
        Some(theirs) if theirs == u64::from(VERSION) => Ok(()),
        other => {
            let theirs = other.map_or_else(|| "1".to_owned(), |it| it.to_string());
            Err(AttachError::OtherVersion { pid, theirs, ours: VERSION })
        }
    }
}

/// Ends the probe in a JVM.
pub struct Detacher {
    stream: UnixStream,
    meeting: Arc<Meeting>,
}

impl Detacher {
    /// Closes the socket and waits until the probe has ended and written its recording. Returns `false` if that took longer than
    /// [`DETACH_LIMIT`].
    #[must_use]
    pub fn detach(&self) -> bool {
        shut(&self.stream, DETACH_LIMIT)
    }

    /// Copies the recording to its destination after the probe has ended.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn fetch_recording(&self) -> io::Result<()> {
        self.meeting.fetch_recording()
    }
}

/// Removes the folder here too, because the process may end before the thread that reads.
impl Drop for Detacher {
    fn drop(&mut self) {
        self.meeting.remove();
    }
}

fn shut(stream: &UnixStream, limit: Duration) -> bool {
    // Shuts down only our reading, so that we can still see the other side close.
    if stream.shutdown(Shutdown::Read).is_err() {
        return true;
    }
    let mut socket = [PollFd::new(stream, PollFlags::empty())];
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut socket, Some(&limit)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::in_tmp::{self, HeldFolder};
    use std::io::Write;
    use std::path::PathBuf;
    use std::thread;

    #[test]
    fn the_end_of_the_other_side_is_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        assert!(!shut(&ours, Duration::from_millis(20)), "nobody has closed it");
        assert!(theirs.write_all(b"line\n").is_err(), "the probe sees that nobody reads");
        drop(theirs);
        assert!(shut(&ours, Duration::from_secs(60)));
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let folder = HeldFolder::of_ours(&in_tmp::unpredictable("threadcount").unwrap()).unwrap();
        let meeting = Arc::new(Meeting::Ours { folder, jar: PathBuf::new() });
        let (pid, lines) = (std::process::id(), BufReader::new(ours));
        let mut attached = Attached { pid, lines, next: None, looked: Instant::now(), meeting };
        let writer = thread::spawn(move || theirs.write_all(&[&[b'x'; 200_000][..], b"\nnext\n"].concat()));
        assert_eq!(attached.next_line().as_deref(), Some("next"));
        assert_eq!(attached.next_line(), None);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn what_the_jvm_says_becomes_a_sentence() {
        let says = |text: &str| refusal(7, text).to_string();
        assert_eq!(says("return code: 100\n"), "The JVM 7 did not load the probe: return code: 100");
        assert!(says("return code: 102\n").contains("its own standard error has the reason"));
    }

    #[test]
    fn an_agent_that_failed_says_it_in_the_words_of_the_jvm_and_only_a_missing_class_needs_a_module() {
        let says = |why: &str| {
            let line = format!(r#"{{"type":"refused","t_ns":1,"why":"{why}"}}"#);
            in_words_of_jvm(7, refusal(7, "return code: 102"), line.lines()).to_string()
        };
        let full = "java.lang.OutOfMemoryError: Metaspace";
        assert_eq!(says(full), format!("The probe did not begin in the JVM 7: {full}"));
        let missing = says("java.lang.NoClassDefFoundError: jdk/jfr/consumer/RecordingStream");
        assert!(missing.ends_with("--add-modules jdk.jfr,jdk.management"), "{missing}");
        let silent = in_words_of_jvm(7, refusal(7, "return code: 102"), "".lines()).to_string();
        assert!(silent.contains("its own standard error"), "{silent}");
    }

    #[test]
    fn a_probe_that_did_not_begin_says_why() {
        let refused = r#"{"type":"refused","t_ns":1,"why":"3 MiB are free and 48 MiB are needed"}"#;
        let says = check_begun(7, refused).unwrap_err().to_string();
        assert_eq!(says, "The probe did not begin in the JVM 7: 3 MiB are free and 48 MiB are needed");
        assert!(check_begun(7, r#"{"type":"hello","probe":2}"#).is_ok() && check_begun(7, "").is_ok());
    }

    #[test]
    fn a_probe_of_another_build_is_not_misread() {
        assert!(check_version(7, Some(&format!("{{\"type\":\"hello\",\"probe\":{VERSION}}}"))).is_ok());
        let older = check_version(7, Some("{\"type\":\"hello\"}")).unwrap_err().to_string();
        assert!(older.contains("is version 1") && older.contains("./dev build"), "{older}");
    }
}
