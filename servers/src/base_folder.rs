//! The folder of a server's configuration and application for one launch, removed afterwards.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use threadcount_machine::attach::in_tmp::{HeldFolder, unpredictable};

/// The error that such a folder could not be created.
#[derive(Debug, thiserror::Error)]
#[error("Cannot prepare {product}'s folder {path}: {source}")]
pub struct BaseError {
    product: &'static str,
    path: String,
    source: io::Error,
}

/// A folder in the system's temporary folder. It is removed when dropped, or by our next process if this one is killed.
pub struct BaseFolder {
    product: &'static str,
    folder: HeldFolder,
}

impl BaseFolder {
    /// Creates an empty folder.
    ///
    /// # Errors
    /// When the folder cannot be created (a full disk, for example).
    pub fn create(product: &'static str) -> Result<Self, BaseError> {
        let name = unpredictable(&format!("threadcount-{}", product.to_lowercase()));
        let folder = name.and_then(|name| HeldFolder::of_ours(&name));
        let failed = |source| BaseError { product, path: std::env::temp_dir().display().to_string(), source };
        Ok(Self { product, folder: folder.map_err(failed)? })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// Creates a file or folder in it.
    ///
    /// # Errors
    /// The error of `make`, with the path.
    pub fn add<T>(&self, name: &str, make: impl FnOnce(&PathBuf) -> io::Result<T>) -> Result<T, BaseError> {
        let path = self.path().join(name);
        let failed = |source| BaseError { product: self.product, path: path.display().to_string(), source };
        make(&path).map_err(failed)
    }
}

impl Drop for BaseFolder {
    fn drop(&mut self) {
        fs::remove_dir_all(self.path()).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant, SystemTime};

    #[test]
    fn what_a_killed_process_left_is_removed_with_the_next_folder_and_what_is_in_use_stays() {
        let made = BaseFolder::create("Tomcat").unwrap();
        let left = made.path().with_file_name(unpredictable("threadcount-tomcat").unwrap());
        fs::create_dir_all(left.join("webapps")).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(3_600);
        for folder in [made.path(), &left] {
            fs::File::open(folder).unwrap().set_modified(long_ago).unwrap();
        }
        let next = BaseFolder::create("Jetty").unwrap();
        // Another process of ours may be removing it at this moment.
        let begun = Instant::now();
        while left.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} stays", left.display());
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(made.path().exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }
}
