//! Keeps the JSON of a result readable, however long its session: after days of measuring, its series have fewer samples.

use crate::result::ResultDocument;
use serde_json::Value;

/// The document as JSON of at most `at_most_bytes`: indented; else on one line; else with every second sample of each series, and so
/// on. The figures, which were computed from all samples, stay.
pub(super) fn json(document: &ResultDocument, at_most_bytes: usize) -> serde_json::Result<Vec<u8>> {
    let indented = serde_json::to_vec_pretty(document)?;
    if indented.len() <= at_most_bytes {
        return Ok(indented);
    }
    drop(indented);
    let mut json = serde_json::to_vec(document)?;
    if json.len() <= at_most_bytes {
        return Ok(json);
    }
    let mut value: Value = serde_json::from_slice(&json)?;
    while json.len() > at_most_bytes && thin(&mut value) {
        json = serde_json::to_vec(&value)?;
    }
    Ok(json)
}

/// Leaves out every second sample of each series, an array whose elements all have a time `t_s`; `false` if no series is longer than 1.
fn thin(value: &mut Value) -> bool {
    match value {
        Value::Array(samples) if samples.len() > 1 && samples.iter().all(|it| it.get("t_s").is_some()) => {
            let mut place = 0_usize;
            samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            true
        }
        Value::Array(values) => values.iter_mut().filter_map(|it| thin(it).then_some(())).count() > 0,
        Value::Object(values) => values.values_mut().filter_map(|it| thin(it).then_some(())).count() > 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclude::{Origin, conclude};
    use threadcount_model::experiment::Experiment;
    use threadcount_model::machine::Machine;
    use threadcount_model::record::{LoadSample, ProcessSample, Record};

    /// A session of `seconds`, with two readings of its process in each second.
    fn session(seconds: u32) -> ResultDocument {
        let load = |second| LoadSample { t_s: f64::from(second), ..LoadSample::default() };
        let process = |half| ProcessSample { t_s: f64::from(half) / 2.0, ..ProcessSample::default() };
        let run = Record {
            warmup_rate_per_s: vec![1.0; 8],
            load_series: (0..seconds).map(load).collect(),
            process_series: (0..2 * seconds).map(process).collect(),
            ..Record::default()
        };
        let origin = Origin {
            threadcount: "0.1.0".to_owned(),
            command: Vec::new(),
            created_at: String::new(),
            machine: Machine::default(),
        };
        conclude(&Experiment::unplanned("x", Vec::new(), Vec::new()), vec![run], Vec::new(), origin)
    }

    #[test]
    fn a_long_session_is_written_with_fewer_samples_and_can_be_read_and_a_short_one_is_as_it_was() {
        const AT_MOST: usize = 200_000;
        let short = session(100);
        let read: ResultDocument = serde_json::from_slice(&json(&short, AT_MOST).unwrap()).unwrap();
        assert_eq!(read, short);
        let long = session(10_000);
        let written = json(&long, AT_MOST).unwrap();
        assert!(written.len() <= AT_MOST, "{}", written.len());
        let read: ResultDocument = serde_json::from_slice(&written).unwrap();
        let (before, after) = (&long.records[0], &read.records[0]);
        assert_eq!(after.warmup_rate_per_s, before.warmup_rate_per_s);
        let (first, last) = (after.load_series.first().unwrap(), after.load_series.last().unwrap());
        assert!(first.t_s == 0.0 && last.t_s > 9_000.0, "the whole time is there");
        assert!(after.process_series.len() >= 2 * after.load_series.len() - 1);
        assert_eq!(serde_json::to_vec(&read).unwrap().len(), written.len(), "nothing else is lost");
    }

    #[test]
    fn a_document_without_series_is_written_whatever_its_size() {
        assert!(json(&session(0), 10).unwrap().len() > 10);
    }
}
