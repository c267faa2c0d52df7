//! hey. Its percentiles have a resolution of 0.1 ms, its rate is per worker.

use crate::span;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, number_after, unreadable};

/// `hey -z`.
#[derive(Clone, Copy, Debug)]
pub struct Hey;

impl Tool for Hey {
    fn name(&self) -> &'static str {
        "hey"
    }

    fn version(&self) -> VersionBy {
        VersionBy::GoModule("github.com/rakyll/hey")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let rate = match job.load {
            Load::Closed { .. } => String::new(),
            Load::Open { .. } => format!("-q {}", job.load.rate_per_connection()?),
        };
        let (connections, lasts) = (job.load.connections(), span::text(job.load.lasts()));
        Some(Call::of(&format!("-z {lasts} -c {connections} -t 30 {rate} {}", job.url)))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let max =
            number_after(output, "Slowest:").map(|s| s * 1e3).ok_or_else(|| unreadable("hey", "summary"))?;
        let bracketed = |section: &str| -> Vec<(u64, String)> {
            let below = output.split_once(section).map_or("", |(_, below)| below);
            below.lines().skip(1).map_while(bracketed_number).collect()
        };
        let statuses = bracketed("Status code distribution:");
        let errors: u64 = bracketed("Error distribution:").iter().map(|(count, _)| count).sum();
        let count =
            |text: &str| text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        let (good, bad): (Vec<_>, Vec<_>) = statuses.iter().partition(|(status, _)| *status == 200);
        Ok(Claim {
            answers: Some(good.iter().map(|(_, text)| count(text)).sum()),
            failed: Some(errors + bad.iter().map(|(_, text)| count(text)).sum::<u64>()),
            times: Quantiles {
                p50: percentile(output, 50),
                p90: percentile(output, 90),
                p95: percentile(output, 95),
                p99: percentile(output, 99),
                p99_9: None,
                max: Some(max),
            },
            ..Claim::default()
        })
    }
}

/// `  [200]\t39998 responses`: the number in brackets and what follows.
fn bracketed_number(line: &str) -> Option<(u64, String)> {
    let (number, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest.to_owned()))
}

/// `  95% in 0.0061 secs` (version 0.1.5 prints `95%%`), in milliseconds.
fn percentile(output: &str, percent: u32) -> Option<f64> {
    let line = output.lines().find(|line| line.trim_start().starts_with(&format!("{percent}%")))?;
    number_after(line, " in ").map(|s| s * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{OPEN, job};

    #[test]
    fn its_seconds_become_milliseconds() {
        let claim = Hey.claim(include_str!("../../tests/data/hey.txt")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(200), Some(0)));
        let near = |got: Option<f64>, want: f64| assert!((got.unwrap() - want).abs() < 1e-9, "{got:?}");
        near(claim.times.p50, 0.7);
        near(claim.times.p95, 2.5);
        near(claim.times.p99, 3.1);
        near(claim.times.max, 3.2);
    }

    #[test]
    fn errors_and_bad_statuses_are_failures() {
        let text = "  Slowest:\t0.1 secs\nStatus code distribution:\n  [200]\t7 responses\n  [503]\t2 responses\n\n\
                    Error distribution:\n  [3]\tGet \"http://a/\": EOF\n";
        let claim = Hey.claim(text).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(7), Some(5)));
    }

    #[test]
    fn its_rate_is_per_worker() {
        let line = Hey.call(&job(OPEN)).unwrap().args.join(" ");
        assert_eq!(line, "-z 20s -c 500 -t 30 -q 4 http://127.0.0.1:8080/");
    }
}
