//! Requests that are lost on purpose, and the figures of the other requests that then tell nothing about the server.

use threadcount_model::experiment::Workload;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// With a larger share of losses, no figure of the remaining requests describes the server.
const MANY_PERCENT: f64 = 1.0;

/// Share of requests without an expected response in a load that expects losses, such as an overload; the largest of the runs.
#[derive(Clone, Copy, Debug)]
pub struct LostOnPurpose {
    percent: f64,
}

impl LostOnPurpose {
    pub fn of(workload: Workload, runs: &[&[&Record]]) -> Self {
        let runs = runs.iter().copied().flatten().filter(|_| workload.expects_losses());
        Self { percent: runs.filter_map(|run| Metric::Unanswered.of(run)).fold(0.0, f64::max) }
    }

    /// Could the losses have made this figure of the remaining requests? A server may refuse its slowest requests.
    pub fn hides(self, metric: Metric) -> bool {
        metric.is_of_survivors() && self.percent > most_percent(metric)
    }
}

/// The losses that a figure allows: for a percentile, a tenth of the requests above it. One request can move the slowest response and
/// the mean by as much as its timeout.
fn most_percent(metric: Metric) -> f64 {
    match metric {
        Metric::Mean | Metric::Stddev | Metric::Max => 0.0,
        _ => metric.percent().map_or(MANY_PERCENT, |percent| MANY_PERCENT.min((100.0 - percent) / 10.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::{LoadKind, Losses};
    use threadcount_model::sample::{run, with_load};

    #[test]
    fn the_further_out_a_percentile_is_the_less_may_be_lost_beside_it() {
        let hidden = |losses, lost: u64| {
            let workload = LoadKind::Open { rate_per_s: 1e4, clients: 9, losses }.into();
            let all = run("a", "load", 10_000.0, 5.0);
            let loses = with_load(all.clone(), |load| load.requests.ok -= lost);
            let lost = LostOnPurpose::of(workload, &[&[&all, &loses], &[&all]]);
            let metrics = Metric::ALL.into_iter().filter(|metric| lost.hides(*metric));
            metrics.map(Metric::short_name).collect::<Vec<_>>()
        };
        assert_eq!(hidden(Losses::Expected, 0), [] as [&str; 0]);
        let of_any = ["mean", "stddev", "max"];
        assert_eq!(hidden(Losses::Expected, 1), of_any);
        assert_eq!(hidden(Losses::Expected, 90), ["mean", "stddev", "p99_9", "p99_99", "max"], "0.09 %");
        let most = ["mean", "stddev", "p95", "p98", "p99", "p99_9", "p99_99", "max"];
        assert_eq!(hidden(Losses::Expected, 900), most, "0.9 %");
        assert_eq!(hidden(Losses::OfOverload, 900), most);
        assert!(["p50", "cpu_us_per_request"].iter().all(|it| hidden(Losses::Expected, 1_100).contains(it)));
        assert_eq!(hidden(Losses::Unexpected, 1_100), [] as [&str; 0]);
    }
}
