//! Finds experiments by name.

use super::needs::needs;
use super::{ReadError, read};
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;
use threadcount_machine::{bundle, home};
use threadcount_model::experiment::{Experiment, SessionSize, Study};
use threadcount_model::experiment::{
    estimate::{estimate_s, longest_estimate_s},
    plan::plan,
};
use threadcount_model::parse::suggest::nearest;

/// The most levels between the executable's folder and `experiments` (`target/release` in a checkout).
const LEVELS_ABOVE_EXECUTABLE: usize = 3;

/// Folders with experiments; a name found in an earlier one hides it in the later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    folders: Vec<PathBuf>,
}

#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("there is no experiment `{written}`")]
pub struct UnknownExperiment {
    written: String,
    #[help]
    help: String,
}

/// One line of `threadcount list`.
#[derive(Debug)]
pub struct Listed {
    /// The name for `threadcount run`.
    pub name: String,
    pub path: PathBuf,
    /// The summary, or why the file cannot be read.
    pub about: Result<About, ReadError>,
}

/// Summary of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    pub question: String,
    pub study: Option<String>,
    /// Needs of the experiment from the machine: Java versions, Tomcats, jars, peers.
    pub needs: Vec<String>,
    /// The size in the file.
    pub full: Size,
    /// The usual size: the file's, or a smaller one that suffices to decide a study's claims.
    pub decided: Size,
    /// The size with `--quick`.
    pub quick: Size,
}

/// Size of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// The number of runs.
    pub runs: usize,
    /// Estimated duration in seconds; `None`: unknown.
    pub estimate_s: Option<f64>,
    /// Estimated duration in seconds if every `auto` warm-up takes as long as it may.
    pub longest_s: Option<f64>,
}

impl Size {
    fn from_experiment(experiment: &Experiment) -> Self {
        Self {
            runs: plan(experiment).len(),
            estimate_s: estimate_s(experiment),
            longest_s: longest_estimate_s(experiment),
        }
    }
}

impl Places {
    /// The folders that exist: the one on the command line, `experiments` as in [`home`], and the folder of the program's parts.
    #[must_use]
    pub fn usual(folder_option: Option<&Path>) -> Self {
        let beside = home::executable_folder();
        let above = beside.iter().flat_map(|it| it.ancestors().take(1 + LEVELS_ABOVE_EXECUTABLE));
        // The working folder is an empty path, so that messages show relative paths.
        let parents = home::named(home::HOME).into_iter().chain([PathBuf::new()]);
        let bundled = bundle::root().ok().map(Path::to_owned);
        let parents = parents.chain(above.map(Path::to_owned)).chain(bundled);
        let folders = parents.map(|parent| parent.join("experiments"));
        Self::from_folders(folder_option.map(Path::to_owned).into_iter().chain(folders))
    }

    /// These folders, without the ones that do not exist.
    #[must_use]
    pub fn from_folders(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().filter(|folder| folder.is_dir()).collect() }
    }

    /// The files of a name, a path, or `all`.
    ///
    /// # Errors
    /// No experiment has this name. A path is not checked here, because reading it gives a better message.
    pub fn find(&self, written: &str) -> Result<Vec<PathBuf>, UnknownExperiment> {
        if written.contains('/') || is_yaml(Path::new(written)) {
            return Ok(vec![PathBuf::from(written)]);
        }
        let known = self.files();
        if written == "all" && !known.is_empty() {
            return Ok(known.into_iter().map(|(_, path)| path).collect());
        }
        match known.iter().find(|(name, _)| name == written) {
            Some((_, path)) => Ok(vec![path.clone()]),
            None => Err(self.unknown(written, &known)),
        }
    }

    /// All experiments with their summaries.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let listed = self.files().into_iter().map(|(name, path)| {
            let about = read(&path, SessionSize::AsWritten).and_then(|full| {
                let size = |size| read(&path, size).map(|it| Size::from_experiment(&it));
                let (decided, quick) = (size(SessionSize::Decided)?, size(SessionSize::Quick)?);
                Ok(About {
                    needs: needs(&full),
                    full: Size::from_experiment(&full),
                    decided,
                    quick,
                    study: full.study.as_ref().map(study),
                    question: full.question,
                })
            });
            Listed { name, path, about }
        });
        listed.collect()
    }

    /// Names and files, in alphabetical order.
    fn files(&self) -> Vec<(String, PathBuf)> {
        let mut files: Vec<(String, PathBuf)> = Vec::new();
        for folder in &self.folders {
            for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                let name =
                    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                if is_yaml(&path) && path.is_file() && files.iter().all(|(before, _)| *before != name) {
                    files.push((name, path));
                }
            }
        }
        files.sort();
        files
    }

    fn unknown(&self, written: &str, known: &[(String, PathBuf)]) -> UnknownExperiment {
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let help = match (nearest(written, names.iter().copied()), names.is_empty()) {
            (_, true) => format!(
                "no folder `experiments` was found here. Give the path of a YAML file, or set THREADCOUNT_HOME to the folder \
                 that holds `experiments`{}",
                bundle::why_not("experiments")
            ),
            (Some(name), _) => format!(
                "did you mean `{name}`? known: {}, or a path like \
                ./mine.yaml",
                names.join(", ")
            ),
            (None, _) => format!("known: {}, or a path like ./mine.yaml", names.join(", ")),
        };
        UnknownExperiment { written: written.to_owned(), help }
    }
}

