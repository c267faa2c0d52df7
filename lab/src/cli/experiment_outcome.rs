//! The outcome of experiments: the exit code, and the lines that explain it.

use super::crossover::has_failed;
use super::{DISK_FULL, FAILED, NOT_JUDGED};
use std::collections::BTreeSet;
use std::process::ExitCode;
use threadcount_judge::result::{FailedRequests, ResultDocument};
use threadcount_judge::result_folder::FolderError;
use threadcount_judge::words::reasons;
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::experiment::claim::Names;
use threadcount_model::figures;
use threadcount_model::parse::claim::parse;
use threadcount_model::printable::printable;
use threadcount_model::record::Record;
use threadcount_stats::runs::is_complete;

/// The outcome of one experiment, with its result and each `--fail-if`.
pub struct ExperimentOutcome {
    pub(super) document: ResultDocument,
    pub(super) conditions: Vec<ClaimResult>,
    /// Whether the user stopped it.
    pub(super) cut_short: bool,
    /// Whether the disk became full before it was done.
    pub(super) disk_full: bool,
    /// Why the last runs are not in `result.json`.
    pub(super) unsaved: Option<FolderError>,
    /// The share of failed requests that a variant may have under a load, from 0 to 1.
    pub(super) fail_above: f64,
}

impl ExperimentOutcome {
    pub const fn document(&self) -> &ResultDocument {
        &self.document
    }
}

/// The effect of a claim or a `--fail-if` on the exit code, ordered by gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    NotJudged,
    Failed,
    DiskFull,
}

/// The exit code, with a line for each reason. It is 1 if nothing was measured, a run failed or is missing, too many requests failed, a
/// claim of the user's experiment does not hold or a `--fail-if` does. It is 3 if one of them could not be judged, or a variant has no
/// successful request. What the intervals leave open is printed too, but fails nothing.
pub fn exit_code(outcomes: &[ExperimentOutcome]) -> ExitCode {
    let mut gravest = Outcome::Passed;
    let is_any_measured = outcomes.iter().any(|outcome| outcome.document.is_any_complete());
    for ExperimentOutcome { document, conditions, cut_short, disk_full, unsaved, fail_above } in outcomes {
        let name = &document.experiment.name;
        if let Some(crossover) = &document.crossover {
            gravest = gravest.max(match (disk_full, *cut_short || has_failed(crossover, *fail_above)) {
                (true, _) => Outcome::DiskFull,
                (false, true) => Outcome::Failed,
                (false, false) => Outcome::Passed,
            });
            continue;
        }
        gravest = gravest.max(tell_failures(document));
        let claims = document.claims.iter().map(|claim| tell_claim(document, claim));
        let conditions = conditions.iter().map(|condition| tell_condition(document, condition));
        gravest = claims.chain(conditions).fold(gravest, Outcome::max);
        gravest = gravest.max(tell_missing(document, is_any_measured));
        gravest = gravest.max(tell_failed_requests(document, *fail_above));
        if *cut_short {
            gravest = Outcome::Failed;
            let runs = document.records.iter().filter(|record| is_complete(record)).count();
            let runs = figures::plural(runs, "complete run");
            note!("{name}: interrupted after {runs}; they are kept");
        }
        if let Some(why) = unsaved {
            gravest = Outcome::Failed;
            note!("{name} ended early, and the figures above are not saved: {why}");
        }
        if *disk_full {
            gravest = Outcome::DiskFull;
            note!(
                "{name}: the disk is full; what was measured is kept. Make room (or raise `ulimit -f`), and go on with --resume"
            );
        }
    }
    match gravest {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::NotJudged => ExitCode::from(NOT_JUDGED),
        Outcome::Failed => ExitCode::from(FAILED),
        Outcome::DiskFull => ExitCode::from(DISK_FULL),
    }
}

/// Prints what has no figures. Among several experiments one may be useless here, but a call that measures nothing has failed.
fn tell_missing(document: &ResultDocument, is_any_measured: bool) -> Outcome {
    let name = &document.experiment.name;
    if !document.is_any_complete() && !document.ended_by().is_empty() {
        return Outcome::Failed;
    }
    if !document.is_any_complete() {
        let is_skipped = document.experiment.variants.iter().all(|variant| variant.skipped.is_some());
        let why = if is_skipped { "no variant can run on this machine" } else { "no run is complete" };
        note!("{name}: nothing was measured because {why}");
        return if is_skipped && is_any_measured { Outcome::Passed } else { Outcome::Failed };
    }
    let failing = document.runs_without_success();
    for (variant, load) in &failing {
        note!("{name}: no request to {variant} under {load} had an expected response");
    }
    if failing.is_empty() { Outcome::Passed } else { Outcome::NotJudged }
}

