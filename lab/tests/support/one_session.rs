//! A session of an experiment on a small Java server that a test writes as source.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use threadcount::run::Runner;
use threadcount::run::sender::ThisProcess;
use threadcount::run::session::session;
use threadcount::run::watch::{Event, Watch};
use threadcount_config as config;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{IfTaken, ResultFolder};
use threadcount_machine::probe::{Instruments, ProbeChoice};
use threadcount_model::experiment::Experiment;
use threadcount_servers::Launcher;

struct Unwatched;

impl Watch for Unwatched {
    fn event(&mut self, _: Event<'_>) {}
}

/// Compiles classes for Java 21 and later.
pub fn compiled(javac_home: &Path, file: &str, source: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    fs::write(&path, source).unwrap();
    let javac = Command::new(javac_home.join("bin/javac"))
        .args(["--release", "21", "-d"])
        .arg(folder.path())
        .arg(path)
        .status()
        .unwrap();
    assert!(javac.success());
    folder
}

/// Runs the experiment without a probe. Each run must succeed.
pub fn result(experiment: &str) -> ResultDocument {
    explained(experiment, ProbeChoice::Off)
}

/// Runs the experiment with this choice of probe. Each run must succeed.
pub fn explained(experiment: &str, probe: ProbeChoice) -> ResultDocument {
    let experiment = config::parse("one", "one.yaml", experiment, false).unwrap();
    let folder = tempfile::tempdir().unwrap();
    watched(&experiment, probe, &folder.path().join("out"), &mut Unwatched)
}

/// Runs the experiment with this choice of probe and an observer. Each run must succeed.
pub fn watched(
    experiment: &Experiment,
    probe: ProbeChoice,
    out: &Path,
    watch: &mut dyn Watch,
) -> ResultDocument {
    let instruments = Instruments { probe, jfr: false, jvm_log: true };
    let document = session(
        &Runner {
            sender: &ThisProcess,
            goes_on_without: false,
            may_all_fail: false,
            experiment,
            launcher: &Launcher { instruments, ..Launcher::of_this_machine() },
            command: &[],
            folder: &ResultFolder::create(out, IfTaken::Refuse).unwrap(),
            interrupted: &Arc::default(),
        },
        watch,
    )
    .unwrap();
    for record in &document.records {
        assert_eq!(record.failure, None);
    }
    document
}
