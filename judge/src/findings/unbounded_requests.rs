//! Without a pool nothing limits the number of requests in the server: together they fill its heap, and the collector brings it to a stop.
//!
//! A cache or a leak fills the heap of every variant; simultaneous requests fill only that of a variant without a limit.

use crate::evidence::variant_runs::{VariantRuns, mean_of};
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::experiment::{Experiment, ThreadKind};
use threadcount_model::figures::{memory as mb, whole};
use threadcount_model::record::{Record, RequestThread};

/// Requests on virtual threads that fill the heap. Figures of the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnboundedRequests {
    /// Stacks of parked virtual threads in the heap; a thread with a deep stack has several.
    pub virtual_thread_stacks: f64,
    /// Reachable objects under load, counted at the same time.
    pub live_bytes: f64,
    /// The largest heap that the JVM may have.
    pub heap_bytes: f64,
    /// The variant with the fewest live bytes under the same load.
    pub least_variant: String,
    /// Live bytes of that variant.
    pub least_live_bytes: f64,
}

/// From this number of stacks on, requests count as unlimited: twice the threads of Tomcat's pool, which would have been a limit.
const MANY_STACKS: u64 = 400;
/// From this share of the largest heap on, it counts as full: the rest is too little for the collector to work with.
const FULL: f64 = 0.8;
/// The live heap of another variant must be below this share of it, so that the rest of the heap belongs to the requests.
const MUCH_LESS: f64 = 0.7;

pub(crate) fn find(
    experiment: &Experiment,
    runs_of_variant: &VariantRuns<'_>,
    records: &[Record],
) -> Option<Finding> {
    let variant = runs_of_variant.variant;
    let reported = || runs_of_variant.runs.first()?.server.request_thread.as_ref().map(RequestThread::kind);
    let is_virtual = || variant.answers_on.or_else(reported) == Some(ThreadKind::Virtual);
    let has_pool = runs_of_variant.runs.iter().any(|run| run.server.pool_max_threads.is_some());
    let is_limited = variant.has_request_limit() || has_pool;
    if is_limited || !(variant.is_on_virtual_threads() || is_virtual()) {
        return None;
    }
    let (full, runs) = runs_of_variant.in_most(full_heap)?;
    let others = experiment.variants.iter().filter(|variant| runs_of_variant.load.includes(&variant.name));
    let live_of = |runs: &VariantRuns<'_>| mean_of(runs.runs.iter().filter_map(|run| run.live_heap_bytes()));
    let (least_variant, least_live_bytes) = others
        .filter_map(|variant| {
            Some((variant.name.clone(), live_of(&VariantRuns::of(variant, runs_of_variant.load, records))?))
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let fact = UnboundedRequests { least_variant, least_live_bytes, ..full };
    (least_live_bytes <= MUCH_LESS * fact.live_bytes)
        .then(|| runs_of_variant.finding(Fact::UnboundedRequests(fact), runs))
}

/// A run with a full heap; the variant to compare it with is filled in later.
fn full_heap(record: &Record) -> Option<UnboundedRequests> {
    let heap = record.memory?.under_load;
    let heap_bytes = largest_heap_bytes(&record.server.jvm_flags)?;
    let live_bytes = heap.live_bytes as f64;
    (heap.virtual_thread_stacks >= MANY_STACKS && live_bytes >= FULL * heap_bytes).then_some(
        UnboundedRequests {
            virtual_thread_stacks: heap.virtual_thread_stacks as f64,
            live_bytes,
            heap_bytes,
            least_variant: String::new(),
            least_live_bytes: 0.0,
        },
    )
}

/// The largest heap in bytes, from the JVM's own flags; ZGC reserves many times as much address space.
fn largest_heap_bytes(jvm_flags: &[String]) -> Option<f64> {
    jvm_flags.iter().find_map(|flag| flag.strip_prefix("-XX:MaxHeapSize=")?.parse().ok())
}

impl Words for UnboundedRequests {
    fn sentence(&self) -> String {
        format!(
            "no limit of requests is known, and they fill the heap: {} of {} are live. Stacks of {} parked virtual threads \
             are part of it. It is {} with {}",
            mb(self.live_bytes),
            mb(self.heap_bytes),
            whole(self.virtual_thread_stacks),
            mb(self.least_live_bytes),
            self.least_variant
        )
    }

    fn advice(&self) -> Option<String> {
        let advice = "a limit for virtual threads (docs/how-to/limit-virtual-threads.md), or a lower one. Requests beyond it are refused at \
                      once. A larger heap lets more requests in, until it is full as well";
        Some(advice.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, sentence};
    use threadcount_config::parse;
    use threadcount_model::record::memory::{LiveHeap, MemoryUnderLoad};
    use threadcount_model::sample::run;

    /// A run in which `live_mb` of 268 MB are live.
    fn server(variant: &str, stacks: u64, live_mb: u64) -> Record {
        let mut record = run(variant, "load", 150.0, 500.0);
        let under_load = LiveHeap {
            live_bytes: live_mb * 1_000_000,
            virtual_thread_stacks: stacks,
            ..LiveHeap::default()
        };
        record.memory = Some(MemoryUnderLoad { under_load, ..MemoryUnderLoad::default() });
        record.server.jvm_flags = vec!["-Xmx256m".to_owned(), "-XX:MaxHeapSize=268435456".to_owned()];
        record
    }

    /// The finding about the second of two variants, which runs on `threads`.
    fn found(threads: &str, records: &[Record]) -> Option<Finding> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{platform: {{}}, it: {{threads: {threads}}}}}\n\
             loads: [{{name: load, rate: 1200/s, duration: 1s}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let (variant, load) = (&experiment.variants[1], &experiment.loads[0]);
        find(&experiment, &VariantRuns::of(variant, load, records), records)
    }

    #[test]
    fn a_heap_full_of_requests_is_named_beside_that_of_the_variant_with_fewest() {
        let records = [server("platform", 0, 112), server("it", 1_597, 266)];
        let finding = found("virtual", &records).expect("a finding");
        let expected = "no limit of requests is known, and they fill the heap: 266 MB of 268 MB are live. Stacks of \
            1,597 parked virtual threads are part of it. It is 112 MB with platform (1 run)";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).starts_with("a limit"), "{}", advice(&finding));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let platform = || server("platform", 0, 112);
        let of_unknown_size = Record { server: Default::default(), ..server("it", 1_597, 266) };
        let silent = [
            ("platform threads", "{platform: 4000}", vec![platform(), server("it", 1_597, 266)]),
            ("a limit", "{virtual: {bound: 200}}", vec![platform(), server("it", 1_597, 266)]),
            ("half of the heap", "virtual", vec![platform(), server("it", 1_597, 134)]),
            ("few requests at once", "virtual", vec![platform(), server("it", 50, 266)]),
            (
                "a cache that each variant has",
                "virtual",
                vec![server("platform", 0, 210), server("it", 1_597, 266)],
            ),
            ("nothing to compare with", "virtual", vec![server("it", 1_597, 266)]),
            ("a heap of unknown size", "virtual", vec![platform(), of_unknown_size]),
            ("no JVM", "virtual", vec![platform(), run("it", "load", 150.0, 500.0)]),
        ];
        for (case, threads, records) in silent {
            assert_eq!(found(threads, &records), None, "{case}");
        }
    }
}
