//! The parts inside the program: probe, executors, applications, peers, experiments. `./dev dist` packs them, laid out as in a checkout;
//! they are unpacked into the cache when a part is needed that is found nowhere else.

mod manifest;
mod private_folder;
mod unpack;

#[cfg(test)]
mod tests;

pub use manifest::{Manifest, PartFile};
pub(crate) use private_folder::check_private;
pub(crate) use unpack::WORKING;

use crate::{cache, home};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The cache's subfolder for unpacked parts, with one folder per version.
const FOLDER: &str = "parts";

/// The number of digits of the archive's checksum in its folder's name, so that two builds of one version do not share a folder.
pub(crate) const NAME_DIGITS: usize = 12;

/// An archive inside the program.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// A tar.xz that begins with the manifest.
    archive: &'static [u8],
    /// The checksum in hexadecimal.
    sha256: &'static str,
}

/// The archive that `./dev dist` put into this program.
#[cfg(has_bundle)]
static EMBEDDED: Option<Embedded> = Some(Embedded {
    archive: include_bytes!("../../bundle/parts.tar.xz"),
    sha256: include_str!("../../bundle/parts.tar.xz.sha256"),
});

#[cfg(not(has_bundle))]
static EMBEDDED: Option<Embedded> = None;

/// The reason why the parts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The program was built without `./dev dist`.
    #[error(
        "This program was built without probe, applications and experiments in it (`threadcount self`). Use it in a checkout, set \
         {} to one, or install a release",
        home::HOME
    )]
    Absent,
    #[error(
        "no folder for them can be used: {}; set XDG_CACHE_HOME to a folder that is yours alone",
        refused.iter().map(|(folder, why)| format!("{} ({why})", folder.display())).collect::<Vec<_>>().join(", ")
    )]
    NoFolder {
        /// Each folder that was tried, and why it cannot be used.
        refused: Vec<(PathBuf, String)>,
    },
    #[error(
        "this program's file is damaged: the SHA-256 of its parts is {found}, expected {expected}; install it again"
    )]
    Damaged { expected: String, found: String },
    #[error("they cannot be unpacked into {}: {source}", folder.display())]
    Unpack { folder: PathBuf, source: io::Error },
}

impl Embedded {
    /// The archive inside this program; `None` if it was built without one.
    #[must_use]
    pub fn of_this_program() -> Option<Self> {
        EMBEDDED
    }

    /// The name of the archive's folder among those of other versions: `0.1.0-3fa85f645717`.
    #[must_use]
    pub fn folder_name(&self) -> String {
        let digits = self.sha256.trim().get(..NAME_DIGITS).unwrap_or_default();
        format!("{}-{digits}", env!("CARGO_PKG_VERSION"))
    }

    /// The size as compressed inside the program.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.archive.len()
    }

    /// The archive's manifest.
    ///
    /// # Errors
    /// The archive is damaged.
    pub fn manifest(&self) -> io::Result<Manifest> {
        Manifest::read(self.archive)
    }
}

/// The folders into which parts may be unpacked: one in the cache, and others in case that one cannot be used.
#[must_use]
pub fn possible_folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid();
    let mut parents = vec![cache::folder()];
    // Whatever root loads into processes of others must not lie where the user of `sudo` can change it.
    parents.extend(user.is_root().then(|| PathBuf::from("/var/cache/threadcount")));
    parents.extend(home::named("XDG_RUNTIME_DIR").map(|it| it.join("threadcount")));
    parents.push(std::env::temp_dir().join(format!("threadcount-{}", user.as_raw())));
    parents.into_iter().map(|it| it.join(FOLDER)).collect()
}

/// The folder with this program's parts, unpacked and checked. It is laid out like a checkout.
///
/// # Errors
/// [`BundleError`]; the first call decides.
pub fn root() -> Result<&'static Path, &'static BundleError> {
    static ROOT: OnceLock<Result<PathBuf, BundleError>> = OnceLock::new();
    let unpacked = ROOT.get_or_init(|| {
        let embedded = Embedded::of_this_program().ok_or(BundleError::Absent)?;
        let folder = private_folder::first_usable(possible_folders())
            .map_err(|refused| BundleError::NoFolder { refused })?;
        unpack::ensure(&embedded, &folder)
    });
    unpacked.as_deref()
}

/// A file that a module of our Maven reactor builds.
#[must_use]
pub fn built(module: &str, file: &str) -> Option<PathBuf> {
    let path = root().ok()?.join("jvm").join(module).join("target").join(file);
    path.is_file().then_some(path)
}

/// The end of an error about a part that was not found: why this program does not contain it. Empty for a path, because the parts have
/// nothing to do with it.
#[must_use]
pub fn why_not(part: &str) -> String {
    if part.contains('/') {
        return String::new();
    }
    let manifest = match root() {
        Ok(_) => EMBEDDED.and_then(|it| it.manifest().ok()),
        Err(error @ BundleError::Absent) => return format!(". {error}"),
        Err(error) => return format!(". The parts that travel in this program cannot be used: {error}"),
    };
    match manifest.filter(|it| it.left_out.iter().any(|it| it == part)) {
        Some(manifest) => format!(
            ". It is too large to be part of the program. Unpack threadcount-apps-{}.tar.xz of the same release and set {} to \
             the folder",
            manifest.version,
            home::APPS
        ),
        None => ". It is not among the parts in this program (`threadcount self`)".to_owned(),
    }
}
