//! The reasons why the load generator was the bottleneck.

use super::Warning;
use crate::pods::PodReport;
use crate::setting::SettingName;

/// A process that its CPU limit held back for more than this share of its time measured that limit.
const THROTTLED_SHARE: f64 = 0.01;

/// The reason why the load generator was the bottleneck.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bottleneck {
    /// The generator had no CPU left, or was late.
    Generator(Warning),
    /// One of several processes had no CPU left, or was late.
    Pod {
        /// The name of the process.
        pod: String,
        /// The reason, as a sentence of the process's report.
        why: String,
    },
    /// The CPU limit of one of several processes held it back.
    PodThrottled {
        /// The name of the process.
        pod: String,
        /// How long the limit held back its threads, added up over all threads, in milliseconds.
        throttled_ms: f64,
    },
}

impl Bottleneck {
    /// The sentence that tells what the bottleneck means, and what to do.
    #[must_use]
    pub fn sentence(&self, name: SettingName) -> String {
        match self {
            Self::Generator(warning) => warning.sentence(name),
            Self::Pod { pod, why } => format!("{pod}: {why}"),
            Self::PodThrottled { pod, throttled_ms } => {
                format!("{pod}: its CPU limit held it back for {throttled_ms:.0} ms")
            }
        }
    }
}

/// The bottleneck if this process could not keep up, which makes it the bottleneck of the whole load.
pub(super) fn limited(report: &PodReport) -> Option<Bottleneck> {
    let generator = report.generator.as_ref()?;
    let pod = report.pod.clone();
    if generator.bottleneck {
        return Some(Bottleneck::Pod { pod, why: generator.why.clone().unwrap_or_default() });
    }
    let throttled_ms = generator.throttled_ms.filter(|ms| *ms > THROTTLED_SHARE * 1e3 * report.elapsed_s)?;
    Some(Bottleneck::PodThrottled { pod, throttled_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pods::PodGeneratorReport;
    use crate::setting::Setting;

    fn pod(throttled_ms: f64, why: Option<&str>) -> PodReport {
        let (bottleneck, why) = (why.is_some(), why.map(str::to_owned));
        let throttled_ms = Some(throttled_ms);
        let generator = PodGeneratorReport { bottleneck, why, throttled_ms, ..PodGeneratorReport::default() };
        PodReport {
            pod: "load-1".to_owned(),
            elapsed_s: 10.0,
            generator: Some(generator),
            ..PodReport::default()
        }
    }

    #[test]
    fn a_pod_limits_the_load_where_it_was_late_or_held_back_for_more_than_a_hundredth_of_its_time() {
        let sentence = |pod| limited(&pod).map(|it| it.sentence(Setting::field));
        assert_eq!(sentence(pod(100.0, None)), None);
        let held_back = "load-1: its CPU limit held it back for 101 ms";
        assert_eq!(sentence(pod(101.0, None)).as_deref(), Some(held_back));
        assert_eq!(sentence(pod(0.0, Some("late"))).as_deref(), Some("load-1: late"));
    }
}
