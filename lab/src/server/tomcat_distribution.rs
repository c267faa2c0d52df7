//! Apache's own Tomcat distributions: fetched from Maven Central by `mvn`, checked, unpacked once into the cache.

use sha2::{Digest, Sha512};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A version we know: the newest of its line when this was written, and the SHA-512 of its tar.gz.
struct Pinned {
    line: &'static str,
    version: &'static str,
    sha512: &'static str,
}

/// The only place where a version of Tomcat stands.
const PINNED: [Pinned; 3] = [
    Pinned {
        line: "11.0",
        version: "11.0.24",
        sha512: "a2fb1bd511735bd3d135b87f628d2b1f71a43aed7c4d7511e770092e571bad6d5ad9e97a580852119770477fd86d7ed156d83d3cee2854bce260725ce48934d0",
    },
    Pinned {
        line: "10.1",
        version: "10.1.59",
        sha512: "992a8e88fc9c0338445f018a1e4a2757c9e71708dba795e2864c9b1613f2b3b9b19c048e787682deae6d6bff9971defc746e31282085d52ef1d32192e09f7a0f",
    },
    Pinned {
        line: "10.0",
        version: "10.0.20",
        sha512: "53bfdbac2e6af5cca97dc01fffb0428380fbe21d8375f45d015c16a57017ff946fdc555ebad9e9fcbcb97b438c4f6daf3aa39d36ca79fd5a372cfc1a80b7117f",
    },
];

/// The Maven plugin that copies an artifact to a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// The class without which Tomcat has no virtual threads of its own.
const VIRTUAL_EXECUTOR: &str = "org/apache/catalina/core/StandardVirtualThreadExecutor.class";

/// How we know that the archive is Apache's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Its SHA-512 is the one in our table.
    Pinned,
    /// A version we do not know: Maven compared it with the checksum beside it on Maven Central.
    ByMaven,
}

/// An unpacked distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Its folder, `CATALINA_HOME`.
    pub home: PathBuf,
    /// The exact version.
    pub version: String,
    /// How it was checked.
    pub checked: Checked,
}

impl Distribution {
    /// `Apache Tomcat 11.0.24`, with a note where the version is not one we know.
    #[must_use]
    pub fn product(&self) -> String {
        let note = match self.checked {
            Checked::Pinned => "",
            Checked::ByMaven => " (checked by Maven only; not in Threadcount's table)",
        };
        format!("Apache Tomcat {}{note}", self.version)
    }

    /// Does it bring `StandardVirtualThreadExecutor`? (Tomcat 10.1.10 and 11.0 do, 10.0 does not.)
    #[must_use]
    pub fn has_virtual_executor(&self) -> bool {
        // The names of a jar's entries stand in it uncompressed.
        let jar = fs::read(self.home.join("lib/catalina.jar")).unwrap_or_default();
        jar.windows(VIRTUAL_EXECUTOR.len()).any(|it| it == VIRTUAL_EXECUTOR.as_bytes())
    }
}

/// Why there is no distribution.
#[derive(Debug, thiserror::Error)]
pub enum DistributionError {
    /// Not a line or a version we can run.
    #[error("Tomcat `{0}` is not a version that Threadcount runs; write {known} or an exact version of 10 or newer", known = known_lines())]
    Unknown(String),
    /// No Maven.
    #[error(
        "Tomcat {version} is fetched by Maven, and `mvn` was not found; install it with `apt install maven`"
    )]
    NoMaven {
        /// What was to be fetched.
        version: String,
    },
    /// Maven failed.
    #[error("Maven could not fetch org.apache.tomcat:tomcat:{version}:tar.gz. It says: {says}")]
    NotFetched {
        /// What was to be fetched.
        version: String,
        /// Its error lines.
        says: String,
    },
    /// Somebody changed the archive.
    #[error(
        "The archive of Tomcat {version} is not the one that Apache published: its SHA-512 is {found}, expected {expected}. \
         Remove ~/.m2/repository/org/apache/tomcat/tomcat/{version} and try again"
    )]
    WrongChecksum {
        /// Which version.
        version: String,
        /// In our table.
        expected: String,
        /// Of the file.
        found: String,
    },
    /// Files.
    #[error("Cannot unpack Tomcat into {folder}: {source}")]
    Unpack {
        /// The cache.
        folder: String,
        /// Why not.
        source: io::Error,
    },
}

fn pinned(wanted: &str) -> Option<&'static Pinned> {
    PINNED.iter().find(|it| it.line == wanted || it.version == wanted)
}

/// The version of a line or of an exact version.
fn meant(wanted: &str) -> Option<&str> {
    pinned(wanted).map(|it| it.version).or_else(|| is_exact(wanted).then_some(wanted))
}

