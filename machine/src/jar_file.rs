//! The contents of a jar: the names of its files, and single small files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// An open jar.
#[derive(Debug)]
pub struct JarFile {
    archive: ZipArchive<File>,
}

impl JarFile {
    /// Opens a jar and reads its directory.
    ///
    /// # Errors
    /// The file cannot be read, or is not a zip file.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Opening a pipe would wait for somebody who writes to it.
        if !path.metadata()?.is_file() {
            return Err(not_a_jar());
        }
        Ok(Self { archive: ZipArchive::new(File::open(path)?).map_err(unreadable)? })
    }

    /// The names of the jar's files and folders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// Whether the jar contains a file of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// The bytes of one file; `None` if there is no file of this name.
    ///
    /// # Errors
    /// The file cannot be read or unpacked, or is larger than 16 MiB.
    pub fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut file = match self.archive.by_name(name) {
            Err(ZipError::FileNotFound) => return Ok(None),
            file => file.map_err(unreadable)?,
        };
        let mut bytes = Vec::new();
        // The directory may promise fewer bytes than the file really has.
        file.by_ref().take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES { Err(not_a_jar()) } else { Ok(Some(bytes)) }
    }

    /// An attribute of the manifest, which may extend over several lines; `None` if there is no such attribute.
    ///
    /// # Errors
    /// The manifest cannot be read.
    pub fn attribute(&mut self, name: &str) -> io::Result<Option<String>> {
        let manifest = self.read("META-INF/MANIFEST.MF")?.unwrap_or_default();
        let text = String::from_utf8_lossy(&manifest).replace("\r\n", "\n").replace("\n ", "");
        let values = text.lines().filter_map(|line| line.split_once(": "));
        Ok(values.filter(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned()).next())
    }
}

fn unreadable(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        _ => not_a_jar(),
    }
}

fn not_a_jar() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not a jar that can be read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::jar;
    use rustix::fs::{CWD, FileType, Mode};

    fn opened(bytes: &[u8]) -> io::Result<JarFile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jar");
        std::fs::write(&path, bytes).unwrap();
        JarFile::open(&path)
    }

    #[test]
    fn files_are_listed_and_read_stored_or_compressed() {
        let long = b"a line\n".repeat(999);
        let mut jar = opened(&jar(&[("a.txt", b"stored"), ("b/c.txt", &long)])).unwrap();
        assert_eq!(jar.names().collect::<Vec<_>>(), ["a.txt", "b/c.txt"]);
        assert!(jar.has("b/c.txt") && !jar.has("b"));
        assert_eq!(jar.read("a.txt").unwrap().as_deref(), Some(&b"stored"[..]));
        assert_eq!(jar.read("b/c.txt").unwrap(), Some(long));
        assert_eq!(jar.read("d.txt").unwrap(), None);
    }

    #[test]
    fn an_attribute_of_the_manifest_may_go_on_in_the_next_line() {
        let manifest =
            b"Manifest-Version: 1.0\r\nMain-Class: a.very.long\r\n .Name\r\nSpring-Boot-Version: 4.1.1\r\n";
        let mut jar = opened(&jar(&[("x", b""), ("META-INF/MANIFEST.MF", manifest)])).unwrap();
        assert_eq!(jar.attribute("Main-Class").unwrap().as_deref(), Some("a.very.long.Name"));
        assert_eq!(jar.attribute("Spring-Boot-Version").unwrap().as_deref(), Some("4.1.1"));
        assert_eq!(jar.attribute("Class-Path").unwrap(), None);
    }

    #[test]
    fn what_is_no_jar_is_an_error() {
        let whole = jar(&[("a", b"text")]);
        for bytes in [&b""[..], b"no jar", &whole[..whole.len() - 1], &whole[10..]] {
            assert!(opened(bytes).and_then(|mut jar| jar.read("a")).is_err(), "{} bytes", bytes.len());
        }
    }

    #[test]
    fn a_pipe_is_no_jar_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jar");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(JarFile::open(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_file_of_more_than_16_mib_is_not_read() {
        let zeros = vec![0; (16 << 20) + 1];
        let mut jar =
            opened(&jar(&[("a", b""), ("larger", &zeros), ("b", b""), ("as large", &zeros[1..])])).unwrap();
        assert!(jar.read("larger").is_err());
        assert_eq!(jar.read("as large").unwrap().map(|it| it.len()), Some(16 << 20));
    }

    #[test]
    fn a_jar_of_more_files_than_16_bits_count_is_read() {
        let names: Vec<String> = (0..70_000).map(|it| it.to_string()).collect();
        let files: Vec<(&str, &[u8])> = names.iter().map(|it| (it.as_str(), it.as_bytes())).collect();
        let mut jar = opened(&jar(&files)).unwrap();
        assert_eq!(jar.names().count(), 70_000);
        assert_eq!(jar.read("69999").unwrap().as_deref(), Some(&b"69999"[..]));
    }
}
