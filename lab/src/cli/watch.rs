//! `threadcount watch`: shows what happens in a running JVM.

use super::process_id::process_id;
use super::{FAILED, interrupt};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_model::figures;

use crate::run::probe_lines::{follow_latest, parsed};
use crate::watch::json_line::{LimitsLine, without_secrets};
use crate::watch::limits::Judge;
use crate::watch::plain::PlainLines;
use crate::watch::printed_limits::PrintedLimits;
use crate::watch::time_limit::TimeLimit;
use crate::watch::{Screen, terminal};
use threadcount_load::clock::now_ns;
use threadcount_load::whole_file::WholeFile;
use threadcount_machine::halt::Halt;
use threadcount_machine::probe::attach::{DETACH_LIMIT, Detacher};
use threadcount_machine::probe::line::Line;
use threadcount_machine::probe::{Attached, jar};
use threadcount_machine::process_state::ProcessState;
use threadcount_model::parse;
use threadcount_model::printable::printable;

/// The longest delay before a signal takes effect.
const REACTION: Duration = Duration::from_millis(100);

/// A JVM that ends closes the probe's socket up to this time before its process is gone.
const ENDING: Duration = Duration::from_secs(3);

/// Watch a running JVM: what limits it, what its requests do, threads, pools, memory
///
/// Shows a screen in a terminal. Elsewhere it prints a line every ten seconds, and another one when the limits change. At the end it prints
/// the limit and a forecast. It loads a small agent into the JVM and removes it at the end; the JVM warns of that on its standard error
/// (JEP 451). Needs Java 21 or newer, and the JVM's user or root. Exit code: 0 done, 1 the JVM or the agent ended early, 2 bad usage or input.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct WatchCommand {
    /// Process id of the JVM; `jps -l` lists them
    #[arg(value_name = "PID", value_parser = process_id, allow_negative_numbers = true)]
    pid: u32,
    /// Stop after this time instead of at q or Ctrl-C
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    duration: Option<Duration>,
    /// Print the probe's readings and the limits that were found, one JSON object per line
    #[arg(long)]
    json: bool,
    /// Keep the JFR recording in this file, for JDK Mission Control
    #[arg(long, value_name = "FILE.jfr")]
    record: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  A screen, until q; as lines where stdout is not a terminal:
    threadcount watch 4711
  Ten seconds for a program:
    threadcount watch 4711 --json -d 10s | jq 'select(.type == \"pinned\")'
  A recording for JDK Mission Control beside it:
    threadcount watch 4711 -d 1m --record shop.jfr";

impl WatchCommand {
    /// Watches until the user leaves, the time is over, or the JVM ends.
    ///
    /// # Errors
    /// Input that cannot be used, a process that does not let the probe in, a file that cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let recording = self.record.as_deref().map(recording_path).transpose()?;
        let jar = jar::find().into_diagnostic()?;
        let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
        let attached = match recording.as_deref() {
            None => Attached::with_what_it_bears(self.pid, &jar),
            wanted => Attached::to(self.pid, &jar, wanted),
        };
        let attached = attached.into_diagnostic()?;
        let detacher = attached.detacher().into_diagnostic()?;
        let began = Instant::now();
        let shown = self.show(attached, &stop);
        let watched_for = began.elapsed();
        let has_ended = matches!(shown, Ok(WatchEnd::NoMoreLines));
        if has_ended {
            note!("{}", why_no_more_lines(self.pid, watched_for));
        }
        let left = leave(self.pid, &detacher, recording.as_deref());
        if has_ended {
            left.err().iter().for_each(|why| note!("{why}"));
            return Ok(ExitCode::from(FAILED));
        }
        left?;
        shown.into_diagnostic()?;
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self, attached: Attached, stop: &Arc<AtomicBool>) -> io::Result<WatchEnd> {
        let mut limit = TimeLimit::new(self.duration);
        let lines = follow_latest(attached);
        let mut judge = Judge::of_process(self.pid);
        if self.json {
            let end = print_json(&lines, &mut judge, stop, &mut limit)?;
            limit.check_readings(self.pid).map(|()| end)
        } else {
            let (lines, mut screen) = (parsed(lines), Screen::new(self.pid));
            let show = if io::stdout().is_terminal() { terminal::show } else { print_plain };
            show(&mut screen, &mut judge, &lines, stop, &mut limit)?;
            for line in screen.last_words() {
                print(&line)?;
            }
            let end = if screen.ended { WatchEnd::NoMoreLines } else { WatchEnd::AsAsked };
            limit.check_readings(self.pid).map(|()| end)
        }
    }
}

/// How watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchEnd {
    /// The user left, the time is over, or the reader of the output is gone.
    AsAsked,
    /// The JVM or the probe in it has ended.
    NoMoreLines,
}

