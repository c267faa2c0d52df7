//! The tables of the page; each cell is already text.

pub mod pauses;
pub mod ratios;
pub mod run_delays;
pub mod sites;
pub mod variants;

use crate::crossover as words;
use crate::load_words::{load_words, metric_words};
use crate::sentences::capital;
use crate::view::study;
use serde::Serialize;
use threadcount_judge::published;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::claim_result::ClaimResult;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::{NativeMemory, Record};
use threadcount_stats::crossover::CrossoverRatio;
use threadcount_stats::crossover::comparison::{TreatmentComparison, TreatmentFigures};
use threadcount_stats::runs::is_complete;

/// A table as text; the first cell of each row is the row's head.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// The number of columns at the left that hold words; the others hold figures.
    pub words: usize,
}

impl Table {
    fn new(caption: &str, columns: &[&str], words: usize, rows: Vec<Vec<String>>) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { caption: caption.to_owned(), columns, rows, words }
    }
}

/// The kinds of thread compared inside the same JVMs; empty without a crossover.
#[must_use]
pub fn crossover(document: &ResultDocument) -> Table {
    let Some(found) = &document.crossover else { return Table::default() };
    let row = |of: &TreatmentFigures| {
        let compared = found.comparisons.iter().find(|it| it.treatment == of.treatment);
        let ratio = |of: fn(&TreatmentComparison) -> Option<CrossoverRatio>| {
            compared.and_then(of).as_ref().map_or_else(|| "–".to_owned(), words::shown)
        };
        let [name, rate, _, p50, p99, cpu, memory, threads] = words::cells(found, of);
        let ratios = [
            ratio(|it| Some(it.rate)),
            ratio(|it| it.p50),
            ratio(|it| it.p99),
            ratio(|it| it.cpu_per_request),
        ];
        let [of_rate, of_p50, of_p99, of_cpu] = ratios;
        vec![name, rate, of_rate, p50, of_p50, p99, of_p99, cpu, of_cpu, memory, threads]
    };
    let against = format!("vs {}", words::name(&found.crossover, words::baseline(&found.crossover)));
    let columns = [
        "kind",
        "throughput",
        &against,
        "p50",
        &against,
        "p99",
        &against,
        "CPU/request",
        &against,
        "memory",
        "threads",
    ];
    let caption = capital(&words::covers(&found.crossover).join(" "));
    Table::new(&caption, &columns, 1, found.figures.iter().map(row).collect())
}

#[must_use]
pub fn published(document: &ResultDocument) -> Table {
    let rows = published::rows(document).into_iter().map(|row| {
        let load = document.experiment.load(&row.load);
        vec![
            row.variant.clone(),
            load.map_or_else(|| row.load.clone(), load_words),
            row.metric.label().to_owned(),
            row.source.clone().unwrap_or_default(),
            figures::figure(row.metric, row.published),
            row.measured
                .map_or_else(|| "not measured".to_owned(), |value| figures::figure(row.metric, value)),
            row.ratio().map_or_else(|| "–".to_owned(), figures::ratio),
            row.reproduced().words().to_owned(),
        ]
    });
    let columns =
        ["variant", "load", "figure", "where", "published", "measured", "measured / published", "verdict"];
    let caption = format!(
        "Published figures and what was measured here (mean over the runs). Reproduced: within {} of the published \
         figure, whatever machine that was measured on; ratios travel better, see the claims.",
        figures::percent(published::TOLERANCE)
    );
    Table::new(&caption, &columns, 4, rows.collect())
}

/// Native memory before and after the load, means over the runs.
#[must_use]
pub fn native_memory(document: &ResultDocument) -> Table {
    let mut rows = Vec::new();
    for load in &document.experiment.loads {
        for variant in &document.experiment.variants {
            let runs = document.runs_of(&variant.name, &load.name).filter_map(|record| record.native_memory);
            let (before, after): (Vec<_>, Vec<_>) = runs.map(|memory| (memory.before, memory.after)).unzip();
            for (when, readings) in [("before", before), ("after", after)] {
                if !readings.is_empty() {
                    let mut row = vec![variant.name.clone(), load_words(load), when.to_owned()];
                    row.extend(native_cells(&readings));
                    rows.push(row);
                }
            }
        }
    }
    let columns = [
        "variant",
        "load",
        "when",
        "threads",
        "stacks reserved",
        "stacks committed",
        "heap committed",
        "all reserved",
        "all committed",
    ];
    let caption = "Native memory as the JVM itself counts it (VM.native_memory summary), before and after the load; \
                   means over the runs.";
    Table::new(caption, &columns, 3, rows)
}

fn native_cells(readings: &[NativeMemory]) -> [String; 6] {
    let mean = |figure: &dyn Fn(&NativeMemory) -> u64| {
        readings.iter().map(figure).sum::<u64>() / readings.len() as u64
    };
    [
        figures::count(mean(&|memory| u64::from(memory.threads))),
        figures::bytes(mean(&|memory| memory.stack_reserved_bytes)),
        figures::bytes(mean(&|memory| memory.stack_committed_bytes)),
        figures::bytes(mean(&|memory| memory.heap_committed_bytes)),
        figures::bytes(mean(&|memory| memory.reserved_bytes)),
        figures::bytes(mean(&|memory| memory.committed_bytes)),
    ]
}

