//! The folder where Threadcount and a JVM meet: it contains the probe's socket, and files that the JVM could not see otherwise.

use crate::attach::JvmProcess;
use crate::attach::in_tmp;
use crate::attach::in_tmp::HeldFolder;
use crate::read_limit::ReadLimit;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use threadcount_load::whole_file::WholeFile;

const SOCKET: &str = "probe.sock";
const JAR: &str = "probe.jar";
const RECORDING: &str = "recording.jfr";

/// A meeting folder, removed with all its contents when this is dropped.
#[derive(Debug)]
pub enum Meeting {
    /// The JVM sees our files and runs as our user.
    Ours { folder: HeldFolder, jar: PathBuf },
    /// The JVM sees other files or runs as another user, so the folder lies in the JVM's own /tmp and belongs to its user.
    Theirs { jvm: JvmProcess, folder: HeldFolder, inside: PathBuf, recording: Option<PathBuf> },
}

impl Meeting {
    /// Creates the folder and the socket in it.
    ///
    /// # Errors
    /// One of the folders for temporary files cannot be written.
    pub fn prepare(jvm: JvmProcess, jar: &Path) -> io::Result<(Self, UnixListener)> {
        let name = in_tmp::unpredictable("threadcount")?;
        if !jvm.is_foreign() {
            // If the socket cannot be created, dropping this removes the folder.
            let ours = Self::Ours { folder: HeldFolder::of_ours(&name)?, jar: jar.to_path_buf() };
            let listener = UnixListener::bind(ours.socket())?;
            return Ok((ours, listener));
        }
        let bytes = std::fs::read(jar)?;
        let (folder, listener) = in_tmp::create(&jvm, &name, (JAR, &bytes), SOCKET)?;
        let inside = Path::new("/tmp").join(name);
        Ok((Self::Theirs { jvm, folder, inside, recording: None }, listener))
    }

    /// The socket's path as the JVM sees it.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        match self {
            Self::Ours { folder, .. } => folder.path.join(SOCKET),
            Self::Theirs { inside, .. } => inside.join(SOCKET),
        }
    }

    /// The jar's path as the JVM sees it.
    #[must_use]
    pub fn jar(&self) -> PathBuf {
        match self {
            Self::Ours { jar, .. } => jar.clone(),
            Self::Theirs { inside, .. } => inside.join(JAR),
        }
    }

    /// The path to which the JVM must write a recording that is meant for a file of ours.
    pub fn recording(&mut self, file: &Path) -> PathBuf {
        match self {
            Self::Ours { .. } => file.to_path_buf(),
            Self::Theirs { inside, recording, .. } => {
                *recording = Some(file.to_path_buf());
                inside.join(RECORDING)
            }
        }
    }

    /// Copies the recording to our file after the probe has ended.
    ///
    /// # Errors
    /// The recording cannot be read or written.
    pub fn fetch_recording(&self) -> io::Result<()> {
        match self {
            Self::Theirs { folder, recording: Some(file), jvm, .. } => {
                let recording = in_tmp::open_file(jvm, &folder.path.join(RECORDING))?;
                let mut whole = WholeFile::create(file)?;
                ReadLimit::RECORDING.copy(recording, &mut whole)?;
                whole.finish()
            }
            _ => Ok(()),
        }
    }
}

impl Meeting {
    /// Removes the folder with everything in it; a second time does nothing.
    pub fn remove(&self) {
        match self {
            Self::Ours { folder, .. } => drop(std::fs::remove_dir_all(&folder.path)),
            Self::Theirs { jvm, folder, .. } => in_tmp::remove(jvm, &folder.path),
        }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.remove();
    }
}
