//! `result.json` (`threadcount/result/3`): the outcome of one experiment. Every report is made from it alone.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use threadcount_load::report::{FailureReason, LoadReport, most_frequent_failure};
use threadcount_model::experiment::{Experiment, LoadSpec, Workload};
use threadcount_model::record::Record;

use super::finding::Finding;
use threadcount_model::claim_result::ClaimResult;
use threadcount_model::comparison::Comparison;
use threadcount_model::doubt::Doubt;
use threadcount_model::machine::Machine;
use threadcount_model::metric::Metric;
use threadcount_model::request_time::RequestTime;
use threadcount_model::rounds::{RoundsDone, RoundsEnd, Skipped};
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::runs::{self, is_complete};

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/result/3";

/// One experiment's outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultDocument {
    /// The name and version of the document: [`SCHEMA`].
    pub schema: String,
    /// Threadcount's own version.
    pub threadcount: String,
    /// The command line.
    pub command: Vec<String>,
    /// Time of creation, in RFC 3339.
    pub created_at: String,
    pub experiment: Experiment,
    pub machine: Machine,
    /// Kinds of thread compared inside the same JVMs; there are no runs then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossover: Option<CrossoverDocument>,
    /// One record per run, in the order of the runs.
    pub records: Vec<Record>,
    /// Number of rounds of each load, and why they ended.
    pub rounds: Vec<RoundsDone>,
    /// Each variant against the baseline, for each load.
    pub comparisons: Vec<Comparison>,
    /// The limits of each variant.
    #[serde(deserialize_with = "known_findings")]
    pub findings: Vec<Finding>,
    /// Number of findings in a file of another version whose kinds or figures this version does not know.
    #[serde(skip)]
    pub findings_not_shown: usize,
    /// Where the time of a request goes, for each variant whose threads were sampled.
    pub request_times: Vec<RequestTime>,
    /// Each claim with its measured figure.
    pub claims: Vec<ClaimResult>,
    /// Variants that could not run on this machine.
    pub skipped: Vec<Skipped>,
    /// Whether conclusions may be drawn.
    pub trusted: bool,
    /// Doubts, the most important first. A serious one makes `trusted` false.
    pub why_not: Vec<Doubt>,
}

/// Findings without those whose kinds or figures only another version knows.
fn known_findings<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<Finding>, D::Error> {
    let all = Vec::<serde_json::Value>::deserialize(deserializer)?;
    if all.iter().any(|it| !it["rule"].is_string() || !it["figures"].is_object()) {
        return Err(D::Error::custom("each finding needs a `rule` and its `figures`"));
    }
    Ok(all.into_iter().filter_map(|it| serde_json::from_value(it).ok()).collect())
}

/// Requests of a variant under a load that had no expected response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequests<'a> {
    pub variant: &'a str,
    pub load: &'a str,
    pub failed: u64,
    /// Requests that ended.
    pub of: u64,
    /// The cause of most of these failures.
    pub cause: Option<FailureReason<'a>>,
}

