//! Finds the results below a folder.

use serde::Serialize;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::ResultFolder;

/// Maximum depth of the search.
const DEEPEST: usize = 8;

/// A result and its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub folder: PathBuf,
    pub document: ResultDocument,
}

/// A `result.json` that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    pub folder: PathBuf,
    pub why: String,
}

/// All results in a folder and below, the oldest first, and the files that could not be read. Hidden folders and links are skipped.
#[must_use]
pub fn find(below: &Path) -> (Vec<Found>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let mut folders = vec![(below.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if folder.join("result.json").is_file() {
            match ResultFolder::read(&folder) {
                Ok(document) => found.push(Found { folder: folder.clone(), document }),
                Err(error) => unreadable.push(Unreadable { folder: folder.clone(), why: error.to_string() }),
            }
        }
        if depth < DEEPEST {
            folders.extend(inside(&folder).into_iter().map(|inner| (inner, depth + 1)));
        }
    }
    found.sort_by(|a, b| (&a.document.created_at, &a.folder).cmp(&(&b.document.created_at, &b.folder)));
    unreadable.sort_by(|a, b| a.folder.cmp(&b.folder));
    (found, unreadable)
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect()
}