#[must_use]
pub fn claims(document: &ResultDocument) -> Table {
    let rows = document.claims.iter().map(|claim| {
        let study::ClaimFigures { published, measured } = study::claim_figures(document, claim);
        let verdict = study::verdict_line(document, claim);
        let says = claim.says.clone().unwrap_or_default();
        let decided = decided_words(claim).to_owned();
        vec![claim.claim.clone(), says, verdict, decided, published, measured]
    });
    let none = || "–".to_owned();
    let unavailable = document.experiment.unavailable.iter().map(|claim| {
        vec![
            none(),
            claim.what.clone(),
            format!("{}: {}", study::UNAVAILABLE, claim.why),
            none(),
            none(),
            none(),
        ]
    });
    let columns = ["claim", "statement of the study", "verdict", "decided", "published", "measured"];
    let caption = "Claims, and whether they hold here. Decided: intervals and means agree. If they do not, another session may have \
         another verdict.";
    Table::new(caption, &columns, 4, rows.chain(unavailable).collect())
}

fn decided_words(claim: &ClaimResult) -> &'static str {
    match (claim.holds, claim.decided) {
        (None, _) => "–",
        (_, true) => "yes",
        (_, false) => "no",
    }
}

const RUN_METRICS: [Metric; 10] = [
    Metric::Rate,
    Metric::P50,
    Metric::P99,
    Metric::P99_9,
    Metric::Max,
    Metric::CpuPerRequest,
    Metric::MemoryNeeded,
    Metric::RssPeak,
    Metric::OsThreads,
    Metric::ReadyAfter,
];

fn run_column(metric: Metric) -> String {
    match metric {
        Metric::CpuPerRequest => "CPU per request".to_owned(),
        Metric::MemoryNeeded => "memory needed".to_owned(),
        Metric::RssPeak => "memory (RSS)".to_owned(),
        Metric::OsThreads => "OS threads".to_owned(),
        Metric::ReadyAfter => "ready after".to_owned(),
        time => metric_words(time),
    }
}

#[must_use]
pub fn runs(document: &ResultDocument) -> Table {
    let metrics = RUN_METRICS.map(run_column);
    let mut columns = vec!["run", "load", "variant", "round", "started"];
    columns.extend(metrics.iter().map(String::as_str));
    columns.extend(["failed", "generator", "counts"]);
    let rows = document.records.iter().map(run_cells).collect();
    let caption = "Every run, in the order in which they ran. Generator: its busiest thread's share of a core. Runs that \
         do not count are in no figure, picture or verdict.";
    Table::new(caption, &columns, 5, rows)
}

fn run_cells(record: &Record) -> Vec<String> {
    let none = || "–".to_owned();
    let mut cells = vec![
        record.position.to_string(),
        record.load.clone(),
        record.variant.clone(),
        record.round.to_string(),
        figures::moment(&record.started_at),
    ];
    let figure = |metric: Metric| metric.of(record).map_or_else(none, |value| figures::figure(metric, value));
    cells.extend(RUN_METRICS.map(figure));
    let load = record.measured.as_ref();
    cells.push(load.map_or_else(none, |load| figures::count(load.requests.failed)));
    cells.push(load.map_or_else(none, |load| figures::percent(load.generator.cpu_share)));
    cells.push(counts(record));
    cells
}

/// The cell that tells whether a run counts, and why not.
fn counts(record: &Record) -> String {
    match (&record.failure, record.dropped, &record.interference) {
        (Some(_), ..) => "no: it failed".to_owned(),
        (None, true, _) => "no: the protocol drops this round".to_owned(),
        (None, false, Some(by)) => format!("interference: {}", reasons::interference(by)),
        (None, false, None) if is_complete(record) => "yes".to_owned(),
        (None, false, None) => "no: interrupted by the user".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::RunFailure;
    use threadcount_model::record::interference::Interference;

    #[test]
    fn a_run_that_does_not_count_says_why() {
        assert_eq!(counts(&Record::default()), "no: interrupted by the user");
        let run = threadcount_model::sample::run("a", "c4", 100.0, 5.0);
        assert_eq!(counts(&run), "yes");
        assert_eq!(counts(&Record { dropped: true, ..run.clone() }), "no: the protocol drops this round");
        let interference = Some(Interference::Steal { cores: 0.8, of_cores: 2 });
        let disturbed = Record { interference, ..run.clone() };
        assert_eq!(
            counts(&disturbed),
            "interference: CPU steal: 0.80 of 2 cores; measure again when the host is quieter"
        );
        let failure = Some(RunFailure { why: "port in use".to_owned(), ..RunFailure::default() });
        assert_eq!(counts(&Record { failure, ..run }), "no: it failed");
    }
}