impl ResultDocument {
    /// The comparisons under a load with the baseline, or with other variants if `with_baseline` is `false`.
    pub fn comparisons_with_baseline<'a>(
        &'a self,
        load: &'a LoadSpec,
        with_baseline: bool,
    ) -> impl Iterator<Item = &'a Comparison> {
        let baseline = self.experiment.baseline(load).map(|variant| variant.name.as_str());
        self.comparisons_under(&load.name)
            .filter(move |it| (Some(it.baseline.as_str()) == baseline) == with_baseline)
    }

    /// The first serious doubt about one side of a comparison, whose figures then show nothing.
    #[must_use]
    pub fn serious_doubt(&self, comparison: &Comparison) -> Option<&Doubt> {
        self.why_not.iter().find(|doubt| {
            doubt.reason.is_serious()
                && doubt.load == comparison.load
                && [&comparison.variant, &comparison.baseline].contains(&&doubt.variant)
        })
    }

    /// The comparisons under a load, in the order of the variants.
    pub fn comparisons_under<'a>(&'a self, load: &'a str) -> impl Iterator<Item = &'a Comparison> {
        self.comparisons.iter().filter(move |comparison| comparison.load == load)
    }

    /// The runs whose failures ended the session: all of the last round with a failure. Empty if the session did not end that way.
    #[must_use]
    pub fn ended_by(&self) -> Vec<&Record> {
        let has_ended = |load: &str| {
            self.rounds.iter().any(|done| done.load == load && done.why == RoundsEnd::VariantFailed)
        };
        let failed = || {
            self.records.iter().filter(|record| {
                has_ended(&record.load)
                    && self.experiment.load(&record.load).is_some_and(|load| record.is_fruitless(load))
            })
        };
        let last = failed().next_back().map(|it| (&it.load, it.round));
        failed().filter(|it| Some((&it.load, it.round)) == last).collect()
    }

    /// Was anything measured?
    #[must_use]
    pub fn is_any_complete(&self) -> bool {
        self.records.iter().any(is_complete)
    }

    /// Variants and loads whose complete runs have no request with an expected response, unless losses are what is measured.
    #[must_use]
    pub fn runs_without_success(&self) -> BTreeSet<(&str, &str)> {
        let expects_losses =
            |name: &str| self.experiment.load(name).is_some_and(|load| load.workload.expects_losses());
        let complete =
            self.records.iter().filter(|record| is_complete(record) && !expects_losses(&record.load));
        let has_success = |record: &'_ Record| record.measured.as_ref().map(|load| load.requests.ok > 0);
        let (with, without): (Vec<_>, Vec<_>) = complete
            .filter_map(|record| Some((record.variant.as_str(), record.load.as_str(), has_success(record)?)))
            .partition(|&(_, _, is_success)| is_success);
        let pair = |(variant, load, _)| (variant, load);
        let with: BTreeSet<_> = with.into_iter().map(pair).collect();
        without.into_iter().map(pair).filter(|run| !with.contains(run)).collect()
    }

    /// Variants and loads of which a greater share of requests failed than is allowed, over all complete runs. A load that expects
    /// losses allows all failures, and a search for the capacity ends with them.
    #[must_use]
    pub fn failed_requests(&self, allowed_share: f64) -> Vec<FailedRequests<'_>> {
        let may_fail = |name: &str| {
            let workload = self.experiment.load(name).map(|load| load.workload);
            workload.is_some_and(|it| it.expects_losses() || matches!(it, Workload::Capacity(_)))
        };
        let mut runs: BTreeMap<(&str, &str), Vec<&LoadReport>> = BTreeMap::new();
        for record in self.records.iter().filter(|it| is_complete(it) && !may_fail(&it.load)) {
            let pair = (record.variant.as_str(), record.load.as_str());
            runs.entry(pair).or_default().extend(&record.measured);
        }
        let all = runs.into_iter().map(|((variant, load), runs)| FailedRequests {
            variant,
            load,
            failed: runs.iter().map(|run| run.requests.failed).sum(),
            of: runs.iter().map(|run| run.requests.ok + run.requests.failed).sum(),
            cause: most_frequent_failure(runs),
        });
        all.filter(|it| it.failed as f64 > allowed_share * it.of as f64).collect()
    }

    /// The runs of a variant under a load on which its figures rest.
    #[must_use]
    pub fn counted_runs(&self, variant: &str, load: &str) -> Vec<&Record> {
        runs::complete(&self.records, variant, load)
    }

    /// The figures of the counted runs; a run without this figure is left out.
    #[must_use]
    pub fn figures(&self, variant: &str, load: &str, metric: Metric) -> Vec<f64> {
        runs::figures(&self.counted_runs(variant, load), metric)
    }

    /// The mean over the counted runs; `None` if none of them has the figure.
    #[must_use]
    pub fn mean(&self, variant: &str, load: &str, metric: Metric) -> Option<f64> {
        runs::mean(&self.figures(variant, load, metric))
    }

    /// All runs of a variant under a load, including failed ones.
    pub fn runs_of<'a>(&'a self, variant: &'a str, load: &'a str) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.variant == variant && record.load == load)
    }
}
