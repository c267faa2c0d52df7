//! Sends commands to a running HotSpot JVM through its attach protocol, version 1, as `jcmd` does; no JDK is needed. A file `.attach_pidN`
//! and SIGQUIT make the JVM listen on `/tmp/.java_pidN`. File names and ids are those that the JVM sees, so a JVM in a container is reached
//! through /proc/PID/root.

mod as_owner;
mod bearable;
pub mod in_tmp;
mod java_room;
mod leftovers;
mod process;
mod socket;
mod thread_trial;
mod trigger;

use crate::process_file::printable;
use crate::read_limit::{ReadLimit, TOO_LONG};
use as_owner::as_owner;
pub use bearable::{Lack, Need, lack};
pub use process::{JvmProcess, Refusal};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
use trigger::Trigger;

/// How often the socket of a JVM is looked for after the JVM was told to listen.
const POLL: Duration = Duration::from_millis(20);

/// The longest delay until an interruption takes effect.
const REACTION: Duration = Duration::from_millis(100);

/// The time limit of a diagnostic command; counting a large heap takes seconds.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// Why a command got no answer.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(
        "The JVM {pid} did not respond within {seconds:.0} s. Its attach listener or a safepoint is blocked, or the machine is \
         overloaded"
    )]
    Silent { pid: u32, seconds: f64 },
    /// The JVM understood the command, but could not or would not carry it out.
    #[error("The JVM {pid} refused `{command}`: {answer}")]
    Failed { pid: u32, command: String, answer: String },
    #[error("The JVM {pid} responded to `{command}`, but {why}")]
    TooLong { pid: u32, command: String, why: io::Error },
    #[error("Interrupted")]
    Interrupted,
    #[error("Cannot send a command to the JVM {pid}: {source}")]
    Connection { pid: u32, source: io::Error },
}

/// Sends a command, and returns what the JVM prints.
///
/// # Errors
/// The reason why there is no answer.
pub fn command(
    jvm: &JvmProcess,
    name: &str,
    arguments: [&str; 3],
    limit: Duration,
) -> Result<String, CommandError> {
    // A JVM that was stopped or has ended meanwhile is not just slow.
    let silent = || match jvm.check() {
        Ok(()) => CommandError::Silent { pid: jvm.pid, seconds: limit.as_secs_f64() },
        Err(refusal) => refusal.into(),
    };
    let failed = |source: io::Error| match source.kind() {
        _ if jvm.is_interrupted() => CommandError::Interrupted,
        TOO_LONG => {
            let command = if name == "jcmd" { arguments[0] } else { name }.to_owned();
            CommandError::TooLong { pid: jvm.pid, command, why: source }
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => silent(),
        _ if !jvm.is_alive() => Refusal::NoSuchProcess { pid: jvm.pid }.into(),
        _ => match source.downcast::<Refusal>() {
            Ok(refusal) => refusal.into(),
            Err(source) => CommandError::Connection { pid: jvm.pid, source },
        },
    };
    let until = Instant::now() + limit;
    jvm.check()?;
    let answer = as_owner(jvm, || exchange(jvm, name, arguments, until)).map_err(failed)?;
    printed(jvm.pid, name, &answer)
}

/// The text in an answer, after the line with the command's code.
pub(crate) fn printed(pid: u32, name: &str, answer: &str) -> Result<String, CommandError> {
    let (code, text) = answer.split_once('\n').unwrap_or((answer, ""));
    if code.trim() == "0" {
        return Ok(text.to_owned());
    }
    let answer = if text.trim().is_empty() { format!("error {}", code.trim()) } else { text.to_owned() };
    let answer = printable(&answer);
    Err(CommandError::Failed { pid, command: name.to_owned(), answer })
}

/// Runs a diagnostic command, as `jcmd PID COMMAND` does.
///
/// # Errors
/// The reason why there is no answer.
pub fn diagnostic_command(jvm: &JvmProcess, text: &str, limit: Duration) -> Result<String, CommandError> {
    let need = java_room::need_of(text);
    if let Some(need) = need {
        check_bears(
            jvm,
            &if jvm.has_run_java.load(Ordering::Relaxed) { need.again() } else { *need },
            limit,
        )?;
    }
    if text.starts_with("Thread.print") {
        jvm.check_bears(&Need::printed(jvm.os_threads()))?;
    }
    let answer = command(jvm, "jcmd", [text, "", ""], limit)?;
    jvm.has_run_java.fetch_or(need.is_some(), Ordering::Relaxed);
    Ok(answer)
}

/// Waits while nothing but the JVM's heap is too full: garbage counts as used until the next collection.
pub(crate) fn wait_for_heap(jvm: &JvmProcess, need: &Need, limit: Duration) {
    let until = Instant::now() + limit;
    let is_short = || match check_bears(jvm, need, limit) {
        Err(CommandError::Refused(Refusal::Unbearable { lack, .. })) => lack.is_of_heap(),
        _ => false,
    };
    while is_short() && Instant::now() < until && !jvm.is_interrupted() {
        thread::sleep(REACTION);
    }
}

/// Checks that a JVM has the resources that are needed, also in its heap and metaspace.
///
/// # Errors
/// A limit leaves less, or the JVM does not report its limits.
pub(crate) fn check_bears(jvm: &JvmProcess, need: &Need, limit: Duration) -> Result<(), CommandError> {
    jvm.check_bears(need)?;
    let lack = java_room::lack(jvm, need, limit)?;
    lack.map_or(Ok(()), |lack| Err(Refusal::Unbearable { pid: jvm.pid, lack }.into()))
}

/// Runs a diagnostic command in a process that need not be a JVM. `None` if it is none, or did not carry it out within 30 s.
#[must_use]
pub fn ask(pid: u32, text: &str) -> Option<String> {
    diagnostic_command(&JvmProcess::find(pid).ok()?, text, ASK_LIMIT).ok()
}

fn exchange(jvm: &JvmProcess, name: &str, arguments: [&str; 3], until: Instant) -> io::Result<String> {
    let mut stream = connect(jvm, until)?;
    let left = || -> io::Result<Duration> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    };
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(request(name, arguments).as_bytes())?;
    let (mut answer, mut part) = (Vec::new(), [0; 16 << 10]);
    loop {
        stream.set_read_timeout(Some(left()?.min(REACTION)))?;
        let length = match stream.read(&mut part) {
            Err(_) if jvm.is_interrupted() => return Err(io::ErrorKind::Interrupted.into()),
            Err(error) if is_early(&error) => continue,
            read => read?,
        };
        match length {
            0 if answer.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            0 => return Ok(String::from_utf8_lossy(&answer).into_owned()),
            length => answer.extend_from_slice(&part[..length]),
        }
        ReadLimit::RESPONSE.check(answer.len())?;
    }
}

