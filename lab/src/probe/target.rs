//! Checks that the probe can attach to a process.

use crate::host::jdk::Jdk;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The probe needs virtual threads to exist.
pub const OLDEST_JAVA: u16 = 21;

/// Why the probe cannot get into a process.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("There is no process {pid}; `jps -l` or `pgrep -a java` lists the JVMs of this machine")]
    NoSuchProcess { pid: u32 },
    #[error(
        "Process {pid} ({name}) is not a JVM; `jps -l` or `pgrep -a java` lists the JVMs of this machine"
    )]
    NotAJvm { pid: u32, name: String },
    /// A JVM accepts only its own user.
    #[error(
        "Process {pid} belongs to {owner}, and a JVM is looked into by its own user only; run the same command \
         with `sudo -u {owner_name}` before it"
    )]
    AnotherUser {
        pid: u32,
        owner: String,
        /// What `sudo -u` takes.
        owner_name: String,
    },
    /// Its files or process ids are not ours.
    #[error(
        "Process {pid} runs in a container{inside}: it sees other files than we do, so the probe cannot reach it from \
         here. Copy threadcount and probe.jar into the container and run there: THREADCOUNT_APPS=FOLDER threadcount \
         watch {pid_inside}"
    )]
    Container {
        pid: u32,
        /// ` as process 7`, where its id is another one.
        inside: String,
        pid_inside: u32,
    },
    /// `-XX:+DisableAttachMechanism`.
    #[error(
        "Process {pid} was started with -XX:+DisableAttachMechanism, so nothing can be loaded into it; start it \
         without that flag, or with -javaagent:{jar}=out=file:/tmp/probe.jsonl"
    )]
    AttachDisabled { pid: u32, jar: String },
    #[error(
        "Process {pid} runs Java {version}; the probe needs Java 21 or newer, the first with virtual threads"
    )]
    TooOld { pid: u32, version: String },
}

/// A JVM that the probe can attach to, as far as /proc shows.
#[derive(Debug)]
pub struct Target {
    pub pid: u32,
    /// The Java it runs, where its folder can be seen.
    pub jdk: Option<Jdk>,
}

impl Target {
    /// Inspects a process.
    ///
    /// # Errors
    /// What prevents it, and what to do.
    pub fn inspect(pid: u32, jar: &Path) -> Result<Self, TargetError> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        // An id beyond pid_max or of a thread is not a process.
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        if field(&status, "Tgid").and_then(|it| it.parse().ok()) != Some(pid) {
            return Err(TargetError::NoSuchProcess { pid });
        }
        let name = || field(&status, "Name").unwrap_or_default().to_owned();
        check_owner(pid, &status)?;
        let Some(library) = jvm_library(&folder) else {
            return Err(TargetError::NotAJvm { pid, name: name() });
        };
        check_container(pid, &folder, &status)?;
        let command = fs::read(folder.join("cmdline")).unwrap_or_default();
        if command.split(|&byte| byte == 0).any(|word| word == b"-XX:+DisableAttachMechanism") {
            return Err(TargetError::AttachDisabled { pid, jar: jar.display().to_string() });
        }
        let jdk = library.ancestors().find_map(|home| Jdk::at(home, "the running JVM"));
        match jdk {
            Some(jdk) if jdk.feature < OLDEST_JAVA => Err(TargetError::TooOld { pid, version: jdk.version }),
            jdk => Ok(Self { pid, jdk }),
        }
    }
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn check_owner(pid: u32, status: &str) -> Result<(), TargetError> {
    let ours = rustix::process::geteuid().as_raw();
    // Real, effective, saved, file system.
    let theirs =
        field(status, "Uid").and_then(|it| it.split_whitespace().nth(1)?.parse().ok()).unwrap_or(ours);
    if theirs == ours {
        return Ok(());
    }
    let name = user_name(theirs, &fs::read_to_string("/etc/passwd").unwrap_or_default());
    let owner = name.clone().unwrap_or_else(|| format!("user {theirs}"));
    Err(TargetError::AnotherUser { pid, owner, owner_name: name.unwrap_or_else(|| format!("'#{theirs}'")) })
}

fn user_name(uid: u32, passwd: &str) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

/// The JVM itself is a library, which any program can load.
fn jvm_library(folder: &Path) -> Option<PathBuf> {
    let maps = fs::read_to_string(folder.join("maps")).unwrap_or_default();
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .map(PathBuf::from)
        .find(|path| path.file_name().is_some_and(|name| name == "libjvm.so"))
}

fn check_container(pid: u32, folder: &Path, status: &str) -> Result<(), TargetError> {
    let pid_inside: u32 =
        field(status, "NSpid").and_then(|it| it.split_whitespace().last()?.parse().ok()).unwrap_or(pid);
    if has_our_files(folder).unwrap_or(true) && pid_inside == pid {
        return Ok(());
    }
    let inside =
        if pid_inside == pid { String::new() } else { format!(" (there it is process {pid_inside})") };
    Err(TargetError::Container { pid, inside, pid_inside })
}

/// The same mount namespace and the same root folder (`chroot` changes only the latter).
fn has_our_files(folder: &Path) -> io::Result<bool> {
    let namespace = |folder: &Path| fs::read_link(folder.join("ns/mnt")).map(PathBuf::into_os_string);
    let root = |path: PathBuf| fs::metadata(path).map(|it| (it.dev(), it.ino()));
    let same_namespace: (OsString, OsString) = (namespace(folder)?, namespace(Path::new("/proc/self"))?);
    Ok(same_namespace.0 == same_namespace.1 && root(folder.join("root"))? == root(PathBuf::from("/"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(pid: u32) -> String {
        Target::inspect(pid, Path::new("/probe.jar")).unwrap_err().to_string()
    }

    #[test]
    fn a_process_that_does_not_exist_is_told() {
        assert!(says(4_000_000).starts_with("There is no process 4000000; `jps -l`"));
    }

    #[test]
    fn a_process_that_is_no_jvm_is_named() {
        let pid = std::process::id();
        let says = says(pid);
        assert!(says.starts_with(&format!("Process {pid} (")) && says.contains("is not a JVM"), "{says}");
    }

    #[test]
    fn the_owner_is_named_as_sudo_takes_it() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nshop:x:1007:1007::/home/shop:/bin/sh\n";
        assert_eq!(user_name(1007, passwd).as_deref(), Some("shop"));
        assert_eq!(user_name(1008, passwd), None);
        let uid = rustix::process::geteuid().as_raw() + 90_001;
        let error = check_owner(7, &format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n")).unwrap_err().to_string();
        assert!(error.contains(&format!("belongs to user {uid}")) && error.contains("sudo -u '#"), "{error}");
        assert!(check_owner(7, "Uid:\t0\t").is_ok() || rustix::process::geteuid().as_raw() != 0);
    }

    #[test]
    fn a_process_id_of_its_own_is_a_container() {
        let error =
            check_container(812, Path::new("/proc/self"), "NSpid:\t812\t7\n").unwrap_err().to_string();
        assert!(error.starts_with("Process 812 runs in a container (there it is process 7): "), "{error}");
        assert!(error.ends_with("threadcount watch 7"), "{error}");
        assert!(check_container(812, Path::new("/proc/self"), "NSpid:\t812\n").is_ok());
    }
}
