//! A crossover inside a JVM, or inside several one after the other: what was switched, and what each period measured.

use crate::record::Record;
use crate::record::interference::BusiestProcess;
use crate::record::resource_limits::SharedGroup;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The name of the load of the observed treatments.
pub const CROSSOVER: &str = "crossover";

/// The threads on which requests run in a period. In text: `own`, `virtual`, `virtual-N`, `platform-N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Treatment {
    /// The threads as the server is configured.
    Own,
    /// A virtual thread per request; with a limit, at most that many requests run at once.
    Virtual { limit: Option<u32> },
    /// A fixed pool with this number of platform threads.
    Platform { threads: u32 },
}

/// A text that names no treatment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no kind of thread here: write own, virtual, virtual-N or platform-N, for example platform-400"
)]
pub struct NoTreatment(String);

impl FromStr for Treatment {
    type Err = NoTreatment;

    fn from_str(text: &str) -> Result<Self, NoTreatment> {
        let number = |prefix: &str| text.strip_prefix(prefix)?.parse::<u32>().ok().filter(|&it| it > 0);
        match text {
            "own" => Ok(Self::Own),
            "virtual" => Ok(Self::Virtual { limit: None }),
            _ => number("virtual-")
                .map(|limit| Self::Virtual { limit: Some(limit) })
                .or_else(|| number("platform-").map(|threads| Self::Platform { threads }))
                .ok_or_else(|| NoTreatment(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Treatment {
    type Error = NoTreatment;

    fn try_from(text: String) -> Result<Self, NoTreatment> {
        text.parse()
    }
}

impl From<Treatment> for String {
    fn from(treatment: Treatment) -> Self {
        treatment.to_string()
    }
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("own"),
            Self::Virtual { limit: None } => f.write_str("virtual"),
            Self::Virtual { limit: Some(limit) } => write!(f, "virtual-{limit}"),
            Self::Platform { threads } => write!(f, "platform-{threads}"),
        }
    }
}

impl JsonSchema for Treatment {
    fn schema_name() -> Cow<'static, str> {
        "Treatment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": "^(own|virtual(-[1-9][0-9]*)?|platform-[1-9][0-9]*)$"})
    }
}

/// One crossover, of one JVM or of several that were started one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossover {
    /// Product and version of the server, e.g. `Tomcat 11.0.24`.
    pub server: String,
    /// The port whose requests were switched.
    pub port: u16,
    /// Size of the server's own pool; `None`: not known, or no pool.
    pub own_threads: Option<u32>,
    /// The treatments; the first is the baseline.
    pub treatments: Vec<Treatment>,
    /// Requests in flight of a closed load, or connections of an open load.
    pub clients: u32,
    /// The rate of an open load; `None` for a closed load.
    pub rate_per_s: Option<f64>,
    pub warm_up: CrossoverWarmUp,
    /// All periods in the order in which they ran, including those that do not count.
    pub periods: Vec<CrossoverPeriod>,
    /// The processes of one name outside the experiment that used the most CPU during the periods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_other_process: Option<BusiestProcess>,
    /// Requests of the whole load, including those between periods.
    pub requests: CrossoverRequests,
    /// Why the load generator was the bottleneck, if it was.
    pub generator_limit: Option<String>,
    /// The scheduling group in which all threads of the server compete with the load generator for the CPU, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_group: Option<SharedGroup>,
    /// Why the crossover ended early, as a sentence, if it did.
    pub ended_early: Option<String>,
    /// A run of some seconds per treatment after the periods, with the probe in the JVM: for reasons, not for comparing figures.
    pub explaining: Vec<Record>,
    /// Why there are no explaining runs, as a sentence.
    pub unexplained: Option<String>,
    /// The first seconds of each JVM that was started for the crossover, on one kind of thread alone: for OS threads and memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<Record>,
}

impl Crossover {
    /// The number of JVMs with periods.
    #[must_use]
    pub fn jvms(&self) -> u32 {
        self.periods.iter().map(|it| it.jvm + 1).max().unwrap_or_default()
    }

    /// The crossover of this JVM and that of another JVM of the same server under the same load, as one.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        let (jvm, block) =
            (self.jvms(), self.periods.iter().map(|it| it.block + 1).max().unwrap_or_default());
        let later = other.periods.into_iter();
        self.periods.extend(later.map(|it| CrossoverPeriod { jvm, block: block + it.block, ..it }));
        let steady = self.warm_up.steady.zip(other.warm_up.steady).map(|(one, other)| one && other);
        let is_cold = [self.warm_up.steady, other.warm_up.steady].contains(&Some(false));
        let requests = CrossoverRequests {
            ok: self.requests.ok + other.requests.ok,
            failed: self.requests.failed + other.requests.failed,
        };
        self.explaining.extend(other.explaining.into_iter().map(|it| Record { round: jvm + 1, ..it }));
        self.alone.extend(other.alone);
        Self {
            warm_up: CrossoverWarmUp { steady: if is_cold { Some(false) } else { steady }, ..self.warm_up },
            requests,
            busiest_other_process: self.busiest_other_process.or(other.busiest_other_process),
            generator_limit: self.generator_limit.or(other.generator_limit),
            ended_early: self.ended_early.or(other.ended_early),
            unexplained: self.unexplained.or(other.unexplained),
            ..self
        }
    }
}

/// How the JVM was warmed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossoverWarmUp {
    /// Seconds of warm-up with few clients, which leave cores to the JIT compiler.
    pub few_clients_s: f64,
    /// Seconds of warm-up with the load itself.
    pub load_s: f64,
    /// Whether the JVM was in a steady state in the periods that count; `None`: not known.
    pub steady: Option<bool>,
}

/// All requests of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CrossoverRequests {
    pub ok: u64,
    pub failed: u64,
}

