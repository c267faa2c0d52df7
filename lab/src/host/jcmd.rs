//! Asks a running JVM with `jcmd`.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A JVM that does not answer by then is not waited for.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// What the JVM says. `None`: it is not a JVM, or it did not answer within 30 s. `jcmd` may be of another Java version
/// than the JVM.
#[must_use]
pub fn ask(jcmd: &Path, pid: u32, question: &[&str]) -> Option<String> {
    let mut asking = Command::new(jcmd)
        .arg(pid.to_string())
        .args(question)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let give_up = Instant::now() + TIME_LIMIT;
    // The answers (some 4 KB) fit into the pipe, so they can be read after the end.
    while asking.try_wait().ok()?.is_none() {
        if Instant::now() > give_up {
            asking.kill().ok();
            asking.wait().ok();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut answer = String::new();
    asking.stdout.take()?.read_to_string(&mut answer).ok()?;
    Some(answer)
}
