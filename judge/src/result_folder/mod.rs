//! The folder of one result: `result.json`, the reports, and a folder per run with the server's log.

mod bounded;
mod file;
mod files;
mod place;

pub use files::ResultFile;
pub use place::{IfTaken, latest};

use crate::result::{ResultDocument, SCHEMA};
use file::Room;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use threadcount_load::printable::printable_text;
use threadcount_load::whole_file::{self, ignore_missing, replace};

const RESULT_FILE: &str = ResultFile::Result.name();
const RUN_FOLDER: &str = "runs";
/// The largest `result.json` that is read, in bytes. Reading takes several times its size in memory.
const LARGEST_BYTES: u64 = 256 << 20;

/// A folder that is known to be writable and to which no other process writes a result.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    _lock: File,
}

/// Why a result cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// There is no permission, or the disk is full.
    #[error("cannot write {path}: {why}; {}name another folder with --out", if is_without_room(.why) { "free some space there or " } else { "" })]
    Write {
        path: PathBuf,
        /// The system's error.
        why: io::Error,
    },
    #[error("cannot read {path}: {why}; name a folder that `threadcount run` or `compare` has written")]
    Read {
        path: PathBuf,
        /// The system's error.
        why: io::Error,
    },
    /// The file is no result that this version reads.
    #[error("{path} is not a {SCHEMA} document: {why}")]
    Format { path: PathBuf, why: String },
    #[error("{path} has a result; write --replace to delete it, --resume to go on with it, or another --out")]
    Taken { path: PathBuf },
    #[error("{path} is the result of a session that goes on (process {pid}); name another folder with --out")]
    Locked { path: PathBuf, pid: String },
}

impl FolderError {
    /// Is a full disk the reason?
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        let Self::Write { why, .. } = self else { return false };
        is_without_room(why)
    }
}

