//! All runs of one experiment: rounds until its answer is decided, its plan is done or its time is up. The result is saved after each run,
//! so an interrupted session can be resumed.

mod budget;
mod hopeless;
mod java;

use crate::run::Runner;
use crate::run::watch::{Event, Watch};
use budget::Budget;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Instant;
use threadcount_judge::conclude::{Origin, conclude};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{FolderError, ResultFolder};
use threadcount_machine::machine;
use threadcount_model::experiment::plan::{PlannedRun, round_of};
use threadcount_model::experiment::{Experiment, Protocol};
use threadcount_model::masked::{Secrets, masked, masked_text, secrets_in};
use threadcount_model::record::Record;
use threadcount_model::rounds::{RoundsDone, RoundsEnd};
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::decided::decided;
use threadcount_stats::disturbance::disturbance;
use threadcount_stats::runs::is_complete;

/// A variant's runs with interference under one load are repeated this often at most: the machine is as noisy as it is.
const REPEATS: u32 = 2;

/// Runs the experiment to its end, or until the user stops it, and returns the last state of `result.json`.
///
/// # Errors
/// A result that cannot be saved ends the session: going on would measure for nothing.
pub fn session(runner: &Runner<'_>, watch: &mut dyn Watch) -> Result<ResultDocument, FolderError> {
    let SessionEnd { document, unsaved } = resume(runner, Vec::new(), watch)?;
    unsaved.map_or(Ok(document), Err)
}

/// How a session ended.
#[derive(Debug)]
pub struct SessionEnd {
    /// All that was measured.
    pub document: ResultDocument,
    /// The reason why the session ended early and its last part is not in `result.json`; `None` if everything was saved.
    pub unsaved: Option<FolderError>,
}

/// Saves and returns the first result of a session, with its crossover once there is one. From now on the session can be resumed, whatever
/// ends this process.
///
/// # Errors
/// The result cannot be saved.
pub fn begin(
    experiment: &Experiment,
    crossover: Option<&CrossoverDocument>,
    command: &[String],
    folder: &ResultFolder,
) -> Result<ResultDocument, FolderError> {
    let begun = document(experiment, Vec::new(), Vec::new(), command);
    let document = ResultDocument { crossover: crossover.cloned(), ..begun };
    folder.save(&document)?;
    Ok(document)
}

/// Continues an experiment some of whose runs an earlier session did. An interrupted run is done again.
///
/// # Errors
/// Like [`session`].
pub fn resume(
    runner: &Runner<'_>,
    done: Vec<Record>,
    watch: &mut dyn Watch,
) -> Result<SessionEnd, FolderError> {
    let has_ended = |record: &Record| record.failure.is_some() || is_complete(record);
    let done: VecDeque<_> = done.into_iter().filter(has_ended).collect();
    let document = document(runner.experiment, Vec::new(), Vec::new(), runner.command);
    if done.is_empty() {
        runner.folder.save(&document)?;
    }
    let budget = Budget::new(runner.experiment);
    let working = runner.experiment.clone();
    let mut session =
        Session { runner, working, watch, document, budget, began: Instant::now(), done, done_s: 0.0 };
    let mut unsaved = None;
    for load in 0..runner.experiment.loads.len() {
        if session.is_interrupted() {
            break;
        }
        match session.rounds(load) {
            Err(error) if error.is_disk_full() => {
                session.disk_is_full(load)?;
                break;
            }
            // The folder was removed or became read-only. What was measured can still be shown.
            Err(error) if !session.document.records.is_empty() => {
                unsaved = Some(error);
                break;
            }
            ended => ended?,
        }
        if session.has_unready() {
            break;
        }
    }
    Ok(SessionEnd { document: session.document, unsaved })
}

struct Session<'a> {
    runner: &'a Runner<'a>,
    /// The experiment, with variants that do not work marked as skipped.
    working: Experiment,
    watch: &'a mut dyn Watch,
    document: ResultDocument,
    budget: Budget<'a>,
    began: Instant,
    /// Runs of an earlier session that have not had their turn yet. Each replaces a run.
    done: VecDeque<Record>,
    /// How long the replaced runs lasted, in seconds.
    done_s: f64,
}

