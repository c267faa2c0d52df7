//! Files that are read as a whole. Each reader has a limit: a path may name a device without an end, or a file that is larger than memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest file that a request is made of, in bytes.
pub const LARGEST_OF_A_REQUEST: u64 = 1 << 30;

/// Reads a file of at most so many bytes.
///
/// # Errors
/// The system's error, or [`io::ErrorKind::FileTooLarge`] with the limit in its text.
pub fn read(path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Before anything is read: the file may have gigabytes of nothing.
    if file.metadata()?.len() > at_most {
        return Err(too_large(at_most));
    }
    read_from(file, at_most)
}

/// The same of what is open already.
///
/// # Errors
/// As [`read`].
pub fn read_from(source: impl Read, at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(at_most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > at_most { Err(too_large(at_most)) } else { Ok(bytes) }
}

/// The same of a file in UTF-8.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`].
pub fn read_text(path: &Path, at_most: u64) -> io::Result<String> {
    String::from_utf8(read(path, at_most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it has bytes that are not UTF-8"))
}

fn too_large(at_most: u64) -> io::Error {
    let why = format!("it is larger than {} MiB", at_most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_file_without_an_end_is_refused_and_one_of_the_largest_size_is_read() {
        let endless = read(Path::new("/dev/zero"), MIB).unwrap_err();
        assert_eq!(endless.to_string(), "it is larger than 1 MiB");
        assert_eq!(read_from(io::repeat(7).take(MIB), MIB).unwrap().len() as u64, MIB);
        assert!(read_from(io::repeat(7).take(MIB + 1), MIB).is_err());
    }
}