/// Is the disk full, or the quota or the limit of file sizes (`ulimit -f`) reached?
#[must_use]
pub fn is_without_room(why: &io::Error) -> bool {
    matches!(
        why.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Writes a file of a result or of its reports, as a whole or not at all. Harmful characters are escaped, which leaves the values of JSON
/// the same.
///
/// # Errors
/// The path of the file, and the system's error.
pub fn write(folder: &Path, file: ResultFile, text: &str) -> Result<PathBuf, (PathBuf, io::Error)> {
    write_named(folder, file.name(), text)
}

/// Writes a file whose name Threadcount made, as [`write`] does.
///
/// # Errors
/// The path of the file, and the system's error.
pub fn write_named(folder: &Path, name: &str, text: &str) -> Result<PathBuf, (PathBuf, io::Error)> {
    let path = folder.join(name);
    match replace(&path, printable_text(text).as_bytes()) {
        Ok(()) => Ok(path),
        Err(why) => Err((path, why)),
    }
}

impl ResultFolder {
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of one run: the server's log and its configuration.
    #[must_use]
    pub fn run_folder(&self, position: u32, variant: &str, load: &str) -> PathBuf {
        let names = format!("{position:03}-{}-{}", file_name(variant), file_name(load));
        self.path.join(RUN_FOLDER).join(names)
    }

    /// Deletes what an interrupted run has left in its folder.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn empty_run_folder(&self, folder: &Path) -> Result<(), FolderError> {
        ignore_missing(fs::remove_dir_all(folder))
            .map_err(|why| FolderError::Write { path: folder.to_owned(), why })
    }

    /// A path inside the folder relative to the folder, so that the folder can be moved.
    #[must_use]
    pub fn relative(&self, path: Option<&str>) -> Option<String> {
        let path = Path::new(path?);
        // A path that is not UTF-8 has replacement characters in its text.
        let own = self.path.to_string_lossy();
        Some(path.strip_prefix(&*own).unwrap_or(path).display().to_string())
    }

    /// Writes `result.json`. The previous file is replaced as a whole at the end. A full disk uses up the room that was set aside.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn save(&self, document: &ResultDocument) -> Result<PathBuf, FolderError> {
        let path = self.path.join(RESULT_FILE);
        let wrong = |why| FolderError::Write { path: path.clone(), why };
        let json = bounded::json(document, LARGEST_BYTES as usize).map_err(|error| wrong(error.into()))?;
        if replace(&path, &json).is_err() {
            self.give_room();
            replace(&path, &json).map_err(wrong)?;
        }
        Ok(path)
    }

    /// Sets room aside for the result and its reports, so that a full disk is noticed before a run begins.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn set_room_aside(&self) -> Result<(), FolderError> {
        let size = fs::metadata(self.path.join(RESULT_FILE)).map_or(0, |it| it.len());
        let room = Room::in_folder(&self.path).set_aside(size as usize);
        room.map_err(|why| FolderError::Write { path: self.path.clone(), why })
    }

    /// Gives the room that was set aside to the reports.
    pub fn give_room(&self) {
        Room::in_folder(&self.path).give();
    }

    /// Reads `result.json` of a folder, the file itself, or the latest result in a folder of results.
    ///
    /// # Errors
    /// [`FolderError::Read`] and [`FolderError::Format`].
    pub fn read(path: &Path) -> Result<ResultDocument, FolderError> {
        let is_folder = path.is_dir();
        let file = if is_folder { latest(path).join(RESULT_FILE) } else { path.to_owned() };
        let unreadable = |why| FolderError::Read { path: file.clone(), why };
        // A pipe inside a folder has no writer and would block forever; a pipe that the user names has one.
        if is_folder && fs::metadata(&file).is_ok_and(|it| !it.is_file()) {
            return Err(unreadable(io::Error::other("it is not a file")));
        }
        let text = whole_file::read_text(&file, LARGEST_BYTES).map_err(unreadable)?;
        // Some editors begin a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        let wrong = |why| FolderError::Format { path: file.clone(), why };
        let json = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Eof => "it ends in the middle".to_owned(),
            // Serde's message contains the name of our Rust type.
            _ => error.to_string().replace("expected struct ", "expected the object "),
        };
        // The schema is checked first, because an error about a field of another version would mislead.
        let version: VersionOnly = serde_json::from_str(text).map_err(|error| wrong(json(error)))?;
        match version.schema {
            Some(schema) if schema == SCHEMA => {}
            Some(schema) => {
                return Err(wrong(format!("its schema is `{schema}`, and this is {THREADCOUNT}")));
            }
            None => return Err(wrong("it has no `schema`".to_owned())),
        }
        let document: ResultDocument = serde_json::from_str(text).map_err(|error| wrong(json(error)))?;
        let all = version.findings.as_array().map_or(0, Vec::len);
        let findings_not_shown = all.saturating_sub(document.findings.len());
        Ok(ResultDocument { findings_not_shown, ..document })
    }
}

/// Turns any name into a safe file name: a single component of a path that cannot lead elsewhere.
#[must_use]
pub fn file_name(name: &str) -> String {
    /// A file system allows names of 255 bytes, which leaves room for three digits and two names.
    const LONGEST: usize = 100;
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let safe: String = name.chars().take(LONGEST).map(|c| if is_safe(c) { c } else { '_' }).collect();
    if safe.trim_matches('.').is_empty() { "_".repeat(safe.len().max(1)) } else { safe }
}

#[derive(serde::Deserialize)]
#[serde(expecting = "the object of a result, with its `schema`")]
struct VersionOnly {
    schema: Option<String>,
    #[serde(default)]
    findings: serde_json::Value,
}

