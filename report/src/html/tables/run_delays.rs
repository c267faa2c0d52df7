//! Run delays: the time for which runnable threads waited for a core or a carrier.

use super::Table;
use crate::load_words::load_words;
use crate::run_delays::rows;
use threadcount_judge::result::ResultDocument;

#[must_use]
pub fn run_delays(document: &ResultDocument) -> Table {
    let caption = "Time between runnable and running: a delay for every 10 ms of the explaining window. The run is the one with the \
        largest 99th percentile. A virtual thread also waits for a carrier.";
    let mut table = Vec::new();
    for load in &document.experiment.loads {
        for row in rows(document, load) {
            let mut cells = vec![row.variant, load_words(load), row.who.to_owned()];
            let times = row.times.map(|time| if time.is_empty() { "–".to_owned() } else { time });
            cells.extend(times);
            cells.push(if row.share.is_empty() { "–".to_owned() } else { row.share });
            table.push(cells);
        }
    }
    let columns = ["variant", "load", "who", "p50", "p99", "longest", "share of the time"];
    Table::new(caption, &columns, 3, table)
}
