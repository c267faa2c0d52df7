//! Writes the file of a log.

use crate::whole_file::WholeFile;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a log cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file is `-`, standard output.
    #[error("`log` cannot be standard output, which the result uses: name a file, e.g. requests.csv")]
    Standard,
    /// The file is a pipe, a device or the like, so that writing to it could wait forever or destroy something.
    #[error("`log` {}: it exists and is not a regular file; name another", file.display())]
    NotRegular { file: PathBuf },
    /// The file cannot be created.
    #[error("`log` {} cannot be created: {source}", file.display())]
    Create {
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file could not be written to its end.
    #[error("`log` {} could not be written: {source}", file.display())]
    Write {
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl LogError {
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Standard | Self::NotRegular { .. } => io::ErrorKind::InvalidInput,
            Self::Create { source, .. } | Self::Write { source, .. } => source.kind(),
        }
    }
}

/// An open file of a log.
pub(super) enum LogFile {
    Plain(BufWriter<WholeFile>),
    Compressed(Box<GzEncoder<BufWriter<WholeFile>>>),
}

/// Begins the file. An existing file stays until the new one is complete.
pub(super) fn create(file: &Path) -> Result<LogFile, LogError> {
    if file == Path::new("-") {
        return Err(LogError::Standard);
    }
    // This check comes first, because opening a pipe would wait for its reader.
    if fs::metadata(file).is_ok_and(|existing| !existing.is_file()) {
        return Err(LogError::NotRegular { file: file.to_owned() });
    }
    let created =
        WholeFile::create(file).map_err(|source| LogError::Create { file: file.to_owned(), source })?;
    let out = BufWriter::with_capacity(256 * 1024, created);
    let is_compressed = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    Ok(if is_compressed {
        LogFile::Compressed(Box::new(GzEncoder::new(out, Compression::fast())))
    } else {
        LogFile::Plain(out)
    })
}

impl LogFile {
    /// Writes the buffered bytes, and replaces an existing file.
    pub fn finish(self) -> io::Result<()> {
        let out = match self {
            Self::Plain(out) => out,
            Self::Compressed(out) => out.finish()?,
        };
        out.into_inner()?.finish()
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Compressed(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Compressed(out) => out.flush(),
        }
    }
}
