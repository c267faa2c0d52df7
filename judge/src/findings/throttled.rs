//! A CPU quota that is used up: everything in the server's control group waits for the next period, however idle the machine is.

use super::VariantRuns;
use super::variant_runs::mean_of;
use crate::finding::{CpuThrottling, Fact, Finding};
use threadcount_model::record::Record;
use threadcount_model::record::resource_limits::Throttling;

/// Fewer periods than this share end without throttling by chance: a burst of the compiler is enough for one.
const OFTEN: f64 = 0.05;

/// One run.
struct ThrottledRun {
    throttling: Throttling,
    generator_shares_quota: bool,
    cpu_cores: Option<f64>,
}

impl ThrottledRun {
    fn of(record: &Record) -> Option<Self> {
        let limits = record.resource_limits.as_ref()?;
        let throttling = limits.throttling.filter(|throttling| throttling.share >= OFTEN)?;
        Some(Self {
            throttling,
            generator_shares_quota: limits.generator_shares_quota,
            cpu_cores: record.cost.map(|cost| cost.cpu_cores),
        })
    }
}

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.in_most(ThrottledRun::of)?;
    Some(runs_of_variant.finding(fact(&found)?, runs))
}

/// Of a window without a load.
pub(super) fn in_window(record: &Record) -> Option<Fact> {
    fact(&[ThrottledRun::of(record)?])
}

fn fact(found: &[ThrottledRun]) -> Option<Fact> {
    let mean = |figure: fn(&Throttling) -> f64| mean_of(found.iter().map(|it| figure(&it.throttling)));
    let throttling = CpuThrottling {
        quota_cores: mean(|it| it.quota_cores)?,
        period_ms: mean(|it| it.period_ms)?,
        throttled_periods_per_run: mean(|it| it.throttled_periods as f64)?,
        throttled_share: mean(|it| it.share)?,
        throttled_ms: mean(|it| it.throttled_ms)?,
        server_cpu_cores: mean_of(found.iter().filter_map(|it| it.cpu_cores)),
        generator_shares_quota: found.iter().any(|it| it.generator_shares_quota),
    };
    Some(Fact::Throttled(throttling))
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{found, run, sentence};
    use super::*;
    use threadcount_model::record::resource_limits::ResourceLimits;

    fn limited(throttled_periods: u64, generator_shares_quota: bool) -> Record {
        let throttling = Throttling {
            quota_cores: 0.5,
            period_ms: 100.0,
            periods: 100,
            throttled_periods,
            throttled_ms: 4_000.0,
            share: throttled_periods as f64 / 100.0,
        };
        let limits = ResourceLimits {
            throttling: Some(throttling),
            generator_shares_quota,
            ..ResourceLimits::default()
        };
        Record { resource_limits: Some(limits), ..run(400.0, 49.0, 300.0, 0.6) }
    }

    #[test]
    fn a_server_that_uses_up_its_quota_in_most_periods_is_named() {
        let finding = found(find, "clients: 200", limited(92, false)).expect("a finding");
        let expected = "limited by a CPU quota of 0.500 cores: the server was throttled in 92 % of the periods of 100 ms";
        assert_eq!(sentence(&finding), expected);
        let shared = found(find, "clients: 200", limited(92, true)).expect("a finding");
        assert!(sentence(&shared).ends_with("; the load generator is under the same quota"), "{shared:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let no_quota = Record { resource_limits: Some(ResourceLimits::default()), ..limited(92, false) };
        let unread = Record { resource_limits: None, ..limited(92, false) };
        for (what, record) in [("a burst", limited(2, false)), ("no quota", no_quota), ("unread", unread)] {
            assert_eq!(found(find, "clients: 200", record), None, "{what}");
        }
    }
}
