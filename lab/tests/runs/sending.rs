//! A sender of loads that panics.

use std::sync::Arc;
use threadcount::run::Runner;
use threadcount::run::sender::{LoadSender, PlannedLoad, SendError, ThisProcess};
use threadcount::run::session::session;
use threadcount::run::watch::{Event, Watch};
use threadcount_judge::result_folder::{IfTaken, ResultFolder};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::run::Control;
use threadcount_machine::probe::Instruments;
use threadcount_servers::Launcher;

const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");

struct Unwatched;

impl Watch for Unwatched {
    fn event(&mut self, _: Event<'_>) {}
}

/// A sender that panics if the load has three clients.
struct Panicking;

impl LoadSender for Panicking {
    fn send(&self, load: PlannedLoad<'_>, url: &str, control: Control<'_>) -> Result<LoadOutcome, SendError> {
        assert!(load.plan.connections.get() != 3, "three is too many");
        ThisProcess.send(load, url, control)
    }
}

#[test]
fn a_sender_that_panics_is_a_failed_run_and_the_other_runs_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: 1\n\
         variants: {{a: {{command: \"python3 {DELAY_SERVER} {{port}} 5\"}}}}\n\
         loads: [{{clients: 3, requests: 40}}, {{clients: 2, requests: 40}}]\n"
    );
    let experiment = threadcount_config::parse("x", "x.yaml", &text, false).unwrap();
    let runner = Runner {
        sender: &Panicking,
        goes_on_without: false,
        may_all_fail: false,
        experiment: &experiment,
        launcher: &Launcher { instruments: Instruments::NONE, ..Launcher::of_this_machine() },
        command: &[],
        folder: &ResultFolder::create(folder.path(), IfTaken::Refuse).unwrap(),
        interrupted: &Arc::default(),
    };
    let document = session(&runner, &mut Unwatched).unwrap();
    let of = |load: &str| document.records.iter().find(|it| it.load == load).unwrap();
    let why = &of("c3").failure.as_ref().unwrap().why;
    assert!(why.contains("three is too many"), "{why}");
    assert_eq!(of("c2").failure, None);
    assert!(of("c2").measured.as_ref().unwrap().requests.ok > 0);
}
