//! Findings: which ceiling was hit, with the evidence.
//!
//! A rule judges one variant under one load. Without evidence it finds nothing.

mod accept_queue;
mod alike;
mod allocation;
mod allocation_sites;
mod allocation_stalls;
mod attached;
mod backend_ceiling;
mod carriers;
mod client_ceiling;
mod compiler_waits;
mod connection_pools;
mod cpu_bound;
mod cpu_ceiling;
mod delayed_tail;
mod file_io;
mod gc;
mod gc_tail;
mod generator;
mod held_carriers;
mod in_flight;
mod kind_and_number;
mod kind_or_size;
mod limits;
mod live;
mod memory_growth;
mod pinned;
mod pool_ceiling;
mod request_bound;
mod request_waits;
mod thread_caches;
mod throttled;
mod unbounded_requests;
mod unfair_waits;
mod variant_runs;
mod waiting;
mod without_progress;
mod workers;

pub use attached::explain_attached;
pub use live::explain_window;
pub use variant_runs::{RunFigures, VariantRuns};

use crate::finding::{Finding, Rule, RunsShowing};
use threadcount_model::experiment::Experiment;
use threadcount_model::record::Record;

/// What a rule finds in one variant under one load; `None`: the evidence is not there.
type Find = fn(&VariantRuns<'_>) -> Option<Finding>;

/// The rules, those that put the measurement itself in doubt first ...
const RULES: [Find; 12] = [
    generator::find,
    backend_ceiling::find,
    accept_queue::find,
    limits::find,
    throttled::find,
    pinned::find,
    held_carriers::find,
    file_io::find,
    without_progress::find,
    pool_ceiling::find,
    what_requests_wait_for,
    unfair_waits::find,
];

/// ... and those that come after what requests allocate, because that may be the reason for them.
const RULES_AFTER_ALLOCATION: [Find; 7] = [
    gc::find,
    allocation_stalls::find,
    cpu_ceiling::find,
    compiler_waits::find,
    client_ceiling::find,
    memory_growth::find,
    // What is made anew costs something, and limits nothing by itself.
    thread_caches::find,
];

/// Samples tell how long requests wait for a pool and where; of other waits events know the length of each. Where samples show a larger
/// wait than events do, at another place, it is named.
fn what_requests_wait_for(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let sampled = request_waits::find(runs_of_variant);
    let counted = waiting::find(runs_of_variant).filter(|counted| {
        sampled.as_ref().is_none_or(|sampled| {
            !request_waits::is_for_pool(sampled) && !request_waits::is_larger_elsewhere(sampled, counted)
        })
    });
    counted.or(sampled)
}

/// What every rule finds, load by load and variant by variant, and last what a pair of variants shows.
#[must_use]
pub fn explain(experiment: &Experiment, records: &[Record]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for load in &experiment.loads {
        let first_of_load = findings.len();
        for variant in experiment.variants.iter().filter(|variant| load.includes(&variant.name)) {
            let runs_of_variant = VariantRuns::of(variant, load, records);
            let mut found: Vec<Finding> = RULES.iter().filter_map(|find| find(&runs_of_variant)).collect();
            let allocation = allocation::find(experiment, &runs_of_variant, records);
            let mut after: Vec<Finding> =
                RULES_AFTER_ALLOCATION.iter().filter_map(|find| find(&runs_of_variant)).collect();
            after.iter_mut().for_each(|finding| allocation::attribute(finding, allocation.as_ref()));
            let unbounded = unbounded_requests::find(experiment, &runs_of_variant, records);
            found.extend(unbounded.into_iter().chain(allocation).chain(after));
            if client_ceiling::is_refuted(&found) {
                found.retain(|finding| finding.rule() != Rule::ClientCeiling);
            }
            let tail = delayed_tail::find(&runs_of_variant, &found);
            findings.extend(found.into_iter().chain(tail));
        }
        // Where a server behind the server is the limit, nothing is said of threads.
        if findings[first_of_load..].iter().all(|finding| finding.rule() != Rule::BackendCeiling) {
            findings.extend(cpu_bound::find(experiment, load, records));
            findings.extend(request_bound::find(experiment, load, records));
            findings.extend(kind_or_size::find(experiment, load, records));
            findings.extend(kind_and_number::find(experiment, load, records));
        }
    }
    findings
}

/// So many of the complete runs show it.
const fn showing(runs: usize, complete: usize) -> RunsShowing {
    RunsShowing { showing: runs as u32, complete: complete as u32 }
}

#[cfg(test)]
mod tests {
    use super::variant_runs::stage::{self, site};
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::record::jvm::{JvmReadings, SiteReason};
    use threadcount_model::record::wait_profile::{
        ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
    };
    use threadcount_model::sample::{run, times, with_cost, with_load};

    /// 80 requests a second of 500 ms each: 40 in flight. By events so many of them wait for a monitor, by samples so many at a place.
    fn waiting(by_events: f64, by_samples: (ThreadState, &str, f64)) -> Record {
        let (state, place, threads) = by_samples;
        let activity = ThreadActivity {
            state,
            resource: Some("a.B".to_owned()),
            application: Some(place.to_owned()),
            ..ThreadActivity::default()
        };
        let groups = vec![WaitGroup { role: ThreadRole::Request, activity, threads: vec![threads; 10] }];
        let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
        let monitor = Some(SiteReason::Monitor("shop.Stock".to_owned()));
        let mut site = site(None, Some("shop.Stock.take:9"), monitor, 800, by_events * 10_000.0);
        site.total.longest_ms = 50.0;
        let mut record = with_load(stage::run(80.0, 50.1, 500.0, 0.2), |load| {
            load.service_time_ms = Some(times(500.0));
        });
        record.jvm =
            Some(JvmReadings { waits: vec![site], wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    fn named(by_events: f64, by_samples: (ThreadState, &str, f64)) -> Option<Rule> {
        let record = waiting(by_events, by_samples);
        stage::found(what_requests_wait_for, "clients: 40", record).map(|it| it.rule())
    }

    #[test]
    fn the_larger_of_two_waits_is_named_whether_events_or_samples_show_it() {
        use ThreadState::{Monitor, Pool, Semaphore, Sleep};
        let orders = "shop.Orders.find:42";
        assert_eq!(named(9.0, (Semaphore, orders, 26.0)), Some(Rule::RequestWaits), "23 % and 65 %");
        assert_eq!(named(26.0, (Semaphore, orders, 9.0)), Some(Rule::Waiting), "65 % and 23 %");
        assert_eq!(named(26.0, (Monitor, "shop.Stock.take:9", 30.0)), Some(Rule::Waiting), "the same place");
        assert_eq!(named(9.0, (Pool, orders, 26.0)), Some(Rule::RequestWaits));
        assert_eq!(named(9.0, (Sleep, orders, 31.0)), Some(Rule::Waiting));
        assert_eq!(named(4.0, (Sleep, orders, 36.0)), None);
    }

    #[test]
    fn findings_name_their_variant_and_load_and_nothing_is_said_without_runs() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {platform: {}, virtual: {}}\n\
            loads: [{clients: 400, duration: 1s}, {clients: 1000, duration: 1s, variants: [virtual]}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(explain(&experiment, &[]), []);
        let full = |variant: &str, load: &str| {
            with_cost(run(variant, load, 7_990.0, 50.0), |cost| cost.machine_cpu_cores = 1.95)
        };
        let found = explain(&experiment, &[full("virtual", "c1000"), full("platform", "c400")]);
        let named: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule(), finding.variant.as_deref(), finding.load.as_deref()))
            .collect();
        assert_eq!(
            named,
            [
                (Rule::CpuCeiling, Some("platform"), Some("c400")),
                (Rule::CpuCeiling, Some("virtual"), Some("c1000"))
            ]
        );
    }
}
