//! Remembers the sessions that this user has begun on this machine. A result, with the `command` in it, may have been written by somebody
//! else. So `--resume` repeats only a command line that is remembered here.

use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use threadcount_load::whole_file;
use threadcount_machine::cache;
use threadcount_machine::trusted::{OWNER_ONLY, check_way};

/// Enough for some ten thousand different command lines. A larger file is started anew.
const LARGEST_BYTES: u64 = 4 << 20;

/// A command line as its result stores it, and the folder in which it was typed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Begun {
    folder: PathBuf,
    command: Vec<String>,
}

/// Remembers a command line. If that fails, its session can only be resumed with the whole command.
pub(in crate::cli) fn remember(command: &[String]) {
    let _ = std::env::current_dir().and_then(|folder| add(&file(), folder, command));
}

/// The folder in which this command line was typed, or `None` if that is unknown. Of several folders it is the nearest one above the
/// result.
pub(super) fn folder_of(command: &[String], result: &Path) -> Option<PathBuf> {
    nearest(read(&file()), command, result)
}

/// The file with the command lines.
pub(super) fn file() -> PathBuf {
    cache::state_folder().join("sessions")
}

/// Reads the file. It counts as empty if others could have written it.
fn read(file: &Path) -> Vec<Begun> {
    let text = check_way(file).and_then(|()| whole_file::read_text(file, LARGEST_BYTES)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn add(file: &Path, folder: PathBuf, command: &[String]) -> io::Result<()> {
    let begun = Begun { folder, command: command.to_vec() };
    let known = read(file);
    if known.contains(&begun) {
        return Ok(());
    }
    let parent = file.parent().unwrap_or_else(|| Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(parent)?;
    check_way(parent)?;
    if fs::metadata(file).is_ok_and(|found| found.len() >= LARGEST_BYTES / 2) {
        fs::remove_file(file)?;
    }
    let line = serde_json::to_string(&begun)? + "\n";
    // One write, because other sessions may add a line at the same moment.
    OpenOptions::new().append(true).create(true).mode(0o600).open(file)?.write_all(line.as_bytes())
}

fn nearest(known: Vec<Begun>, command: &[String], result: &Path) -> Option<PathBuf> {
    let typed = known.into_iter().filter(|begun| begun.command == command).map(|begun| begun.folder);
    let nearness =
        |folder: &PathBuf| if result.starts_with(folder) { folder.components().count() } else { 0 };
    // Of several that are equally near, the last one.
    typed.max_by_key(nearness)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn tests_remember_their_sessions_in_a_folder_of_their_own() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target/test-state");
        assert!(
            file().starts_with(&own),
            "{}: `.cargo/config.toml` names {}",
            file().display(),
            own.display()
        );
    }

    #[test]
    fn only_a_command_line_that_was_typed_here_is_known_with_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("cache/sessions");
        let words = |last: &str| ["threadcount", "run", last].map(str::to_owned);
        for folder in ["/a", "/a/b", "/c", "/a"] {
            add(&file, folder.into(), &words("mine")).unwrap();
        }
        assert_eq!(read(&file).len(), 3);
        let found = |last: &str, result: &str| nearest(read(&file), &words(last), Path::new(result));
        assert_eq!(found("mine", "/a/b/out"), Some("/a/b".into()));
        assert_eq!(found("mine", "/a/out"), Some("/a".into()));
        assert_eq!(found("mine", "/elsewhere"), Some("/c".into()), "the last one");
        assert_eq!(found("theirs", "/a/b/out"), None);
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        assert_eq!(found("mine", "/a/b/out"), None, "others may have written it");
    }
}
