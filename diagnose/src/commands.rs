//! Sends commands to the JVM within the time that is left, and parses its answers.

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
/// Without `-l`, which would walk the whole heap at a safepoint to find synchronizers: the probe names their owners, and the JVM looks for
/// deadlocks of platform threads in any case.
const THREAD_PRINT: &str = "Thread.print";
/// The longest time for the dump of all threads. Java code writes it and may hang; what the JVM prints without Java code needs time too.
const LONGEST_DUMP: Duration = Duration::from_secs(5);
/// The longest time for the probe's snapshot of locks, which takes several seconds on a full CPU.
const LONGEST_LOCKS: Duration = Duration::from_secs(8);

/// A running JVM that takes commands, and a folder in its /tmp for output that it only writes to files.
pub(super) struct Commands {
    jvm: JvmProcess,
    /// The folder, or the reason why it could not be made.
    folder: Result<HeldFolder, String>,
    /// The path of the folder as the JVM sees it.
    inside: PathBuf,
    /// The path of the probe as the JVM sees it, or the reason why there is no probe and therefore no snapshot of locks.
    jar: Result<PathBuf, String>,
    until: Instant,
}

impl Commands {
    pub fn begin(jvm: JvmProcess, until: Instant) -> Self {
        let jar = jar::find().map_err(|error| error.to_string());
        // A JVM that sees our files loads the probe from our own file, because it keeps the file of an agent open.
        let copied = jar.as_ref().ok().filter(|_| jvm.is_foreign());
        let bytes = copied.and_then(|jar| std::fs::read(jar).ok()).unwrap_or_default();
        let created = in_tmp::unpredictable("threadcount-diagnose").and_then(|name| {
            let folder = in_tmp::create_with_file(&jvm, &name, (JAR, &bytes))?;
            Ok((Path::new("/tmp").join(name), folder))
        });
        let (inside, folder) = match created {
            Ok((inside, folder)) => (inside, Ok(folder)),
            Err(error) => (PathBuf::new(), Err(format!("no folder can be made in its /tmp: {error}"))),
        };
        let jar = if jvm.is_foreign() { jar.map(|_| inside.join(JAR)) } else { jar };
        Self { jvm, folder, inside, jar, until }
    }

    /// Moves the time limit to `until`, if that is later.
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

    /// All threads with their stacks, which the JVM only writes to a file. The error is the reason why there is no dump.
    pub fn thread_dump(&self) -> Result<(Vec<DumpedThread>, String), String> {
        self.folder.as_ref().map_err(Clone::clone)?;
        let file = self.inside.join("threads.json");
        let command = format!("Thread.dump_to_file -overwrite -format=json {}", file.display());
        let answer = attach::diagnostic_command(&self.jvm, &command, self.left().min(LONGEST_DUMP));
        let answer = answer.map_err(|error| error.to_string())?;
        let text = self.read("threads.json")?;
        let threads = thread_dump::parse(&text).ok_or_else(|| {
            let first = answer.trim().lines().next().unwrap_or("it is cut off");
            first.trim_start_matches("Failed: ").to_owned()
        })?;
        Ok((threads, text))
    }

    /// Reads the owners of locks with the probe, which ends at once and adds to an existing file. `threads` is about the number of threads in
    /// the JVM. The error says why the JVM does not load the probe, or cannot run it.
    pub fn locks(&self, number: usize, threads: usize) -> Result<LockSnapshot, String> {
        self.folder.as_ref().map_err(Clone::clone)?;
        let jar = self.jar.as_ref().map_err(Clone::clone)?;
        let name = format!("locks-{number}.jsonl");
        // Leaves time to load the probe before, and to write the next dump afterwards.
        let limit_ms = (self.left() / 2).min(LONGEST_LOCKS).as_millis();
        let argument =
            format!("out=file:{},level=locks,limit_ms={limit_ms}", encoded(&self.inside.join(&name)));
        probe::load_agent(&self.jvm, jar, &argument, &Need::locks_of(threads as u64), self.left())
            .map_err(|error| error.to_string())?;
        locks::parse(&self.read(&name)?)
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let folder = self.folder.as_ref().map_err(Clone::clone)?;
        let bytes = in_tmp::read(&self.jvm, &folder.path.join(name)).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        if let Ok(folder) = &self.folder {
            in_tmp::remove(&self.jvm, &folder.path);
        }
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
