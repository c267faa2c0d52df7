//! Reads JMH's result file into a [`BenchmarkScore`].

use serde::Deserialize;
use threadcount_model::record::benchmark::BenchmarkScore;

/// The reason why a result file contains nothing that can be compared.
#[derive(Debug, thiserror::Error)]
pub enum JmhError {
    /// The file cannot be read.
    #[error("JMH wrote no result that can be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The file is not one that JMH 1.x writes.
    #[error("JMH's result is not understood: {0}")]
    Unknown(#[from] serde_json::Error),
    /// The file contains none or several methods.
    #[error(
        "{0} benchmarks have this name; write `method:` so that exactly one has it, with its class if need be"
    )]
    NotOne(usize),
    /// The score is not a time per operation.
    #[error(
        "the benchmark's unit is {0}; only a time for each operation can be compared (BenchmarkMode AverageTime)"
    )]
    NotATime(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    jmh_version: String,
    benchmark: String,
    forks: u32,
    measurement_iterations: u32,
    primary_metric: PrimaryMetric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrimaryMetric {
    score: f64,
    /// With a single iteration JMH writes the text "NaN".
    score_error: serde_json::Value,
    score_unit: String,
    raw_data: Vec<Vec<f64>>,
}

/// Reads the result file of one benchmark.
pub fn parse(text: &str) -> Result<BenchmarkScore, JmhError> {
    let mut entries: Vec<Entry> = serde_json::from_str(text)?;
    let found = entries.len();
    let Some(entry) = entries.pop().filter(|_| found == 1) else { return Err(JmhError::NotOne(found)) };
    let metric = entry.primary_metric;
    let Some(us) = microseconds(&metric.score_unit) else {
        return Err(JmhError::NotATime(metric.score_unit));
    };
    Ok(BenchmarkScore {
        method: entry.benchmark,
        jmh: entry.jmh_version,
        score_us: metric.score * us,
        error_us: metric.score_error.as_f64().map(|error| error * us),
        unit: metric.score_unit,
        forks: entry.forks,
        iterations: entry.measurement_iterations,
        iterations_us: metric
            .raw_data
            .into_iter()
            .map(|fork| fork.into_iter().map(|it| it * us).collect())
            .collect(),
        file: None,
    })
}

/// The number of microseconds in one of this unit.
fn microseconds(unit: &str) -> Option<f64> {
    match unit {
        "ns/op" => Some(1e-3),
        "us/op" => Some(1.0),
        "ms/op" => Some(1e3),
        "s/op" => Some(1e6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A real result of JMH 1.37 with `-f 2 -wi 1 -i 2`, shortened.
    const TWO_FORKS: &str = r#"[{"jmhVersion" : "1.37",
        "benchmark" : "dev.threadcount.computation.Computation.inCallersThread",
        "mode" : "avgt", "threads" : 1, "forks" : 2, "jdkVersion" : "25.0.3",
        "warmupIterations" : 1, "measurementIterations" : 2, "measurementTime" : "300 ms",
        "primaryMetric" : {"score" : 6.3281158699188795, "scoreError" : 4.6039327875111296,
            "scoreConfidence" : [1.72418308240775, 10.932048657430009], "scoreUnit" : "us/op",
            "rawData" : [[7.3141185238084265, 5.981911682188365], [5.671999490621987, 6.34443378305674]]},
        "secondaryMetrics" : {}}]"#;

    #[test]
    fn a_result_of_jmh_becomes_microseconds() {
        let score = parse(TWO_FORKS).unwrap();
        assert_eq!(score.method, "dev.threadcount.computation.Computation.inCallersThread");
        assert_eq!(
            (score.score_us, score.error_us),
            (6.328_115_869_918_879_5, Some(4.603_932_787_511_129_6))
        );
        assert_eq!((score.forks, score.iterations, score.jmh.as_str()), (2, 2, "1.37"));
        let all: Vec<f64> = score.iterations_us.concat();
        assert!((all.iter().sum::<f64>() / 4.0 - score.score_us).abs() < 1e-9, "the score is their mean");
    }

    #[test]
    fn other_units_of_time_are_converted_and_no_other_is_taken() {
        for (unit, score_us) in [("ns/op", 0.006_328), ("ms/op", 6_328.115), ("s/op", 6_328_115.869)] {
            let score = parse(&TWO_FORKS.replace("us/op", unit)).unwrap();
            assert!((score.score_us / score_us - 1.0).abs() < 1e-4, "{unit}: {}", score.score_us);
        }
        let error = parse(&TWO_FORKS.replace("us/op", "ops/s")).unwrap_err();
        assert!(error.to_string().starts_with("the benchmark's unit is ops/s"), "{error}");
    }

    #[test]
    fn a_single_iteration_has_no_error() {
        assert_eq!(parse(&TWO_FORKS.replace("4.6039327875111296", "\"NaN\"")).unwrap().error_us, None);
    }

    #[test]
    fn exactly_one_method_is_wanted() {
        assert!(matches!(parse("[]"), Err(JmhError::NotOne(0))));
        let inner = TWO_FORKS.trim().trim_start_matches('[').trim_end_matches(']');
        assert!(matches!(parse(&format!("[{inner},{inner}]")), Err(JmhError::NotOne(2))));
    }
}