/// Says why the probe sends nothing any more, as far as it is known. The process of a JVM may take a moment to end.
fn why_no_more_lines(pid: u32, watched_for: Duration) -> String {
    let give_up = Instant::now() + ENDING;
    let is_there = || !matches!(ProcessState::read(pid), None | Some(ProcessState::Zombie));
    while is_there() && Instant::now() < give_up {
        thread::sleep(REACTION);
    }
    let seconds = watched_for.as_secs_f64();
    if is_there() {
        format!("the probe has left the JVM {pid} after {seconds:.1} s, and the JVM goes on; watch it again")
    } else {
        format!(
            "the JVM {pid} has ended: it was watched for {seconds:.1} s. Its own output, or whoever started it, has the reason"
        )
    }
}

/// The absolute path of a recording, because the JVM that writes it has another working folder. An old file keeps its content until there
/// is a recording, because the JVM may refuse the probe.
fn recording_path(path: &Path) -> miette::Result<PathBuf> {
    let path = std::path::absolute(path).into_diagnostic()?;
    let is_regular = std::fs::symlink_metadata(&path).map_or(true, |found| found.is_file());
    // The JVM would wait for a reader of a pipe, and would follow a link to another file.
    let tried = match is_regular {
        true => WholeFile::create(&path).map(drop),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file; name another")),
    };
    tried.into_diagnostic().wrap_err_with(|| format!("--record: {} cannot be written", path.display()))?;
    Ok(path)
}

/// Prints a line. Returns false if the reader has closed the pipe (`| head`), which is not an error.
fn print(line: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", printable(line)).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        done => done.map(|()| true),
    }
}

fn print_plain(
    screen: &mut Screen,
    judge: &mut Judge,
    lines: &Receiver<Line>,
    stop: &AtomicBool,
    limit: &mut TimeLimit,
) -> io::Result<()> {
    let mut plain = PlainLines::default();
    while !screen.ended && !stop.load(Ordering::Relaxed) && !limit.is_over() {
        terminal::take(screen, judge, lines, limit);
        for line in plain.next(screen) {
            if !print(&line)? {
                return Ok(());
            }
        }
        thread::sleep(REACTION);
    }
    Ok(())
}

/// Prints the probe's lines without secrets, and a line of ours when the limits change.
fn print_json(
    lines: &Receiver<String>,
    judge: &mut Judge,
    stop: &AtomicBool,
    limit: &mut TimeLimit,
) -> io::Result<WatchEnd> {
    let mut printed = PrintedLimits::default();
    while !stop.load(Ordering::Relaxed) && !limit.is_over() {
        let line = match lines.recv_timeout(REACTION) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(WatchEnd::NoMoreLines),
        };
        if let Ok(parsed) = serde_json::from_str(&line) {
            if matches!(parsed, Line::Sample(_)) {
                limit.begin();
            }
            judge.add(&parsed);
        }
        let limits = judge.judge().filter(|limits| printed.is_news(limits, Instant::now()));
        let limits_line = limits.and_then(|limits| LimitsLine::new(now_ns(), &limits));
        let limits_line = limits_line.map(|it| serde_json::to_string(&it)).transpose()?;
        for line in [Some(without_secrets(line)), limits_line].into_iter().flatten() {
            if !print(&line)? {
                return Ok(WatchEnd::AsAsked);
            }
        }
    }
    Ok(WatchEnd::AsAsked)
}

/// Detaches the probe from the JVM, and prints where the recording is.
pub(super) fn leave(pid: u32, detacher: &Detacher, recording: Option<&Path>) -> miette::Result<()> {
    if !detacher.detach() {
        let limit_s = DETACH_LIMIT.as_secs();
        let why = Halt::find(pid).map(|halt| format!(": {halt}. {}", halt.advice(pid))).unwrap_or_default();
        return Err(miette!(
            "The probe is still in the JVM {pid} after {limit_s} s{why}. It ends as soon as the JVM runs it"
        ));
    }
    let Some(path) = recording else { return Ok(()) };
    detacher.fetch_recording().into_diagnostic().wrap_err_with(|| format!("--record: {}", path.display()))?;
    let size = std::fs::metadata(path).map_or(0, |file| file.len());
    if size == 0 {
        return Err(miette!("The JVM {pid} did not write {}; its own output has the reason", path.display()));
    }
    let size = figures::bytes(size);
    note!("{}: {size}; JDK Mission Control and `jfr print` open it", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;

    #[test]
    fn a_recording_goes_into_no_pipe_and_through_no_link_and_an_old_one_stays_until_there_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::os::unix::fs::symlink(path("victim"), path("link")).unwrap();
        for refused in ["pipe", "link", "."] {
            let error = format!("{:?}", recording_path(&path(refused)).unwrap_err());
            assert!(error.contains("it is no regular file"), "{refused}: {error}");
        }
        assert!(!path("victim").exists());
        fs::write(path("old"), "old").unwrap();
        assert_eq!(recording_path(&path("old")).unwrap(), path("old"));
        assert_eq!(recording_path(&path("new")).unwrap(), path("new"));
        assert_eq!((fs::read(path("old")).unwrap(), path("new").exists()), (b"old".to_vec(), false));
        assert!(recording_path(&path("no folder/x")).is_err());
    }
}
