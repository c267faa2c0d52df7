//! Programs that measure by themselves: each runs to its end and prints its figures.

use crate::server_process::{Ended, ServerError, ServerProcess};
use std::io;
use std::time::{Duration, Instant};

/// Interval at which running programs are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The reason why not all programs ended.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// A program could not be started.
    #[error(transparent)]
    NotStarted(#[from] Box<ServerError>),
    /// A system call failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The programs took too long.
    #[error("it did not end within {0} s")]
    TooSlow(u64),
    /// The caller stopped them.
    #[error("it was stopped")]
    Stopped,
}

/// Waits until each program has ended, the time is over or `should_stop` returns true. Programs that still run end when they are dropped.
///
/// # Errors
/// See [`ProgramsError`].
pub fn wait(
    programs: &mut [ServerProcess],
    limit: Duration,
    mut should_stop: impl FnMut() -> bool,
) -> Result<Vec<Ended>, ProgramsError> {
    let began = Instant::now();
    let mut ended: Vec<Option<Ended>> = vec![None; programs.len()];
    loop {
        for (program, ended) in programs.iter_mut().zip(&mut ended).filter(|(_, ended)| ended.is_none()) {
            *ended = program.end_and_cpu()?;
        }
        if ended.iter().all(Option::is_some) {
            return Ok(ended.into_iter().flatten().collect());
        }
        if should_stop() {
            return Err(ProgramsError::Stopped);
        }
        if began.elapsed() > limit {
            return Err(ProgramsError::TooSlow(limit.as_secs()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::ServerCommand;
    use std::path::{Path, PathBuf};
    use threadcount_machine::cpu_clock::process_cpu_ns;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(output: &Path, script: &str) -> ServerProcess {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let command =
            ServerCommand { program: "/bin/sh".into(), arguments, env: Default::default(), folder: None };
        ServerProcess::start(&command, output).unwrap()
    }

    /// A shell loop that runs until it has used this many ticks (of 10 ms) of CPU.
    fn burn(ticks: u32) -> String {
        format!(
            "while read -r a b c d e f g h i j k l m user system rest </proc/$$/stat && [ $((user + system)) -lt {ticks} ]; do :; done"
        )
    }

    #[test]
    fn each_program_has_its_own_cpu_and_output() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = [1, 2].map(|number| folder.path().join(number.to_string()));
        let scripts = [&*burn(30), "echo said; echo erred >&2; exit 7"];
        let mut programs = [0, 1].map(|at| shell(&outputs[at], scripts[at]));
        let ended = wait(&mut programs, LONG, || false).unwrap();
        assert!((280_000_000..900_000_000).contains(&ended[0].cpu_ns), "{} ns", ended[0].cpu_ns);
        assert!(ended[1].cpu_ns < 200_000_000, "{} ns", ended[1].cpu_ns);
        assert_eq!((ended[0].status.code(), ended[1].status.code()), (Some(0), Some(7)));
        assert_eq!(std::fs::read_to_string(&outputs[1]).unwrap(), "said\nerred\n");
    }

    #[test]
    fn programs_that_are_too_slow_or_no_longer_wanted_are_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let output: PathBuf = folder.path().join("output");
        let mut forever = [shell(&output, "exec sleep 1000")];
        let slow = wait(&mut forever, Duration::from_millis(50), || false);
        assert!(matches!(slow, Err(ProgramsError::TooSlow(0))), "{slow:?}");
        let stopped = wait(&mut forever, LONG, || true);
        assert!(matches!(stopped, Err(ProgramsError::Stopped)), "{stopped:?}");
        let pid = forever[0].pid() as i32;
        drop(forever);
        assert_eq!(process_cpu_ns(pid), None);
    }
}
