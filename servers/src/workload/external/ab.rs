//! ApacheBench: its command line, and the parsing of its output.
//!
//! One process has one thread, whatever its `-c`. It speaks HTTP/1.0. It prints percentiles in whole milliseconds, but the
//! file of `-e` contains them in microseconds.

use super::quantiles::Percentile;
use std::path::Path;
use threadcount_model::experiment::LoadSpec;

/// More requests than ab can send in any duration; without a following `-n`, `-t` stops at 50,000.
const ENOUGH: u64 = 20_000_000;

/// The arguments for a share of the load: `clients` and `requests` are those of one process, which writes its percentiles
/// to `csv`.
#[must_use]
pub fn arguments(load: &LoadSpec, clients: u32, requests: Option<u64>, url: &str, csv: &Path) -> Vec<String> {
    // -l: answers may differ in length; -r: a lost connection counts as failed and does not end ab.
    let mut arguments: Vec<String> = ["-q", "-l", "-r"].map(str::to_owned).to_vec();
    let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    add("-c", clients.to_string());
    if let Some(duration_s) = load.duration_s {
        add("-t", duration_s.round().max(1.0).to_string());
    }
    add("-n", requests.unwrap_or(ENOUGH).to_string());
    if load.request.method != "GET" {
        add("-m", load.request.method.clone());
    }
    for (name, value) in &load.request.headers {
        if let Some(value) = value {
            add("-H", format!("{name}: {value}"));
        }
    }
    add("-e", csv.display().to_string());
    if load.keep_alive {
        arguments.push("-k".to_owned());
    }
    arguments.push(format!("{}{}", url.trim_end_matches('/'), load.request.path));
    arguments
}

/// The output of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    /// The version, e.g. `2.3`.
    pub version: String,
    /// `Complete requests`, including failed ones.
    pub requests: u64,
    /// Requests that failed, each counted once.
    pub failed: u64,
    /// `Non-2xx responses`; ab omits the line if there are none.
    pub not_2xx: u64,
    /// `Time taken for tests`, seconds.
    pub elapsed_s: f64,
    /// `Requests per second`.
    pub rate_per_s: f64,
    /// The first `Time per request`, milliseconds.
    pub mean_ms: f64,
    /// `Total transferred`, bytes.
    pub received_bytes: u64,
}

/// Parses ab's output.
///
/// # Errors
/// The label of the first line that is missing.
pub fn printed(output: &str) -> Result<Printed, &'static str> {
    let after = |label: &'static str| {
        let line = output.lines().find_map(|line| line.strip_prefix(label));
        line.and_then(|rest| rest.split_whitespace().next())
            .and_then(|word| word.parse::<f64>().ok())
            .ok_or(label)
    };
    let version = output.lines().find_map(|line| line.strip_prefix("This is ApacheBench, Version "));
    let version = version.and_then(|rest| rest.split_whitespace().next()).unwrap_or("of an unknown version");
    Ok(Printed {
        version: version.to_owned(),
        requests: after("Complete requests:")? as u64,
        failed: failed(output, after("Failed requests:")? as u64),
        not_2xx: after("Non-2xx responses:").unwrap_or(0.0) as u64,
        elapsed_s: after("Time taken for tests:")?,
        rate_per_s: after("Requests per second:")?,
        mean_ms: after("Time per request:")?,
        received_bytes: after("Total transferred:")? as u64,
    })
}

/// The number of failed requests. Besides their sum ab prints the kinds: `(Connect: 0, Receive: 25, Length: 0, Exceptions: 25)`.
/// A reset connection counts as `Receive` and as `Exceptions`, so the sum counts it twice (seen with 2.3 and a server that
/// resets 25 of 50).
fn failed(output: &str, sum: u64) -> u64 {
    let Some(kinds) = output.lines().find_map(|line| line.trim_start().strip_prefix("(Connect:")) else {
        return sum;
    };
    let counts: Vec<u64> =
        kinds.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    match counts[..] {
        [connect, receive, length, exceptions] => {
            connect.saturating_add(length).saturating_add(receive.max(exceptions))
        }
        _ => sum,
    }
}

/// The percentiles in the file of `-e`, from 1 to 100.
#[must_use]
pub fn percentiles(csv: &str) -> Vec<Percentile> {
    let rows = csv.lines().filter_map(|line| line.split_once(','));
    rows.filter_map(|(percent, ms)| {
        Some(Percentile { percent: percent.parse().ok()?, ms: ms.trim().parse().ok()? })
    })
    .filter(|row| (1..=100).contains(&row.percent))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;

    fn load(text: &str) -> LoadSpec {
        let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /a?b\nvariants: {a: {}}\n";
        parse("x", "x.yaml", &format!("{head}loads: [{text}]\n"), false).unwrap().loads.remove(0)
    }

    fn called(text: &str) -> String {
        let load = load(text);
        arguments(&load, 10, load.requests, "http://127.0.0.1:1/", Path::new("ab-1.csv")).join(" ")
    }

    #[test]
    fn a_load_becomes_its_arguments_and_a_duration_stands_before_the_number_that_it_would_change() {
        assert_eq!(
            called("{clients: 10, duration: 3s, keep_alive: false, tool: {ab: 1}}"),
            "-q -l -r -c 10 -t 3 -n 20000000 -e ab-1.csv http://127.0.0.1:1/a?b"
        );
        assert_eq!(
            called(
                "{clients: 10, requests: 1k, tool: {ab: 1}, request: {method: HEAD, path: /x, headers: {A: b}}}"
            ),
            "-q -l -r -c 10 -n 1000 -m HEAD -H A: b -e ab-1.csv -k http://127.0.0.1:1/x"
        );
    }

    #[test]
    fn what_it_prints_is_read() {
        let printed = printed(include_str!("ab.txt")).unwrap();
        let expected = Printed {
            version: "2.3".into(),
            requests: 3_198,
            failed: 0,
            not_2xx: 3_198,
            elapsed_s: 2.0,
            rate_per_s: 1_598.88,
            mean_ms: 6.254,
            received_bytes: 516_724,
        };
        assert_eq!(printed, expected);
    }

    #[test]
    fn of_fifty_requests_whose_server_reset_every_second_connection_25_failed() {
        let text = include_str!("ab-failures.txt");
        assert!(text.contains("Failed requests:        50"));
        let printed = printed(text).unwrap();
        assert_eq!((printed.requests, printed.failed, printed.not_2xx), (50, 25, 0));
    }

    #[test]
    fn output_that_ends_early_names_the_figure_that_is_missing() {
        let text = "This is ApacheBench, Version 2.3 <$Revision$>\napr_socket_recv: Connection reset by peer (104)\n";
        assert_eq!(printed(text), Err("Complete requests:"));
    }

    #[test]
    fn its_file_has_a_hundred_percentiles_in_microseconds() {
        let rows = percentiles(include_str!("ab.csv"));
        assert_eq!(rows.len(), 100);
        assert_eq!(rows.first(), Some(&Percentile { percent: 1, ms: 0.625 }));
        assert_eq!(rows.last(), Some(&Percentile { percent: 100, ms: 155.058 }));
    }
}
