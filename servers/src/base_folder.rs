//! A server's configuration and application for one launch, removed afterwards.

use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folder could not be made.
#[derive(Debug, thiserror::Error)]
#[error("Cannot prepare {product}'s folder: {path}: {source}")]
pub struct BaseError {
    product: &'static str,
    path: String,
    source: io::Error,
}

/// A folder in the system's temporary one; removed when dropped.
pub struct BaseFolder {
    product: &'static str,
    folder: TempDir,
}

impl BaseFolder {
    /// Makes the folder, empty.
    ///
    /// # Errors
    /// When it cannot be made (a full disk, for example).
    pub fn create(product: &'static str) -> Result<Self, BaseError> {
        let folder =
            tempfile::Builder::new().prefix(&format!("threadcount-{}-", product.to_lowercase())).tempdir();
        let failed = |source| BaseError { product, path: std::env::temp_dir().display().to_string(), source };
        Ok(Self { product, folder: folder.map_err(failed)? })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a file or folder in it.
    ///
    /// # Errors
    /// The error of `make`, with the name.
    pub fn add<T>(&self, name: &str, make: impl FnOnce(&PathBuf) -> io::Result<T>) -> Result<T, BaseError> {
        let path = self.folder.path().join(name);
        let failed = |source| BaseError { product: self.product, path: path.display().to_string(), source };
        make(&path).map_err(failed)
    }
}