/// Whether an error only means that our own poll interval ended or a signal arrived, before the command's time limit.
fn is_early(error: &io::Error) -> bool {
    let early = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::Interrupted];
    early.contains(&error.kind())
}

/// Writes a request in version 1 of the protocol: each part ends with a zero byte, and there are always three arguments.
fn request(name: &str, arguments: [&str; 3]) -> String {
    let parts = ["1", name].into_iter().chain(arguments);
    parts.map(|part| format!("{part}\0")).collect()
}

fn connect(jvm: &JvmProcess, until: Instant) -> io::Result<UnixStream> {
    match connect_once(jvm, until) {
        Err(error) if !is_not_listening(&error) => return Err(error),
        Err(_) => {}
        stream => {
            trigger::remove_old(jvm);
            return stream;
        }
    }
    // The listener is a new thread of the JVM, which exits if it cannot start that thread.
    jvm.check_bears(&Need::LISTENER).map_err(io::Error::other)?;
    jvm.check_can_listen().map_err(io::Error::other)?;
    jvm.check_handles_quit().map_err(io::Error::other)?;
    let trigger = Trigger::create(jvm)?;
    // Another threadcount may have made the JVM listen meanwhile, and may have removed the trigger file that we share.
    match connect_once(jvm, until) {
        Err(error) if is_not_listening(&error) => {}
        done => return done,
    }
    // Only the owner of the JVM may send the signal; this code runs as the owner.
    jvm.send_quit()?;
    let connected = connect_when_listening(jvm, until);
    if connected.is_err() && jvm.is_alive() {
        // The signal is still pending. Without the file the JVM would print all its threads into the application's output.
        trigger.keep();
    }
    connected
}

fn connect_when_listening(jvm: &JvmProcess, until: Instant) -> io::Result<UnixStream> {
    loop {
        match connect_once(jvm, until) {
            Err(error) if !is_not_listening(&error) => return Err(error),
            Err(_) if jvm.is_interrupted() => return Err(io::ErrorKind::Interrupted.into()),
            Err(_) if Instant::now() > until => return Err(io::ErrorKind::TimedOut.into()),
            Err(_) if !jvm.is_alive() => return Err(io::ErrorKind::NotFound.into()),
            Err(_) => thread::sleep(POLL),
            stream => return stream,
        }
    }
}

/// Connects to the socket. If the JVM listens but does not accept, waits until the deadline or an interruption.
fn connect_once(jvm: &JvmProcess, until: Instant) -> io::Result<UnixStream> {
    let name = format!(".java_pid{}", jvm.pid_inside);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match socket::connect(&jvm.tmp_folder, &name, jvm.uid, left.min(REACTION)) {
            Err(_) if jvm.is_interrupted() => return Err(io::ErrorKind::Interrupted.into()),
            Err(error) if is_early(&error) && left.is_zero() => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) if is_early(&error) => {}
            done => return done,
        }
    }
}

/// Whether there is no socket yet, or only one that an ended process left.
fn is_not_listening(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_three_arguments_in_any_case() {
        assert_eq!(request("jcmd", ["Thread.print", "", ""]), "1\0jcmd\0Thread.print\0\0\0");
    }
}
