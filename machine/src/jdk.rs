//! One Java runtime on this machine.

use super::process_tree::ProcessTree;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Java runtime: a JDK, or a JRE where `has_javac` is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// Its folder, the one that `JAVA_HOME` names; symbolic links resolved.
    pub home: PathBuf,
    /// The feature version: 21, 25.
    pub feature: u16,
    /// The full version, e.g. `25.0.3+9`.
    pub version: String,
    /// Who built it, e.g. `Eclipse Adoptium`.
    pub vendor: Option<String>,
    pub has_javac: bool,
    /// Whether it has `jcmd`.
    pub has_jcmd: bool,
    /// Where it was found, in words: `JAVA_HOME`, `/usr/lib/jvm`, `SDKMAN`, ...
    pub found_in: String,
}

impl Jdk {
    /// Inspects a folder. Reads the file `release`; if that is incomplete, runs `java` (which
    /// takes 50 ms and more). `None`: there is no Java runtime.
    #[must_use]
    pub fn at(home: &Path, found_in: &str) -> Option<Self> {
        let home = fs::canonicalize(home).ok()?;
        if !is_executable(&home.join("bin/java")) {
            return None;
        }
        let properties = fs::read_to_string(home.join("release"))
            .map(|text| RuntimeProperties::of_release_file(&text))
            .unwrap_or_default();
        let properties = if properties.is_complete() {
            properties
        } else {
            properties.or(RuntimeProperties::asked(&home).unwrap_or_default())
        };
        let version = properties.runtime_version.or(properties.version)?;
        let version = version.strip_suffix("-LTS").unwrap_or(&version).to_owned();
        Some(Self {
            feature: feature_of(&version)?,
            version,
            vendor: properties.vendor,
            has_javac: is_executable(&home.join("bin/javac")),
            has_jcmd: is_executable(&home.join("bin/jcmd")),
            found_in: found_in.to_owned(),
            home,
        })
    }

    /// That of a program `java`.
    #[must_use]
    pub fn of_program(java: &Path, found_in: &str) -> Option<Self> {
        let java = fs::canonicalize(java).ok()?;
        let is_java = java.file_name().is_some_and(|name| name == "java");
        is_java.then(|| Self::at(java.parent()?.parent()?, found_in)).flatten()
    }

    /// That of the JVM in a process tree. `None`: there is none, or it cannot be read.
    #[must_use]
    pub fn running_below(pid: u32) -> Option<Self> {
        let running = PathBuf::from(format!("/proc/{}/exe", ProcessTree::rooted_at(pid).java_pid()?));
        let path = fs::read_link(&running).ok()?;
        let file = |path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
        // The path is that of the JVM's mounts, which may have another file there.
        (file(&running)? == file(&path)?).then(|| Self::of_program(&path, "a process")).flatten()
    }

    /// The program that starts a JVM.
    #[must_use]
    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// `jcmd`, if it exists.
    #[must_use]
    pub fn jcmd(&self) -> Option<PathBuf> {
        self.has_jcmd.then(|| self.home.join("bin/jcmd"))
    }

    /// Version and vendor, as records name it: `25.0.3+9 (Eclipse Adoptium)`.
    #[must_use]
    pub fn describe(&self) -> String {
        self.vendor
            .as_ref()
            .map_or_else(|| self.version.clone(), |vendor| format!("{} ({vendor})", self.version))
    }

