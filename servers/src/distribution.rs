//! Server distributions, which `mvn` fetches from Maven Central and we check and unpack once into the cache.

use sha2::{Digest, Sha512};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server product that is published as an archive.
#[derive(Debug)]
pub struct Product {
    /// The name, e.g. `Tomcat`; in small letters it is the folder in the cache.
    pub name: &'static str,
    pub publisher: &'static str,
    /// The name in results: `Apache Tomcat`.
    pub title: &'static str,
    /// The Maven group; with `artifact` it identifies the tar.gz.
    pub group: &'static str,
    pub artifact: &'static str,
    /// The folder in the archive, without `-VERSION`.
    pub folder: &'static str,
    /// A file that exists once unpacking is complete.
    pub whole: &'static str,
    /// The oldest major version that we can run.
    pub oldest: u32,
    /// The versions that we know.
    pub pinned: &'static [Pinned],
}

/// A version that we know: the newest of its line when this was written, with the SHA-512 of its tar.gz.
#[derive(Debug)]
pub struct Pinned {
    /// The line, e.g. `11.0`.
    pub line: &'static str,
    /// The exact version, e.g. `11.0.24`.
    pub version: &'static str,
    pub sha512: &'static str,
}

impl Product {
    fn pinned(&self, wanted: &str) -> Option<&'static Pinned> {
        self.pinned.iter().find(|it| it.line == wanted || it.version == wanted)
    }

    /// The exact version for a line (`11.0`) or an exact version.
    fn meant<'a>(&self, wanted: &'a str) -> Option<&'a str> {
        self.pinned(wanted).map(|it| it.version).or_else(|| self.is_exact(wanted).then_some(wanted))
    }

    fn known_lines(&self) -> String {
        self.pinned.iter().map(|it| format!("\"{}\"", it.line)).collect::<Vec<_>>().join(", ")
    }

    /// Whether this is an exact version (three numbers, perhaps a milestone as in `12.0.0-M1`) that is new enough for jakarta.servlet.
    fn is_exact(&self, version: &str) -> bool {
        let (numbers, milestone) = version.split_once('-').unwrap_or((version, ""));
        let numbers: Vec<Option<u32>> = numbers.split('.').map(|it| it.parse().ok()).collect();
        let is_milestone = milestone.chars().all(|it| it.is_ascii_alphanumeric());
        matches!(numbers.as_slice(), [Some(major), Some(_), Some(_)] if *major >= self.oldest) && is_milestone
    }
}

/// The Maven plugin that copies an artifact to a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// The way in which an archive was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Its SHA-512 is the one in our table.
    Pinned,
    /// Maven compared it with the checksum on Maven Central, because our table does not contain the version.
    ByMaven,
}

/// An unpacked distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    pub home: PathBuf,
    pub version: String,
    pub checked: Checked,
    /// The product's name in results: `Apache Tomcat`.
    pub title: &'static str,
}

impl Distribution {
    /// `Apache Tomcat 11.0.24`, with a note if our table does not contain the version.
    #[must_use]
    pub fn product(&self) -> String {
        let note = match self.checked {
            Checked::Pinned => "",
            Checked::ByMaven => " (checked by Maven only; not in Threadcount's table)",
        };
        format!("{} {}{note}", self.title, self.version)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DistributionError {
    /// The text is neither a line nor a version that we can run.
    #[error(
        "{} `{wanted}` is not a version that Threadcount runs; write {} or an exact version of {} or newer",
        .product.name, .product.known_lines(), .product.oldest
    )]
    Unknown {
        product: &'static Product,
        /// The version as written.
        wanted: String,
    },
    #[error(
        "{} {version} is fetched by Maven, and `mvn` was not found; install it with `apt install maven`",
        .product.name
    )]
    NoMaven { product: &'static Product, version: String },
    #[error(
        "Maven could not fetch {}:{}:{version}:tar.gz. Its output: {says}",
        .product.group, .product.artifact
    )]
    NotFetched { product: &'static Product, version: String, says: String },
    #[error(
        "The archive of {} {version} is not the one that {} published: its SHA-512 is {found}, expected {expected}. \
         Remove ~/.m2/repository/{}/{}/{version} and try again",
        .product.name, .product.publisher, .product.group.replace('.', "/"), .product.artifact
    )]
    WrongChecksum {
        product: &'static Product,
        version: String,
        /// The SHA-512 in our table.
        expected: String,
        found: String,
    },
    #[error("Cannot unpack {} into {folder}: {source}", .product.name)]
    Unpack { product: &'static Product, folder: String, source: io::Error },
}

