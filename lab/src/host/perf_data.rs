//! What a JVM counts in a file that it has mapped (`/tmp/hsperfdata_USER/PID`, `-XX:+UsePerfData`, the default), as `jps` and
//! `jstat` read it; whoever reads it does nothing to the JVM.

use std::fs;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const LITTLE_ENDIAN: u8 = 1;

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
        let folders = fs::read_dir(format!("/proc/{pid}/root/tmp")).ok()?.flatten();
        let of_jvms = folders.filter(|it| it.file_name().to_string_lossy().starts_with("hsperfdata_"));
        of_jvms.filter_map(|it| fs::read(it.path().join(own_id)).ok()).find_map(Self::new)
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

fn is_named(text: &[u8], name: &str) -> bool {
    text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
}

fn offset(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*bytes)).ok()
}
