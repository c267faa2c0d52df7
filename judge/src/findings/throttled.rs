//! The CPU quota is used up: everything in the server's control group waits for the next period, even if the machine is idle.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{milliseconds as ms, number, percent};
use threadcount_model::record::Record;

/// Figures of the typical run of those that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuThrottling {
    pub quota_cores: f64,
    pub period_ms: f64,
    pub throttled_periods_per_run: f64,
    /// Share of the periods that fit into the window.
    pub throttled_share: f64,
    /// Throttled time, summed over all CPUs.
    pub throttled_ms: f64,
    pub server_cpu_cores: Option<f64>,
    /// Whether the generator shares the quota.
    pub generator_shares_quota: bool,
}

/// Throttling in a smaller share of the periods is chance; a single burst of the compiler may cause it.
const OFTEN: f64 = 0.05;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(in_window)
}

/// Finds throttling in a run, or in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let limits = record.resource_limits.as_ref()?;
    let throttling = limits.throttling.filter(|throttling| throttling.share >= OFTEN)?;
    let found = CpuThrottling {
        quota_cores: throttling.quota_cores,
        period_ms: throttling.period_ms,
        throttled_periods_per_run: throttling.throttled_periods as f64,
        throttled_share: throttling.share,
        throttled_ms: throttling.throttled_ms,
        server_cpu_cores: record.cost.map(|cost| cost.cpu_cores),
        generator_shares_quota: limits.generator_shares_quota,
    };
    Some(Fact::Throttled(found))
}

impl Words for CpuThrottling {
    fn sentence(&self) -> String {
        format!(
            "limited by a CPU quota of {} cores: the server was throttled in {} of the periods of {}{}",
            number(self.quota_cores),
            percent(self.throttled_share),
            ms(self.period_ms),
            if self.generator_shares_quota { ". The load generator is under the same quota" } else { "" }
        )
    }

    fn advice(&self) -> Option<String> {
        Some("a larger quota (cpu.max, `docker --cpus`, `resources.limits.cpu`), or none".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use threadcount_model::record::resource_limits::{ResourceLimits, Throttling};

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
        assert!(sentence(&shared).ends_with(". The load generator is under the same quota"), "{shared:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let no_quota = Record { resource_limits: Some(ResourceLimits::default()), ..limited(92, false) };
        let unread = Record { resource_limits: None, ..limited(92, false) };
        for (case, record) in [("a burst", limited(2, false)), ("no quota", no_quota), ("unread", unread)] {
            assert_eq!(found(find, "clients: 200", record), None, "{case}");
        }
    }
}