/// The cache of distributions, with the Maven that fills it.
#[derive(Clone, Debug)]
pub struct DistributionStore {
    /// The folder of the unpacked distributions, with a subfolder per product.
    pub folder: PathBuf,
    pub maven: OsString,
}

impl DistributionStore {
    /// The store in our cache, filled by the `mvn` on the PATH.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self { folder: threadcount_machine::cache::folder(), maven: "mvn".into() }
    }

    /// The distribution of a line (`11.0`: the version that we know) or of an exact version (`10.1.42`). If it is not in the
    /// cache yet, it is fetched, checked and unpacked.
    ///
    /// # Errors
    /// [`DistributionError`].
    pub fn get(&self, product: &'static Product, wanted: &str) -> Result<Distribution, DistributionError> {
        let unknown = || DistributionError::Unknown { product, wanted: wanted.to_owned() };
        let version = product.meant(wanted).ok_or_else(unknown)?;
        let pinned = product.pinned(wanted);
        let home = self.home(product, version);
        if !home.join(product.whole).is_file() {
            self.install(product, version, pinned, &home)?;
        }
        let checked = if pinned.is_some() { Checked::Pinned } else { Checked::ByMaven };
        Ok(Distribution { home, version: version.to_owned(), checked, title: product.title })
    }

    /// The version that [`get`](Self::get) would fetch; `None` if it is in the cache or does not exist.
    #[must_use]
    pub fn missing<'a>(&self, product: &Product, wanted: &'a str) -> Option<&'a str> {
        product.meant(wanted).filter(|version| !self.home(product, version).join(product.whole).is_file())
    }

    fn product_folder(&self, product: &Product) -> PathBuf {
        self.folder.join(product.name.to_lowercase())
    }

    fn home(&self, product: &Product, version: &str) -> PathBuf {
        self.product_folder(product).join(format!("{}-{version}", product.folder))
    }

    /// Unpacks into a folder beside the target and makes it visible by one rename, so that other processes see a whole
    /// distribution or none.
    fn install(
        &self,
        product: &'static Product,
        version: &str,
        pinned: Option<&Pinned>,
        home: &Path,
    ) -> Result<(), DistributionError> {
        let all = self.product_folder(product);
        let failed =
            |source| DistributionError::Unpack { product, folder: all.display().to_string(), source };
        fs::create_dir_all(&all).map_err(failed)?;
        let working = tempfile::Builder::new().prefix(".unpack-").tempdir_in(&all).map_err(failed)?;
        let archive = self.fetch(product, version, working.path())?;
        if let Some(pinned) = pinned {
            let found = sha512(&archive).map_err(failed)?;
            if found != pinned.sha512 {
                let (version, expected) = (version.to_owned(), pinned.sha512.to_owned());
                return Err(DistributionError::WrongChecksum { product, version, expected, found });
            }
        }
        let reader = File::open(&archive).map_err(failed)?;
        tar::Archive::new(flate2::read::GzDecoder::new(reader)).unpack(working.path()).map_err(failed)?;
        let unpacked = working.path().join(format!("{}-{version}", product.folder));
        let is_whole = || home.join(product.whole).is_file();
        if home.exists() && !is_whole() {
            fs::remove_dir_all(home).map_err(failed)?;
        }
        match fs::rename(unpacked, home) {
            // Another process has already installed it.
            Err(_) if is_whole() => Ok(()),
            done => done.map_err(failed),
        }
    }

    /// Lets Maven copy the archive from its local repository, or download it from Maven Central (or the mirror in the user's
    /// settings.xml), where a wrong checksum is an error.
    fn fetch(
        &self,
        product: &'static Product,
        version: &str,
        into: &Path,
    ) -> Result<PathBuf, DistributionError> {
        let Product { group, artifact, .. } = product;
        let fetching = Command::new(&self.maven)
            .args(["--batch-mode", "--quiet", "--strict-checksums", COPY])
            .arg(format!("-Dartifact={group}:{artifact}:{version}:tar.gz"))
            .arg(format!("-DoutputDirectory={}", into.display()))
            .current_dir(into)
            .stdin(Stdio::null())
            .output();
        let version = version.to_owned();
        let fetching = fetching.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DistributionError::NoMaven { product, version: version.clone() },
            _ => DistributionError::NotFetched { product, version: version.clone(), says: error.to_string() },
        })?;
        let archive = into.join(format!("{artifact}-{version}.tar.gz"));
        if fetching.status.success() && archive.is_file() {
            return Ok(archive);
        }
        let says = error_lines(&fetching.stdout, &fetching.stderr);
        Err(DistributionError::NotFetched { product, version, says })
    }
}

