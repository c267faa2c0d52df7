//! The figures behind a finding, in words.

use crate::finding::Fact;
use serde_json::Value;
use threadcount_model::figures::{memory, milliseconds, percent, plain, rate};

type Writing = fn(f64) -> String;

/// The endings of names in JSON that tell the unit of a figure, and how a figure of that unit is written.
const UNITS: [(&str, Writing); 8] = [
    ("_ms", milliseconds),
    ("_per_s", rate),
    ("_share", percent),
    ("_bytes", memory),
    ("_bytes_per_request", |bytes| format!("{} per request", memory(bytes))),
    ("_us_per_request", |us| format!("{} µs per request", plain(us))),
    ("_cores", |cores| format!("{cores:.2} cores")),
    ("_s", |seconds| format!("{} s", plain(seconds))),
];

/// All figures of a finding, with their names in JSON: `longest pause 330 ms`. Lists and words are left to its sentence.
pub(crate) fn fact_figures(fact: &Fact) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(json) = serde_json::to_value(fact) {
        add(&mut found, "", &json["figures"]);
    }
    found
}

fn add(found: &mut Vec<String>, name: &str, value: &Value) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match key.as_str() {
            // The ends of the interval of a time have its unit, and the confidence is that of all intervals.
            "interval" => {
                ["low", "high"].iter().for_each(|end| add(found, &format!("{name}_{end}_ms"), &value[end]))
            }
            _ => add(found, &format!("{name}_{key}"), value),
        }),
        // In Rust the sum of nothing is -0.0, which nobody wants to read.
        Value::Number(number) => found.extend(number.as_f64().map(|it| figure(name, it + 0.0))),
        _ => {}
    }
}

fn figure(name: &str, value: f64) -> String {
    let with_unit = UNITS.iter().find_map(|(unit, words)| Some((name.strip_suffix(unit)?, words(value))));
    let (name, words) = with_unit.unwrap_or_else(|| (name, plain(value)));
    format!("{} {words}", name.replace('_', " ").trim()).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::gc::GcPauses;
    use crate::limit::station::{Queue, Station};
    use threadcount_model::interval::Interval;
    use threadcount_model::request_time::TimeShare;

    #[test]
    fn figures_have_their_names_in_json_and_the_units_of_these_names() {
        let pauses = GcPauses {
            paused_share: 0.02,
            pauses_per_run: 4.0,
            longest_pause_ms: 330.0,
            slow_seconds: None,
            tail: None,
            allocates_more_than: Some("virtual".to_owned()),
        };
        let expected = ["paused 2.0 %", "pauses per run 4", "longest pause 330 ms"];
        assert_eq!(fact_figures(&Fact::Gc(pauses)), expected);
        assert_eq!(figure("_in_use_cores", 1.5), "in use 1.50 cores");
        assert_eq!(figure("_cpu_us_per_request", 10.5), "cpu 10.5 µs per request");
        assert!(figure("_bytes_per_request", 2e6).ends_with(" per request"));
        assert!(!figure("_bytes_per_request", 2e6).starts_with(' '));
    }

    #[test]
    fn a_time_has_its_interval_in_its_unit_and_no_figure_is_printed_that_nobody_knows() {
        let interval = Some(Interval { low: 350.0, high: 400.0, confidence: 0.95 });
        let time = Some(TimeShare { ms: 375.0, interval });
        let queue = Some(Queue { requests: 30.0, time, ..Queue::default() });
        let expected =
            ["queue requests 30", "queue time 375 ms", "queue time low 350 ms", "queue time high 400 ms"];
        assert_eq!(fact_figures(&Fact::RequestWaits(Station { queue, ..Station::default() })), expected);
    }
}
