//! Requests that compute: threads of another kind give them no more cores.

use crate::evidence::alike::is_alike;
use crate::evidence::variant_runs::VariantRuns;
use crate::evidence::workers::kind;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::figure::figure;
use crate::words::finding::Words;
use crate::words::metric::{bound, metric_noun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::figures::{interval, milliseconds as ms, percent};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::ThreadRole;
use threadcount_model::request_time::RequestTime;
use threadcount_stats::comparison::Sides;
use threadcount_stats::lost_on_purpose::LostOnPurpose;
use threadcount_stats::request_time::request_time;
use threadcount_stats::runs::is_healthy;

/// Requests that compute: another kind of thread does not change how many can be served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuBound {
    /// The variant on threads of the other kind.
    pub other: String,
    /// Share of this variant's mean service time in which requests run, or wait for a core or a carrier.
    pub on_cpu_share: f64,
    /// The mean service time of this variant.
    pub service_time_ms: f64,
    /// The metric that the load is run for.
    pub metric: Metric,
    /// This variant divided by the other.
    pub ratio: f64,
    /// Interval of the ratio.
    pub interval: Interval,
}

/// Least share of the service time that must be running or runnable.
const MOST: f64 = 0.6;

/// One finding for each planned comparison of two kinds of thread that the runs decide.
pub(crate) fn find(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Finding> {
    let pairs = experiment.pairs(load).into_iter().filter(|pair| pair.variant.is_application_of(pair.other));
    let found = pairs.filter_map(|pair| {
        let [one, other] = [pair.variant, pair.other].map(|variant| VariantRuns::of(variant, load, records));
        of_pair(&one, &other)
    });
    found.collect()
}

fn of_pair(one: &VariantRuns<'_>, other: &VariantRuns<'_>) -> Option<Finding> {
    if kind(one)? == kind(other)? || !one.runs.iter().chain(&other.runs).all(|run| is_healthy(run)) {
        return None;
    }
    let times = [request_time(&one.runs)?, request_time(&other.runs)?];
    let [share, other_share] = [on_cpu_share(&times[0])?, on_cpu_share(&times[1])?];
    let metric = one.load.workload.likeness();
    let lost = LostOnPurpose::of(one.load.workload, &[&one.runs, &other.runs]);
    let sides = Sides::of_rounds(metric, &one.runs, &other.runs).without_survivors(lost);
    let answer = sides.ratio(one.load.interim_analyses().len())?;
    let interval = answer.interval.filter(is_alike)?;
    let fact = CpuBound {
        other: other.variant.name.clone(),
        on_cpu_share: share,
        service_time_ms: times[0].service_time_ms,
        metric,
        ratio: answer.ratio,
        interval,
    };
    let runs = one.runs.len().min(other.runs.len());
    (share.min(other_share) >= MOST).then(|| one.finding(Fact::CpuBound(fact), RunsShowing::new(runs, runs)))
}

/// Share of the time on the CPU or ready for it; `None` for threads of an unknown server, which may be jobs of the application.
fn on_cpu_share(time: &RequestTime) -> Option<f64> {
    let on_cpu = time.parts.iter().filter(|part| part.activity.state.is_runnable());
    (time.counted == ThreadRole::Request).then(|| time.least_share(on_cpu.map(|part| part.time.ms).sum()))
}

impl Words for CpuBound {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "requests compute: for {} of their {} they run or wait for a core. Threads of another kind change nothing: the same {} \
             as {} within {} {}",
            percent(self.on_cpu_share),
            ms(self.service_time_ms),
            metric_noun(self.metric),
            self.other,
            bound(self.interval.largest_difference()),
            interval(self.interval)
        )
    }

    fn advice(&self) -> Option<String> {
        Some("less CPU per request (the flame graphs say where it goes), or more cores".to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        vec![
            figure("of the mean service time, running or waiting for a core", self.on_cpu_share * 100.0, "%"),
            figure("mean service time", self.service_time_ms, "ms"),
            figure(&format!("{} by that of {}", metric_noun(self.metric), self.other), self.ratio, ""),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::sentence;
    use threadcount_config::parse;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState, WaitGroup, WaitProfile};
    use threadcount_model::sample::{times, with_load};

    const BOTH: &str = "platform: {}, virtual: {threads: virtual}";

    /// A run of 20 clients; `computing` of their threads compute, and the others read from a socket.
    fn run(variant: &str, rate: f64, computing: f64) -> Record {
        let ms = 20_000.0 / rate;
        let group = |state, threads: f64| WaitGroup {
            role: ThreadRole::Request,
            activity: ThreadActivity { state, ..ThreadActivity::default() },
            threads: vec![threads; 10],
        };
        let groups = vec![
            group(ThreadState::Carrier, computing),
            group(ThreadState::Socket, (20.0 - computing).max(0.0)),
        ];
        let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
        let mut record = with_load(threadcount_model::sample::run(variant, "c20", rate, ms), |load| {
            load.service_time_ms = Some(times(ms));
        });
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    fn found(variants: &str, rates: [f64; 2], computing: f64) -> Vec<Finding> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\nloads: [{{clients: 20, duration: 1s}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let mut records = Vec::new();
        for (round, noise) in (1..).zip([0.99, 1.0, 1.01]) {
            for (variant, rate) in experiment.variants.iter().zip(rates) {
                records.push(Record { round, ..run(&variant.name, rate * noise, computing) });
            }
        }
        find(&experiment, &experiment.loads[0], &records)
    }

    #[test]
    fn requests_that_compute_are_named_where_another_kind_of_thread_changes_nothing() {
        let found = found(BOTH, [400.0, 408.0], 18.0);
        let expected = "requests compute: for 90 % of their 49.0 ms they run or wait for a core. Threads of another kind change nothing: \
            the same throughput as platform within 7 % [0.98, 1.06]";
        assert_eq!(found.iter().map(sentence).collect::<Vec<_>>(), [expected]);
        assert_eq!(found[0].variant.as_deref(), Some("virtual"));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        assert_eq!(found(BOTH, [400.0, 408.0], 8.0), [], "most of the time is a wait");
        assert_eq!(found(BOTH, [400.0, 600.0], 18.0), [], "it does change something");
        assert_eq!(found(BOTH, [400.0, 300.0], 18.0), [], "for the worse");
        assert_eq!(found(BOTH, [400.0, 408.0], 40.0), [], "as many compute for others");
        let larger = "platform: {}, larger: {threads: {platform: 400}}";
        assert_eq!(found(larger, [400.0, 408.0], 18.0), [], "one kind of thread");
        let another = "platform: {}, virtual: {threads: virtual, jvm: [-Xmx64m]}";
        assert_eq!(found(another, [400.0, 408.0], 18.0), [], "another heap");
    }
}