/// The first error lines of Maven's output; the rest is general advice.
fn error_lines(stdout: &[u8], stderr: &[u8]) -> String {
    let text = [String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr)].join("\n");
    let lines = text.lines().map(|line| line.trim_start_matches("[ERROR]").trim());
    let errors: Vec<_> = lines.filter(|line| !line.is_empty()).take(3).collect();
    if errors.is_empty() { "nothing".to_owned() } else { errors.join(" ") }
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
    use crate::tomcat::distribution::TOMCAT;
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
        DistributionStore { folder: root.to_owned(), maven: maven.into() }
    }

    const MAKES_AN_ARCHIVE: &str = "cd $folder && mkdir -p x/apache-tomcat-$version/bin && \
        echo jar > x/apache-tomcat-$version/bin/bootstrap.jar && tar -czf tomcat-$version.tar.gz -C x . && rm -r x";

    #[test]
    fn an_exact_version_is_fetched_and_unpacked_once_and_its_check_is_told() {
        let root = tempfile::tempdir().unwrap();
        let store =
            store(root.path(), &format!("echo >> {}/calls; {MAKES_AN_ARCHIVE}", root.path().display()));
        assert_eq!(
            (store.missing(&TOMCAT, "11.0.1"), store.missing(&TOMCAT, "11.0")),
            (Some("11.0.1"), Some("11.0.24"))
        );
        assert_eq!(store.missing(&TOMCAT, "9"), None, "no such version is ever fetched");
        for _ in 0..2 {
            let distribution = store.get(&TOMCAT, "11.0.1").unwrap();
            assert_eq!(store.missing(&TOMCAT, "11.0.1"), None);
            assert!(distribution.home.join("bin/bootstrap.jar").is_file());
            assert!(distribution.product().starts_with("Apache Tomcat 11.0.1 (checked by Maven only"));
        }
        assert_eq!(fs::read_to_string(root.path().join("calls")).unwrap().lines().count(), 1);
        assert_eq!(
            fs::read_dir(store.folder.join("tomcat")).unwrap().count(),
            1,
            "nothing but the distribution stays"
        );
    }

    #[test]
    fn a_wrong_archive_of_a_known_version_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), MAKES_AN_ARCHIVE);
        let says = store.get(&TOMCAT, "11.0").unwrap_err().to_string();
        assert!(says.contains("Tomcat 11.0.24 is not the one that Apache published"), "{says}");
        assert_eq!(fs::read_dir(store.folder.join("tomcat")).unwrap().count(), 0);
    }

    #[test]
    fn mavens_error_is_passed_on() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), "echo '[ERROR] Could not find artifact'; exit 1");
        let says = store.get(&TOMCAT, "12.0.0-M1").unwrap_err().to_string();
        assert!(says.contains("12.0.0-M1:tar.gz. Its output: Could not find artifact"), "{says}");
    }

    #[test]
    fn a_missing_maven_is_answered_with_how_to_install_it() {
        let root = tempfile::tempdir().unwrap();
        let store = DistributionStore { folder: root.path().to_owned(), maven: "/nowhere/mvn".into() };
        assert!(store.get(&TOMCAT, "11.0").unwrap_err().to_string().contains("apt install maven"));
    }

    #[test]
    fn lines_we_do_not_know_are_answered_with_those_we_do() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), "exit 1");
        for wanted in ["12", "9.0.80", "newest", "11.0.1/../x", "10.1.1-../x"] {
            let says = store.get(&TOMCAT, wanted).unwrap_err().to_string();
            assert!(says.contains("write \"11.0\", \"10.1\", \"10.0\" or an exact version"), "{says}");
        }
    }
}