/// Prints the variants of which more requests failed than are allowed.
fn tell_failed_requests(document: &ResultDocument, fail_above: f64) -> Outcome {
    let name = &document.experiment.name;
    let failing = document.failed_requests(fail_above);
    for FailedRequests { variant, load, failed, of, cause } in &failing {
        let (share, failed, of) =
            (figures::percent(*failed as f64 / *of as f64), figures::count(*failed), figures::count(*of));
        let mostly = cause.map_or_else(String::new, |cause| format!(", mostly {cause}"));
        note!(
            "{name}: {failed} of {of} requests to {variant} under {load} failed ({share}){mostly}; --fail-above allows a share of them"
        );
    }
    if failing.is_empty() { Outcome::Passed } else { Outcome::Failed }
}

/// Says why a claim cannot be judged, or `None` if it can.
fn cannot_be_judged(claim: &ClaimResult) -> Option<String> {
    match (claim.verdict(), &claim.why) {
        (ClaimVerdict::NotTried, Some(why)) => Some(reasons::not_tried(why)),
        (ClaimVerdict::NotTried, None) => Some("its figures were not measured".to_owned()),
        _ => claim.doubt.as_ref().map(reasons::doubt),
    }
}

/// Whether the claim is about variants and loads of this session. `--variant` and `--quick` may leave some out.
fn is_asked(document: &ResultDocument, claim: &ClaimResult) -> bool {
    let experiment = &document.experiment;
    parse(&claim.claim, &Names::of(experiment)).is_ok_and(|parsed| {
        parsed.figures().iter().all(|figure| {
            let load = experiment.loads.iter().find(|load| load.name == figure.load);
            load.is_some_and(|load| load.includes(&figure.variant))
        })
    })
}

/// Prints the verdict on a claim.
fn tell_claim(document: &ResultDocument, claim: &ClaimResult) -> Outcome {
    let (name, written) = (&document.experiment.name, &claim.claim);
    if claim.holds.is_none() && !is_asked(document, claim) {
        return Outcome::Passed;
    }
    match (claim.is_denied(), &claim.says, cannot_be_judged(claim)) {
        // A claim of a study is reported, but decides nothing.
        (_, Some(_), _) => Outcome::Passed,
        (_, None, Some(why)) => {
            note!("{name}: the claim `{written}` could not be judged ({why})");
            Outcome::NotJudged
        }
        (true, None, None) => {
            note!("{name}: the claim `{written}` does not hold{}", of_one_run(claim));
            Outcome::Failed
        }
        (false, None, None) if claim.verdict() == ClaimVerdict::NotDecided => {
            note!("{name}: the claim `{written}` is inconclusive");
            Outcome::Passed
        }
        _ => Outcome::Passed,
    }
}

/// A note for a `--fail-if` that rests on one run. It decides the exit code nevertheless.
fn of_one_run(claim: &ClaimResult) -> &'static str {
    if claim.verdict() == ClaimVerdict::Indicative { " (one run: indicative only)" } else { "" }
}

/// Prints the verdict on a `--fail-if`.
fn tell_condition(document: &ResultDocument, condition: &ClaimResult) -> Outcome {
    let (name, written) = (&document.experiment.name, &condition.claim);
    if let Some(why) = cannot_be_judged(condition) {
        note!("{name}: --fail-if `{written}` could not be judged ({why})");
        return Outcome::NotJudged;
    }
    match condition.verdict() {
        ClaimVerdict::Holds | ClaimVerdict::Indicative if !condition.is_denied() => {
            note!("{name}: --fail-if `{written}` holds{}", of_one_run(condition));
            Outcome::Failed
        }
        ClaimVerdict::NotDecided => {
            note!("{name}: --fail-if `{written}` is inconclusive; use more rounds (--runs)");
            Outcome::Passed
        }
        _ => Outcome::Passed,
    }
}

