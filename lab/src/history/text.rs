//! Changes and histories as text for a terminal.

use super::change::{Change, Changed, Side};
use super::differences::Difference;
use super::timeline::{Entry, Figures, Timeline};
use std::fmt::Write as _;
use threadcount_model::comparison::{Ratio, Verdict};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_report::layout;
use threadcount_report::view::ratios::ratio_words;

/// The figures that a history compares with the result before.
const HEADLINES: [Metric; 4] = [Metric::Rate, Metric::Capacity, Metric::Score, Metric::P99];

/// The warning that intervals within two single sessions say nothing about how sessions differ.
const ONE_SESSION: &str = "Each side is one session. The intervals show how its runs differ, but not how sessions differ (another hour, \
another start\nof the machine). So a small difference may only be one between two sessions. To tell the two apart, measure each side in \
several\nsessions, or both as variants of one experiment.\n";
/// The same warning for a list of results.
const ONE_SESSION_EACH: &str = "Each result is one session. The intervals show how its runs differ, but not how sessions differ (another \
hour, another start\nof the machine). A change that later results do not confirm was one between two sessions.\n";

/// Compares two results, starting with what differs between their set-ups.
#[must_use]
pub fn change(change: &Change) -> String {
    let mut text = String::new();
    for (name, side) in [("A", &change.a), ("B", &change.b)] {
        let _ = writeln!(text, "{name}  {}", side_line(side));
        for why in &side.why_not {
            let _ = writeln!(text, "     not trusted: {why}");
        }
    }
    text.push('\n');
    differences(&mut text, change);
    for changed in &change.changed {
        let _ = writeln!(text, "{} under {}", changed.variant, changed.load);
        text.push_str(&table(changed));
        text.push('\n');
    }
    text.push_str(if change.changed.is_empty() {
        "There is nothing to compare: no variant has complete runs under the same load in both.\n"
    } else {
        ONE_SESSION
    });
    text
}

fn side_line(side: &Side) -> String {
    let Side { folder, experiment, created_at, .. } = side;
    format!("{experiment}  {}  {}", figures::moment(created_at), folder.display())
}

fn differences(text: &mut String, change: &Change) {
    let differs = &change.differs;
    let groups: [(&str, &[Difference]); 4] = [
        ("The machines differ, so the figures below may show the machine:", &differs.machine),
        ("The loads differ, so the figures below may show the load:", &differs.load),
        ("The servers differ:", &differs.server),
        ("Measured by different versions:", &differs.tool),
    ];
    for (heading, all) in groups.into_iter().filter(|(_, all)| !all.is_empty()) {
        let _ = writeln!(text, "{heading}");
        for difference in all {
            let _ = writeln!(text, "  {difference}");
        }
        text.push('\n');
    }
    for sentence in &change.only_in_one {
        let _ = writeln!(text, "{sentence}");
    }
    if !change.only_in_one.is_empty() {
        text.push('\n');
    }
}

fn table(changed: &Changed) -> String {
    let ratios = Metric::IN_TABLES.into_iter().filter_map(|metric| Some((metric, changed.ratio(metric)?)));
    let rows: Vec<Vec<String>> = ratios.map(|(metric, ratio)| row(metric, ratio)).collect();
    layout::table(&rows, "<>>>><<").iter().map(|line| format!("{line}\n")).collect()
}

fn row(metric: Metric, ratio: &Ratio) -> Vec<String> {
    vec![
        format!("  {}", metric.label()),
        figures::figure(metric, ratio.baseline_value),
        "->".to_owned(),
        figures::figure(metric, ratio.variant_value),
        format!("{}x", figures::ratio(ratio.ratio)),
        figures::interval_of(ratio).unwrap_or_default(),
        ratio_words(ratio),
    ]
}

/// All results below a folder.
#[must_use]
pub fn history(timeline: &Timeline) -> String {
    let mut text = String::new();
    for series in &timeline.experiments {
        let _ = writeln!(text, "{} · {}\n", series.experiment, series.question);
        series.results.iter().for_each(|entry| result(&mut text, entry));
    }
    for unreadable in &timeline.unreadable {
        let _ = writeln!(text, "left out: {}", unreadable.why);
    }
    if timeline.has_changes() {
        text.push_str(ONE_SESSION_EACH);
    }
    if timeline.experiments.is_empty() {
        let _ = writeln!(text, "There is no result in {} or below it.", timeline.folder.display());
    }
    text
}

fn result(text: &mut String, entry: &Entry) {
    let moment = figures::moment(&entry.created_at);
    let mut facts = entry.servers.clone();
    facts.extend(entry.size.name().map(str::to_owned));
    facts.extend((!entry.trusted).then(|| "not trusted".to_owned()));
    let _ = writeln!(text, "  {moment}  {}  {}", entry.folder.display(), facts.join(", "));
    let unfair = entry.since.as_ref().is_some_and(|since| since.differs.unfair().next().is_some());
    if let Some(since) = &entry.since {
        let differs = &since.differs;
        for difference in differs.unfair().chain(&differs.server).chain(&differs.tool) {
            let _ = writeln!(text, "      changed: {difference}");
        }
        if unfair {
            text.push_str("      not compared with the one before: the machine or the load differs\n");
        }
    }
    for figures in &entry.figures {
        let since = entry.since.as_ref().filter(|_| !unfair);
        let before = since.and_then(|since| {
            since.changed.iter().find(|one| one.load == figures.load && one.variant == figures.variant)
        });
        let _ = writeln!(text, "      {}", figures_line(figures, before));
    }
    text.push('\n');
}

fn figures_line(one: &Figures, before: Option<&Changed>) -> String {
    let means = one.means.iter().filter_map(|(name, value)| {
        let metric = Metric::from_name(name).filter(|metric| HEADLINES.contains(metric))?;
        let label = match metric {
            Metric::P99 => "p99 ",
            Metric::Capacity => "capacity ",
            Metric::Score => "score ",
            _ => "",
        };
        let since = before.and_then(|before| before.ratio(metric)).map_or_else(String::new, since_words);
        Some(format!("{label}{}{since}", figures::figure(metric, *value)))
    });
    let means: Vec<String> = means.collect();
    format!(
        "{} under {}: {}  ({})",
        one.variant,
        one.load,
        means.join(", "),
        figures::plural(one.runs, "run")
    )
}

fn since_words(ratio: &Ratio) -> String {
    let interval = figures::interval_of(ratio).map_or_else(String::new, |interval| format!(" {interval}"));
    match ratio.verdict {
        Verdict::NoDifference => format!(" ({})", ratio_words(ratio)),
        Verdict::NotEnoughRuns => format!(" ({}x, {})", figures::ratio(ratio.ratio), ratio_words(ratio)),
        Verdict::Higher | Verdict::Lower => format!(" ({}x{interval})", figures::ratio(ratio.ratio)),
    }
}
