//! Reads a process id from an argument.

/// The highest process id of Linux (`PID_MAX_LIMIT`).
const MOST_PID: u32 = 1 << 22;

pub(super) fn process_id(text: &str) -> Result<u32, String> {
    let pid = text.parse().ok().filter(|pid| (1..=MOST_PID).contains(pid));
    pid.ok_or_else(|| "write the number of a process; `jps -l` lists the JVMs".to_owned())
}
