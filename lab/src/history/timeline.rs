//! Results by experiment and date, each with what changed since the one before.

use super::change::{Change, Changed, change};
use super::find::{Found, Unreadable};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::SessionSize;
use threadcount_model::metric::Metric;
use threadcount_stats::page::judge_sessions;
use threadcount_stats::runs::{complete, figures, mean};

/// The name and version of the document.
const SCHEMA: &str = "threadcount/history/1";
/// The figures that a line of a history has room for.
const METRICS: [Metric; 6] =
    [Metric::Rate, Metric::Capacity, Metric::Score, Metric::P50, Metric::P99, Metric::RssPeak];

/// All results below a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeline {
    /// The document's name and version.
    pub schema: &'static str,
    pub folder: PathBuf,
    /// The experiments in alphabetical order.
    pub experiments: Vec<Series>,
    /// Files that could not be read as results.
    pub unreadable: Vec<Unreadable>,
}

/// The results of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    pub experiment: String,
    /// The experiment's question, from the newest result.
    pub question: String,
    /// The results, the oldest first.
    pub results: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub folder: PathBuf,
    /// The creation time, RFC 3339.
    pub created_at: String,
    pub threadcount: String,
    /// The sizes of the session.
    pub size: SessionSize,
    /// Whether its figures are trusted.
    pub trusted: bool,
    /// The servers and Java versions that ran, each once.
    pub servers: Vec<String>,
    /// The figures of each variant under each load.
    pub figures: Vec<Figures>,
    /// The change since the previous result; `None` for the first.
    pub since: Option<Change>,
}

/// Means over the complete runs of one variant under one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    pub load: String,
    pub variant: String,
    pub runs: usize,
    pub means: Vec<(String, f64)>,
}

impl Timeline {
    /// Whether any result is compared with the one before.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        let results = self.experiments.iter().flat_map(|series| &series.results);
        let mut since = results.filter_map(|entry| entry.since.as_ref());
        since.any(|since| !since.changed.is_empty())
    }
}

#[must_use]
pub fn timeline(below: &Path, found: &[Found], unreadable: Vec<Unreadable>) -> Timeline {
    let names: BTreeSet<&str> = found.iter().map(|one| one.document.experiment.name.as_str()).collect();
    let experiments = names.into_iter().map(|name| {
        let mine: Vec<&Found> = found.iter().filter(|one| one.document.experiment.name == name).collect();
        let question = mine.last().map(|last| last.document.experiment.question.clone());
        let before = std::iter::once(None).chain(mine.iter().copied().map(Some));
        let results = mine.iter().zip(before).map(|(one, before)| entry(one, before)).collect();
        Series { experiment: name.to_owned(), question: question.unwrap_or_default(), results }
    });
    let mut experiments: Vec<Series> = experiments.collect();
    let since = experiments.iter_mut().flat_map(|series| &mut series.results);
    let changed = since.filter_map(|entry| entry.since.as_mut()).flat_map(|since| &mut since.changed);
    judge_sessions(changed.map(Changed::page_part));
    Timeline { schema: SCHEMA, folder: below.to_owned(), experiments, unreadable }
}

fn entry(Found { folder, document }: &Found, before: Option<&Found>) -> Entry {
    Entry {
        folder: folder.clone(),
        created_at: document.created_at.clone(),
        threadcount: document.threadcount.clone(),
        size: document.experiment.size,
        trusted: document.trusted,
        servers: servers(document),
        figures: all_figures(document),
        since: before.map(|old| change((&old.folder, &old.document), (folder, document))),
    }
}

fn servers(document: &ResultDocument) -> Vec<String> {
    let facts = || document.records.iter().map(|record| &record.server);
    let java = facts().filter_map(|server| server.java.as_deref());
    let java = java.map(|java| format!("Java {}", java.split_whitespace().next().unwrap_or(java)));
    let all: BTreeSet<String> = facts().filter_map(|server| server.product.clone()).chain(java).collect();
    all.into_iter().collect()
}

fn all_figures(document: &ResultDocument) -> Vec<Figures> {
    let mut all = Vec::new();
    for load in &document.experiment.loads {
        for variant in &document.experiment.variants {
            let runs = complete(&document.records, &variant.name, &load.name);
            let mean_of = |metric: Metric| Some((metric.name().to_owned(), mean(&figures(&runs, metric))?));
            let means: Vec<(String, f64)> = METRICS.into_iter().filter_map(mean_of).collect();
            if !means.is_empty() {
                let (load, variant) = (load.name.clone(), variant.name.clone());
                all.push(Figures { load, variant, runs: runs.len(), means });
            }
        }
    }
    all
}
