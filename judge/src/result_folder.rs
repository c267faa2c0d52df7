//! The folder of one result: `result.json`, the reports, and a folder per run with the server's log.

use crate::result::{ResultDocument, SCHEMA};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const RESULT_FILE: &str = "result.json";
const RUN_FOLDER: &str = "runs";

/// A folder that is known to be writable.
#[derive(Clone, Debug)]
pub struct ResultFolder(PathBuf);

/// Why a result cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// No permission, or the disk is full.
    #[error("cannot write {path}: {why}; free some space there or name another folder with --out")]
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
    /// Not a result that this version reads.
    #[error("{path} is not a {SCHEMA} document: {why}")]
    Format { path: PathBuf, why: String },
}

impl ResultFolder {
    /// Makes the folder and writes into it, so that a bad path or a full disk is known before the first run.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        let folder = Self(path.to_owned());
        let runs = folder.0.join(RUN_FOLDER);
        fs::create_dir_all(&runs).map_err(|why| FolderError::Write { path: runs.clone(), why })?;
        let probe = folder.0.join(".writable");
        write_whole(&probe, &[0; 4096])?;
        fs::remove_file(&probe).map_err(|why| FolderError::Write { path: probe, why })?;
        Ok(folder)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of one run: the server's log and its configuration.
    #[must_use]
    pub fn run_folder(&self, position: u32, variant: &str, load: &str) -> PathBuf {
        let safe =
            |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.', "_");
        self.0.join(RUN_FOLDER).join(format!("{position:03}-{}-{}", safe(variant), safe(load)))
    }

    /// A path inside the folder relative to the folder, so that the folder can be moved.
    #[must_use]
    pub fn relative(&self, path: Option<&str>) -> Option<String> {
        let path = Path::new(path?);
        Some(path.strip_prefix(&self.0).unwrap_or(path).display().to_string())
    }

    /// Writes `result.json`. The previous file is replaced at the end, as a whole.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn save(&self, document: &ResultDocument) -> Result<PathBuf, FolderError> {
        let path = self.0.join(RESULT_FILE);
        let json = serde_json::to_vec_pretty(document)
            .map_err(|error| FolderError::Write { path: path.clone(), why: error.into() })?;
        let partial = self.0.join("result.json.partial");
        write_whole(&partial, &json)?;
        fs::rename(&partial, &path).map_err(|why| FolderError::Write { path: path.clone(), why })?;
        Ok(path)
    }

    /// Reads `result.json` of a folder, or the file itself.
    ///
    /// # Errors
    /// [`FolderError::Read`] and [`FolderError::Format`].
    pub fn read(path: &Path) -> Result<ResultDocument, FolderError> {
        let file = if path.is_dir() { path.join(RESULT_FILE) } else { path.to_owned() };
        let text = fs::read_to_string(&file).map_err(|why| FolderError::Read { path: file.clone(), why })?;
        let wrong = |why| FolderError::Format { path: file.clone(), why };
        let json = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Eof => "it ends in the middle".to_owned(),
            _ => error.to_string(),
        };
        // The schema first: an error about a field of another version would mislead.
        let version: VersionOnly = serde_json::from_str(&text).map_err(|error| wrong(json(error)))?;
        match version.schema {
            Some(schema) if schema == SCHEMA => {}
            Some(schema) => {
                return Err(wrong(format!("its schema is `{schema}`, and this is {THREADCOUNT}")));
            }
            None => return Err(wrong("it has no `schema`".to_owned())),
        }
        serde_json::from_str(&text).map_err(|error| wrong(json(error)))
    }
}

#[derive(serde::Deserialize)]
struct VersionOnly {
    schema: Option<String>,
}

const THREADCOUNT: &str = concat!("Threadcount ", env!("CARGO_PKG_VERSION"));

fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let write = || {
        let mut file = fs::File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|why| FolderError::Write { path: path.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::Experiment;

    fn document() -> ResultDocument {
        ResultDocument {
            schema: SCHEMA.to_owned(),
            threadcount: "0.1.0".to_owned(),
            command: vec!["threadcount".to_owned()],
            created_at: "2026-11-20T00:00:00Z".to_owned(),
            experiment: Experiment::unplanned("x", Vec::new(), Vec::new()),
            machine: Default::default(),
            records: Vec::new(),
            rounds: Vec::new(),
            comparisons: Vec::new(),
            findings: Vec::new(),
            request_times: Vec::new(),
            claims: Vec::new(),
            skipped: Vec::new(),
            trusted: true,
            why_not: Vec::new(),
        }
    }

    #[test]
    fn what_was_saved_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(&dir.path().join("a/b")).unwrap();
        folder.save(&document()).unwrap();
        assert_eq!(ResultFolder::read(folder.path()).unwrap(), document());
    }

    #[test]
    fn a_full_disk_is_known_before_the_first_run() {
        let refused = write_whole(Path::new("/dev/full"), &[0; 4096]).unwrap_err();
        assert!(refused.to_string().contains("No space left on device"), "{refused}");
        assert!(refused.to_string().contains("--out"), "{refused}");
    }

    #[test]
    fn a_file_where_the_folder_should_be_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("taken");
        fs::write(&file, "x").unwrap();
        let refused = ResultFolder::create(&file).unwrap_err();
        assert!(refused.to_string().contains("taken"), "{refused}");
    }

    #[test]
    fn a_document_of_another_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(dir.path()).unwrap();
        let other = ResultDocument { schema: "threadcount/result/9".to_owned(), ..document() };
        folder.save(&other).unwrap();
        let refused = ResultFolder::read(dir.path()).unwrap_err();
        assert!(refused.to_string().contains("threadcount/result/9"), "{refused}");
    }

    #[test]
    fn a_run_folder_stays_inside_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(dir.path()).unwrap();
        let run = folder.run_folder(7, "../a b", "c400");
        assert_eq!(run, dir.path().join("runs/007-.._a_b-c400"));
        let log = run.join("server.log").display().to_string();
        assert_eq!(folder.relative(Some(&log)).unwrap(), "runs/007-.._a_b-c400/server.log");
        assert_eq!(folder.relative(Some("/elsewhere/log")).unwrap(), "/elsewhere/log");
    }
}
