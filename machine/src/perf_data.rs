//! The counters that a JVM keeps in a mapped file (`/tmp/hsperfdata_USER/PID`, `-XX:+UsePerfData`, the default), which `jps` and `jstat`
//! read too; reading does not disturb the JVM.

use crate::beneath;
use crate::read_limit::ReadLimit;
use procfs::process::Process;
use rustix::fd::OwnedFd;
use rustix::fs::{Dir, fstat};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const LITTLE_ENDIAN: u8 = 1;
/// The length in bytes of the numbers at the beginning of an entry. Only a file that no JVM wrote has a shorter entry.
const ENTRY_HEADER_BYTES: usize = 20;
/// The numbers of collectors: G1 has three, the others fewer.
const COLLECTORS: std::ops::Range<u32> = 0..4;
/// The most entries of /tmp that are searched.
const MOST_ENTRIES: usize = 10_000;

/// The counters at one moment.
pub struct PerfData(Vec<u8>);

impl PerfData {
    /// Reads a JVM's counters; `None` if it keeps no such file, or is not a JVM.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let status = Process::new(i32::try_from(pid).ok()?).and_then(|process| process.status()).ok()?;
        // The JVM's id and /tmp as the JVM sees them, which differ from ours in a container.
        let own_id = status.nspid?.last()?.to_string();
        Self::find(&beneath::tmp_of(&beneath::root_of(pid).ok()?).ok()?, &own_id, status.euid)
    }

    /// Finds the file. The name in `hsperfdata_NAME` is the JVM's user as known where the JVM runs, and any user can create a folder of any
    /// name, so the owner of the folder and the file decides.
    fn find(tmp: &OwnedFd, own_id: &str, owner: u32) -> Option<Self> {
        let folders = Dir::read_from(beneath::listable(tmp, Path::new(".")).ok()?).ok()?;
        let of_jvms = folders.flatten().take(MOST_ENTRIES).filter_map(|folder| {
            let name = folder.file_name().to_bytes();
            name.starts_with(b"hsperfdata_").then(|| OsStr::from_bytes(name).to_owned())
        });
        of_jvms.filter_map(|it| read_owned(tmp, Path::new(&it), own_id, owner).ok()).find_map(Self::new)
    }

    pub(super) fn new(data: Vec<u8>) -> Option<Self> {
        let is_known = data.get(..4)? == MAGIC && *data.get(4)? == LITTLE_ENDIAN;
        is_known.then_some(Self(data))
    }

    /// A number; `None` if the name is unknown, or the file is cut off.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The number of collections so far, of all collectors.
    #[must_use]
    pub fn collections(&self) -> u64 {
        COLLECTORS.filter_map(|at| self.number(&format!("sun.gc.collector.{at}.invocations"))).sum()
    }

    /// A zero-terminated text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        let value = self.value(name)?;
        let end = value.iter().position(|&byte| byte == 0)?;
        String::from_utf8(value[..end].to_vec()).ok()
    }

    /// Reads version 2 of the format (`PerfDataBuffer` in the JDK's `sun.jvmstat`): a header, then entries, each with its own length.
    fn value(&self, wanted: &str) -> Option<&[u8]> {
        let data = &self.0;
        let (mut at, entries) = (offset(data, 24)?, offset(data, 28)?);
        for _ in 0..entries {
            let name = data.get(at + offset(data, at + 4)?..)?;
            if is_named(name, wanted) {
                return data.get(at + offset(data, at + 16)?..);
            }
            let length = offset(data, at)?;
            if length < ENTRY_HEADER_BYTES {
                return None;
            }
            at += length;
        }
        None
    }
}

/// Reads a regular file of this owner in a folder of this owner, following no link.
fn read_owned(tmp: &OwnedFd, folder: &Path, name: &str, owner: u32) -> io::Result<Vec<u8>> {
    let folder = beneath::folder(tmp, folder)?;
    let file = beneath::regular(&folder, Path::new(name))?;
    if fstat(&file)?.st_uid != owner || fstat(&folder)?.st_uid != owner {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    ReadLimit::PERF_DATA.read(file)
}

fn is_named(text: &[u8], name: &str) -> bool {
    text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
}

fn offset(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::Mode;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn entries_without_a_length_end_the_search_at_once() {
        let counted = |length: i32| {
            let mut data = [&MAGIC[..], &[LITTLE_ENDIAN]].concat();
            data.resize(24, 0);
            let numbers = [32, i32::MAX, length, 20, 0, 0, 22];
            data.extend(numbers.iter().flat_map(|number: &i32| number.to_le_bytes()));
            data.extend(b"a\0");
            data.extend(7_u64.to_le_bytes());
            data.resize(1 << 20, 0);
            let data = PerfData::new(data).unwrap();
            (data.number("a"), data.number("b"))
        };
        assert_eq!([-1, 0, 19, 32].map(counted), [(Some(7), None); 4]);
    }

    #[test]
    fn only_a_regular_file_of_the_owner_in_a_folder_of_the_owner_is_read() {
        let tmp = tempfile::tempdir().unwrap();
        let (folder, owner) = (tmp.path().join("hsperfdata_shop"), rustix::process::geteuid().as_raw());
        fs::create_dir(&folder).unwrap();
        let data = [&MAGIC[..], &[LITTLE_ENDIAN]].concat();
        let opened = beneath::open_folder(tmp.path()).unwrap();
        let found = |id, owner| PerfData::find(&opened, id, owner);
        fs::write(folder.join("7"), &data).unwrap();
        assert!(found("7", owner).is_some());
        assert!(found("7", owner + 1).is_none(), "another user's");
        fs::rename(folder.join("7"), tmp.path().join("elsewhere")).unwrap();
        symlink(tmp.path().join("elsewhere"), folder.join("7")).unwrap();
        assert!(found("7", owner).is_none(), "a link");
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("8"), Mode::RWXU).unwrap();
        assert!(found("8", owner).is_none(), "a pipe, which does not block");
        fs::rename(&folder, tmp.path().join("real")).unwrap();
        fs::remove_file(tmp.path().join("real/7")).unwrap();
        fs::rename(tmp.path().join("elsewhere"), tmp.path().join("real/7")).unwrap();
        symlink(tmp.path().join("real"), &folder).unwrap();
        assert!(found("7", owner).is_none(), "a linked folder");
    }
}
