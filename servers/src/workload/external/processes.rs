//! Processes that run at once, each to its end, and the CPU time that the kernel accounted to each.

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use threadcount_machine::cpu_clock::process_cpu_ns;

/// Interval at which running processes are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A program to run, and the file for its output.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program.
    pub program: PathBuf,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The file for standard output and error, created anew.
    pub output: PathBuf,
}

/// A process that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The exit status.
    pub status: ExitStatus,
    /// CPU time of all its threads, in nanoseconds.
    pub cpu_ns: u64,
}

/// The reason why not all processes ended.
#[derive(Debug, thiserror::Error)]
pub enum ProcessesError {
    /// A system call failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The processes took too long.
    #[error("it did not end within {0} s")]
    TooSlow(u64),
    /// The caller stopped them.
    #[error("it was stopped")]
    Stopped,
}

/// Runs all jobs at once and waits until each has ended. If one cannot be started, the time is over or `should_stop`
/// returns true, all are killed.
///
/// # Errors
/// See [`ProcessesError`].
pub fn run_all(
    jobs: &[Job],
    limit: Duration,
    mut should_stop: impl FnMut() -> bool,
) -> Result<Vec<Ended>, ProcessesError> {
    let give_up = Instant::now() + limit;
    let mut running = Running(Vec::new());
    for job in jobs {
        running.0.push(start(job)?);
    }
    let mut ended: Vec<Option<Ended>> = vec![None; jobs.len()];
    loop {
        for (child, ended) in running.0.iter_mut().zip(&mut ended).filter(|(_, ended)| ended.is_none()) {
            *ended = poll(child)?;
        }
        if ended.iter().all(Option::is_some) {
            return Ok(ended.into_iter().flatten().collect());
        }
        if should_stop() {
            return Err(ProcessesError::Stopped);
        }
        if Instant::now() > give_up {
            return Err(ProcessesError::TooSlow(limit.as_secs()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn start(job: &Job) -> io::Result<Child> {
    let output = create(&job.output)?;
    let errors = output.try_clone()?;
    Command::new(&job.program).args(&job.arguments).stdin(Stdio::null()).stdout(output).stderr(errors).spawn()
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    File::create(path)
}

/// The end and CPU time of a process, if it has ended; it keeps its CPU clock until it is waited for.
fn poll(child: &mut Child) -> io::Result<Option<Ended>> {
    let pid = child.id() as i32;
    let Some(id) = Pid::from_raw(pid) else { return Ok(None) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if waitid(WaitId::Pid(id), options)?.is_none() {
        return Ok(None);
    }
    let cpu_ns = process_cpu_ns(pid).unwrap_or(0);
    Ok(Some(Ended { status: child.wait()?, cpu_ns }))
}

/// Running processes, which are killed when this is dropped.
struct Running(Vec<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Killing a process that has been waited for has no effect.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(folder: &Path, number: usize, script: &str) -> Job {
        Job {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            output: folder.join(format!("runs/out-{number}.txt")),
        }
    }

    /// A shell loop that runs until it has used this many ticks (of 10 ms) of CPU.
    fn burn(ticks: u32) -> String {
        format!(
            "while read -r a b c d e f g h i j k l m user system rest </proc/$$/stat && [ $((user + system)) -lt {ticks} ]; do :; done"
        )
    }

    #[test]
    fn each_process_has_its_own_cpu_and_output() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = [
            shell(folder.path(), 1, &burn(30)),
            shell(folder.path(), 2, "echo said; echo erred >&2; exit 7"),
        ];
        let ended = run_all(&jobs, LONG, || false).unwrap();
        assert!((280_000_000..900_000_000).contains(&ended[0].cpu_ns), "{} ns", ended[0].cpu_ns);
        assert!(ended[1].cpu_ns < 200_000_000, "{} ns", ended[1].cpu_ns);
        assert_eq!((ended[0].status.code(), ended[1].status.code()), (Some(0), Some(7)));
        assert_eq!(std::fs::read_to_string(&jobs[1].output).unwrap(), "said\nerred\n");
    }

    #[test]
    fn processes_that_are_too_slow_or_no_longer_wanted_are_killed() {
        let folder = tempfile::tempdir().unwrap();
        let forever = [shell(folder.path(), 1, "echo $$; exec sleep 1000")];
        let slow = run_all(&forever, Duration::from_secs(2), || false);
        assert!(matches!(slow, Err(ProcessesError::TooSlow(2))), "{slow:?}");
        let pid: i32 = std::fs::read_to_string(&forever[0].output).unwrap().trim().parse().unwrap();
        assert_eq!(process_cpu_ns(pid), None);
        let stopped = run_all(&forever, LONG, || true);
        assert!(matches!(stopped, Err(ProcessesError::Stopped)), "{stopped:?}");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let job = Job { program: "/no/such/program".into(), ..shell(folder.path(), 1, "") };
        assert!(matches!(run_all(&[job], LONG, || false), Err(ProcessesError::System(_))));
    }
}
