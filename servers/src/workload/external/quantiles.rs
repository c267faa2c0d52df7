//! Combines the percentiles of several processes into percentiles of all their requests.

/// A percentile: `percent` of a process's requests took at most `ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Percentile {
    pub percent: u32,
    pub ms: f64,
}

/// The percentiles of one process, from 1 % to 100 %, and its number of requests.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Table {
    pub requests: u64,
    pub rows: Vec<Percentile>,
}

/// The time within which `percent` of all requests were answered, to the whole percent of the tables: each row stands for
/// the requests since the row before. `None` without requests.
#[must_use]
pub fn of_all(tables: &[Table], percent: u32) -> Option<f64> {
    let mut steps: Vec<(f64, f64)> = tables.iter().flat_map(steps).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = steps.iter().map(|step| step.1).sum::<f64>() * f64::from(percent) / 100.0;
    let mut counted = 0.0;
    let reached = steps.iter().find(|step| {
        counted += step.1;
        // Sums of hundredths are not exact, so half a request is tolerated.
        counted + 0.5 >= wanted
    });
    reached.or(steps.last()).map(|step| step.0)
}

/// Each row's time, with the number of requests since the row before.
fn steps(table: &Table) -> impl Iterator<Item = (f64, f64)> {
    let each = table.requests as f64 / 100.0;
    let before = std::iter::once(0).chain(table.rows.iter().map(|row| row.percent));
    table
        .rows
        .iter()
        .zip(before)
        .map(move |(row, before)| (row.ms, each * f64::from(row.percent.saturating_sub(before))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process whose p-th percentile is p times `ms`.
    fn linear(requests: u64, ms: f64) -> Table {
        let rows = (1..=100).map(|percent| Percentile { percent, ms: f64::from(percent) * ms });
        Table { requests, rows: rows.collect() }
    }

    #[test]
    fn one_process_keeps_its_own_percentiles() {
        let tables = [linear(12_345, 2.0)];
        for percent in [1, 50, 75, 90, 95, 99, 100] {
            assert_eq!(of_all(&tables, percent), Some(f64::from(percent) * 2.0));
        }
    }

    #[test]
    fn equal_processes_have_the_percentiles_of_one() {
        let tables = [linear(1_000, 2.0), linear(1_000, 2.0), linear(1_000, 2.0)];
        assert_eq!(of_all(&tables, 50), Some(100.0));
        assert_eq!(of_all(&tables, 99), Some(198.0));
    }

    #[test]
    fn each_process_weighs_as_much_as_it_has_requests() {
        let fast = Table { requests: 9_000, rows: vec![Percentile { percent: 100, ms: 1.0 }] };
        let slow = Table { requests: 1_000, rows: vec![Percentile { percent: 100, ms: 50.0 }] };
        let tables = [slow, fast];
        assert_eq!(of_all(&tables, 90), Some(1.0));
        assert_eq!(of_all(&tables, 91), Some(50.0));
    }

    #[test]
    fn no_requests_have_no_percentile() {
        assert_eq!(of_all(&[], 50), None);
        assert_eq!(of_all(&[Table::default()], 50), None);
    }
}
