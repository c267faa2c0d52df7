//! The probe during one run: attaching it, and its readings afterwards.

use super::attach::{self, AttachError};
use super::choice::ProbeChoice;
use super::jar::{self, ProbeMissing};
use super::line::{Line, parse};
use super::readings::readings;
use crate::attach as jvm_attach;
use crate::attach::{CommandError, JvmProcess};
use crate::jvm_log;
use crate::read_limit::ReadLimit;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::clock::Nanos;
use threadcount_model::record::jvm::{JvmReadings, VISIT};
use threadcount_model::window::Window;

/// Timeout for starting a recording.
const JFR_LIMIT: Duration = Duration::from_secs(30);

/// Timeout for the flight recorder's last events, which arrive about a second late, and later on a busy machine.
const EVENTS_LIMIT: Duration = Duration::from_secs(15);

const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The instruments for the JVM of each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Instruments {
    /// Whether the probe is in the JVM.
    pub probe: ProbeChoice,
    /// Keep the flight recorder's own file beside the log: `run.jfr`.
    pub jfr: bool,
    /// Have the JVM log collections and safepoints: `jvm.log`.
    pub jvm_log: bool,
}

impl Instruments {
    /// Nothing is put into any JVM.
    pub const NONE: Self = Self { probe: ProbeChoice::Off, jfr: false, jvm_log: false };

    /// The log flag for a JVM that we start.
    #[must_use]
    pub fn jvm_log_flag(self, java: u16, run_folder: &Path) -> Option<String> {
        let wanted = self.jvm_log && java >= jvm_log::flag::OLDEST_JAVA;
        wanted.then(|| jvm_log::flag::flag(&jvm_log::flag::own_file(run_folder)))
    }

    /// The log flag for the JVMs that a user's command starts.
    #[must_use]
    pub fn jvm_log_flag_of_any(self, run_folder: &Path) -> Option<String> {
        self.jvm_log.then(|| jvm_log::flag::flag(&jvm_log::flag::file_of_any(run_folder)))
    }

    /// Starts the flight recorder of a JVM that a user's command has started. Returns the reason if that fails.
    #[must_use]
    pub fn start_jfr(self, jvm_pid: u32, run_folder: &Path) -> Option<String> {
        if !self.jfr {
            return None;
        }
        let file = recording_in(run_folder);
        let command = format!("JFR.start dumponexit=true settings=default filename=\"{}\"", file.display());
        let jvm = JvmProcess::find(jvm_pid).map_err(CommandError::from);
        let answer = jvm.and_then(|jvm| jvm_attach::diagnostic_command(&jvm, &command, JFR_LIMIT));
        let answer = answer.unwrap_or_else(|error| error.to_string());
        let last = answer.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not answer");
        (!answer.contains("Started recording"))
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
    jar: PathBuf,
    lines: PathBuf,
}

impl ProbeSession {
    /// Prepares the probe; `None` if it is not wanted.
    ///
    /// # Errors
    /// The probe has not been built.
    pub fn new(choice: ProbeChoice, run_folder: &Path) -> Result<Option<Self>, ProbeMissing> {
        if choice == ProbeChoice::Off {
            return Ok(None);
        }
        let lines = run_folder.join("probe.jsonl");
        // The path is absolute because the server has a working folder of its own.
        let lines = std::path::absolute(&lines).unwrap_or(lines);
        Ok(Some(Self { jar: jar::find()?, lines }))
    }

    /// Attaches to a JVM that a user's command has started.
    ///
    /// # Errors
    /// The reason why it could not attach, as a sentence with advice.
    pub fn attach(&self, jvm_pid: u32) -> Result<(), AttachError> {
        attach::load(jvm_pid, &self.jar, &self.lines)
    }

    /// Readings in the window, while the server still runs. Waits until the probe has ended or has written the events up to the window's
    /// end, usually one to two seconds later, at most 15. `None` without lines.
    #[must_use]
    pub fn finish(&self, window: Window) -> Option<JvmReadings> {
        let give_up = Instant::now() + EVENTS_LIMIT;
        loop {
            let text = ReadLimit::PROBE_LINES.read_file(&self.lines).ok()?;
            let (lines, _) = parse(&text);
            if has_events_until(&lines, window.ended_ns) || Instant::now() > give_up {
                return readings(&lines, window);
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

fn has_events_until(lines: &[Line], end_ns: Nanos) -> bool {
    lines.iter().any(|line| match line {
        Line::EventsUntil { events_until_ns, .. } => *events_until_ns >= end_ns,
        Line::Problem { what, .. } => what == VISIT,
        _ => false,
    })
}