/// One period: the time under one treatment, from its washout to the next switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossoverPeriod {
    /// The number of the JVM, from 0.
    #[serde(default)]
    pub jvm: u32,
    /// The number of the block over all JVMs, from 0. Each block contains each treatment twice.
    pub block: u32,
    pub treatment: Treatment,
    /// The time of the switch to this treatment, in seconds since the load of its JVM began.
    pub switched_s: f64,
    /// The time from the switch to the first counted response, in ms.
    pub washout_ms: f64,
    /// The time in which responses were counted, in seconds.
    pub counted_s: f64,
    pub ok: u64,
    pub failed: u64,
    /// Responses to requests that were due before the switch; they count in `ok` but in none of the times.
    pub overlapping: u64,
    pub rate_per_s: f64,
    /// The response times from which the figures of several periods are calculated.
    #[serde(skip)]
    pub response_times: ResponseTimes,
    /// The median response time; `None` here and below: no response.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// The rates in the first and the second half of the period, in responses per second.
    pub half_rates_per_s: [f64; 2],
    /// The server's CPU per response; `None`: not known.
    pub cpu_us_per_request: Option<f64>,
    /// CPU that the machine could not give while responses were counted; `None`: not known.
    pub lost_cpu: Option<LostCpu>,
    /// Names of the threads that handled requests, without their numbers.
    pub thread_names: Vec<String>,
    /// Why the period does not count, if it does not.
    pub left_out: Option<LeftOut>,
}

/// CPU that was not available to the server, its backends and the load generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LostCpu {
    /// Cores taken by the hypervisor (steal).
    pub stolen_cores: f64,
    /// Cores used by all other processes of the machine.
    pub other_processes_cores: f64,
    /// Number of cores of the machine.
    pub of_cores: u32,
}

impl LostCpu {
    /// The sum of stolen cores and cores used by other processes.
    #[must_use]
    pub fn cores(&self) -> f64 {
        self.stolen_cores + self.other_processes_cores
    }
}

/// Response times of a period, each with the number of responses that it stands for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseTimes {
    /// Pairs of a time in ms and its weight, by ascending time.
    pub weighted_ms: Vec<(f64, f64)>,
}

/// The largest number of responses that one response may stand for.
const LARGEST_WEIGHT: f64 = 20.0;

impl ResponseTimes {
    /// Times of responses that completed within `counted_ms` after `washout_ms` and whose requests were sent after the switch.
    ///
    /// A response that takes longer than the washout can complete only in the last part of the counted time, because its request
    /// cannot have been sent before the switch. It is weighted by the inverse of that share (Horvitz & Thompson, "A generalization of
    /// sampling without replacement from a finite universe", 1952). Otherwise short periods would cut the tail.
    #[must_use]
    pub fn in_period(
        times_ms: impl IntoIterator<Item = (f64, u64)>,
        washout_ms: f64,
        counted_ms: f64,
    ) -> Self {
        let weight = |ms: f64| {
            let seen_ms = (washout_ms + counted_ms - ms).clamp(counted_ms / LARGEST_WEIGHT, counted_ms);
            counted_ms / seen_ms
        };
        Self {
            weighted_ms: times_ms.into_iter().map(|(ms, count)| (ms, count as f64 * weight(ms))).collect(),
        }
    }
}

/// The smallest time that at least this share of all responses does not exceed, in ms. `None`: no response.
#[must_use]
pub fn quantile_ms<'t>(periods: impl IntoIterator<Item = &'t ResponseTimes>, quantile: f64) -> Option<f64> {
    let mut all: Vec<(f64, f64)> =
        periods.into_iter().flat_map(|it| it.weighted_ms.iter().copied()).collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = quantile * all.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut reached = 0.0;
    for (ms, weight) in &all {
        reached += weight;
        if reached >= wanted {
            return Some(*ms);
        }
    }
    all.last().map(|(ms, _)| *ms)
}

/// Why a period does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// Requests were still running on the threads of the previous period.
    NotWashedOut,
    /// Some requests ran on threads of another kind.
    OtherThreads,
    /// No request ran on a thread that the crossover can switch.
    NoRequest,
    /// The block of the period was not completed.
    BlockIncomplete,
    /// The JVM got faster after this period.
    WarmingUp,
    /// The block of the period lost more CPU under one treatment than under another.
    LostCpu,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_of_several_periods_is_that_of_all_their_responses() {
        let period = |times: &[(f64, u64)]| ResponseTimes::in_period(times.to_vec(), 1e3, 1e3);
        let periods = [period(&[(10.0, 98)]), period(&[(10.0, 100), (500.0, 2)])];
        assert_eq!((quantile_ms(&periods, 0.99), quantile_ms(&periods, 0.995)), (Some(10.0), Some(500.0)));
        assert_eq!(quantile_ms(&[], 0.5), None);
    }

    #[test]
    fn a_response_that_completes_in_half_of_a_period_only_stands_for_two() {
        let times = ResponseTimes::in_period([(50.0, 7), (600.0, 3), (1_099.0, 1)], 100.0, 1_000.0);
        assert_eq!(times.weighted_ms, [(50.0, 7.0), (600.0, 6.0), (1_099.0, LARGEST_WEIGHT)]);
    }

    #[test]
    fn a_treatment_is_read_as_it_is_written() {
        for text in ["own", "virtual", "virtual-8", "platform-400"] {
            assert_eq!(text.parse::<Treatment>().unwrap().to_string(), text);
        }
        for text in ["", "platform", "platform-0", "virtual-", "virtual-x", "Own"] {
            let why = text.parse::<Treatment>().unwrap_err().to_string();
            assert!(why.contains("platform-400"), "{why}");
        }
    }
}
