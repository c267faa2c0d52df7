//! The summary of one load for a terminal. The warnings come first, because they say whether the figures can be trusted.

mod bars;
mod pods;
mod table;

use crate::cli::plan_flags::flag;
use owo_colors::OwoColorize;
use threadcount_load::health::Warning;
use threadcount_load::health::cores::FULL;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::report::LoadReport;
use threadcount_model::figures;
use threadcount_report::layout;

/// The number of causes of failure that are listed one by one.
const MOST_CAUSES: usize = 8;
/// The column in which the text beside a label begins.
const LABEL: usize = 10;
/// The width at which sentences are broken, unless the terminal is narrower.
const LINE_WIDTH: usize = 100;

/// The summary with the escape codes of colours. Print it through [`anstream`], which removes them where they do not belong.
#[must_use]
pub fn summary(report: &LoadReport, outcome: &LoadOutcome) -> String {
    let sections = [
        warnings(report),
        head(report, outcome),
        times(report),
        picture(outcome),
        answers(report),
        pods::lines(&report.pods),
        generator(report, outcome),
    ];
    let filled = sections.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"));
    filled.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The warnings. What a closed loop does not show is a note, because it applies to each closed loop.
fn warnings(report: &LoadReport) -> Vec<String> {
    let cut_short = report.interrupted.then(|| {
        format!(
            "interrupted: the figures cover the {} until then",
            figures::milliseconds(report.elapsed_s * 1e3)
        )
    });
    let texts = report.own_warnings().chain(cut_short.as_deref());
    let mark = "!".red().bold().to_string();
    texts.map(|text| beside(&mark, 2, &text.yellow().to_string())).collect()
}

fn head(report: &LoadReport, outcome: &LoadOutcome) -> Vec<String> {
    let plan = &report.plan;
    let mode = match (&plan.rate_per_s, &plan.shape) {
        (Some(rate_per_s), _) => format!("open loop at {}", figures::rate(*rate_per_s)),
        (None, Some(shape)) => format!("open loop, {shape}"),
        (None, None) => "closed loop".to_owned(),
    };
    let is_connected = !report.protocol.is_empty() && !outcome.is_without_connection();
    let mut how = vec![
        if is_connected { report.protocol.clone() } else { "no connection".to_owned() },
        mode,
        figures::plural(u64::from(plan.connections), "connection"),
        figures::plural(u64::from(plan.threads), "thread"),
    ];
    how.extend((report.elapsed_s > 0.0).then(|| figures::milliseconds(report.elapsed_s * 1e3)));
    let mut lines =
        vec![report.target.bold().to_string(), how.join(" · ").dimmed().to_string(), String::new()];
    lines.extend(requests(report, outcome));
    lines.extend(rate(report, outcome));
    let bytes = report.bytes;
    lines.push(labelled(
        "bytes",
        &format!("{} received, {} sent", figures::bytes(bytes.received), figures::bytes(bytes.sent)),
    ));
    lines
}

/// The line of the rate, unless the load was over at once.
fn rate(report: &LoadReport, outcome: &LoadOutcome) -> Option<String> {
    let rate = &report.rate_per_s;
    let asked = rate.asked.map(|asked| format!(", {} requested", figures::rate(asked))).unwrap_or_default();
    let sent = match outcome.is_without_connection() {
        true => String::new(),
        false => format!(", {} sent", figures::rate(rate.sent)),
    };
    let completed = figures::rate(rate.completed);
    (report.elapsed_s > 0.0)
        .then(|| labelled("rate", &format!("{} completed{asked}{sent}", completed.bold())))
}

fn requests(report: &LoadReport, outcome: &LoadOutcome) -> Vec<String> {
    let requests = report.requests;
    let failed = format!("{} failed", figures::count(requests.failed));
    let failed = if requests.failed > 0 { failed.red().bold().to_string() } else { failed };
    let before = match requests.in_flight_at_start {
        0 => String::new(),
        count => format!("{} in flight at the start + ", figures::count(count)),
    };
    // A request whose connection cannot be made has failed, but was not sent.
    let (begun, why) = match outcome.is_without_connection() {
        true => ("begun", "; no connection was made"),
        false => ("sent", ""),
    };
    let line = format!(
        "{before}{} {begun} = {} ok + {failed} + {} unfinished{why}",
        figures::count(requests.sent),
        figures::count(requests.ok),
        figures::count(requests.unfinished)
    );
    let mut lines = vec![labelled("requests", &line)];
    if let Some(age) = report.unfinished_age_ms {
        let text =
            format!("the oldest unfinished one was due {} before the end", figures::milliseconds(age.max));
        lines.push(labelled("", &text));
    }
    if let Some(age) = report.not_sent_age_ms {
        let count = figures::count(requests.not_sent);
        let text = format!(
            "{count} more were due but never sent, the oldest for {}",
            figures::milliseconds(age.max)
        );
        lines.push(labelled("", &text.yellow().to_string()));
    }
    if requests.resent > 0 {
        let count = figures::count(requests.resent);
        lines.push(labelled(
            "",
            &format!("{count} sent again, because the server had closed an idle connection"),
        ));
    }
    lines
}

fn times(report: &LoadReport) -> Vec<String> {
    let columns = [
        ("response time", "from due", &report.response_time_ms),
        ("service time", "from sent", &report.service_time_ms),
        ("first byte", "from sent", &report.first_byte_time_ms),
    ];
    let measured: Vec<table::Times<'_>> =
        columns.into_iter().filter_map(|(name, from, times)| Some((name, from, times.as_ref()?))).collect();
    match report.response_time_ms {
        Some(_) => table::lines(&measured, report.requests.ok),
        None => vec!["no request completed as expected, so there are no times".yellow().to_string()],
    }
}

fn picture(outcome: &LoadOutcome) -> Vec<String> {
    bars::lines(&outcome.response_time)
}

/// The status codes, and the failures by cause.
fn answers(report: &LoadReport) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, (status, count)) in report.status.iter().enumerate() {
        let label = if index == 0 { "status" } else { "" };
        lines.push(labelled(label, &format!("{status}  {}", figures::count(*count))));
    }
    let mut causes: Vec<(&String, u64)> =
        report.failures.iter().map(|(cause, &count)| (cause, count)).collect();
    causes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for (index, (cause, count)) in causes.iter().take(MOST_CAUSES).enumerate() {
        let label = if index == 0 { "failures" } else { "" };
        lines.push(labelled(label, &format!("{}  {cause}", figures::count(*count).red())));
    }
    let rest: u64 = causes.iter().skip(MOST_CAUSES).map(|&(_, count)| count).sum();
    if rest > 0 {
        lines.push(labelled("", &format!("{}  of other causes (all are in --json)", figures::count(rest))));
    }
    if let Some(body) = &report.first_failing_body {
        lines.push(labelled("", &format!("first body: {body}")));
    }
    if let Some(failed) = report.failed_time_ms.filter(|failed| failed.max > 0.0) {
        let text = format!(
            "time to failure: p50 {}, p99 {}, max {}",
            figures::milliseconds(failed.p50),
            figures::milliseconds(failed.p99),
            figures::milliseconds(failed.max)
        );
        lines.push(labelled("", &text));
    }
    lines
}

