//! A result for tests: one question, a Tomcat, and the records that a test gives.

#![allow(clippy::expect_used, reason = "it is for tests")]

use threadcount_config::parse;
use threadcount_judge::result::{ResultDocument, SCHEMA};
use threadcount_model::interval::Interval;
use threadcount_model::machine::Machine;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart, TimeShare};

/// `variants` and `loads` as a file has them: `{a: {}, b: {}}`, `[{clients: 4, duration: 1s}]`.
pub fn document(variants: &str, loads: &str, records: &[Record]) -> ResultDocument {
    let text =
        format!("question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {variants}\nloads: {loads}\n");
    let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: "0".to_owned(),
        command: Vec::new(),
        created_at: String::new(),
        experiment,
        machine: Machine::default(),
        records: records.to_vec(),
        rounds: Vec::new(),
        comparisons: Vec::new(),
        findings: Vec::new(),
        request_times: Vec::new(),
        claims: Vec::new(),
        skipped: Vec::new(),
        trusted: true,
        why_not: Vec::new(),
    }
}

/// A request that sleeps in several places, each to a tenth more or less; what is left is on no thread.
pub fn request_time(variant: &str, load: &str, service_time_ms: f64, sleeps_ms: &[f64]) -> RequestTime {
    let part = |(line, &ms): (usize, &f64)| RequestTimePart {
        activity: ThreadActivity {
            state: ThreadState::Sleep,
            application: Some(format!("shop.Orders.find:{}", line + 1)),
            ..ThreadActivity::default()
        },
        threads: 1.0,
        time: TimeShare { ms, interval: Some(Interval { low: ms * 0.9, high: ms * 1.1, confidence: 0.95 }) },
    };
    RequestTime {
        variant: variant.to_owned(),
        load: load.to_owned(),
        service_time_ms,
        rate_per_s: 1.0,
        runs: 1,
        samples: 9,
        counted: ThreadRole::Request,
        idle_workers: 0.0,
        parts: sleeps_ms.iter().enumerate().map(part).collect(),
        without_thread: TimeShare { ms: service_time_ms - sleeps_ms.iter().sum::<f64>(), interval: None },
        queue: None,
    }
}
