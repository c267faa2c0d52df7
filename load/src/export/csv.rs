//! One line for each second of the run, for spreadsheets and plots.

use crate::outcome::Second;
use std::io::{self, Write};

/// The columns. `t_s` is where the second begins, `length_s` how much of it was measured (the last is often shorter).
const HEADER: &str = "t_s,length_s,sent,ok,failed,p50_ms,p99_ms,max_ms";

/// Writes one line per second: what was sent, answered and failed in it, and the response times of its answers. Times
/// are left empty where there was no answer.
///
/// # Errors
/// What `out` says.
pub fn write_seconds(seconds: &[Second], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for second in seconds {
        let Second { index, length_s, sent, ok, failed, response_ms } = second;
        write!(out, "{index},{length_s:.3},{sent},{ok},{failed},")?;
        match response_ms {
            Some(times) => writeln!(out, "{:.3},{:.3},{:.3}", times.p50, times.p99, times.max)?,
            None => writeln!(out, ",,")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::SecondTimes;

    #[test]
    fn each_second_is_a_line_and_a_second_without_answers_has_no_times() {
        let times = SecondTimes { p50: 1.25, p99: 10.0, max: 12.3456 };
        let busy = Second { index: 0, length_s: 1.0, sent: 12, ok: 10, failed: 1, response_ms: Some(times) };
        let stalled = Second { index: 1, length_s: 0.25, sent: 1, ..Second::default() };
        let mut out = Vec::new();
        write_seconds(&[busy, stalled], &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "t_s,length_s,sent,ok,failed,p50_ms,p99_ms,max_ms\n\
             0,1.000,12,10,1,1.250,10.000,12.346\n\
             1,0.250,1,0,0,,,\n"
        );
    }
}
