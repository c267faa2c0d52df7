//! What is in a jar: the names of its files, and single small ones.

use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The signature and the length of the record at the end of a zip file, without its comment.
pub(crate) const END: ([u8; 4], usize) = (*b"PK\x05\x06", 22);
/// Those of an entry in the directory of a zip file, without its name.
pub(crate) const ENTRY: ([u8; 4], usize) = (*b"PK\x01\x02", 46);
/// Those of the header in front of a file's bytes.
pub(crate) const HEADER: ([u8; 4], usize) = (*b"PK\x03\x04", 30);
/// A comment is at most this long.
const LONGEST_COMMENT: u64 = u16::MAX as u64;
/// The methods of compression that jars have.
pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;
/// Nothing larger is read.
const MOST_BYTES: u64 = 16 << 20;
/// A directory of a hundred thousand long names.
const LARGEST_DIRECTORY: u32 = 32 << 20;

/// An open jar.
#[derive(Debug)]
pub struct JarFile {
    file: File,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    method: u16,
    packed_bytes: u64,
    header_at: u64,
}

impl JarFile {
    /// Reads its directory.
    ///
    /// # Errors
    /// It cannot be read, or is no zip file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let tail_bytes = length.min(LONGEST_COMMENT + END.1 as u64);
        let tail = read_at(&mut file, length - tail_bytes, tail_bytes as usize)?;
        let end = tail.windows(END.1).rposition(|it| it.starts_with(&END.0)).ok_or_else(not_a_zip)?;
        let (bytes, at) = (u32_at(&tail, end + 12)?, u32_at(&tail, end + 16)?);
        if bytes > LARGEST_DIRECTORY {
            return Err(not_a_zip());
        }
        let directory = read_at(&mut file, u64::from(at), bytes as usize)?;
        let mut entries = Vec::new();
        let mut rest = &directory[..];
        while rest.starts_with(&ENTRY.0) {
            let (name, extra, comment) = (u16_at(rest, 28)?, u16_at(rest, 30)?, u16_at(rest, 32)?);
            let name = rest.get(ENTRY.1..ENTRY.1 + usize::from(name)).ok_or_else(not_a_zip)?;
            entries.push(Entry {
                name: String::from_utf8_lossy(name).into_owned(),
                method: u16_at(rest, 10)?,
                packed_bytes: u64::from(u32_at(rest, 20)?),
                header_at: u64::from(u32_at(rest, 42)?),
            });
            let length = ENTRY.1 + name.len() + usize::from(extra) + usize::from(comment);
            rest = rest.get(length..).ok_or_else(not_a_zip)?;
        }
        if entries.is_empty() && !directory.is_empty() {
            return Err(not_a_zip());
        }
        Ok(Self { file, entries })
    }

    /// The names of its files and folders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Whether it has a file of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|it| it == name)
    }

    /// The bytes of one file; `None`: there is none of this name.
    ///
    /// # Errors
    /// It cannot be read or unpacked.
    pub fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else { return Ok(None) };
        if entry.packed_bytes > MOST_BYTES {
            return Err(not_a_zip());
        }
        let header = read_at(&mut self.file, entry.header_at, HEADER.1)?;
        if !header.starts_with(&HEADER.0) {
            return Err(not_a_zip());
        }
        let before = HEADER.1 as u64 + u64::from(u16_at(&header, 26)?) + u64::from(u16_at(&header, 28)?);
        let packed = read_at(&mut self.file, entry.header_at + before, entry.packed_bytes as usize)?;
        match entry.method {
            STORED => Ok(Some(packed)),
            DEFLATED => {
                let mut bytes = Vec::new();
                DeflateDecoder::new(&packed[..]).take(MOST_BYTES).read_to_end(&mut bytes)?;
                Ok(Some(bytes))
            }
            _ => Err(not_a_zip()),
        }
    }

    /// An attribute of its manifest, which may go on over several lines; `None`: there is no such attribute.
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

fn read_at(file: &mut File, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut buffer = vec![0; bytes];
    file.read_exact(&mut buffer)?;
    Ok(buffer)
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    let two = bytes.get(at..at + 2).and_then(|it| it.try_into().ok()).ok_or_else(not_a_zip)?;
    Ok(u16::from_le_bytes(two))
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    let four = bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).ok_or_else(not_a_zip)?;
    Ok(u32::from_le_bytes(four))
}

fn not_a_zip() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not a jar that can be read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::jar;

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
}