fn is_whole(home: &Path) -> bool {
    home.join("bin/bootstrap.jar").is_file()
}

fn known_lines() -> String {
    PINNED.map(|it| format!("\"{}\"", it.line)).join(", ")
}

/// Where distributions are kept, and who fetches them.
#[derive(Clone, Debug)]
pub struct DistributionStore {
    /// The folder for the unpacked ones.
    pub folder: PathBuf,
    /// Maven's program.
    pub maven: OsString,
}

impl DistributionStore {
    /// In our cache, by the `mvn` of the PATH.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self { folder: crate::host::cache::folder().join("tomcat"), maven: "mvn".into() }
    }

    /// The distribution of a line (`11.0`: the version we know) or of an exact version (`10.1.42`); fetched, checked and
    /// unpacked where it is not yet there.
    ///
    /// # Errors
    /// [`DistributionError`].
    pub fn get(&self, wanted: &str) -> Result<Distribution, DistributionError> {
        let version = meant(wanted).ok_or_else(|| DistributionError::Unknown(wanted.to_owned()))?;
        let pinned = pinned(wanted);
        let home = self.home(version);
        if !is_whole(&home) {
            self.install(version, pinned, &home)?;
        }
        let checked = if pinned.is_some() { Checked::Pinned } else { Checked::ByMaven };
        Ok(Distribution { home, version: version.to_owned(), checked })
    }

    /// The version that [`get`](Self::get) would fetch; `None`: it is here, or there is no such version.
    #[must_use]
    pub fn missing<'a>(&self, wanted: &'a str) -> Option<&'a str> {
        meant(wanted).filter(|version| !is_whole(&self.home(version)))
    }

    fn home(&self, version: &str) -> PathBuf {
        self.folder.join(format!("apache-tomcat-{version}"))
    }

    /// Everything happens in a folder beside the place it ends in, and one rename makes it visible: whoever looks finds a whole
    /// distribution or none.
    fn install(&self, version: &str, pinned: Option<&Pinned>, home: &Path) -> Result<(), DistributionError> {
        let failed = |source| DistributionError::Unpack { folder: self.folder.display().to_string(), source };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let working = tempfile::Builder::new().prefix(".unpack-").tempdir_in(&self.folder).map_err(failed)?;
        let archive = self.fetch(version, working.path())?;
        if let Some(pinned) = pinned {
            let found = sha512(&archive).map_err(failed)?;
            if found != pinned.sha512 {
                let (version, expected) = (version.to_owned(), pinned.sha512.to_owned());
                return Err(DistributionError::WrongChecksum { version, expected, found });
            }
        }
        let reader = File::open(&archive).map_err(failed)?;
        tar::Archive::new(flate2::read::GzDecoder::new(reader)).unpack(working.path()).map_err(failed)?;
        let unpacked = working.path().join(format!("apache-tomcat-{version}"));
        if home.exists() && !is_whole(home) {
            fs::remove_dir_all(home).map_err(failed)?;
        }
        match fs::rename(unpacked, home) {
            // Another Threadcount was faster.
            Err(_) if is_whole(home) => Ok(()),
            done => done.map_err(failed),
        }
    }

    /// Maven takes it from its own repository on this machine, else from Maven Central (or the mirror of the user's
    /// settings.xml), where a wrong checksum is an error.
    fn fetch(&self, version: &str, into: &Path) -> Result<PathBuf, DistributionError> {
        let fetching = Command::new(&self.maven)
            .args(["--batch-mode", "--quiet", "--strict-checksums", COPY])
            .arg(format!("-Dartifact=org.apache.tomcat:tomcat:{version}:tar.gz"))
            .arg(format!("-DoutputDirectory={}", into.display()))
            .current_dir(into)
            .stdin(Stdio::null())
            .output();
        let version = version.to_owned();
        let fetching = fetching.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DistributionError::NoMaven { version: version.clone() },
            _ => DistributionError::NotFetched { version: version.clone(), says: error.to_string() },
        })?;
        let archive = into.join(format!("tomcat-{version}.tar.gz"));
        if fetching.status.success() && archive.is_file() {
            return Ok(archive);
        }
        Err(DistributionError::NotFetched { version, says: error_lines(&fetching.stdout, &fetching.stderr) })
    }
}

/// The first lines that say something; the rest of what Maven prints is advice about itself.
fn error_lines(stdout: &[u8], stderr: &[u8]) -> String {
    let text = [String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr)].join("\n");
    let lines = text.lines().map(|line| line.trim_start_matches("[ERROR]").trim());
    let told: Vec<_> = lines.filter(|line| !line.is_empty()).take(3).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join(" ") }
}

