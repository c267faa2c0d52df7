//! Loads the probe into a running JVM and reads its lines. Dropped, the probe ends and leaves the JVM as it was.

use super::choice::{Out, ProbeChoice, agent_argument};
use super::target::{Target, TargetError};
use crate::host::jdk::Jdk;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, BufRead, BufReader};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The agent's main method threw an exception.
const AGENT_FAILED: &str = "return code: 102";

/// Why the probe is not in the JVM.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The process does not allow attaching.
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(
        "No `jcmd` was found, which loads the probe into a running JVM; install a JDK of any version from 21 on"
    )]
    NoJcmd,
    #[error("Cannot run {jcmd}: {source}")]
    Jcmd { jcmd: String, source: io::Error },
    #[error(
        "Cannot listen for the probe in {folder}: {source}; set TMPDIR to a short path that can be written"
    )]
    Socket { folder: String, source: io::Error },
    #[error("The JVM {pid} did not load the probe: {answer}")]
    Refused { pid: u32, answer: String },
}

/// Loads the probe with `jcmd`. Returns when the JVM has loaded it, which takes about half a second.
///
/// # Errors
/// Why it could not attach, as a sentence with what to do.
pub fn load(pid: u32, jar: &Path, jdks: &[Jdk], argument: &str) -> Result<(), AttachError> {
    let target = Target::inspect(pid, jar)?;
    let jcmd = target.jdk.iter().chain(jdks).find_map(Jdk::jcmd).ok_or(AttachError::NoJcmd)?;
    let answer = Command::new(&jcmd)
        .args([&pid.to_string(), "JVMTI.agent_load"])
        // The JVM takes the line apart once more: without quotes the argument ends at its first `=`.
        .args([format!("\"{}\"", jar.display()), format!("\"{argument}\"")])
        .stdin(Stdio::null())
        .output()
        .map_err(|source| AttachError::Jcmd { jcmd: jcmd.display().to_string(), source })?;
    let text = String::from_utf8_lossy(&answer.stdout) + String::from_utf8_lossy(&answer.stderr);
    if answer.status.success() && text.contains("return code: 0") {
        return Ok(());
    }
    Err(refusal(pid, jar, &text))
}

fn refusal(pid: u32, jar: &Path, text: &str) -> AttachError {
    // The flag may come from JAVA_TOOL_OPTIONS or a file, which the command line does not show.
    if text.contains("does not support the attach mechanism") {
        return TargetError::AttachDisabled { pid, jar: jar.display().to_string() }.into();
    }
    if text.contains("No such process") {
        return TargetError::NoSuchProcess { pid }.into();
    }
    let answer = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != format!("{pid}:"));
    let mut answer = answer.collect::<Vec<_>>().join(" ");
    if answer.ends_with(AGENT_FAILED) {
        answer.push_str(
            "; its own standard error says why. A program that is started with -m, or on a runtime made by jlink, needs \
             --add-modules jdk.jfr,jdk.management",
        );
    }
    AttachError::Refused { pid, answer }
}

/// The probe in a running JVM, and its lines.
pub struct Attached {
    lines: BufReader<UnixStream>,
    /// The socket's folder, accessible to this user only.
    _folder: TempDir,
}

impl Attached {
    /// Attaches to a JVM. `recording` is where the JVM writes its JFR file when we detach.
    ///
    /// # Errors
    /// Why it could not attach, as a sentence with what to do.
    pub fn to(
        pid: u32,
        jar: &Path,
        jdks: &[Jdk],
        level: ProbeChoice,
        recording: Option<&Path>,
    ) -> Result<Self, AttachError> {
        let folder = std::env::temp_dir();
        let failed = |source| AttachError::Socket { folder: folder.display().to_string(), source };
        let folder = tempfile::Builder::new().prefix("threadcount-").tempdir().map_err(failed)?;
        let path: PathBuf = folder.path().join("probe.sock");
        let listener = UnixListener::bind(&path).map_err(failed)?;
        load(pid, jar, jdks, &agent_argument(Out::Socket(&path), level, recording))?;
        // The probe connects before `jcmd` returns.
        listener.set_nonblocking(true).map_err(failed)?;
        let (stream, _) = listener.accept().map_err(|_| AttachError::Refused {
            pid,
            answer: "it loaded the probe, which did not connect; the JVM's own output says why".to_owned(),
        })?;
        stream.set_nonblocking(false).map_err(failed)?;
        Ok(Self { lines: BufReader::new(stream), _folder: folder })
    }

    /// Ends the reading from another thread.
    ///
    /// # Errors
    /// When no file descriptor is left.
    pub fn detacher(&self) -> io::Result<Detacher> {
        self.lines.get_ref().try_clone().map(Detacher)
    }

    /// The next line, without its end; waits for it. `None`: the JVM ended, or the probe was detached.
    pub fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(length) if length > 0 => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }
}

/// Ends the probe in a JVM.
pub struct Detacher(UnixStream);

impl Detacher {
    /// Closes the socket, and waits until the probe has ended and written its recording. False: it did
    /// not within the limit.
    #[must_use]
    pub fn detach(&self, limit: Duration) -> bool {
        // Only our reading ends here, so that the other side's closing can still be seen.
        if self.0.shutdown(Shutdown::Read).is_err() {
            return true;
        }
        let mut socket = [PollFd::new(&self.0, PollFlags::empty())];
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
        poll(&mut socket, Some(&limit)).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_end_of_the_other_side_is_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let detacher = Detacher(ours);
        assert!(!detacher.detach(Duration::from_millis(20)), "nobody has closed it");
        assert!(theirs.write_all(b"line\n").is_err(), "the probe sees that nobody reads");
        drop(theirs);
        assert!(detacher.detach(Duration::from_secs(60)));
    }

    #[test]
    fn what_jcmd_says_becomes_a_sentence() {
        let jar = Path::new("/p/probe.jar");
        let says = |text: &str| refusal(7, jar, text).to_string();
        assert_eq!(says("7:\nreturn code: 100\n"), "The JVM 7 did not load the probe: return code: 100");
        assert!(says("7:\nreturn code: 102\n").ends_with("--add-modules jdk.jfr,jdk.management"));
        let disabled =
            "com.sun.tools.attach.AttachNotSupportedException: The VM does not support the attach mechanism";
        assert!(says(disabled).contains("-javaagent:/p/probe.jar=out=file:"), "{}", says(disabled));
    }
}
