//! Compares two results: the figures of each variant under each load that both contain.

use super::differences::Differences;
use serde::Serialize;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::comparison::Ratio;
use threadcount_model::experiment::Workload;
use threadcount_model::metric::Metric;
use threadcount_stats::comparison::Sides;
use threadcount_stats::lost_on_purpose::LostOnPurpose;
use threadcount_stats::page::judge_sessions;
use threadcount_stats::runs::complete;

/// The name and version of the document.
const SCHEMA: &str = "threadcount/compare-results/1";

/// The figures of result B compared with those of result A.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The document's name and version.
    pub schema: &'static str,
    /// The earlier result.
    pub a: Side,
    pub b: Side,
    /// Sessions behind each side. The intervals cover how runs within one session differ; one session per side cannot show how sessions
    /// differ.
    pub sessions_per_side: u32,
    /// Differences in how and on what the figures were measured.
    pub differs: Differences,
    /// Loads and variants that only one of the results contains, in sentences.
    pub only_in_one: Vec<String>,
    /// The figures, B divided by A.
    pub changed: Vec<Changed>,
}

/// One of the two results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    pub folder: PathBuf,
    pub experiment: String,
    /// The creation time, RFC 3339.
    pub created_at: String,
    /// Whether its figures are trusted.
    pub trusted: bool,
    pub why_not: Vec<String>,
}

impl Side {
    /// One side of the comparison, read from the result in a folder.
    #[must_use]
    pub fn from_document(folder: &Path, document: &ResultDocument) -> Self {
        Self {
            folder: folder.to_owned(),
            experiment: document.experiment.name.clone(),
            created_at: document.created_at.clone(),
            trusted: document.trusted,
            why_not: if document.trusted {
                Vec::new()
            } else {
                document.why_not.iter().map(reasons::doubt).collect()
            },
        }
    }
}

/// The figures of one variant under one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    pub load: String,
    pub variant: String,
    /// B / A for each metric that both results contain; `variant_value` is B's figure, `baseline_value` A's.
    pub ratios: Vec<Ratio>,
    /// The load's workload, which decides how its ratios are judged.
    #[serde(skip)]
    workload: Workload,
}

/// Compares the figures of two results, even if they are not comparable: see [`Differences::unfair`].
#[must_use]
pub fn change(a: (&Path, &ResultDocument), b: (&Path, &ResultDocument)) -> Change {
    let ((path_a, old), (path_b, new)) = (a, b);
    Change {
        schema: SCHEMA,
        a: Side::from_document(path_a, old),
        b: Side::from_document(path_b, new),
        sessions_per_side: 1,
        differs: Differences::between(old, new),
        only_in_one: only_in_one(old, new),
        changed: changed(old, new),
    }
}

fn changed(old: &ResultDocument, new: &ResultDocument) -> Vec<Changed> {
    let mut all = Vec::new();
    for load in &new.experiment.loads {
        for variant in &new.experiment.variants {
            let runs = |document| {
                let document: &ResultDocument = document;
                complete(&document.records, &variant.name, &load.name)
            };
            let (before, after) = (runs(old), runs(new));
            let lost = LostOnPurpose::of(load.workload, &[&after, &before]);
            let sides = |metric| Sides::of_sessions(metric, &after, &before).without_survivors(lost);
            let ratios: Vec<Ratio> =
                Metric::ALL.into_iter().filter_map(|metric| sides(metric).ratio(1)).collect();
            if !ratios.is_empty() {
                let (load, variant, workload) = (load.name.clone(), variant.name.clone(), load.workload);
                all.push(Changed { load, variant, ratios, workload });
            }
        }
    }
    judge_sessions(all.iter_mut().map(Changed::page_part));
    all
}

fn only_in_one(a: &ResultDocument, b: &ResultDocument) -> Vec<String> {
    let names = |document: &ResultDocument| -> Vec<String> {
        let experiment = &document.experiment;
        let loads = experiment.loads.iter().map(|load| format!("the load {}", load.name));
        loads
            .chain(experiment.variants.iter().map(|variant| format!("the variant {}", variant.name)))
            .collect()
    };
    let (in_a, in_b) = (names(a), names(b));
    let missing = |has: &[String], lacks: &[String], which: &str| -> Vec<String> {
        has.iter()
            .filter(|name| !lacks.contains(name))
            .map(|name| format!("{name} is only in {which}"))
            .collect()
    };
    [missing(&in_a, &in_b, "A"), missing(&in_b, &in_a, "B")].concat()
}

impl Changed {
    #[must_use]
    pub fn ratio(&self, metric: Metric) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.metric == metric)
    }

    /// The part that is judged together with all other figures of a page.
    pub(super) fn page_part(&mut self) -> (Workload, &mut Vec<Ratio>) {
        (self.workload, &mut self.ratios)
    }
}