/// Title, authors and date, as far as they are known.
fn study(study: &Study) -> String {
    let details: Vec<&str> =
        [&study.authors, &study.date].into_iter().flatten().map(String::as_str).collect();
    if details.is_empty() { study.title.clone() } else { format!("{} ({})", study.title, details.join(", ")) }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "question: q\nstudy: {title: T, authors: A, date: 2024}\nserver: {tomcat: 11.0}\nrequest: /\nwarmup: 1s\n\
        variants: {a: {}}\nloads: [{clients: 1, duration: 1s}]\n";

    fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            ("one/alpha.yaml", FILE),
            ("one/notes.txt", ""),
            ("two/alpha.yaml", "x"),
            ("two/beta.yml", "x: 1"),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let places = Places::from_folders(["one", "missing", "two"].map(|name| dir.path().join(name)));
        (dir, places)
    }

    #[test]
    fn a_name_is_found_in_the_first_folder_that_has_it() {
        let (dir, places) = places();
        assert_eq!(places.find("alpha"), Ok(vec![dir.path().join("one/alpha.yaml")]));
        assert_eq!(places.find("beta"), Ok(vec![dir.path().join("two/beta.yml")]));
        assert_eq!(places.find("all").map(|all| all.len()), Ok(2));
    }

    #[test]
    fn a_path_stays_a_path() {
        let (_dir, places) = places();
        assert_eq!(places.find("./x/mine"), Ok(vec![PathBuf::from("./x/mine")]));
        assert_eq!(places.find("mine.yaml"), Ok(vec![PathBuf::from("mine.yaml")]));
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_exist() {
        let (_dir, places) = places();
        let error = places.find("alhpa").expect_err("an error");
        assert_eq!(error.to_string(), "there is no experiment `alhpa`");
        assert_eq!(error.help, "did you mean `alpha`? known: alpha, beta, or a path like ./mine.yaml");
        assert!(
            Places::from_folders([]).find("all").expect_err("an error").help.contains("THREADCOUNT_HOME")
        );
    }

    #[test]
    fn the_list_says_what_is_known_and_what_cannot_be_read() {
        let (_dir, places) = places();
        let listed = places.list();
        let about = About {
            question: "q".into(),
            study: Some("T (A, 2024)".into()),
            needs: vec!["Tomcat 11.0".into()],
            full: Size { runs: 15, estimate_s: Some(158.1), longest_s: Some(188.1) },
            decided: Size { runs: 8, estimate_s: Some(65.7), longest_s: Some(68.7) },
            quick: Size { runs: 3, estimate_s: Some(30.7), longest_s: Some(33.7) },
        };
        let tenths = |seconds: Option<f64>| seconds.map(|s| (s * 10.0).round() / 10.0);
        let in_tenths = |size: &Size| Size {
            estimate_s: tenths(size.estimate_s),
            longest_s: tenths(size.longest_s),
            ..*size
        };
        let found = listed[0].about.as_ref().expect("an experiment");
        let found = About {
            full: in_tenths(&found.full),
            decided: in_tenths(&found.decided),
            quick: in_tenths(&found.quick),
            ..found.clone()
        };
        assert_eq!(found, about);
        assert!(listed[1].about.is_err());
    }
}
