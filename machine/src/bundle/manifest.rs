//! The contents of an archive of parts, and whether a folder still contains all of them.

use lzma_rust2::XzReader;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The name of the archive's first entry.
pub(super) const FILE: &str = "manifest.json";

/// A longer manifest (in bytes) is not ours.
const LONGEST_BYTES: u64 = 1 << 20;

/// The packed files, and the version they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version whose `./dev dist` packed it.
    pub version: String,
    /// The commit of the checkout.
    pub commit: Option<String>,
    pub files: Vec<PartFile>,
    /// Applications that were too large to pack.
    pub left_out: Vec<String>,
}

/// A packed file, with its size and checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFile {
    /// The path within a checkout.
    pub path: String,
    pub bytes: u64,
    /// The checksum in hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Reads the first entry of a tar.xz.
    ///
    /// # Errors
    /// The entry is missing, or is not a manifest.
    pub(super) fn read(archive: &[u8]) -> io::Result<Self> {
        let mut archive = tar::Archive::new(XzReader::new(archive, false));
        let first = archive.entries()?.next().ok_or_else(|| io::Error::other("the archive is empty"))??;
        if &*first.path()? != Path::new(FILE) {
            return Err(io::Error::other(format!("the archive does not begin with {FILE}")));
        }
        let mut text = String::new();
        first.take(LONGEST_BYTES).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// The size of all files together, unpacked.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|it| it.bytes).sum()
    }

    /// Whether the folder contains each file with the right checksum. Other files (such as the output of a peer's build) do not matter.
    pub(super) fn is_intact(&self, folder: &Path) -> bool {
        is_folder(folder) && self.files.iter().all(|file| file.is_intact(folder))
    }
}

impl PartFile {
    /// Whether the file is below this folder, not behind a link, and has its checksum.
    pub(super) fn is_intact(&self, folder: &Path) -> bool {
        let path = folder.join(&self.path);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() && it.len() == self.bytes);
        is_file
            && self.folders(folder).iter().all(|it| is_folder(it))
            && fs::read(path).is_ok_and(|bytes| sha256(&bytes) == self.sha256)
    }

    /// The folders between this one and the file, from the top.
    pub(super) fn folders(&self, folder: &Path) -> Vec<PathBuf> {
        let above = Path::new(&self.path).ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
        let mut folders: Vec<PathBuf> = above.map(|it| folder.join(it)).collect();
        folders.reverse();
        folders
    }
}

/// Whether the path is a folder itself, not a link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir())
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