    /// The numbers in the version, for putting the newest first.
    #[must_use]
    pub fn version_numbers(&self) -> Vec<u64> {
        let is_separator = |it: char| !it.is_ascii_digit();
        self.version.split(is_separator).filter_map(|it| it.parse().ok()).collect()
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// `25.0.3+9` and `26-ea` start with it; before Java 9 it was the second number (`1.8.0_402`).
fn feature_of(version: &str) -> Option<u16> {
    let mut numbers = version.split(|it: char| !it.is_ascii_digit());
    let first = numbers.next()?.parse().ok()?;
    if first == 1 { numbers.next()?.parse().ok() } else { Some(first) }
}

/// Properties that a runtime reports.
#[derive(Debug, Default, PartialEq, Eq)]
struct RuntimeProperties {
    version: Option<String>,
    runtime_version: Option<String>,
    vendor: Option<String>,
}

impl RuntimeProperties {
    /// Lines of `NAME="value"` in the file `release` of a JDK (JEP 223, JEP 322).
    fn of_release_file(text: &str) -> Self {
        let values: HashMap<_, _> = text.lines().filter_map(|line| line.split_once('=')).collect();
        let value = |name| {
            values.get(name).map(|it| it.trim().trim_matches('"').to_owned()).filter(|it| !it.is_empty())
        };
        Self {
            version: value("JAVA_VERSION"),
            runtime_version: value("JAVA_RUNTIME_VERSION"),
            vendor: value("IMPLEMENTOR").filter(|it| it != "N/A"),
        }
    }

    /// Lines of `    name = value` on the standard error of `java -XshowSettings:properties -version`.
    fn of_settings(text: &str) -> Self {
        let values: HashMap<_, _> = text.lines().filter_map(|line| line.trim().split_once(" = ")).collect();
        let value = |name| values.get(name).map(|it| (*it).to_owned()).filter(|it| it != "N/A");
        Self {
            version: value("java.version"),
            runtime_version: value("java.runtime.version"),
            vendor: value("java.vendor"),
        }
    }

    fn asked(home: &Path) -> Option<Self> {
        let asking = Command::new(home.join("bin/java"))
            .args(["-XshowSettings:properties", "-version"])
            .stdin(Stdio::null())
            .output()
            .ok()?;
        asking.status.success().then(|| Self::of_settings(&String::from_utf8_lossy(&asking.stderr)))
    }

    const fn is_complete(&self) -> bool {
        self.runtime_version.is_some() && self.vendor.is_some()
    }

    fn or(self, other: Self) -> Self {
        Self {
            version: self.version.or(other.version),
            runtime_version: self.runtime_version.or(other.runtime_version),
            vendor: self.vendor.or(other.vendor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{jdk_release, made_up_jdk as made_up};
    use std::process::Child;
    use std::thread;
    use std::time::Duration;

    const TEMURIN_25: &str = "IMPLEMENTOR=\"Eclipse Adoptium\"\nIMPLEMENTOR_VERSION=\"Temurin-25.0.3+9\"\n\
        JAVA_RUNTIME_VERSION=\"25.0.3+9-LTS\"\nJAVA_VERSION=\"25.0.3\"\n";

    #[test]
    fn a_jdk_is_what_its_release_file_says() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), Some(TEMURIN_25), &[("java", "exit 1"), ("javac", ""), ("jcmd", "")]);
        let jdk = Jdk::at(folder.path(), "a test").unwrap();
        assert_eq!((jdk.feature, jdk.version.as_str()), (25, "25.0.3+9"));
        assert_eq!(jdk.describe(), "25.0.3+9 (Eclipse Adoptium)");
        assert!(jdk.has_javac && jdk.has_jcmd);
    }

    #[test]
    fn a_runtime_with_a_poor_release_file_is_asked_itself() {
        let folder = tempfile::tempdir().unwrap();
        let says = "echo '    java.runtime.version = 21.0.8+9-LTS
    java.vendor = Somebody' >&2";
        made_up(folder.path(), Some("JAVA_VERSION=\"21.0.8\"\n"), &[("java", says)]);
        let jdk = Jdk::at(folder.path(), "a test").unwrap();
        assert_eq!(jdk.describe(), "21.0.8+9 (Somebody)");
        assert!(!jdk.has_javac && !jdk.has_jcmd);
    }

    #[test]
    fn a_runtime_that_says_only_its_version_is_good_enough() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), Some("JAVA_VERSION=\"21.0.8\"\n"), &[("java", "exit 1")]);
        assert_eq!(Jdk::at(folder.path(), "a test").unwrap().describe(), "21.0.8");
    }

    /// Starts a program called `java`.
    fn started(command: &mut Command) -> Child {
        let mut child = command.spawn().unwrap();
        while ProcessTree::rooted_at(child.id()).java_pid().is_none() {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?} of {command:?}: a user needs mounts of his own here");
            thread::sleep(Duration::from_millis(5));
        }
        child
    }

    #[test]
    fn a_running_java_is_the_one_at_its_path_only_where_both_are_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = |name: &str, version: &str| {
            let home = folder.path().join(name);
            made_up(&home, Some(&jdk_release(version)), &[("java", "")]);
            fs::copy("/bin/sleep", home.join("bin/java")).unwrap();
            home
        };
        let (ours, other) = (home("ours", "25.0.3+9"), home("other", "21.0.8+9"));
        let running = |command: &mut Command| {
            let mut java = started(command);
            let version = Jdk::running_below(java.id()).map(|it| it.version);
            java.kill().unwrap();
            java.wait().unwrap();
            version
        };
        let version = running(Command::new(ours.join("bin/java")).arg("60"));
        assert_eq!(version.as_deref(), Some("25.0.3+9"));
        let script = "$1 && exec \"$2/bin/java\" 60";
        let mount = format!("mount --bind {} {}", other.display(), ours.display());
        for (mounted, expected) in [("true", Some("25.0.3+9")), (&mount, None)] {
            let mut unshare = Command::new("unshare");
            unshare
                .args(["--map-root-user", "--mount", "sh", "-c", &script.replace("$1", mounted), "sh", ""])
                .arg(&ours);
            assert_eq!(running(&mut unshare).as_deref(), expected, "{mounted}");
        }
    }

    #[test]
    fn a_folder_without_java_is_no_jdk() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), Some(TEMURIN_25), &[]);
        assert_eq!(Jdk::at(folder.path(), "a test"), None);
        fs::write(folder.path().join("bin/java"), "not executable").unwrap();
        assert_eq!(Jdk::at(folder.path(), "a test"), None);
    }

    #[test]
    fn feature_versions_of_all_times_are_understood() {
        let of = |version| feature_of(version).unwrap();
        assert_eq!([of("1.8.0_402"), of("17.0.15+6"), of("26-ea+3"), of("25")], [8, 17, 26, 25]);
        assert_eq!(feature_of("unknown"), None);
    }
}
