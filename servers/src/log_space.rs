//! The disk space that the log of a server takes. A server that logs each of its requests writes gigabytes in a minute, and would fill the
//! disk of the machine; only the beginning of its log and the end are ever read.

use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The size of the part that is kept at the beginning of a log, and of the part at its end, in bytes.
const KEPT_BYTES: u64 = 8 << 20;
/// How often the size of a log is checked.
const INTERVAL: Duration = Duration::from_millis(250);
/// The line between the two parts.
const LEFT_OUT: &str =
    "\n[threadcount: the log goes on at its end; what was here would have filled the disk]\n";

/// Keeps the log of a server small on disk until this is dropped. The size of the file and the place where the server writes stay as they
/// are: the middle becomes a hole.
pub(crate) struct LogSpace {
    /// Dropping it ends the thread.
    _until: Sender<()>,
}

impl LogSpace {
    /// Starts checking the size of an open log.
    ///
    /// # Errors
    /// The system provides no more threads.
    pub(crate) fn keep_small(log: File) -> io::Result<Self> {
        let (until, ended) = channel();
        thread::Builder::new().name("log-space".to_owned()).spawn(move || {
            let mut free_to = KEPT_BYTES;
            loop {
                let is_over = ended.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout);
                // A file system that cannot make holes keeps the whole log.
                if free_middle(&log, &mut free_to).is_err() || is_over {
                    return;
                }
            }
        })?;
        Ok(Self { _until: until })
    }
}

/// Frees the disk space between the two parts that are kept; up to `free_to` it is free already.
fn free_middle(log: &File, free_to: &mut u64) -> io::Result<()> {
    let end = log.metadata()?.len().saturating_sub(KEPT_BYTES);
    // A hole is made only now and then, so a part that is kept may be twice as large for a while.
    if end < *free_to + KEPT_BYTES {
        return Ok(());
    }
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(log, hole, *free_to, end - *free_to)?;
    *free_to = end;
    log.write_all_at(LEFT_OUT.as_bytes(), KEPT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::ServerCommand;
    use crate::server_process::ServerProcess;
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    fn server(log: &Path, script: &str) -> ServerProcess {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let command = ServerCommand { program: "sh".into(), arguments, env: BTreeMap::new(), folder: None };
        ServerProcess::start(&command, log).unwrap()
    }

    #[test]
    fn the_middle_of_a_log_that_would_fill_the_disk_takes_no_space_and_its_beginning_and_end_stay() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        let script = "echo begins; head -c 200000000 /dev/urandom; echo; echo ready; exec sleep 600";
        let server = server(&log, script);
        // Units of `st_blocks` (stat(2)).
        let on_disk_bytes = || fs::metadata(&log).unwrap().blocks() * 512;
        while server.log_tail().last().is_none_or(|it| it != "ready") || on_disk_bytes() > 3 * KEPT_BYTES {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(fs::metadata(&log).unwrap().len() > 200_000_000, "the server goes on where it was");
        let mut bytes = vec![0; LEFT_OUT.len()];
        let file = File::open(&log).unwrap();
        file.read_exact_at(&mut bytes, KEPT_BYTES).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), LEFT_OUT);
        let mut begin = [0; 7];
        file.read_exact_at(&mut begin, 0).unwrap();
        assert_eq!(&begin, b"begins\n");
    }

    #[test]
    fn a_log_that_fits_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        let whole = vec![7_u8; 2 * KEPT_BYTES as usize];
        fs::write(&log, &whole).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&log).unwrap();
        free_middle(&file, &mut { KEPT_BYTES }).unwrap();
        assert_eq!(fs::read(&log).unwrap(), whole);
    }
}
