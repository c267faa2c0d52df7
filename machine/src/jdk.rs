//! One Java runtime on this machine.

use super::java_version::{JavaVersion, RuntimeProperties};
use super::read_limit::ReadLimit;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A Java runtime: a JDK, or a JRE if `has_javac` is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// The folder that `JAVA_HOME` would name, with symbolic links resolved.
    pub home: PathBuf,
    /// The feature version: 21, 25.
    pub feature: u16,
    /// The full version, e.g. `25.0.3+9`.
    pub version: String,
    /// The maker of the build, e.g. `Eclipse Adoptium`.
    pub vendor: Option<String>,
    pub has_javac: bool,
    /// Whether it has `jcmd`.
    pub has_jcmd: bool,
    /// The place where it was found, in words: `JAVA_HOME`, `/usr/lib/jvm`, `SDKMAN`, ...
    pub found_in: String,
}

impl Jdk {
    /// The runtime in a folder, according to its file `release`; nothing in the folder is executed. `None` if there is no Java runtime, or
    /// the file does not name its version.
    #[must_use]
    pub fn at(home: &Path, found_in: &str) -> Option<Self> {
        let home = home_of_java(home)?;
        let java = released(&home).java_version()?;
        Some(Self::new(home, java, found_in))
    }

    pub(super) fn new(home: PathBuf, java: JavaVersion, found_in: &str) -> Self {
        Self {
            feature: java.feature,
            version: java.version,
            vendor: java.vendor,
            has_javac: is_executable(&home.join("bin/javac")),
            has_jcmd: is_executable(&home.join("bin/jcmd")),
            found_in: found_in.to_owned(),
            home,
        }
    }

    /// The runtime that a program `java` belongs to.
    #[must_use]
    pub fn of_program(java: &Path, found_in: &str) -> Option<Self> {
        let java = fs::canonicalize(java).ok()?;
        let is_java = java.file_name().is_some_and(|name| name == "java");
        is_java.then(|| Self::at(java.parent()?.parent()?, found_in)).flatten()
    }

    /// Whether this may be the runtime that a record describes: a file `release` may omit the build or the vendor.
    #[must_use]
    pub fn may_be(&self, described: &str) -> bool {
        let rest = described.strip_prefix(self.version.as_str());
        let is_same_build =
            rest.is_some_and(|rest| !rest.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '.'));
        let is_same_vendor =
            self.vendor.as_ref().is_none_or(|vendor| described.ends_with(&format!(" ({vendor})")));
        is_same_build && (is_same_vendor || !described.ends_with(')'))
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

    /// Version and vendor in the form used in records: `25.0.3+9 (Eclipse Adoptium)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let (version, vendor) = (self.version.clone(), self.vendor.clone());
        JavaVersion { feature: self.feature, version, vendor }.describe()
    }

    /// The numbers in the version, for sorting the newest first.
    #[must_use]
    pub fn version_numbers(&self) -> Vec<u64> {
        let is_separator = |it: char| !it.is_ascii_digit();
        self.version.split(is_separator).filter_map(|it| it.parse().ok()).collect()
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// The folder of a runtime, with symbolic links resolved.
pub(super) fn home_of_java(home: &Path) -> Option<PathBuf> {
    fs::canonicalize(home).ok().filter(|home| is_executable(&home.join("bin/java")))
}

/// The properties in the file `release`.
pub(super) fn released(home: &Path) -> RuntimeProperties {
    let text = ReadLimit::RELEASE_FILE.read_file(&home.join("release")).unwrap_or_default();
    RuntimeProperties::in_release_file(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{jdk_release, made_up_jdk as made_up};

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
    fn no_program_in_the_folder_is_run_whatever_its_release_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let (proof, release) = (folder.path().join("proof"), folder.path().join("release"));
        let script = format!("touch {}", proof.display());
        made_up(folder.path(), None, &[("java", &script)]);
        assert_eq!(Jdk::at(folder.path(), "a test"), None);
        rustix::fs::mkfifoat(rustix::fs::CWD, &release, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(Jdk::at(folder.path(), "a test"), None, "and a pipe is not waited for");
        fs::remove_file(&release).unwrap();
        fs::write(&release, "JAVA_VERSION=\"21.0.8\"\n").unwrap();
        assert_eq!(Jdk::at(folder.path(), "a test").unwrap().describe(), "21.0.8");
        assert!(!proof.exists());
    }

    #[test]
    fn a_runtime_without_a_build_or_a_vendor_may_be_the_one_of_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = |release: &str| {
            made_up(folder.path(), Some(release), &[("java", "")]);
            Jdk::at(folder.path(), "a test").unwrap()
        };
        let poor = runtime("JAVA_VERSION=\"21.0.8\"\n");
        assert!(["21.0.8", "21.0.8+9", "21.0.8+9 (Maker)"].iter().all(|it| poor.may_be(it)));
        assert!(!["21.0.80", "21.0.8.1+2 (Maker)", "21.0.9 (Maker)"].iter().any(|it| poor.may_be(it)));
        let whole = runtime(&jdk_release("21.0.8+9"));
        assert!(whole.may_be("21.0.8+9 (Maker)") && whole.may_be("21.0.8+9"), "{whole:?}");
        assert!(!whole.may_be("21.0.8+9 (Other)") && !whole.may_be("21.0.8+10 (Maker)"), "{whole:?}");
    }

    #[test]
    fn a_folder_without_java_is_no_jdk() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), Some(TEMURIN_25), &[]);
        assert_eq!(Jdk::at(folder.path(), "a test"), None);
        fs::write(folder.path().join("bin/java"), "not executable").unwrap();
        assert_eq!(Jdk::at(folder.path(), "a test"), None);
    }
}
