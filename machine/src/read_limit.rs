//! Limits how much is read of a text that another process wrote or can replace. Only a limit ends such a text: a program that poses as a
//! JVM answers forever, and a process may declare any memory to be its command line (`PR_SET_MM_MAP` in prctl(2)).

use crate::beneath;
use std::io::{self, BufRead, Read};
use std::path::Path;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The error kind for a text that is longer than its limit. `FileTooLarge` would be an error of writing: our disk is full.
pub const TOO_LONG: io::ErrorKind = io::ErrorKind::InvalidData;

/// The most bytes that are read of one kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimit {
    /// The text's name in an error.
    name: &'static str,
    most_bytes: u64,
}

impl ReadLimit {
    /// The response of a JVM to a command. `Thread.print` needs 1 to 8 KiB for a platform thread, so this has room for 8,000 deep stacks.
    pub const RESPONSE: Self = Self::new("the response", 64 * MIB);
    /// A file that a JVM writes at our command. A thread dump needs 1 to 2 KiB for a thread, so this has room for 130,000 threads.
    pub const DUMP: Self = Self::new("the file that it wrote", 256 * MIB);
    /// A flight recording. The probe makes the JVM keep 256 MiB of it, and the last part may be longer.
    pub const RECORDING: Self = Self::new("the recording", 1024 * MIB);
    /// A line of the probe. The longest ones are stacks of some hundred frames of 100 bytes.
    pub const PROBE_LINE: Self = Self::new("a line of the probe", 64 * KIB);
    /// The lines of the probe for one load. The probe writes about 400 lines of 200 bytes per second, so this is more than an hour.
    pub const PROBE_LINES: Self = Self::new("the lines of the probe", 512 * MIB);
    /// The probe's latest lines that `watch` keeps in memory, where they take up to ten times as much. Usual are 10 MiB.
    pub const LATEST_PROBE_LINES: Self = Self::new("their text", 16 * MIB);
    /// The output of a program that we started: the table or JSON of a load tool, or the log of a server that has just begun.
    pub const PROGRAM_OUTPUT: Self = Self::new("the output of the program", 64 * MIB);
    /// A line of a share of a load, with a histogram in it. The longest ones have some 100 KiB.
    pub const SHARE_LINE: Self = Self::new("a line of a share", 64 * MIB);
    /// Performance data: the largest value that `-XX:PerfDataMemorySize` accepts. 32 KiB is usual.
    pub const PERF_DATA: Self = Self::new("the performance data", 32 * MIB);
    /// The file `release` of a Java runtime, which has some 20 lines.
    pub const RELEASE_FILE: Self = Self::new("the file `release`", 64 * KIB);
    /// A command line or an environment. The kernel gives a new program at most 6 MiB for both together (`_STK_LIM` in its `fs/exec.c`).
    pub const ARGUMENTS: Self = Self::new("the command line or environment", 8 * MIB);
    /// The mappings of a process. The kernel allows 65,530 by default (`vm.max_map_count`), of about 100 bytes each.
    pub const MAPS: Self = Self::new("the list of mappings", 64 * MIB);
    /// A text that the kernel writes about one process or cgroup, with one line for each property, mount or CPU.
    pub const KERNEL_TEXT: Self = Self::new("a file of the kernel", 16 * MIB);

    const fn new(name: &'static str, most_bytes: u64) -> Self {
        Self { name, most_bytes }
    }

    /// Everything up to the end.
    ///
    /// # Errors
    /// The text cannot be read, or is longer than the limit.
    pub fn read(self, from: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.take(self.most_bytes + 1).read_to_end(&mut bytes)?;
        self.check(bytes.len())?;
        Ok(bytes)
    }

    /// The text of a regular file; anything else, a pipe for instance, is an error at once.
    ///
    /// # Errors
    /// The file cannot be read, is not a regular file, or is longer than the limit.
    pub fn read_file(self, path: &Path) -> io::Result<String> {
        self.read_text(beneath::open_regular(path)?)
    }

    /// Reads text. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The text cannot be read, or is longer than the limit.
    pub fn read_text(self, from: impl Read) -> io::Result<String> {
        self.read(from).map(|bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(other) => String::from_utf8_lossy(other.as_bytes()).into_owned(),
        })
    }

    /// The text up to the limit.
    ///
    /// # Errors
    /// The text cannot be read.
    pub fn read_beginning(self, from: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.take(self.most_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// One line including its end; empty at the end of the text.
    ///
    /// # Errors
    /// The line cannot be read, or is longer than the limit.
    pub fn read_line(self, from: &mut impl BufRead) -> io::Result<String> {
        let mut bytes = Vec::new();
        from.take(self.most_bytes + 1).read_until(b'\n', &mut bytes)?;
        self.check(bytes.len())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Copies everything up to the end.
    ///
    /// # Errors
    /// The text cannot be read or written, or is longer than the limit.
    pub fn copy(self, from: impl Read, to: &mut impl io::Write) -> io::Result<()> {
        let copied = io::copy(&mut from.take(self.most_bytes + 1), to)?;
        self.check(usize::try_from(copied).unwrap_or(usize::MAX))
    }

    /// Checks that a number of bytes is within the limit.
    ///
    /// # Errors
    /// The number is larger; the error names the limit.
    pub fn check(self, bytes: usize) -> io::Result<()> {
        if bytes as u64 <= self.most_bytes { Ok(()) } else { Err(self.exceeded()) }
    }

    /// The error for a text that is longer than the limit.
    fn exceeded(self) -> io::Error {
        let says = format!("{} is longer than {}, and no more of it is read", self.name, self.size());
        io::Error::new(TOO_LONG, says)
    }

    fn size(self) -> String {
        if self.most_bytes < MIB {
            format!("{} KiB", self.most_bytes / KIB)
        } else {
            format!("{} MiB", self.most_bytes / MIB)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: ReadLimit = ReadLimit::new("the text", 10);

    #[test]
    fn a_text_as_long_as_the_limit_is_read_and_a_longer_one_is_an_error_that_names_the_limit() {
        assert_eq!(TEN.read_text(&b"0123456789"[..]).unwrap(), "0123456789");
        assert_eq!(TEN.read(&b"0123456789a"[..]).unwrap_err().kind(), TOO_LONG);
        assert_eq!(TEN.read_beginning(&b"0123456789a"[..]).unwrap(), b"0123456789");
        let endless = ReadLimit::RELEASE_FILE.read(io::repeat(b'x')).unwrap_err();
        assert_eq!(
            endless.to_string(),
            "the file `release` is longer than 64 KiB, and no more of it is read"
        );
        assert!(ReadLimit::RELEASE_FILE.copy(io::repeat(b'x'), &mut io::sink()).is_err());
    }

    #[test]
    fn a_line_that_never_ends_is_an_error_and_the_next_one_is_read() {
        let mut lines = &b"012345678\n12345"[..];
        assert_eq!(TEN.read_line(&mut lines).unwrap(), "012345678\n");
        assert_eq!(TEN.read_line(&mut lines).unwrap(), "12345");
        assert_eq!(TEN.read_line(&mut lines).unwrap(), "");
        assert!(TEN.read_line(&mut io::BufReader::new(io::repeat(b'x'))).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(TEN.read_text(&b"a\xffb"[..]).unwrap(), "a\u{fffd}b");
    }
}