/// Prints each failed run. The end of its log is printed only for the first run of a variant that failed for this cause. A failure that
/// ended the session is in the answer already.
fn tell_failures(document: &ResultDocument) -> Outcome {
    let answered = document.ended_by();
    let mut told = BTreeSet::new();
    let mut outcome = Outcome::Passed;
    for record in &document.records {
        let Some(failure) = &record.failure else { continue };
        outcome = Outcome::Failed;
        if answered.contains(&record) {
            continue;
        }
        let Record { position, variant, load, round, .. } = record;
        let why = printable(&failure.why);
        note!("run {position} ({variant} under {load}, round {round}) failed: {why}");
        let cause = failure.cause.as_ref().or(failure.log_tail.last());
        if told.insert((variant, cause)) {
            failure.log_tail.iter().for_each(|line| note!("    {}", printable(line)));
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::session;
    use threadcount_config::parse;
    use threadcount_load::report::LoadReport;
    use threadcount_model::doubt::{Doubt, DoubtReason};
    use threadcount_model::experiment::{LoadKind, Losses};

    fn document() -> ResultDocument {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
            loads: [{clients: 4, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let mut load = LoadReport::default();
        load.requests.ok = 1;
        let run = Record {
            variant: "a".to_owned(),
            load: "c4".to_owned(),
            measured: Some(load),
            ..Record::default()
        };
        session::document(&experiment, vec![run], Vec::new(), &[])
    }

    fn claim(holds: Option<bool>, reason: Option<DoubtReason>) -> ClaimResult {
        let doubt =
            reason.map(|reason| Doubt { variant: "b".to_owned(), load: "c4".to_owned(), runs: 1, reason });
        let claim = "b.rate / a.rate >= 2".to_owned();
        ClaimResult { claim, holds, doubt, decided: true, ..ClaimResult::default() }
    }

    #[test]
    fn a_claim_about_a_variant_that_was_not_asked_for_is_no_failure_and_a_fail_if_about_it_is() {
        let mut document = document();
        assert_eq!(tell_claim(&document, &claim(None, None)), Outcome::NotJudged);
        assert!(document.experiment.loads[0].keep_only(&["a".to_owned()]));
        assert_eq!(tell_claim(&document, &claim(None, None)), Outcome::Passed);
        assert_eq!(tell_condition(&document, &claim(None, None)), Outcome::NotJudged);
    }

    #[test]
    fn a_claim_of_ones_own_passes_fails_or_cannot_be_judged() {
        let document = document();
        for (holds, reason, outcome) in [
            (Some(true), None, Outcome::Passed),
            (Some(false), None, Outcome::Failed),
            (Some(true), Some(DoubtReason::GeneratorBottleneck { why: None }), Outcome::NotJudged),
            (Some(false), Some(DoubtReason::GeneratorBottleneck { why: None }), Outcome::NotJudged),
            (None, None, Outcome::NotJudged),
        ] {
            let own = claim(holds, reason);
            assert_eq!(tell_claim(&document, &own), outcome, "{own:?}");
            let studys = ClaimResult { says: Some("it is so".to_owned()), ..own };
            assert_eq!(tell_claim(&document, &studys), Outcome::Passed, "{studys:?}");
        }
        let open = ClaimResult { undecided: true, ..claim(Some(false), None) };
        assert_eq!(tell_claim(&document, &open), Outcome::Passed);
    }

    #[test]
    fn a_fail_if_fails_where_it_holds_and_cannot_be_judged_on_figures_that_are_not_trusted() {
        let document = document();
        for (holds, reason, outcome) in [
            (Some(true), None, Outcome::Failed),
            (Some(false), None, Outcome::Passed),
            (Some(true), Some(DoubtReason::AcceptQueueOverflow { overflows: 3 }), Outcome::NotJudged),
            (Some(false), Some(DoubtReason::AcceptQueueOverflow { overflows: 3 }), Outcome::NotJudged),
            (None, None, Outcome::NotJudged),
        ] {
            let condition = claim(holds, reason);
            assert_eq!(tell_condition(&document, &condition), outcome, "{condition:?}");
        }
    }

    #[test]
    fn more_failed_requests_than_are_allowed_fail_and_exactly_as_many_do_not() {
        let mut document = document();
        assert_eq!(tell_failed_requests(&document, 0.0), Outcome::Passed);
        document.records[0]
            .measured
            .iter_mut()
            .for_each(|load| (load.requests.ok, load.requests.failed) = (1, 4));
        for (allowed, outcome) in [(0.0, Outcome::Failed), (0.79, Outcome::Failed), (0.8, Outcome::Passed)] {
            assert_eq!(tell_failed_requests(&document, allowed), outcome, "{allowed}");
        }
    }

    #[test]
    fn failed_requests_of_an_overload_fail_nothing() {
        let mut document = document();
        document.records[0].measured.iter_mut().for_each(|load| load.requests.failed = 4);
        let losses = Losses::OfOverload;
        document.experiment.loads[0].workload = LoadKind::Open { rate_per_s: 9.0, clients: 4, losses }.into();
        assert_eq!(tell_failed_requests(&document, 0.0), Outcome::Passed);
    }

    #[test]
    fn what_failed_is_graver_than_what_could_not_be_judged() {
        let both = |claims: Vec<ClaimResult>, conditions: Vec<ClaimResult>| {
            let document = ResultDocument { claims, ..document() };
            let outcomes = ExperimentOutcome {
                document,
                conditions,
                cut_short: false,
                disk_full: false,
                unsaved: None,
                fail_above: 0.0,
            };
            format!("{:?}", exit_code(&[outcomes]))
        };
        let code = |code: u8| format!("{:?}", ExitCode::from(code));
        let holds = || claim(Some(true), None);
        let fails = || claim(Some(false), None);
        let unjudged = || claim(None, None);
        assert_eq!(both(vec![unjudged()], vec![]), code(NOT_JUDGED));
        assert_eq!(both(vec![fails(), unjudged()], vec![]), code(FAILED));
        assert_eq!(both(vec![holds()], vec![]), code(0));
        assert_eq!(both(vec![], vec![holds()]), code(FAILED));
        assert_eq!(both(vec![], vec![fails()]), code(0));
        assert_eq!(both(vec![], vec![unjudged()]), code(NOT_JUDGED));
        assert_eq!(both(vec![], vec![unjudged(), holds()]), code(FAILED));
    }
}
