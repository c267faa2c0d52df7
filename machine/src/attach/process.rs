//! Examines a process with /proc and its performance data: either it is a JVM that takes commands, or there is a reason why it does not.

use super::bearable::{self, Lack, Need};
use crate::beneath;
use crate::halt::Halt;
use crate::mapped_jvm::{JvmKind, has_thread, kind_of_jvm};
use crate::perf_data::PerfData;
use crate::process_file::{self, field};
use crate::read_limit::ReadLimit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::StatVfsMountFlags;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why no command can be sent to a process.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("There is no process {pid}; `jps -l` or `pgrep -a java` lists the JVMs of this machine")]
    NoSuchProcess { pid: u32 },
    #[error(
        "Process {pid} ({name}) is not a JVM; `jps -l` or `pgrep -a java` lists the JVMs of this machine"
    )]
    NotAJvm { pid: u32, name: String },
    #[error(
        "Process {pid} is an OpenJ9 JVM; only HotSpot JVMs (OpenJDK, Temurin, Corretto, Zulu, Oracle, GraalVM) are supported"
    )]
    OpenJ9 { pid: u32 },
    #[error(
        "Process {pid} belongs to {owner}, and a JVM accepts only its own user and root. Run the same command with `sudo` or \
         `sudo -u {owner_name}` before it"
    )]
    AnotherUser {
        pid: u32,
        owner: String,
        /// The owner's name, for `sudo -u`.
        owner_name: String,
    },
    #[error(
        "No permission to inspect process {pid} ({why}). Root on the host of its container, or in the container, has it"
    )]
    NoPermission { pid: u32, why: io::Error },
    #[error(
        "Process {pid} has no /tmp, where a JVM listens for commands. Make that folder in its container, or mount one there"
    )]
    NoTmp { pid: u32 },
    #[error(
        "The /tmp of process {pid}, where a JVM listens for commands, {why}. Make room there, or mount a writable one"
    )]
    FullTmp { pid: u32, why: &'static str },
    #[error(
        "Process {pid} cannot be inspected: this kernel has no openat2 (Linux 5.6), or a seccomp filter refuses it"
    )]
    NoOpenat2 { pid: u32 },
    #[error("The JVM {pid} cannot respond: {halt}. {}", .halt.advice(*pid))]
    Stopped { pid: u32, halt: Halt },
    /// The JVM was started with `-XX:+DisableAttachMechanism`.
    #[error(
        "Process {pid} was started with -XX:+DisableAttachMechanism, so nothing can be loaded into it; start it without that flag"
    )]
    AttachDisabled { pid: u32 },
    /// The JVM does not listen yet and does not handle SIGQUIT, which would tell it to: the signal would end the process.
    #[error(
        "The JVM {pid} does not listen for commands yet, and does not handle SIGQUIT, by which it is told to: the signal could end it. \
         It is still starting, or it was started with -Xrs and its socket is gone from /tmp. Start it with -XX:+StartAttachListener"
    )]
    IgnoresSignal { pid: u32 },
    /// A command could end the JVM, or take resources that the application needs.
    #[error("The JVM {pid} could end if it were asked now, by `jcmd` too: {lack}")]
    Unbearable { pid: u32, lack: Lack },
}

/// A HotSpot JVM. Its folders are held open, so that they can be used with other ids than our own.
#[derive(Debug)]
pub struct JvmProcess {
    pub pid: u32,
    /// The JVM's id as seen by itself, which differs in a container.
    pub pid_inside: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Whether the JVM sees the same files as we do.
    pub has_our_files: bool,
    pub(super) tmp_folder: OwnedFd,
    pub(super) working_folder: Option<OwnedFd>,
    /// A handle of the process itself, because its id may later belong to another process.
    handle: OwnedFd,
    /// Set when nobody waits for the JVM's responses any more.
    interrupted: Option<Arc<AtomicBool>>,
    /// Whether the JVM has already run a command with Java code, so that the classes for it are loaded.
    pub(super) has_run_java: AtomicBool,
}