/// Three numbers and perhaps a milestone (`12.0.0-M1`), of a Tomcat that knows jakarta.servlet.
fn is_exact(version: &str) -> bool {
    let (numbers, milestone) = version.split_once('-').unwrap_or((version, ""));
    let numbers: Vec<Option<u32>> = numbers.split('.').map(|it| it.parse().ok()).collect();
    let is_milestone = milestone.chars().all(|it| it.is_ascii_alphanumeric());
    matches!(numbers.as_slice(), [Some(10..), Some(_), Some(_)]) && is_milestone
}

fn sha512(path: &Path) -> io::Result<String> {
    let mut hash = Sha512::new();
    io::copy(&mut File::open(path)?, &mut HashWriter(&mut hash))?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

struct HashWriter<'a>(&'a mut Sha512);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A store whose Maven is a script that knows `$version` and `$folder`.
    fn store(root: &Path, script: &str) -> DistributionStore {
        let maven = root.join("mvn");
        let arguments = "for it; do case $it in
            -Dartifact=*) it=${it#*:tomcat:}; version=${it%%:*};;
            -DoutputDirectory=*) folder=${it#*=};;
        esac; done";
        fs::write(&maven, format!("#!/bin/sh\n{arguments}\n{script}\n")).unwrap();
        fs::set_permissions(&maven, fs::Permissions::from_mode(0o755)).unwrap();
        DistributionStore { folder: root.join("tomcat"), maven: maven.into() }
    }

    const MAKES_AN_ARCHIVE: &str = "cd $folder && mkdir -p x/apache-tomcat-$version/bin && \
        echo jar > x/apache-tomcat-$version/bin/bootstrap.jar && tar -czf tomcat-$version.tar.gz -C x . && rm -r x";

    #[test]
    fn an_exact_version_is_fetched_and_unpacked_once_and_its_check_is_told() {
        let root = tempfile::tempdir().unwrap();
        let store =
            store(root.path(), &format!("echo >> {}/calls; {MAKES_AN_ARCHIVE}", root.path().display()));
        assert_eq!((store.missing("11.0.1"), store.missing("11.0")), (Some("11.0.1"), Some("11.0.24")));
        assert_eq!(store.missing("9"), None, "no such version is ever fetched");
        for _ in 0..2 {
            let distribution = store.get("11.0.1").unwrap();
            assert_eq!(store.missing("11.0.1"), None);
            assert!(distribution.home.join("bin/bootstrap.jar").is_file());
            assert!(distribution.product().starts_with("Apache Tomcat 11.0.1 (checked by Maven only"));
        }
        assert_eq!(fs::read_to_string(root.path().join("calls")).unwrap().lines().count(), 1);
        assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 1, "nothing but the distribution stays");
    }

    #[test]
    fn a_wrong_archive_of_a_known_version_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), MAKES_AN_ARCHIVE);
        let says = store.get("11.0").unwrap_err().to_string();
        assert!(says.contains("Tomcat 11.0.24 is not the one that Apache published"), "{says}");
        assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 0);
    }

    #[test]
    fn mavens_error_is_passed_on() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), "echo '[ERROR] Could not find artifact'; exit 1");
        let says = store.get("12.0.0-M1").unwrap_err().to_string();
        assert!(says.contains("12.0.0-M1:tar.gz. It says: Could not find artifact"), "{says}");
    }

    #[test]
    fn a_missing_maven_is_answered_with_how_to_install_it() {
        let root = tempfile::tempdir().unwrap();
        let store = DistributionStore { folder: root.path().to_owned(), maven: "/nowhere/mvn".into() };
        assert!(store.get("11.0").unwrap_err().to_string().contains("apt install maven"));
    }

    #[test]
    fn lines_we_do_not_know_are_answered_with_those_we_do() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), "exit 1");
        for wanted in ["12", "9.0.80", "newest", "11.0.1/../x", "10.1.1-../x"] {
            let says = store.get(wanted).unwrap_err().to_string();
            assert!(says.contains("write \"11.0\", \"10.1\", \"10.0\" or an exact version"), "{says}");
        }
    }

    #[test]
    fn the_executor_of_virtual_threads_is_looked_for_in_the_jar() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("lib")).unwrap();
        let distribution =
            Distribution { home: root.path().to_owned(), version: String::new(), checked: Checked::Pinned };
        assert!(!distribution.has_virtual_executor());
        fs::write(root.path().join("lib/catalina.jar"), format!("PK..{VIRTUAL_EXECUTOR}..")).unwrap();
        assert!(distribution.has_virtual_executor());
    }
}