/// The generator's cost and lateness, and what this kind of load does not show.
fn generator(report: &LoadReport, outcome: &LoadOutcome) -> Vec<String> {
    let own = &report.generator;
    let per_request = match own.cpu_us_per_request {
        us if us < 0.005 => String::new(),
        us => format!("{us:.2} µs CPU per request, "),
    };
    let cost = match outcome.is_measurable() {
        true => format!(
            "{per_request}{:.0} % of a core ({:.2} cores in all)",
            own.cpu_share * 100.0,
            own.cpu_cores
        ),
        false => "too short a load to measure its CPU".to_owned(),
    };
    let mut lines = vec![labelled("generator", &cost)];
    if let Some(lag) = own.send_lag_ms.filter(|lag| lag.max > 0.0 && !outcome.is_without_connection()) {
        let text = format!(
            "send lag p99 {}, max {}",
            figures::milliseconds(lag.p99),
            figures::milliseconds(lag.max)
        );
        lines.push(labelled("", &text));
    }
    if let Some(text) = cores(&report.cores_busy) {
        lines.push(labelled("machine", &text));
    }
    if report.is_closed() {
        lines.push(labelled("note", &Warning::ClosedLoop.sentence(flag)).dimmed().to_string());
    }
    lines
}

/// The use of each core. A full core comes first, because it limits the threads that are bound to it.
fn cores(busy: &[f64]) -> Option<String> {
    let shares: Vec<String> = busy.iter().map(|share| format!("{:.0} %", share * 100.0)).collect();
    let full: Vec<String> =
        (0..busy.len()).filter(|&core| busy[core] >= FULL).map(|core| core.to_string()).collect();
    let named = match full.as_slice() {
        [] => String::new(),
        [only] => format!("core {only} was saturated; "),
        _ if full.len() == busy.len() => "every core was saturated; ".to_owned(),
        _ => format!("cores {} were saturated; ", full.join(", ")),
    };
    (!busy.is_empty()).then(|| format!("{named}core utilization {}", shares.join(", ")))
}

fn labelled(label: &str, text: &str) -> String {
    beside(label, LABEL, text)
}

/// A text that begins in a column beside its label, in lines that fit the terminal.
fn beside(label: &str, column: usize, text: &str) -> String {
    let width = crate::cli::stdout::style().width.min(LINE_WIDTH);
    layout::labelled(label, column, &[text.to_owned()], width).join("\n")
}

#[cfg(test)]
mod tests;