impl JvmProcess {
    /// Inspects a process.
    ///
    /// # Errors
    /// Why no command can be sent to it.
    pub fn find(pid: u32) -> Result<Self, Refusal> {
        super::in_tmp::sweep();
        let handle = handle_of(pid).map_err(|source| no_permission(pid, source))?;
        // Read after the handle was opened, so it describes the same process.
        let status = status_of(pid).ok_or(Refusal::NoSuchProcess { pid })?;
        let (uid, gid) = (effective(&status, "Uid"), effective(&status, "Gid"));
        check_owner(pid, uid)?;
        match kind_of_jvm(pid).map_err(|source| no_permission(pid, source))? {
            Some(JvmKind::HotSpot) => {}
            Some(JvmKind::OpenJ9) => return Err(Refusal::OpenJ9 { pid }),
            None => {
                let name = process_file::printable_name(field(&status, "Name").unwrap_or_default());
                return Err(Refusal::NotAJvm { pid, name });
            }
        }
        let root = beneath::root_of(pid).map_err(|source| no_permission(pid, source))?;
        let tmp_folder = beneath::tmp_of(&root).map_err(|source| without_tmp(pid, source))?;
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let pid_inside = field(&status, "NSpid").and_then(|it| it.split_whitespace().last()?.parse().ok());
        let found = Self {
            pid,
            pid_inside: pid_inside.unwrap_or(pid),
            uid,
            gid,
            has_our_files: has_our_files(&folder).unwrap_or(true),
            tmp_folder,
            handle,
            working_folder: beneath::open_folder(&folder.join("cwd")).ok(),
            interrupted: None,
            has_run_java: AtomicBool::new(false),
        };
        found.check()?;
        Ok(found)
    }

