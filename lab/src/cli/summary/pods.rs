//! The processes that sent a load together, one line each.

use super::LABEL;
use owo_colors::OwoColorize;
use threadcount_load::pods::PodReport;
use threadcount_load::times::TimesSummary;
use threadcount_model::figures;
use threadcount_report::layout;

/// The largest number of lines. The other processes are in the JSON.
const MOST_LINES: usize = 16;
/// The width of a name. A longer one is cut at its beginning, because its end distinguishes the pods of a Job.
const NAME_WIDTH: usize = 28;

/// The lines, or none if one process sent the load. Missing processes come first, then those that could not keep up, then the slowest.
#[must_use]
pub fn lines(pods: &[PodReport]) -> Vec<String> {
    if pods.is_empty() {
        return Vec::new();
    }
    let mut sorted: Vec<&PodReport> = pods.iter().collect();
    if pods.len() > MOST_LINES {
        sorted.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    }
    let label = layout::padded("pods", LABEL - layout::GAP).dimmed().to_string();
    let head =
        ["", "sent", "ok", "failed", "p50", "p99", "CPU", "began", ""].map(|it| it.dimmed().to_string());
    let mut rows = vec![[vec![label], head.to_vec()].concat()];
    rows.extend(sorted.iter().take(MOST_LINES).map(|pod| row(pod)));
    if pods.len() > MOST_LINES {
        let more = figures::plural((pods.len() - MOST_LINES) as u64, "pod");
        rows.push(vec![String::new(), format!("{more} more (all are in --json)")]);
    }
    layout::table(&rows, "<<>>>>>>><")
}

/// The order of the lines, by what the user must see first.
fn weight(pod: &PodReport) -> f64 {
    let is_bottleneck = pod.generator.as_ref().is_some_and(|generator| generator.bottleneck);
    let p99_ms = pod.response_time_ms.map_or(0.0, |times| times.p99);
    p99_ms + if pod.complete { 0.0 } else { 1e12 } + if is_bottleneck { 1e9 } else { 0.0 }
}

fn row(pod: &PodReport) -> Vec<String> {
    let requests = pod.requests;
    let unknown = || "-".to_owned();
    let time = |of: fn(&TimesSummary) -> f64| {
        pod.response_time_ms.as_ref().map_or_else(unknown, |times| figures::milliseconds(of(times)))
    };
    let is_bottleneck = pod.generator.as_ref().is_some_and(|generator| generator.bottleneck);
    vec![
        String::new(),
        name(pod),
        figures::count(requests.sent),
        figures::count(requests.ok),
        figures::count(requests.failed),
        time(|times| times.p50),
        time(|times| times.p99),
        pod.generator.as_ref().map_or_else(unknown, |it| format!("{:.0} %", it.cpu_share * 100.0)),
        pod.started_ms.map_or_else(unknown, |ms| format!("+{ms:.1} ms")),
        match (pod.complete, is_bottleneck) {
            (false, _) => "incomplete".red().to_string(),
            (_, true) => "bottleneck".yellow().to_string(),
            _ => String::new(),
        },
    ]
}

fn name(pod: &PodReport) -> String {
    if pod.pod.is_empty() {
        return format!("share {}", pod.share);
    }
    let length = pod.pod.chars().count();
    if length < NAME_WIDTH {
        return pod.pod.clone();
    }
    let end: String = pod.pod.chars().skip(length - (NAME_WIDTH - 2)).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(share: u32, complete: bool) -> PodReport {
        let mut pod = PodReport::default();
        (pod.share, pod.pod, pod.complete) = (share, format!("load-{share}-abcde"), complete);
        pod.started_ms = complete.then_some(1.25);
        (pod.requests.sent, pod.requests.ok) = (12_345, 12_345);
        pod
    }

    #[test]
    fn each_process_has_a_line_and_one_alone_has_none() {
        assert!(lines(&[]).is_empty());
        let lines = lines(&[pod(0, true), pod(1, false)]);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].contains("load-0-abcde") && lines[1].contains("12,345") && lines[1].contains("+1.2 ms")
        );
        assert!(lines[2].contains("incomplete"), "{lines:?}");
    }

    #[test]
    fn of_many_the_incomplete_come_first_and_the_rest_is_counted() {
        let mut pods: Vec<PodReport> = (0..100).map(|share| pod(share, true)).collect();
        pods[77].complete = false;
        let lines = lines(&pods);
        assert_eq!(lines.len(), MOST_LINES + 2);
        assert!(lines[1].contains("load-77-"), "{lines:?}");
        assert!(lines[MOST_LINES + 1].contains("84 pods more"), "{lines:?}");
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let mut long = pod(0, true);
        long.pod = "threadcount-load-of-the-shop-17-x7k2p".to_owned();
        assert!(name(&long).ends_with("17-x7k2p") && name(&long).chars().count() < NAME_WIDTH);
        long.pod.clear();
        assert_eq!(name(&long), "share 0");
    }
}
