//! One thread against two.

use super::{figure, name, table};
use crate::compare::result::Comparison;

/// The table; nothing where it was not measured.
pub fn table_of(of: &Comparison) -> String {
    if of.threads.is_empty() {
        return String::new();
    }
    let cells = of.threads.iter().map(|row| {
        vec![
            name(row),
            row.condition.threads.to_string(),
            if row.closed { "closed loop".to_owned() } else { "240/s".to_owned() },
            figure(row.rate_per_s(), 1),
            figure(row.claimed(|claim| claim.times.p50), 2),
            figure(row.claimed(|claim| claim.times.p99), 2),
        ]
    });
    format!(
        "## One thread and two: 1,200 requests over 3 connections to a server that takes 10 ms\n\n{}\n\
         The rate is measured at the server; the times are those that the tool reports. 3 connections allow at most 300/s.\n",
        table(&["tool", "threads", "load", "responses/s", "p50 ms", "p99 ms"], cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::markdown::tests::comparison;
    use crate::compare::result::Row;
    use crate::compare::result::tests::costing;
    use crate::tool::Condition;
    use crate::tool::threadcount::Threadcount;

    #[test]
    fn each_number_of_threads_has_a_row_with_its_rate() {
        let mut of = comparison();
        let on = |threads, closed| Row {
            closed,
            condition: Condition { threads, ..Condition::default() },
            ..costing(Threadcount::DEFAULT, &[4_000.0])
        };
        of.threads = vec![on(1, true), on(2, false)];
        let text = table_of(&of);
        assert!(text.contains("| threadcount | 1 | closed loop | 250.0 | – | – |"), "{text}");
        assert!(text.contains("| threadcount | 2 | 240/s | 250.0 | – | – |"), "{text}");
    }
}
