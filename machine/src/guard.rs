//! Kills a server's process group when this process ends, even by SIGKILL.
//!
//! `PR_SET_PDEATHSIG` would do this for the server alone, not for its children, and it fires when the *thread* that started the server
//! ends. So a shell waits at the end of a pipe of ours: the kernel closes the pipe with us, and the shell kills the group and every process
//! with our mark that left it. The shell has a group of its own, so that Ctrl-C does not end it first, and it is not in the server's tree,
//! so that it is never counted.

use super::process_mark::ProcessMark;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Reads the group's id and the mark, then waits for the end of its input. A marked process may have left the group, and a process that is
/// just starting a program shows its mark a moment later, so there are two passes. No more of an environment is read than the kernel allows
/// when it starts a program (`ReadLimit::ARGUMENTS`).
const WATCH: &str = r#"
    trap '' HUP INT TERM
    read -r group mark || exit 0
    read -r never
    kill -s KILL -- "-$group"
    for pause in 0 1; do
        sleep "$pause"
        for process in /proc/[0-9]*; do
            head -c 8388608 "$process/environ" | grep -qF -e "$mark" && kill -s KILL "${process#/proc/}"
        done
    done
"#;

/// Watches over one process group until it is dropped.
pub struct Guard {
    shell: Child,
}

impl Guard {
    /// Starts the guard before the server; it has no group to watch yet.
    ///
    /// # Errors
    /// When `/bin/sh` cannot be started.
    pub fn start() -> io::Result<Self> {
        let shell = Command::new("/bin/sh")
            .args(["-c", WATCH, "threadcount-guard"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()?;
        Ok(Self { shell })
    }

    /// Sets the group to kill, and the mark of processes that have left it.
    ///
    /// # Errors
    /// When the guard is gone.
    pub fn watch(&mut self, group: u32, mark: &ProcessMark) -> io::Result<()> {
        let pipe = self.shell.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(pipe, "{group} {}", mark.setting())
    }
}

impl Drop for Guard {
    /// Ends the guard before the pipe closes, so that it kills no process.
    fn drop(&mut self) {
        self.shell.kill().ok();
        self.shell.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").process_group(0).spawn().unwrap()
    }

    #[test]
    fn the_group_ends_when_the_pipe_does() {
        let mut sleeper = sleeper();
        let mut guard = Guard::start().unwrap();
        guard.watch(sleeper.id(), &ProcessMark::new()).unwrap();
        drop(guard.shell.stdin.take());
        assert!(!sleeper.wait().unwrap().success());
    }

    #[test]
    fn a_dropped_guard_kills_nobody() {
        let mut sleeper = sleeper();
        let mut guard = Guard::start().unwrap();
        guard.watch(sleeper.id(), &ProcessMark::new()).unwrap();
        drop(guard);
        assert_eq!(sleeper.try_wait().unwrap(), None);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
