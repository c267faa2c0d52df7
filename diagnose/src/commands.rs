//! The commands that the JVM carries out, within the time that is left.

use super::locks::{self, LockSnapshot};
use super::thread_dump::{self, DumpedThread};
use super::thread_print::{self, PrintedThread};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use threadcount_machine::attach;
use threadcount_machine::attach::in_tmp;
use threadcount_machine::attach::in_tmp::HeldFolder;
use threadcount_machine::attach::{CommandError, JvmProcess, Need};
use threadcount_machine::probe::choice::encoded;
use threadcount_machine::probe::{attach as probe, jar};

const JAR: &str = "probe.jar";
/// Without `-l`, which walks the whole heap at a safepoint for synchronizers: their owners come from the probe, and the JVM looks
/// for deadlocks of platform threads in any case.
const THREAD_PRINT: &str = "Thread.print";

/// The JVM, and a folder in its /tmp for what it can only write to a file.
pub(super) struct Commands {
    jvm: JvmProcess,
    folder: HeldFolder,
    inside: PathBuf,
    /// The probe, as the JVM sees it; where it was not built, there is no snapshot of locks.
    jar: Option<PathBuf>,
    until: Instant,
}

impl Commands {
    pub fn begin(jvm: JvmProcess, until: Instant) -> Result<Self, CommandError> {
        let failed = |source| CommandError::Connection { pid: jvm.pid, source };
        let name = in_tmp::unpredictable("threadcount-diagnose").map_err(failed)?;
        let jar = jar::find().ok();
        // One that sees our files gets our own: the JVM keeps the file of an agent open.
        let copied = jar.as_ref().filter(|_| jvm.is_foreign());
        let bytes = copied.and_then(|jar| std::fs::read(jar).ok()).unwrap_or_default();
        let folder = in_tmp::create_with_file(&jvm, &name, (JAR, &bytes)).map_err(failed)?;
        let inside = Path::new("/tmp").join(name);
        let jar = if jvm.is_foreign() { jar.map(|_| inside.join(JAR)) } else { jar };
        Ok(Self { jvm, folder, inside, jar, until })
    }

    /// It has until then, where that is later.
    pub fn extend(&mut self, until: Instant) {
        self.until = self.until.max(until);
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now()).max(Duration::from_millis(100))
    }

    pub fn thread_print(&self) -> Result<(Vec<PrintedThread>, String), CommandError> {
        let text = attach::diagnostic_command(&self.jvm, THREAD_PRINT, self.left())?;
        Ok((thread_print::parse(&text), text))
    }

    /// The JVM writes it to a file only.
    pub fn thread_dump(&self) -> Result<(Vec<DumpedThread>, String), CommandError> {
        let file = self.inside.join("threads.json");
        let command = format!("Thread.dump_to_file -overwrite -format=json {}", file.display());
        let answer = attach::diagnostic_command(&self.jvm, &command, self.left())?;
        let text = self.read("threads.json")?;
        let unreadable =
            || CommandError::Failed { pid: self.jvm.pid, command, answer: answer.trim().to_owned() };
        Ok((thread_dump::parse(&text).ok_or_else(unreadable)?, text))
    }

    /// By the probe, which ends at once, and adds to a file that is there. `None`: the JVM does not load it, or cannot run it.
    pub fn locks(&self, number: usize) -> Option<LockSnapshot> {
        let name = format!("locks-{number}.jsonl");
        let argument = format!("out=file:{},level=locks", encoded(&self.inside.join(&name)));
        probe::load_agent(&self.jvm, self.jar.as_ref()?, &argument, &Need::LOCKS, self.left()).ok()?;
        locks::parse(&self.read(&name).ok()?)
    }

    fn read(&self, name: &str) -> Result<String, CommandError> {
        let failed = |source| CommandError::Connection { pid: self.jvm.pid, source };
        let bytes = in_tmp::read(&self.jvm, &self.folder.path.join(name)).map_err(failed)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        in_tmp::remove(&self.jvm, &self.folder.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_print_does_not_walk_the_heap() {
        assert!(!THREAD_PRINT.split(' ').any(|word| word == "-l"));
    }
}
