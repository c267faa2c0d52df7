//! Finds variants that do not work: their next runs would fail like the last ones.

use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;

/// The failures in a row that make a variant hopeless if it has worked before; a single failure may have another reason.
const FAILURES_AFTER_SUCCESS: usize = 2;

/// The indices of a load's variants whose last run was fruitless, or last two runs if an earlier run had figures. If the user
/// allows all requests to fail, failures are figures.
pub(super) fn variants(
    experiment: &Experiment,
    load: &LoadSpec,
    records: &[Record],
    may_all_fail: bool,
) -> Vec<usize> {
    let is_fruitless = |record: &Record| {
        if may_all_fail { record.is_unmeasured() } else { record.is_fruitless(load) }
    };
    let is_hopeless = |name: &str| {
        let runs = || records.iter().rev().filter(|record| record.variant == name);
        let failures = runs().take_while(|record| is_fruitless(record)).count();
        let has_worked = runs().any(|record| record.failure.is_none() && !is_fruitless(record));
        failures >= if has_worked { FAILURES_AFTER_SUCCESS } else { 1 }
    };
    let under = experiment.variants.iter().enumerate().filter(|(_, variant)| variant.runs_under(load));
    under.filter(|(_, variant)| is_hopeless(&variant.name)).map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_load::report::LoadReport;
    use threadcount_model::record::RunFailure;

    /// Whether the variant is hopeless after these runs: `o` had figures, `f` failed before, `m` failed after something was measured, `w` got
    /// only unexpected responses.
    fn is_hopeless(runs: &str, may_all_fail: bool) -> bool {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\nloads: [{clients: 4, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).unwrap();
        let measured = |ok| {
            let mut report = LoadReport::default();
            (report.requests.ok, report.requests.failed) = (ok, 9);
            report
        };
        let records: Vec<Record> = runs
            .chars()
            .map(|kind| Record {
                variant: "b".to_owned(),
                measured: (kind != 'f').then(|| measured(u64::from(kind != 'w'))),
                failure: (!"ow".contains(kind)).then(RunFailure::default),
                ..Record::default()
            })
            .collect();
        variants(&experiment, &experiment.loads[0], &records, may_all_fail) == [1]
    }

    #[test]
    fn a_variant_is_hopeless_after_one_failure_or_two_in_a_row_if_it_had_worked_before() {
        for runs in ["f", "ff", "off", "ofoff", "mf", "w", "oww", "wf"] {
            assert!(is_hopeless(runs, false), "{runs}");
        }
        for runs in ["", "o", "of", "ofo", "ofof", "m", "om", "ow"] {
            assert!(!is_hopeless(runs, false), "{runs}");
        }
    }

    #[test]
    fn failures_that_the_user_allows_do_not_make_a_variant_hopeless_and_one_that_never_starts_is() {
        for runs in ["w", "ww", "oww"] {
            assert!(!is_hopeless(runs, true), "{runs}");
        }
        for runs in ["f", "wff"] {
            assert!(is_hopeless(runs, true), "{runs}");
        }
    }
}
