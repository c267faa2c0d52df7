//! The probe during one run: into the JVM, and its readings afterwards.

use super::attach::{self, AttachError};
use super::choice::{Out, ProbeChoice, agent_argument};
use super::jar::{self, ProbeMissing};
use super::line::{Line, parse};
use super::readings::{Window, readings};
use crate::host::jcmd;
use crate::host::jdk::Jdk;
use crate::model::record::jvm::JvmReadings;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::clock::Nanos;

/// The flight recorder hands over its events about a second late, on a busy machine later. Who has not by then, will not.
const EVENTS_LIMIT: Duration = Duration::from_secs(15);

const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What is put into the JVM of each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instruments {
    /// How much the probe watches.
    pub probe: ProbeChoice,
    /// Keep the flight recorder's own file beside the log: `run.jfr`.
    pub jfr: bool,
}

impl Instruments {
    /// Nothing is put into any JVM.
    pub const NONE: Self = Self { probe: ProbeChoice::Off, jfr: false };

    /// The flight recorder's flags for a JVM that we start; it writes its file when SIGTERM ends the JVM. The stacks are
    /// as deep as the probe asks for, which comes too late where the JVM itself starts the recorder.
    #[must_use]
    pub fn jfr_flags(self, run_folder: &Path) -> Vec<String> {
        if !self.jfr {
            return Vec::new();
        }
        vec![
            "-XX:FlightRecorderOptions:stackdepth=256".to_owned(),
            format!(
                "-XX:StartFlightRecording:filename={},dumponexit=true,settings=default",
                recording_in(run_folder).display()
            ),
        ]
    }

    /// Starts the flight recorder of a JVM that a command of the user's has started. The answer: why it could not.
    #[must_use]
    pub fn start_jfr(self, jvm_pid: u32, jcmd: Option<&Path>, run_folder: &Path) -> Option<String> {
        if !self.jfr {
            return None;
        }
        let file = format!("filename={}", recording_in(run_folder).display());
        let asked = ["JFR.start", "dumponexit=true", "settings=default", &file];
        let said = jcmd.and_then(|jcmd| jcmd::ask(jcmd, jvm_pid, &asked)).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not answer");
        (!said.contains("Started recording"))
            .then(|| format!("there will be no run.jfr, because process {jvm_pid} does not record: {last}"))
    }
}

fn recording_in(run_folder: &Path) -> PathBuf {
    let file = run_folder.join("run.jfr");
    std::path::absolute(&file).unwrap_or(file)
}

/// The probe of one run; its lines go into the run's folder, and it ends with the server.
#[derive(Debug)]
pub struct ProbeSession {
    level: ProbeChoice,
    jar: PathBuf,
    lines: PathBuf,
}

impl ProbeSession {
    /// Prepares it. `None`: it is not wanted.
    ///
    /// # Errors
    /// The probe has not been built.
    pub fn new(level: ProbeChoice, run_folder: &Path) -> Result<Option<Self>, ProbeMissing> {
        if level == ProbeChoice::Off {
            return Ok(None);
        }
        let lines = run_folder.join("probe.jsonl");
        // The server has a working folder of its own.
        let lines = std::path::absolute(&lines).unwrap_or(lines);
        Ok(Some(Self { level, jar: jar::find()?, lines }))
    }

    fn argument(&self) -> String {
        agent_argument(Out::File(&self.lines), self.level, None)
    }

    /// The flag for a JVM that we start.
    #[must_use]
    pub fn jvm_flag(&self) -> String {
        format!("-javaagent:{}={}", self.jar.display(), self.argument())
    }

    /// Gets into a JVM that a command of the user's has started.
    ///
    /// # Errors
    /// Everything that keeps it out, as a sentence with what to do.
    pub fn attach(&self, jvm_pid: u32, jdks: &[Jdk]) -> Result<(), AttachError> {
        attach::load(jvm_pid, &self.jar, jdks, &self.argument())
    }

    /// What the JVM said of the window, while its server still runs. Waits until the probe has handed over the events up
    /// to the window's end, which is usually one to two seconds after it, and at most 15. `None`: it never said anything.
    #[must_use]
    pub fn finish(&self, window: Window) -> Option<JvmReadings> {
        let give_up = Instant::now() + EVENTS_LIMIT;
        loop {
            let text = std::fs::read_to_string(&self.lines).ok()?;
            let (lines, _) = parse(&text);
            if has_events_until(&lines, window.ended_ns) || Instant::now() > give_up {
                return readings(&lines, window);
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

fn has_events_until(lines: &[Line], end_ns: Nanos) -> bool {
    lines.iter().any(
        |line| matches!(line, Line::VirtualThreads { events_until_ns, .. } if *events_until_ns >= end_ns),
    )
}
