//! Runs `jcmd` commands.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout of `jcmd`.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Output of `jcmd`. `None`: not a JVM, or no output within 30 s. `jcmd` may be of another Java version
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
    // Read meanwhile: a pipe holds 64 KiB, and jcmd ends only when all of its output has been read.
    let mut out = asking.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut answer = Vec::new();
        out.read_to_end(&mut answer).map(|_| answer)
    });
    while asking.try_wait().ok()?.is_none() {
        if Instant::now() > give_up {
            asking.kill().ok();
            asking.wait().ok();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let answer = reader.join().ok()?.ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_larger_than_a_pipe_is_read_whole() {
        // In the place of `jcmd PID QUESTION`: `seq 1 100000` prints 588,895 bytes and waits until they are read.
        let answer = ask(Path::new("seq"), 1, &["100000"]).expect("an answer");
        assert_eq!(answer.len(), 588_895);
    }
}
