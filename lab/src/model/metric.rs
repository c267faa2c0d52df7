//! The figures that can be compared, claimed and published: one name each, everywhere.

use super::native_figure::{Moment, NativeFigure};
use serde::{Deserialize, Serialize};

/// One figure of a run. In JSON it is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[expect(missing_docs, reason = "`label` says what each is")]
pub enum Metric {
    Rate,
    Capacity,
    Score,
    Min,
    Mean,
    Stddev,
    P10,
    P25,
    P50,
    P66,
    P75,
    P80,
    P90,
    P95,
    P98,
    P99,
    P99_9,
    Max,
    Elapsed,
    CpuPerRequest,
    CpuCores,
    CpuPeak,
    RssPeak,
    PssPeak,
    OsThreads,
    Native(NativeFigure, Moment),
    ReadyAfter,
}

impl Metric {
    /// The few that a table of comparisons shows.
    pub const IN_TABLES: [Self; 8] = [
        Self::Rate,
        Self::Capacity,
        Self::P50,
        Self::P99,
        Self::P99_9,
        Self::CpuPerRequest,
        Self::RssPeak,
        Self::OsThreads,
    ];

    /// Those that are neither the JVM's own count nor come after it, in the order in which reports show them.
    const FIRST: [Self; 25] = [
        Self::Rate,
        Self::Capacity,
        Self::Score,
        Self::Min,
        Self::Mean,
        Self::Stddev,
        Self::P10,
        Self::P25,
        Self::P50,
        Self::P66,
        Self::P75,
        Self::P80,
        Self::P90,
        Self::P95,
        Self::P98,
        Self::P99,
        Self::P99_9,
        Self::Max,
        Self::Elapsed,
        Self::CpuPerRequest,
        Self::CpuCores,
        Self::CpuPeak,
        Self::RssPeak,
        Self::PssPeak,
        Self::OsThreads,
    ];

    /// All of them, in the order in which reports show them.
    pub const ALL: [Self; 50] = {
        let mut all = [Self::ReadyAfter; 50];
        let (first, native) = (Self::FIRST.len(), NativeFigure::ALL.len());
        let mut at = 0;
        while at < all.len() - 1 {
            all[at] = if at < first {
                Self::FIRST[at]
            } else {
                let at = at - first;
                let moment = if at < native { Moment::AfterLoad } else { Moment::AtStart };
                Self::Native(NativeFigure::ALL[at % native], moment)
            };
            at += 1;
        }
        all
    };

    /// The name in YAML (`published:`, claims) and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is, for a person.
    #[must_use]
    pub const fn label(self) -> &'static str {
        self.words().1
    }

    /// Its name and what it is.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Rate => ("rate_per_s", "requests per second"),
            Self::Capacity => ("capacity_per_s", "highest rate sustained under the limit"),
            Self::Score => ("score_us", "time of one operation"),
            Self::Min => ("min_ms", "fastest response"),
            Self::Mean => ("mean_ms", "mean response time"),
            Self::Stddev => ("stddev_ms", "standard deviation of response times"),
            Self::P10 => ("p10_ms", "10th percentile response time"),
            Self::P25 => ("p25_ms", "25th percentile response time"),
            Self::P50 => ("p50_ms", "median response time"),
            Self::P66 => ("p66_ms", "66th percentile response time"),
            Self::P75 => ("p75_ms", "75th percentile response time"),
            Self::P80 => ("p80_ms", "80th percentile response time"),
            Self::P90 => ("p90_ms", "90th percentile response time"),
            Self::P95 => ("p95_ms", "95th percentile response time"),
            Self::P98 => ("p98_ms", "98th percentile response time"),
            Self::P99 => ("p99_ms", "99th percentile response time"),
            Self::P99_9 => ("p99_9_ms", "99.9th percentile response time"),
            Self::Max => ("max_ms", "slowest response"),
            Self::Elapsed => ("elapsed_ms", "time the whole load took"),
            Self::CpuPerRequest => ("cpu_us_per_request", "server CPU per request"),
            Self::CpuCores => ("cpu_cores", "cores the server used"),
            Self::CpuPeak => ("cpu_cores_peak", "cores the server used in its busiest second"),
            Self::RssPeak => ("rss_peak_bytes", "peak resident memory"),
            Self::PssPeak => ("pss_peak_bytes", "peak proportional memory"),
            Self::OsThreads => ("os_threads", "most OS threads"),
            Self::Native(figure, moment) => figure.words(moment),
            Self::ReadyAfter => ("ready_after_ms", "launch to first answer"),
        }
    }

    /// The metric of a name. The short form without the unit is understood too (`rate`, `p99`, `rss_peak`).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        const UNITS: [&str; 4] = ["_per_s", "_ms", "_us", "_bytes"];
        Self::ALL.into_iter().find(|metric| {
            let full = metric.name();
            full == name || UNITS.iter().any(|unit| full.strip_suffix(unit) == Some(name))
        })
    }

    /// Is it a time that a request waits?
    #[must_use]
    pub const fn is_response_time(self) -> bool {
        matches!(
            self,
            Self::Mean | Self::P50 | Self::P75 | Self::P90 | Self::P95 | Self::P99 | Self::P99_9 | Self::Max
        )
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.name().to_owned()
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::from_name(&name).ok_or_else(|| format!("there is no metric `{name}`"))
    }
}