impl Session<'_> {
    /// The rounds of one load.
    fn rounds(&mut self, index: usize) -> Result<(), FolderError> {
        let experiment = self.runner.experiment;
        let load = &experiment.loads[index];
        if round_of(&self.working, index, 1, 1).is_empty() {
            return Ok(());
        }
        let mut repeats = vec![REPEATS; experiment.variants.len()];
        for round in 1..=load.runs {
            self.round(index, round, &mut repeats)?;
            let end = self.end_of_hopeless(index).or_else(|| self.end_after(index, round));
            // No event after the very last round, because the result itself follows.
            if self.done.is_empty() && (end.is_none() || index + 1 < experiment.loads.len()) {
                self.watch.event(Event::RoundEnded { document: &self.document, load });
            }
            if let Some(why) = end {
                return self.end(index, round, why);
            }
        }
        Ok(())
    }

    /// Why a load ends early: the user stopped it, or a variant does not work, and more rounds without it teach nothing. An experiment from
    /// a file goes on without such a variant, as long as two others work. `None` if the load goes on.
    fn end_of_hopeless(&mut self, index: usize) -> Option<RoundsEnd> {
        if self.is_interrupted() {
            return Some(RoundsEnd::Interrupted);
        }
        let load = &self.runner.experiment.loads[index];
        let hopeless = self.hopeless(index);
        if hopeless.is_empty() || !self.done.is_empty() {
            return None;
        }
        let mut rest = self.working.clone();
        for &variant in &hopeless {
            rest.variants[variant].skipped = Some("it does not work".to_owned());
        }
        let are_enough = rest.variants.iter().filter(|variant| variant.runs_under(load)).count() > 1;
        if !self.runner.goes_on_without || !are_enough {
            return Some(RoundsEnd::VariantFailed);
        }
        let names = hopeless.iter().map(|&variant| &rest.variants[variant].name);
        for name in names {
            let last = self.document.records.iter().rfind(|record| record.variant == *name);
            last.into_iter().for_each(|record| self.watch.event(Event::LeftOut(record)));
        }
        self.working = rest;
        None
    }

    /// The indices of the variants that do not work, judging by their runs so far.
    fn hopeless(&self, load: usize) -> Vec<usize> {
        let Runner { experiment, may_all_fail, .. } = self.runner;
        hopeless::variants(&self.working, &experiment.loads[load], &self.document.records, *may_all_fail)
    }

    /// Whether the session ended because a variant never became ready. It will not become ready under another load either.
    fn has_unready(&self) -> bool {
        self.document.ended_by().iter().any(|record| record.was_never_ready())
    }

    /// The reason why a load gets no more rounds; `None` if it gets one.
    fn end_after(&self, index: usize, round: u32) -> Option<RoundsEnd> {
        let experiment = self.runner.experiment;
        let load = &experiment.loads[index];
        if round == load.runs {
            return Some(RoundsEnd::AsRequested);
        }
        if self.done.front().is_some_and(|record| record.load == load.name) {
            return None;
        }
        let is_analysed = load.interim_analyses().contains(&round);
        let decided = is_analysed.then(|| decided(&self.working, load, &self.document.records)).flatten();
        let is_in_time =
            || self.budget.allows(index, &round_of(&self.working, index, round + 1, 1), self.elapsed_s());
        decided.or_else(|| (!is_in_time()).then_some(RoundsEnd::BudgetUsed))
    }

    /// Runs one round, then repeats its runs with interference as far as repeats are left and the time allows.
    fn round(&mut self, load: usize, round: u32, repeats: &mut [u32]) -> Result<(), FolderError> {
        let is_adaptive = matches!(self.runner.experiment.loads[load].protocol, Protocol::Adaptive { .. });
        let planned = round_of(&self.working, load, round, self.next_position());
        if self.runner.experiment.loads[load].interleave_s.is_some() {
            return self.interleaved(&planned);
        }
        let mut to_repeat = Vec::new();
        for run in planned {
            if self.run(run)? {
                to_repeat.push(run.variant);
            }
        }
        // A round that lacks a variant compares nothing, however quiet the other runs are, so none is repeated.
        let is_whole = self.hopeless(load).is_empty();
        for variant in to_repeat.into_iter().filter(|_| is_adaptive && is_whole) {
            let repeat = PlannedRun { variant, load, round, position: self.next_position() };
            // The minimum rounds take precedence over repeats.
            let mut next = self.budget.least_after(load, round);
            next.push(repeat);
            let allowed = self.budget.allows(load, &next, self.elapsed_s());
            if self.is_done(&repeat) || allowed && repeats[variant] > 0 && !self.is_interrupted() {
                repeats[variant] = repeats[variant].saturating_sub(1);
                self.watch.event(Event::Repeating);
                self.run(repeat)?;
            }
        }
        Ok(())
    }

    /// Runs a round whose servers run side by side. No run is repeated alone, because it would have no partner.
    fn interleaved(&mut self, planned: &[PlannedRun]) -> Result<(), FolderError> {
        let done = self.done.iter().zip(planned).take_while(|(record, run)| self.is_of(record, run)).count();
        if done == planned.len() {
            for run in planned {
                self.run(*run)?;
            }
            return Ok(());
        }
        // A run without its partners does not count.
        self.done.drain(..done);
        self.runner.folder.set_room_aside()?;
        let began = Instant::now();
        let records = self.runner.interleaved(planned, self.watch);
        let each_s = began.elapsed().as_secs_f64() / planned.len() as f64;
        for (run, record) in planned.iter().zip(records) {
            self.budget.took(run, each_s, &record);
            self.keep(record)?;
        }
        Ok(())
    }

    /// Does one run. Returns whether there was interference.
    fn run(&mut self, planned: PlannedRun) -> Result<bool, FolderError> {
        if self.is_done(&planned)
            && let Some(record) = self.done.pop_front()
        {
            let lasted_s = record.lasted_s.unwrap_or_default();
            self.done_s += lasted_s;
            self.budget.took(&planned, lasted_s, &record);
            return self.keep(record);
        }
        if self.is_interrupted() {
            return Ok(false);
        }
        self.runner.folder.set_room_aside()?;
        let began = Instant::now();
        let record = self.runner.run(planned, self.watch);
        self.budget.took(&planned, began.elapsed().as_secs_f64(), &record);
        self.keep(record)
    }

    /// Whether an earlier session did this run.
    fn is_done(&self, planned: &PlannedRun) -> bool {
        self.done.front().is_some_and(|record| self.is_of(record, planned))
    }

    fn is_of(&self, record: &Record, planned: &PlannedRun) -> bool {
        let experiment = self.runner.experiment;
        record.variant == experiment.variants[planned.variant].name
            && record.load == experiment.loads[planned.load].name
            && record.round == planned.round
    }

    /// Keeps what was measured, in the disk space that was set aside for it.
    fn disk_is_full(&mut self, load: usize) -> Result<(), FolderError> {
        let spec = &self.runner.experiment.loads[load];
        let rounds = self.document.records.iter().filter(|record| record.load == spec.name);
        let rounds = rounds.map(|record| record.round).max().unwrap_or_default();
        self.runner.folder.give_room();
        self.end(load, rounds, RoundsEnd::DiskFull)
    }

    fn keep(&mut self, mut record: Record) -> Result<bool, FolderError> {
        record.interference = disturbance(&record);
        if record.failure.is_none() {
            record.failure = java::other_java(&self.document.records, &record);
        }
        record = without_secrets(record, self.runner.experiment);
        let has_interference = record.interference.is_some();
        self.watch.event(Event::Ended(&record));
        self.document.records.push(record);
        self.save()?;
        Ok(has_interference)
    }

    /// Records that the load gets no more rounds.
    fn end(&mut self, load: usize, rounds: u32, why: RoundsEnd) -> Result<(), FolderError> {
        let experiment = self.runner.experiment;
        let (name, at_most) = (experiment.loads[load].name.clone(), experiment.loads[load].runs);
        let runs_saved = round_of(experiment, load, 1, 1).len() * (at_most - rounds) as usize;
        let done = RoundsDone { load: name, rounds, at_most, why };
        self.watch.event(Event::LoadEnded { done: &done, runs_saved });
        self.document.rounds.push(done);
        self.save()
    }

    /// Saves the document, unless it still lacks runs that an earlier session did.
    fn save(&mut self) -> Result<(), FolderError> {
        if !self.done.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(&mut self.document.records);
        let rounds = std::mem::take(&mut self.document.rounds);
        self.document = document(self.runner.experiment, records, rounds, self.runner.command);
        self.runner.folder.save(&self.document).map(drop)
    }

    fn next_position(&self) -> u32 {
        self.document.records.len() as u32 + 1
    }

    fn elapsed_s(&self) -> f64 {
        self.done_s + self.began.elapsed().as_secs_f64()
    }

    fn is_interrupted(&self) -> bool {
        self.done.is_empty() && self.runner.interrupted.load(Ordering::Relaxed)
    }
}

