//! The `-Xlog` flag and the file it names.

use std::path::{Path, PathBuf};

/// The oldest Java with unified logging.
pub const OLDEST_JAVA: u16 = 9;

/// `gc` and `safepoint` alone, without their sub-tags: one line per pause, cycle, stall and safepoint. `timenanos` is `System.nanoTime()`.
/// Rotation is off, because by default the JVM silently drops what is older than 100 MB.
const SELECTION: &str = "-Xlog:gc,safepoint";
const OUTPUT: &str = "timenanos,tags:filecount=0";

/// The log, in the run's folder, of a JVM that we start ourselves.
#[must_use]
pub fn own_file(run_folder: &Path) -> PathBuf {
    run_folder.join("jvm.log")
}

/// The log of a JVM that a command starts. The JVM replaces `%p` by its process id, because the same environment reaches every JVM that the
/// command starts, even a build tool's.
#[must_use]
pub fn file_of_any(run_folder: &Path) -> PathBuf {
    run_folder.join("jvm.%p.log")
}

/// The file of one process, from [`file_of_any`].
#[must_use]
pub fn file_of_process(run_folder: &Path, pid: u32) -> PathBuf {
    run_folder.join(format!("jvm.{pid}.log"))
}

/// The flag that writes the log into a file. The path is absolute because the server has a working folder of its own.
#[must_use]
pub fn flag(file: &Path) -> String {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let file = file.display().to_string();
    // A colon ends a file name unless it is quoted.
    let file = if file.contains(':') { format!("\"{file}\"") } else { file };
    format!("{SELECTION}:file={file}:{OUTPUT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_names_an_absolute_file_and_quotes_one_with_a_colon() {
        let plain = flag(Path::new("/out/a b/jvm.log"));
        assert_eq!(plain, "-Xlog:gc,safepoint:file=/out/a b/jvm.log:timenanos,tags:filecount=0");
        let colon = flag(Path::new("/out/12:30/jvm.log"));
        assert_eq!(colon, "-Xlog:gc,safepoint:file=\"/out/12:30/jvm.log\":timenanos,tags:filecount=0");
        assert!(flag(Path::new("out")).starts_with("-Xlog:gc,safepoint:file=/"));
    }
}
