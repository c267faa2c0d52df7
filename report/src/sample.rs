//! Sample results for tests: one question, a Tomcat, and the records that a test passes in.

#![allow(clippy::expect_used, reason = "it is for tests")]

use threadcount_config::parse;
use threadcount_judge::result::{ResultDocument, SCHEMA};
use threadcount_model::crossover::{
    Crossover, CrossoverPeriod, CrossoverRequests, CrossoverWarmUp, ResponseTimes, Treatment,
};
use threadcount_model::interval::Interval;
use threadcount_model::machine::Machine;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart, TimeShare};
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::trust::trust;

/// A result; `variants` and `loads` are YAML as in an experiment file: `{a: {}, b: {}}`, `[{clients: 4, duration: 1s}]`.
pub fn document(variants: &str, loads: &str, records: &[Record]) -> ResultDocument {
    let text =
        format!("question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {variants}\nloads: {loads}\n");
    let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
    let (_, why_not) = trust(&experiment, records);
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: "0".to_owned(),
        command: Vec::new(),
        created_at: String::new(),
        experiment,
        machine: Machine::default(),
        crossover: None,
        records: records.to_vec(),
        rounds: Vec::new(),
        comparisons: Vec::new(),
        findings: Vec::new(),
        findings_not_shown: 0,
        request_times: Vec::new(),
        claims: Vec::new(),
        skipped: Vec::new(),
        trusted: true,
        why_not,
    }
}

/// A request that sleeps in several places, each with an interval of ±10 %; the rest of its time is without a thread.
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

/// A crossover of `blocks` blocks in which virtual threads have 1.11 times the throughput of the server's own pool, 3.4 times its
/// median and the same p99. The ratio swings by the share `noise` from block to block.
pub fn crossover(blocks: u32, noise: f64) -> CrossoverDocument {
    let virtual_threads = Treatment::Virtual { limit: None };
    let periods_of = |block: u32| {
        let swing = 1.0 + noise * if block.is_multiple_of(2) { 1.0 } else { -1.0 };
        let own = period(block, Treatment::Own, 3_000.0, 10.0);
        let other = period(block, virtual_threads, 3_330.0 * swing, 34.0);
        [own.clone(), other.clone(), other, own]
    };
    Crossover {
        server: "Tomcat 11.0.24".to_owned(),
        port: 8_080,
        own_threads: Some(200),
        treatments: vec![Treatment::Own, virtual_threads],
        clients: 100,
        rate_per_s: None,
        warm_up: CrossoverWarmUp { few_clients_s: 12.0, load_s: 6.0, steady: Some(true) },
        periods: (0..blocks).flat_map(periods_of).collect(),
        busiest_other_process: None,
        requests: CrossoverRequests { ok: 175_130, failed: 0 },
        generator_limit: None,
        shared_group: None,
        ended_early: None,
        explaining: Vec::new(),
        unexplained: None,
        alone: Vec::new(),
    }
    .into()
}

fn period(block: u32, treatment: Treatment, rate_per_s: f64, p50_ms: f64) -> CrossoverPeriod {
    CrossoverPeriod {
        jvm: 0,
        block,
        treatment,
        switched_s: f64::from(block) * 5.0,
        washout_ms: 150.0,
        counted_s: 1.0,
        ok: rate_per_s as u64,
        failed: 0,
        overlapping: 0,
        rate_per_s,
        response_times: ResponseTimes { weighted_ms: vec![(p50_ms, 980.0), (124.0, 20.0)] },
        p50_ms: Some(p50_ms),
        p99_ms: Some(124.0),
        half_rates_per_s: [rate_per_s; 2],
        cpu_us_per_request: Some(400.0),
        lost_cpu: None,
        thread_names: Vec::new(),
        left_out: None,
    }
}