/// The conclusions from the records of this process's session, without secrets. `command` began the session.
pub(crate) fn document(
    experiment: &Experiment,
    records: Vec<Record>,
    rounds: Vec<RoundsDone>,
    command: &[String],
) -> ResultDocument {
    let origin = Origin {
        threadcount: crate::VERSION.to_owned(),
        command: hidden(&command.to_vec()),
        created_at: jiff::Timestamp::now().to_string(),
        machine: machine::read(),
    };
    let document = conclude(experiment, records, rounds, origin);
    let without_secrets = experiment.without_secrets(&mut Secrets::default());
    // An experiment that fails here is refused before it runs.
    let experiment =
        without_secrets.unwrap_or_else(|_| Experiment::unplanned(&experiment.name, Vec::new(), Vec::new()));
    ResultDocument { experiment, ..document }
}

/// The data without secrets; empty if it no longer fits its type without them.
fn hidden<T: Serialize + DeserializeOwned + Default>(data: &T) -> T {
    masked(data, &mut Secrets::default()).unwrap_or_default()
}

/// A record without the secrets that the user gave, neither beside their names nor where a server or a tool printed them.
pub(crate) fn without_secrets(mut record: Record, experiment: &Experiment) -> Record {
    record.server = hidden(&record.server);
    record.external = hidden(&record.external);
    record.capacity = hidden(&record.capacity);
    let secrets = secrets_in(experiment);
    let hide = |text: &mut String| *text = secrets.hidden_in(text);
    [&mut record.unexplained, &mut record.probe_refused].into_iter().flatten().for_each(hide);
    let explaining = record.explaining.as_mut().map(|window| &mut window.load);
    for load in record.measured.iter_mut().chain(explaining) {
        load.first_failing_body.iter_mut().for_each(hide);
        // Another tool's report has the URL as the user wrote it.
        load.target = masked_text(&secrets.hidden_in(&load.target));
    }
    record.capacity.iter_mut().filter_map(|search| search.log_trouble.as_mut()).for_each(hide);
    if let Some(failure) = &mut record.failure {
        hide(&mut failure.why);
        for line in failure.log_tail.iter_mut().chain(&mut failure.cause) {
            hide(line);
            // A line of a stack trace names classes and methods, which must not be mistaken for names of secrets.
            if !line.trim_start().starts_with("at ") {
                *line = masked_text(line);
            }
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::report::LoadReport;
    use threadcount_model::record::RunFailure;
    use threadcount_model::record::external::{ExternalLoad, ExternalProcess};

    #[test]
    fn what_a_server_sent_back_and_a_tool_was_given_is_masked_in_a_record() {
        let text = "question: q\nserver: {tomcat: 11.0}\nvariants: {a: {}}\n\
            request: {path: /, headers: {X: '${PATH}', Authorization: Bearer t0ken}}\nloads: [{clients: 1, requests: 1}]\n";
        let experiment = threadcount_config::parse("x", "x.yaml", text, false).unwrap();
        let mut load = LoadReport::default();
        load.target = "http://h/?access_token=abc".to_owned();
        load.first_failing_body = Some(format!("no such X: {}, t0ken", std::env::var("PATH").unwrap()));
        let command = ["ab", "-H", "Authorization: abc", "http://h/"].map(str::to_owned).to_vec();
        let process = ExternalProcess { command, ..ExternalProcess::default() };
        let record = Record {
            variant: "a".to_owned(),
            load: experiment.loads[0].name.clone(),
            measured: Some(load),
            failure: Some(RunFailure {
                why: "the server hangs: 4 requests stood at Login.checkPassword:45 (t0ken)".to_owned(),
                cause: Some("no t0ken, password=abc".to_owned()),
                log_tail: vec!["refused: t0ken".to_owned(), "at shop.Token.verify(Token.java:9)".to_owned()],
            }),
            unexplained: Some("no thread was in Login.checkPassword:45".to_owned()),
            external: Some(ExternalLoad { processes: vec![process], ..ExternalLoad::default() }),
            ..Record::default()
        };
        let kept = without_secrets(record, &experiment);
        let failure = kept.failure.unwrap();
        assert_eq!(failure.cause.unwrap(), "no ***, password=***");
        assert_eq!(failure.log_tail, ["refused: ***", "at shop.Token.verify(Token.java:9)"]);
        assert_eq!(failure.why, "the server hangs: 4 requests stood at Login.checkPassword:45 (***)");
        assert_eq!(kept.unexplained.unwrap(), "no thread was in Login.checkPassword:45");
        let load = kept.measured.unwrap();
        assert_eq!(load.target, "http://h/?access_token=***");
        assert_eq!(load.first_failing_body.unwrap(), "no such X: ${PATH}, ***");
        let command = &kept.external.unwrap().processes[0].command;
        assert_eq!(command[1..], ["-H", "Authorization: ***", "http://h/"]);
    }
}
