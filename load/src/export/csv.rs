//! One line per second of the run, for spreadsheets and plots.

use crate::outcome::{Second, SecondCounts};
use std::io::{self, Write};

/// The columns. `t_s` is the beginning of the second, `length_s` the part of it that was measured; the last second is often shorter.
const HEADER: &str = "t_s,length_s,sent,ok,failed,p50_ms,p99_ms,max_ms";

/// Writes one line per second: what was sent, answered and failed in it, and the response times of its responses. Times
/// are empty where there was no response.
///
/// # Errors
/// The error of `out`.
pub fn write_seconds(seconds: &[Second], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for second in with_empty_ones(seconds) {
        let Second { index, length_s, counts: SecondCounts { sent, ok, failed }, response_ms, .. } = second;
        write!(out, "{index},{length_s:.3},{sent},{ok},{failed},")?;
        match response_ms {
            Some(times) => writeln!(out, "{:.3},{:.3},{:.3}", times.p50, times.p99, times.max)?,
            None => writeln!(out, ",,")?,
        }
    }
    Ok(())
}

/// Adds the seconds in which nothing happened, which an outcome leaves out, because a plot must not have gaps.
fn with_empty_ones(seconds: &[Second]) -> impl Iterator<Item = Second> + '_ {
    let mut next = 0;
    seconds.iter().flat_map(move |second| {
        let missing = next..second.index;
        next = second.index.saturating_add(1);
        let empty = |index| Second { index, length_s: 1.0, ..Second::default() };
        missing.map(empty).chain([second.clone()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::SecondTimes;

    #[test]
    fn each_second_is_a_line_and_a_second_without_answers_has_no_times_and_is_no_gap() {
        let response_ms = Some(SecondTimes { p50: 1.25, p99: 10.0, max: 12.3456 });
        let busy = Second {
            index: 0,
            length_s: 1.0,
            counts: SecondCounts { sent: 12, ok: 10, failed: 1 },
            response_ms,
            ..Second::default()
        };
        let stalled = Second {
            index: 2,
            length_s: 0.25,
            counts: SecondCounts { sent: 1, ..SecondCounts::default() },
            ..Second::default()
        };
        let mut out = Vec::new();
        write_seconds(&[busy, stalled], &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "t_s,length_s,sent,ok,failed,p50_ms,p99_ms,max_ms\n\
             0,1.000,12,10,1,1.250,10.000,12.346\n\
             1,1.000,0,0,0,,,\n\
             2,0.250,1,0,0,,,\n"
        );
    }
}
