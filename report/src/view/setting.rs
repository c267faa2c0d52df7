//! The setting of the measurement: `Java 25.0.3+9`, `Tomcat 11.0.24`, `2 cores`, `9 runs in 3 min 20 s`.

use crate::crossover::periods;
use crate::sentences::distinct;
use jiff::Timestamp;
use threadcount_judge::result::ResultDocument;
use threadcount_model::figures;

pub(super) fn setting(document: &ResultDocument) -> Vec<String> {
    let servers = || document.records.iter().map(|record| &record.server);
    let java = distinct(servers().filter_map(|server| server.java.as_deref()).map(java_words));
    let product = distinct(servers().filter_map(|server| server.product.clone()));
    let product = product.into_iter().map(|name| name.trim_start_matches("Apache ").to_owned());
    let mut setting: Vec<String> = java.into_iter().chain(product).collect();
    if document.machine.cores > 0 && document.experiment.starts_any() {
        setting.push(figures::plural(document.machine.cores as usize, "core"));
    }
    if let Some(found) = &document.crossover {
        setting.insert(0, found.crossover.server.clone());
        setting.push(periods(found));
        return setting;
    }
    let runs = figures::plural(document.records.len(), "run");
    setting.push(elapsed(document).map_or_else(|| runs.clone(), |time| format!("{runs} in {time}")));
    setting
}

fn java_words(version: &str) -> String {
    format!("Java {}", version.split_whitespace().next().unwrap_or(version))
}

/// The time from the start of the first run to the end of the last.
fn elapsed(document: &ResultDocument) -> Option<String> {
    let began: Timestamp = document.records.first()?.started_at.parse().ok()?;
    let ended: Timestamp = document.created_at.parse().ok()?;
    let seconds = ended.as_second() - began.as_second();
    match (seconds / 60, seconds % 60) {
        (0, 1..) => Some(format!("{seconds} s")),
        (1.., 0) => Some(format!("{} min", seconds / 60)),
        (minutes @ 1.., seconds) => Some(format!("{minutes} min {seconds} s")),
        _ => None,
    }
}