    /// The same process, to which a command ends early once `stop` is set.
    #[must_use]
    pub fn interrupted_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { interrupted: Some(stop), ..self }
    }

    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Checks what may have changed: whether the process is alive and not stopped.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let pid = self.pid;
        let status = status_of(pid).filter(|_| !self.has_ended()).ok_or(Refusal::NoSuchProcess { pid })?;
        if field(&status, "State").is_some_and(|state| state.starts_with(['Z', 'X'])) {
            return Err(Refusal::NoSuchProcess { pid });
        }
        if let Some(halt) = Halt::find(pid) {
            return Err(Refusal::Stopped { pid, halt });
        }
        if disables_attaching(pid) { Err(Refusal::AttachDisabled { pid }) } else { Ok(()) }
    }

    /// Checks that the JVM handles SIGQUIT. With `-Xrs` it does not, but then it listens for commands from its start. A handler may also
    /// belong to the program that launched the JVM and do anything, so the JVM must have the thread that runs its own handlers.
    pub(super) fn check_handles_quit(&self) -> Result<(), Refusal> {
        let pid = self.pid;
        let status = status_of(pid).ok_or(Refusal::NoSuchProcess { pid })?;
        let is_handled = catches_quit(&status) && has_thread(pid, SIGNAL_DISPATCHER);
        if is_handled { Ok(()) } else { Err(Refusal::IgnoresSignal { pid }) }
    }

    /// Checks that the JVM can create its socket. It tries only once, and reports nothing if it fails.
    pub(super) fn check_can_listen(&self) -> Result<(), Refusal> {
        let Ok(tmp) = rustix::fs::fstatvfs(&self.tmp_folder) else { return Ok(()) };
        let has_inodes = tmp.f_files == 0 || tmp.f_ffree > 0;
        let why = match (tmp.f_flag.contains(StatVfsMountFlags::RDONLY), has_inodes) {
            (true, _) => "is read-only",
            (_, false) => "has no free inodes",
            _ => return Ok(()),
        };
        Err(Refusal::FullTmp { pid: self.pid, why })
    }

    /// Checks that the limits of the JVM leave as much as is needed.
    pub(super) fn check_bears(&self, need: &Need) -> Result<(), Refusal> {
        let pid = self.pid;
        bearable::lack(pid, need).map_or(Ok(()), |lack| Err(Refusal::Unbearable { pid, lack }))
    }

    /// The number of threads that the operating system runs for it.
    pub(super) fn os_threads(&self) -> u64 {
        let status = status_of(self.pid).unwrap_or_default();
        field(&status, "Threads").and_then(|it| it.trim().parse().ok()).unwrap_or_default()
    }

    /// Whether the JVM can neither read nor write our files.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        !self.has_our_files || self.uid != rustix::process::geteuid().as_raw()
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.has_ended()
            && status_of(self.pid)
                .is_some_and(|status| !field(&status, "State").unwrap_or("Z").starts_with('Z'))
    }

    /// The JVM's /tmp, where its socket always is, whatever `java.io.tmpdir` says.
    pub(crate) fn tmp(&self) -> PathBuf {
        beneath::path(&self.tmp_folder)
    }

    /// Sends SIGQUIT to this very process, even if its id belongs to another process by now.
    pub(super) fn send_quit(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.handle, Signal::QUIT)?)
    }

    /// Whether the process has ended, which makes its handle readable.
    fn has_ended(&self) -> bool {
        let mut all = [PollFd::new(&self.handle, PollFlags::IN)];
        poll(&mut all, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

/// The text of `status`; `None` for an id beyond pid_max, or the id of a thread.
fn status_of(pid: u32) -> Option<String> {
    let status = process_file::text(pid, "status", ReadLimit::KERNEL_TEXT).ok()?;
    (field(&status, "Tgid")?.parse() == Ok(pid)).then_some(status)
}

/// The effective id in a line of `status` with the real, effective, saved and file system ids.
fn effective(status: &str, name: &str) -> u32 {
    field(status, name).and_then(|it| it.split_whitespace().nth(1)?.parse().ok()).unwrap_or_default()
}

fn check_owner(pid: u32, theirs: u32) -> Result<(), Refusal> {
    let ours = rustix::process::geteuid().as_raw();
    if ours == theirs || ours == 0 {
        return Ok(());
    }
    let name = user_name(theirs, &fs::read_to_string("/etc/passwd").unwrap_or_default());
    let owner = name.clone().unwrap_or_else(|| format!("user {theirs}"));
    Err(Refusal::AnotherUser { pid, owner, owner_name: name.unwrap_or_else(|| format!("'#{theirs}'")) })
}

fn user_name(uid: u32, passwd: &str) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

fn no_permission(pid: u32, why: io::Error) -> Refusal {
    if status_of(pid).is_none() { Refusal::NoSuchProcess { pid } } else { Refusal::NoPermission { pid, why } }
}

fn without_tmp(pid: u32, why: io::Error) -> Refusal {
    match why.raw_os_error() {
        _ if status_of(pid).is_none() => Refusal::NoSuchProcess { pid },
        Some(libc::ENOENT | libc::ENOTDIR) => Refusal::NoTmp { pid },
        Some(libc::ENOSYS) => Refusal::NoOpenat2 { pid },
        _ => Refusal::NoPermission { pid, why },
    }
}

/// The first 15 characters (the kernel keeps no more) of `Signal Dispatcher`, the thread that runs HotSpot's signal handlers.
const SIGNAL_DISPATCHER: &str = "Signal Dispatch";

/// The flag that disables attaching; with it SIGQUIT always prints all threads.
const DISABLES: &str = "-XX:+DisableAttachMechanism";
/// Environment variables that contain options of a JVM.
const OPTIONS: [&str; 3] = ["JAVA_TOOL_OPTIONS=", "_JAVA_OPTIONS=", "JDK_JAVA_OPTIONS="];
/// The prefixes of command line words that name a file with options.
const OPTION_FILES: [&str; 3] = ["@", "-XX:Flags=", "-XX:VMOptionsFile="];

/// Whether attaching is disabled on the command line, in a variable or in a file of options, or according to the performance data.
fn disables_attaching(pid: u32) -> bool {
    let options = options(pid);
    let mut files =
        options.iter().flat_map(|word| OPTION_FILES.iter().filter_map(|name| word.strip_prefix(name)));
    let is_in_file = |name: &str| option_file(pid, name).is_ok_and(|text| text.contains(DISABLES));
    let can = PerfData::read(pid).and_then(|data| data.text("sun.rt.jvmCapabilities"));
    options.iter().any(|word| word == DISABLES)
        || files.any(is_in_file)
        || can.is_some_and(|it| it.starts_with('0'))
}

/// The words of a JVM's variables with options, and of its command line, which override them.
pub(super) fn options(pid: u32) -> Vec<String> {
    let environment = process_file::text(pid, "environ", ReadLimit::KERNEL_TEXT).unwrap_or_default();
    let values =
        environment.split('\0').filter_map(|it| OPTIONS.iter().find_map(|name| it.strip_prefix(name)));
    let words = values.flat_map(str::split_whitespace).map(str::to_owned);
    words.chain(process_file::arguments(pid).unwrap_or_default()).collect()
}

/// The text of a file that the process names, relative to its own root or working folder.
fn option_file(pid: u32, name: &str) -> io::Result<String> {
    let folder = match Path::new(name).is_absolute() {
        true => beneath::root_of(pid)?,
        false => beneath::open_folder(Path::new(&format!("/proc/{pid}/cwd")))?,
    };
    let inside = Path::new(name.trim_start_matches('/'));
    let bytes = ReadLimit::KERNEL_TEXT.read(beneath::regular(&folder, inside)?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn catches_quit(status: &str) -> bool {
    let caught = field(status, "SigCgt").and_then(|it| u64::from_str_radix(it, 16).ok());
    caught.is_none_or(|bits| bits & (1 << (libc::SIGQUIT - 1)) != 0)
}

fn handle_of(pid: u32) -> io::Result<OwnedFd> {
    let known = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(known, PidfdFlags::empty())?)
}

/// Whether a process has our mount namespace and our root folder (`chroot` changes only the latter).
fn has_our_files(folder: &Path) -> io::Result<bool> {
    let namespace = |folder: &Path| fs::read_link(folder.join("ns/mnt"));
    let root = |path: PathBuf| fs::metadata(path).map(|it| (it.dev(), it.ino()));
    let is_ours = namespace(folder)? == namespace(Path::new("/proc/self"))?;
    Ok(is_ours && root(folder.join("root"))? == root(PathBuf::from("/"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has this number (linux/threads.h).
    const BEYOND_PID_MAX_LIMIT: u32 = 4_194_304;

    fn says(pid: u32) -> String {
        JvmProcess::find(pid).unwrap_err().to_string()
    }

    #[test]
    fn a_process_that_does_not_exist_is_told() {
        assert!(says(BEYOND_PID_MAX_LIMIT).starts_with("There is no process 4194304; `jps -l`"));
    }

    #[test]
    fn a_process_that_is_no_jvm_is_named() {
        let pid = std::process::id();
        let says = says(pid);
        assert!(says.starts_with(&format!("Process {pid} (")) && says.contains("is not a JVM"), "{says}");
    }

    #[test]
    fn what_lacks_to_see_the_tmp_of_a_process_is_told() {
        let pid = std::process::id();
        let says = |code| without_tmp(pid, io::Error::from_raw_os_error(code)).to_string();
        assert!(says(libc::ENOENT).starts_with(&format!("Process {pid} has no /tmp, where a JVM listens")));
        assert!(says(libc::ENOSYS).contains("this kernel has no openat2 (Linux 5.6)"));
        assert!(says(libc::EACCES).starts_with(&format!("No permission to inspect process {pid}")));
        assert!(matches!(
            without_tmp(BEYOND_PID_MAX_LIMIT, io::Error::from_raw_os_error(libc::ENOENT)),
            Refusal::NoSuchProcess { .. }
        ));
    }

    #[test]
    fn the_owner_is_named_as_sudo_takes_it() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nshop:x:1007:1007::/home/shop:/bin/sh\n";
        assert_eq!(user_name(1007, passwd).as_deref(), Some("shop"));
        assert_eq!(user_name(1008, passwd), None);
    }

    #[test]
    fn a_signal_that_a_process_catches_is_in_its_status() {
        assert!(catches_quit("SigCgt:\t2000000181005ccf\n"), "a JVM");
        assert!(!catches_quit("SigCgt:\t2000000181005ccb\n"), "a JVM with -Xrs");
    }
}