const THREADCOUNT: &str = concat!("Threadcount ", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclude::{Origin, conclude};
    use place::IfTaken::Refuse;
    use serde_json::{Value, json};
    use threadcount_model::experiment::Experiment;
    use threadcount_model::machine::Machine;

    fn document() -> ResultDocument {
        let origin = Origin {
            threadcount: "0.1.0".to_owned(),
            command: vec!["threadcount".to_owned()],
            created_at: "2026-11-20T00:00:00Z".to_owned(),
            machine: Machine::default(),
        };
        conclude(&Experiment::unplanned("x", Vec::new(), Vec::new()), Vec::new(), Vec::new(), origin)
    }

    #[test]
    fn json_that_is_no_result_is_refused_without_names_of_our_code() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(RESULT_FILE);
        let refused = |text: &str| {
            fs::write(&file, text).unwrap();
            ResultFolder::read(&file).unwrap_err().to_string()
        };
        let number = refused("1");
        assert!(number.contains("expected the object of a result, with its `schema`"), "{number}");
        let machine = refused(&serde_json::json!({"schema": SCHEMA, "machine": 1}).to_string());
        assert!(!machine.contains("struct"), "{machine}");
    }

    #[test]
    fn what_was_saved_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(&dir.path().join("a/b"), Refuse).unwrap();
        folder.save(&document()).unwrap();
        assert_eq!(ResultFolder::read(folder.path()).unwrap(), document());
    }

    #[test]
    fn findings_of_another_version_are_counted_and_damaged_ones_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let read_with = |findings: Value| {
            let mut result = serde_json::to_value(document()).unwrap();
            result["findings"] = findings;
            fs::write(dir.path().join(RESULT_FILE), result.to_string()).unwrap();
            ResultFolder::read(dir.path())
        };
        let finding = |rule: &str, figures: Value| json!({"runs": null, "rule": rule, "figures": figures});
        let known = finding("accept-queue", json!({"overflows": 7, "syn_retransmits": 9, "clients": 200}));
        let gone = finding("kind-or-size", json!({}));
        let older = finding("pool-ceiling", json!({"threads": 200.0}));
        let read = read_with(json!([known, gone, older])).unwrap();
        assert_eq!((read.findings.len(), read.findings_not_shown), (1, 2));
        assert_eq!(read_with(json!([known])).unwrap().findings_not_shown, 0);
        let damaged = read_with(json!([known, {"rule": "pool-ceiling"}])).unwrap_err();
        assert!(damaged.to_string().contains("each finding needs a `rule` and its `figures`"), "{damaged}");
    }

    #[test]
    fn a_file_where_the_folder_should_be_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("taken");
        fs::write(&file, "x").unwrap();
        let refused = ResultFolder::create(&file, Refuse).unwrap_err();
        assert!(refused.to_string().contains("taken"), "{refused}");
    }

    #[test]
    fn a_document_of_another_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(dir.path(), Refuse).unwrap();
        let other = ResultDocument { schema: "threadcount/result/9".to_owned(), ..document() };
        folder.save(&other).unwrap();
        let refused = ResultFolder::read(dir.path()).unwrap_err();
        assert!(refused.to_string().contains("threadcount/result/9"), "{refused}");
    }

    #[test]
    fn a_result_that_is_too_large_or_no_file_is_refused_unread_and_a_byte_order_mark_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(RESULT_FILE);
        let refused = || ResultFolder::read(dir.path()).unwrap_err().to_string();
        // A sparse file of 2 GB takes no room on the disk.
        File::create(&file).unwrap().set_len(2 << 30).unwrap();
        assert!(refused().contains("result.json: it is larger than 256 MiB"), "{}", refused());
        fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(refused().contains("result.json: it is not a file"), "{}", refused());
        fs::remove_file(&file).unwrap();
        fs::write(&file, format!("\u{feff}{}", serde_json::to_string(&document()).unwrap())).unwrap();
        assert_eq!(ResultFolder::read(dir.path()).unwrap(), document());
    }

    #[test]
    fn a_run_folder_stays_inside_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(dir.path(), Refuse).unwrap();
        let run = folder.run_folder(7, "../a b", "c400");
        assert_eq!(run, dir.path().join("runs/007-.._a_b-c400"));
        let log = run.join("server.log").display().to_string();
        assert_eq!(folder.relative(Some(&log)).unwrap(), "runs/007-.._a_b-c400/server.log");
        assert_eq!(folder.relative(Some("/elsewhere/log")).unwrap(), "/elsewhere/log");
        let long = folder.run_folder(7, &"ü".repeat(1_000_000), "c400");
        assert!(long.file_name().unwrap().len() < 255);
        for (name, expected) in
            [("..", "__"), (".", "_"), ("", "_"), ("../../.ssh", ".._.._.ssh"), ("a.b-c", "a.b-c")]
        {
            assert_eq!(file_name(name), expected);
        }
    }
}
