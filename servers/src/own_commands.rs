//! The user's own commands: `before` each start of a server and `after` each of its ends.

use super::command_line::{self, ServerCommand};
use super::error::{FailedCommand, LaunchError};
use super::placeholders::{PORT, Placeholders};
use super::server_process::{ServerError, ServerProcess};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::choose;
use threadcount_model::experiment::Variant;

/// A command that takes longer than this hangs; seeding a database takes minutes at most.
const LIMIT: Duration = Duration::from_secs(600);
/// Time between SIGTERM and SIGKILL.
const STOP_WITHIN: Duration = Duration::from_secs(5);
/// Interval between two checks whether the command has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A command that is run once.
#[derive(Clone, Debug)]
struct OwnCommand {
    when: &'static str,
    variant: String,
    /// The command as written.
    written: String,
    command: ServerCommand,
    log: PathBuf,
}

/// The command to run after a server's end. Dropping it runs it too, so that it cleans up however a run ends.
#[derive(Debug)]
pub(super) struct TearDown(Option<OwnCommand>);

/// Runs the variant's `before` command and returns the `after` command. The server's port is not known yet, so variables that
/// contain it are left out. Output goes to `before.log` and `after.log` in the folder.
///
/// # Errors
/// The command cannot be started, fails, or takes too long. The `after` command has then been run already.
pub(super) fn set_up(
    variant: &Variant,
    jdks: &[Jdk],
    placeholders: Placeholders<'_>,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<TearDown, LaunchError> {
    let own = |when, written: &Option<String>| {
        let written = written.as_ref();
        written.map(|written| OwnCommand::new(when, written, variant, jdks, placeholders, folder)).transpose()
    };
    let before = own("before", &variant.before)?;
    let after = TearDown(own("after", &variant.after)?);
    if let Some(before) = before {
        before.run(Some(interrupted))?;
    }
    Ok(after)
}

/// Checks that the programs of both commands exist.
///
/// # Errors
/// A program or its Java does not exist.
pub(super) fn check(variant: &Variant, jdks: &[Jdk]) -> Result<(), LaunchError> {
    let nobody = Placeholders { port: 1, backends: &[], secret: "" };
    for written in [&variant.before, &variant.after].into_iter().flatten() {
        OwnCommand::new("before", written, variant, jdks, nobody, Path::new(""))?;
    }
    Ok(())
}

impl TearDown {
    /// Runs the command.
    ///
    /// # Errors
    /// The command cannot be started, fails, or takes too long.
    pub(super) fn run(mut self) -> Result<(), LaunchError> {
        self.0.take().map_or(Ok(()), |command| command.run(None))
    }
}

impl Drop for TearDown {
    fn drop(&mut self) {
        if let Some(command) = self.0.take() {
            // The run has already failed for another reason, so this error is ignored.
            command.run(None).ok();
        }
    }
}

impl OwnCommand {
    fn new(
        when: &'static str,
        written: &str,
        variant: &Variant,
        jdks: &[Jdk],
        placeholders: Placeholders<'_>,
        folder: &Path,
    ) -> Result<Self, LaunchError> {
        let jdk = variant.jdk.map(|feature| choose(jdks, Some(feature))).transpose()?;
        let known = |(_, value): &(&String, &String)| !value.contains(PORT);
        let env =
            variant.env.iter().filter(known).map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut command = command_line::parse(written, &env, jdk, &[], &placeholders)?;
        command.folder.clone_from(&variant.workdir);
        Ok(Self {
            when,
            variant: variant.name.clone(),
            written: written.to_owned(),
            command,
            log: folder.join(format!("{when}.log")),
        })
    }

    fn run(self, interrupted: Option<&AtomicBool>) -> Result<(), LaunchError> {
        let mut process = ServerProcess::start(&self.command, &self.log)?;
        let give_up = Instant::now() + LIMIT;
        loop {
            if let Some(status) = process.has_exited() {
                let log_tail = process.log_tail();
                return if status.success() {
                    Ok(())
                } else {
                    Err(self.failed(format!("ended ({status})"), log_tail))
                };
            }
            if interrupted.is_some_and(|it| it.load(Ordering::Relaxed)) {
                process.stop(STOP_WITHIN);
                return Err(ServerError::Interrupted.into());
            }
            if Instant::now() > give_up {
                let log_tail = process.log_tail();
                process.stop(STOP_WITHIN);
                return Err(self.failed(format!("did not end within {} s", LIMIT.as_secs()), log_tail));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn failed(self, why: String, log_tail: Vec<String>) -> LaunchError {
        let Self { when, variant, written, log, .. } = self;
        LaunchError::OwnCommand(Box::new(FailedCommand {
            when,
            variant,
            command: written,
            why,
            log: log.display().to_string(),
            log_tail,
        }))
    }
}
