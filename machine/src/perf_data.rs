//! What a JVM counts in a file that it has mapped (`/tmp/hsperfdata_USER/PID`, `-XX:+UsePerfData`, the default), as `jps` and
//! `jstat` read it; whoever reads it does nothing to the JVM.

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const LITTLE_ENDIAN: u8 = 1;
/// The most that `-XX:PerfDataMemorySize` takes; 32 KiB is usual.
const MOST_BYTES: u64 = 32 << 20;

/// The counters of one moment.
pub struct PerfData(Vec<u8>);

impl PerfData {
    /// `None`: it keeps no such file, or it is no JVM.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        // Its id and its /tmp as it sees them itself, in a container too.
        let own_id = ids.split_whitespace().last()?;
        let owner = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let owner = owner.split_whitespace().nth(1)?.parse().ok()?;
        Self::find(Path::new(&format!("/proc/{pid}/root/tmp")), own_id, owner)
    }

    /// The name in `hsperfdata_NAME` is that of the JVM's user where the JVM runs. Any user can make a folder of any name, so the
    /// owner of folder and file tells.
    fn find(tmp: &Path, own_id: &str, owner: u32) -> Option<Self> {
        let folders = fs::read_dir(tmp).ok()?.flatten();
        let of_jvms = folders.filter(|it| it.file_name().as_bytes().starts_with(b"hsperfdata_"));
        of_jvms.filter_map(|it| read_owned(&it.path(), own_id, owner).ok()).find_map(Self::new)
    }

    pub(super) fn new(data: Vec<u8>) -> Option<Self> {
        let is_known = data.get(..4)? == MAGIC && *data.get(4)? == LITTLE_ENDIAN;
        is_known.then_some(Self(data))
    }

    /// A number. `None`: there is none of this name, or the file is cut off.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// A text, which ends with a zero.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        let value = self.value(name)?;
        let end = value.iter().position(|&byte| byte == 0)?;
        String::from_utf8(value[..end].to_vec()).ok()
    }

    /// Version 2 of the format (`PerfDataBuffer` in the JDK's `sun.jvmstat`): a header, then entries, each with its own length.
    fn value(&self, wanted: &str) -> Option<&[u8]> {
        let data = &self.0;
        let (mut at, entries) = (offset(data, 24)?, offset(data, 28)?);
        for _ in 0..entries {
            let name = data.get(at + offset(data, at + 4)?..)?;
            if is_named(name, wanted) {
                return data.get(at + offset(data, at + 16)?..);
            }
            at += offset(data, at)?.max(1);
        }
        None
    }
}

/// A regular file of this owner in a folder of this owner, neither through a link.
fn read_owned(folder: &Path, name: &str, owner: u32) -> io::Result<Vec<u8>> {
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let folder = open(folder, careful | OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
    let file = openat(&folder, name, careful | OFlags::RDONLY, Mode::empty())?;
    let stat = fstat(&file)?;
    let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !is_regular || stat.st_uid != owner || fstat(&folder)?.st_uid != owner {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    File::from(file).take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
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
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_regular_file_of_the_owner_in_a_folder_of_the_owner_is_read() {
        let tmp = tempfile::tempdir().unwrap();
        let (folder, owner) = (tmp.path().join("hsperfdata_shop"), rustix::process::geteuid().as_raw());
        fs::create_dir(&folder).unwrap();
        let data = [&MAGIC[..], &[LITTLE_ENDIAN]].concat();
        fs::write(folder.join("7"), &data).unwrap();
        assert!(PerfData::find(tmp.path(), "7", owner).is_some());
        assert!(PerfData::find(tmp.path(), "7", owner + 1).is_none(), "another user's");
        fs::rename(folder.join("7"), tmp.path().join("elsewhere")).unwrap();
        symlink(tmp.path().join("elsewhere"), folder.join("7")).unwrap();
        assert!(PerfData::find(tmp.path(), "7", owner).is_none(), "a link");
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("8"), Mode::RWXU).unwrap();
        assert!(PerfData::find(tmp.path(), "8", owner).is_none(), "a pipe, which does not block");
        fs::rename(&folder, tmp.path().join("real")).unwrap();
        fs::remove_file(tmp.path().join("real/7")).unwrap();
        fs::rename(tmp.path().join("elsewhere"), tmp.path().join("real/7")).unwrap();
        symlink(tmp.path().join("real"), &folder).unwrap();
        assert!(PerfData::find(tmp.path(), "7", owner).is_none(), "a linked folder");
    }
}
