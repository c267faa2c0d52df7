//! The causes that delayed the requests beyond the 99th percentile.

use super::Table;
use crate::html::method::ran;
use crate::load_words::load_words;
use crate::pause_ledger::{ledger_of, occurrence};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::pause_cause::cause_words;
use threadcount_model::figures;
use threadcount_model::record::pause_ledger::CauseOfDelay;

#[must_use]
pub fn pauses(document: &ResultDocument) -> Table {
    let mut rows = Vec::new();
    for load in &document.experiment.loads {
        for variant in ran(document) {
            let Some(ledger) = ledger_of(document, variant, &load.name) else { continue };
            let head = |what: &str| vec![variant.to_owned(), load_words(load), what.to_owned()];
            let seen = |cause: &&CauseOfDelay| cause.pauses > 0;
            for cause in ledger.causes.iter().filter(seen) {
                let mut row = head(cause_words(cause.cause).short);
                row.extend(cells(cause));
                rows.push(row);
            }
            let mut row = head("unexplained");
            let none = "–".to_owned();
            let share = figures::percent(ledger.unexplained_share);
            row.extend([none.clone(), none.clone(), none.clone(), share, none]);
            rows.push(row);
        }
    }
    let columns = [
        "variant",
        "load",
        "cause",
        "times",
        "together",
        "longest",
        "share of the requests beyond p99",
        "mean delay of these",
    ];
    let caption = "Causes of delay beyond the 99th percentile. A request counts for the cause that lasted at least half of the request's time above \
                   the median. Only the time between due and last byte counts. For compilation, throttling and steal only samples \
                   are known. All runs added up.";
    Table::new(caption, &columns, 3, rows)
}

fn cells(cause: &CauseOfDelay) -> [String; 5] {
    [
        figures::plural(cause.pauses as usize, occurrence(cause.cause)),
        figures::milliseconds(cause.total_ms),
        figures::milliseconds(cause.longest_ms),
        figures::percent(cause.requests_share),
        cause.delay_ms.map_or_else(|| "–".to_owned(), figures::milliseconds),
    ]
}
