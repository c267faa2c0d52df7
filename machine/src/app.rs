//! Finds a web application's WAR.

use crate::{bundle, home, trusted};
use std::path::{Path, PathBuf};

/// The WAR or jar of an experiment was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "The {what} `{app}` was not found; looked for {}. Build Threadcount's own with `./dev build`, \
     set THREADCOUNT_APPS to the folder that holds it, or write the path of a .{}{}",
    home::join_paths(looked_at),
    what.ending(),
    bundle::why_not(app)
)]
pub struct AppMissing {
    pub what: Archive,
    /// The application as the experiment names it.
    pub app: String,
    /// The paths that were tried.
    pub looked_at: Vec<PathBuf>,
}

/// A kind of file that Maven builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archive {
    War,
    /// A runnable jar, or a library.
    Jar,
}

impl Archive {
    const fn ending(self) -> &'static str {
        match self {
            Self::War => "war",
            Self::Jar => "jar",
        }
    }
}

impl std::fmt::Display for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::War => "web application",
            Self::Jar => "jar",
        })
    }
}

/// Finds the WAR of our Maven reactor by name, or takes a path that ends in `.war`.
///
/// Searches as [`home`] describes: in the folder of [`home::APPS`], and in each of [`home::search_folders`], either directly or in
/// `jvm/NAME/target` there or in a folder above.
///
/// # Errors
/// [`AppMissing`] with the paths that were tried.
pub fn find(app: &str) -> Result<PathBuf, AppMissing> {
    find_archive(Archive::War, app)
}

/// Finds a jar of our Maven reactor by name, or takes a path that ends in `.jar`. Searches as [`find`] does.
///
/// # Errors
/// [`AppMissing`] with the paths that were tried.
pub fn find_jar(jar: &str) -> Result<PathBuf, AppMissing> {
    find_archive(Archive::Jar, jar)
}

fn find_archive(what: Archive, app: &str) -> Result<PathBuf, AppMissing> {
    let missing = |looked_at| AppMissing { what, app: app.to_owned(), looked_at };
    let path = Path::new(app);
    if path.extension().is_some_and(|it| it == what.ending()) {
        return if path.is_file() { Ok(absolute(path)) } else { Err(missing(vec![path.to_owned()])) };
    }
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let found = find_built(app, &format!("{name}.{}", what.ending())).map_err(missing)?;
    Ok(absolute(&found))
}

/// Absolute, because the server may have another working folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Finds a file that a module of our Maven reactor builds, in the places where [`find`] looks for a WAR, and finally among the parts inside
/// the program.
///
/// # Errors
/// The paths that were tried.
pub fn find_built(module: &str, file: &str) -> Result<PathBuf, Vec<PathBuf>> {
    find_in(module, file, home::named(home::APPS).as_deref(), &home::search_folders(), |_| true)
        .or_else(|looked_at| bundle::built(module, file).ok_or(looked_at))
}

/// Like [`find_built`], for a file that is loaded into other users' processes: as root, skips a file that somebody else could have put or
/// changed there.
/// changed there is passed over.
///
/// # Errors
/// The paths that were tried.
pub fn find_trusted(module: &str, file: &str) -> Result<PathBuf, Vec<PathBuf>> {
    let apps = home::named(home::APPS);
    let is_named = |path: &Path| apps.as_deref().is_some_and(|it| path.parent() == Some(it));
    let is_trusted = |path: &Path| is_named(path) || trusted::is_trusted(path);
    find_in(module, file, apps.as_deref(), &home::search_folders(), is_trusted)
        .or_else(|looked_at| bundle::built(module, file).ok_or(looked_at))
}

fn find_in(
    module: &str,
    file: &str,
    named: Option<&Path>,
    starts: &[PathBuf],
    is_trusted: impl Fn(&Path) -> bool,
) -> Result<PathBuf, Vec<PathBuf>> {
    let mut looked_at: Vec<PathBuf> = named.map(|it| it.join(file)).into_iter().collect();
    for start in starts {
        looked_at.push(start.join(file));
        looked_at.extend(start.ancestors().map(|it| it.join("jvm").join(module).join("target").join(file)));
    }
    if let Some(found) = looked_at.iter().find(|it| it.is_file() && is_trusted(it)) {
        return Ok(found.clone());
    }
    // Only the first folders are listed, because every folder up to the root would make the message long.
    let is_told =
        |path: &Path| starts.iter().map(PathBuf::as_path).chain(named).any(|it| path.starts_with(it));
    looked_at.retain(|it| is_told(it));
    Err(looked_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn the_named_folder_comes_first_then_the_reactor_above_the_working_folder() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let built = root.join("jvm/servlets/target/servlets.war");
        touch(&built);
        let inside = root.join("lab/src");
        assert_eq!(
            find_in("servlets", "servlets.war", None, std::slice::from_ref(&inside), |_| true),
            Ok(built)
        );
        touch(&root.join("apps/servlets.war"));
        assert_eq!(
            find_in("servlets", "servlets.war", Some(&root.join("apps")), &[inside], |_| true),
            Ok(root.join("apps/servlets.war"))
        );
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        let mine = root.path().join("mine.war");
        touch(&mine);
        assert_eq!(find(mine.to_str().unwrap()), Ok(mine));
        assert!(find("/nowhere/mine.war").is_err());
        let jar = find_jar("/nowhere/mine.jar").unwrap_err().to_string();
        assert!(jar.starts_with("The jar `/nowhere/mine.jar` was not found"), "{jar}");
    }

    #[test]
    fn a_missing_app_is_answered_with_how_to_build_it() {
        let root = tempfile::tempdir().unwrap();
        let looked_at =
            find_in("servlets", "servlets.war", None, &[root.path().to_owned()], |_| true).unwrap_err();
        let says = AppMissing { what: Archive::War, app: "servlets".to_owned(), looked_at }.to_string();
        assert!(says.contains("`servlets` was not found") && says.contains("./dev build"), "{says}");
        assert!(says.contains("jvm/servlets/target/servlets.war"), "{says}");
    }
}
