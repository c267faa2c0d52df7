//! Decides whether a variant allocates much more per request than another one.

use super::sites::BytesByPlace;
use super::{AllocationDifference, ProcessorsMadeAnew};
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use threadcount_model::experiment::{Experiment, Server};
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_stats::runs::{figures, mean};

/// A variant allocates much more if it allocates at least this many times as much per request ...
const MUCH_MORE: f64 = 2.0;
/// ... and at least this many bytes more: a smaller difference shows in no other figure.
const LEAST_MORE_BYTES: f64 = 4_096.0;
/// Tomcat's processors are named as the reason if they make at least this share of the difference.
const MADE_BY_PROCESSORS: f64 = 0.3;
/// Tomcat's default `processorCache` (`AbstractProtocol`, 10.0 to 11.0).
const DEFAULT_CACHE: u32 = 200;

/// Compares this variant with the one that allocates least; `None` if the difference is small or unknown.
pub(crate) fn find(
    experiment: &Experiment,
    runs_of_variant: &VariantRuns<'_>,
    records: &[Record],
) -> Option<Finding> {
    let load = runs_of_variant.load;
    let all = allocated(runs_of_variant);
    let bytes = mean(&all)?;
    let others = experiment.variants.iter().filter(|variant| load.includes(&variant.name));
    let (least, least_bytes) = others
        .filter_map(|variant| {
            let runs = VariantRuns::of(variant, load, records);
            let bytes = mean(&allocated(&runs))?;
            Some((runs, bytes))
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    if !is_much_more(bytes, least_bytes) {
        return None;
    }
    let here = BytesByPlace::of(&runs_of_variant.runs);
    let there = BytesByPlace::of(&least.runs);
    let difference = bytes - least_bytes;
    let fact = AllocationDifference {
        bytes_per_request: bytes,
        least_variant: least.variant.name.clone(),
        least_bytes_per_request: least_bytes,
        sites: here.named(&there, difference),
        processors: processors(runs_of_variant, here.of_processors(&there, difference)),
    };
    let show = all.iter().filter(|&&bytes| is_much_more(bytes, least_bytes)).count();
    Some(runs_of_variant.finding(Fact::Allocation(fact), RunsShowing::new(show, all.len())))
}

/// Tells a finding about memory that requests allocate more than with another variant, because then the heap is not too small.
///
/// `found` are the findings in the same runs.
pub(crate) fn attribute(finding: &mut Finding, found: &[Finding]) {
    let more = found.iter().find_map(|finding| match &finding.fact {
        Fact::Allocation(more) => Some(more),
        _ => None,
    });
    let Some(more) = more else { return };
    let least = || Some(more.least_variant.clone());
    match &mut finding.fact {
        Fact::Gc(pauses) => pauses.allocates_more_than = least(),
        Fact::AllocationStalls(stalls) => stalls.allocates_more_than = least(),
        Fact::CpuCeiling(ceiling) => ceiling.allocates_more_than = least(),
        _ => {}
    }
}

fn allocated(runs_of_variant: &VariantRuns<'_>) -> Vec<f64> {
    figures(&runs_of_variant.runs, Metric::AllocatedPerRequest)
}

fn is_much_more(bytes: f64, least: f64) -> bool {
    bytes >= MUCH_MORE * least && bytes >= least + LEAST_MORE_BYTES
}

/// Tomcat's processors, if more requests are in flight than the Connector keeps and new ones make up a good part of the difference.
fn processors(runs_of_variant: &VariantRuns<'_>, share: f64) -> Option<ProcessorsMadeAnew> {
    let written = match runs_of_variant.variant.server() {
        Some(Server::Tomcat(tomcat)) => tomcat.processor_cache,
        _ => None,
    };
    // A negative setting means that Tomcat keeps all processors.
    let cache = written.map_or(Some(DEFAULT_CACHE), |cache| u32::try_from(cache).ok())?;
    let in_flight: Vec<f64> = runs_of_variant.runs.iter().filter_map(|run| in_flight(run)).collect();
    let in_flight = mean(&in_flight)?;
    let is_default = written.is_none();
    (share >= MADE_BY_PROCESSORS && in_flight > f64::from(cache)).then_some(ProcessorsMadeAnew {
        cache,
        is_default,
        in_flight,
        share,
    })
}

/// The number of requests that have a processor: those in flight (Little's law), but no more than there are threads.
fn in_flight(run: &Record) -> Option<f64> {
    let load = &run.explaining.as_ref()?.load;
    let on_their_way = load.rate_per_s.completed * load.response_time_ms?.mean / 1_000.0;
    let threads = run.server.pool_max_threads.map_or(f64::INFINITY, f64::from);
    Some(on_their_way.min(threads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, sentence};
    use crate::finding::{Rule, RunsShowing};
    use threadcount_config::parse;
    use threadcount_model::record::allocation::{Allocation, AllocationSite};
    use threadcount_model::record::explaining::ExplainingWindow;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::jvm_log::{JvmLog, Stopped};
    use threadcount_model::sample::run;

    const PAGE: &str = "shop.Page.render:28";
    const PROCESSOR: &str = "org.apache.coyote.http11.AbstractHttp11Protocol.createProcessor:1114";
    const RESPONSE: &str = "org.apache.catalina.connector.Connector.createResponse:1179";

    /// A run of 400 clients against a servlet that sleeps for 50 ms; `sites` are makers with their bytes per request.
    fn explained(variant: &str, sites: &[(&str, f64)]) -> Record {
        let mut record = run(variant, "c400", 7_800.0, 51.0);
        let load = record.measured.clone().unwrap();
        let bytes: f64 = sites.iter().map(|it| it.1).sum();
        let site = |&(maker, part): &(&str, f64)| AllocationSite {
            class: if maker == RESPONSE { "char[]" } else { "byte[]" }.to_owned(),
            maker: Some(maker.to_owned()),
            application: maker.starts_with("shop.").then(|| maker.to_owned()),
            thread_cache: None,
            share: part / bytes,
        };
        let allocation = Allocation {
            bytes_per_s: bytes * load.rate_per_s.completed,
            window_s: 3.0,
            sites: sites.iter().map(site).collect(),
            samples: 600,
        };
        record.jvm = Some(JvmReadings { allocation: Some(allocation), ..JvmReadings::default() });
        record.explaining = Some(ExplainingWindow { load, cost: None, recompiling: None });
        record
    }

    fn platform() -> Record {
        let mut record = explained("platform", &[(PAGE, 2_500.0)]);
        record.server.pool_max_threads = Some(200);
        record
    }

    fn anew(variant: &str) -> Record {
        explained(variant, &[(PAGE, 2_500.0), (PROCESSOR, 4_000.0), (RESPONSE, 5_000.0)])
    }

    fn found(virtual_server: &str, records: &[Record]) -> Vec<Finding> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nloads: [{{clients: 400, duration: 1s}}]\n\
             variants: {{platform: {{}}, virtual: {{threads: virtual{virtual_server}}}}}\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let load = &experiment.loads[0];
        let runs = experiment.variants.iter().map(|variant| VariantRuns::of(variant, load, records));
        runs.filter_map(|runs| find(&experiment, &runs, records)).collect()
    }

    #[test]
    fn processors_made_anew_beyond_the_cache_are_named_with_the_attribute_to_set() {
        let found = found("", &[platform(), anew("virtual")]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.variant.as_deref(), Some("virtual"));
        assert_eq!(
            sentence(finding),
            "each request allocates 11.5 kB, 4.60x as much as with platform (2.50 kB). 100 % of the difference are processors of the \
             Connector (request, response and their buffers). A new one is made for each request beyond 200 in flight, and 398 are \
             in flight (1 run)"
        );
        assert!(advice(finding).starts_with("processorCache=\"-1\""), "{}", advice(finding));
        assert_eq!(finding.runs, Some(RunsShowing { showing: 1, complete: 1 }));
    }

    #[test]
    fn a_servlet_that_allocates_by_itself_is_named_with_its_line() {
        let own = explained("virtual", &[(PAGE, 2_500.0), ("shop.Cart.copy:59", 40_000.0)]);
        let found = found("", &[platform(), own]);
        let expected = "each request allocates 42.5 kB, 17.0x as much as with platform (2.50 kB). The difference: 100 % at shop.Cart.copy:59 (byte[]) (1 run)";
        assert_eq!(sentence(&found[0]), expected);
        assert!(!advice(&found[0]).contains("processorCache"), "{}", advice(&found[0]));
    }

    #[test]
    fn processors_are_not_the_reason_where_the_cache_holds_them_all() {
        for server in [", server: {processor_cache: unlimited}", ", server: {processor_cache: 400}"] {
            let found = found(server, &[platform(), anew("virtual")]);
            assert!(
                sentence(&found[0]).contains("The difference: 56 % at org.apache"),
                "{}",
                sentence(&found[0])
            );
        }
        let mut few = anew("virtual");
        few.server.pool_max_threads = Some(150);
        assert!(!sentence(&found("", &[platform(), few])[0]).contains("made anew"));
    }

    /// The GC advice for runs of 400 clients, with pauses for a fifth of each window.
    fn gc_advice(records: &[Record]) -> Vec<String> {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nloads: [{clients: 400, duration: 1s}]\n\
             variants: {platform: {}, virtual: {threads: virtual}}\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let mut records = records.to_vec();
        for record in &mut records {
            let gc_pauses = Stopped { total_ms: 2_000.0, ..Stopped::default() };
            record.jvm_log = Some(JvmLog { gc_pauses, ..JvmLog::default() });
        }
        let found = crate::explain::explain(&experiment, &records);
        found.iter().filter(|it| it.rule() == Rule::Gc).map(advice).collect()
    }

    #[test]
    fn where_requests_allocate_more_than_with_another_variant_the_collector_gets_no_larger_heap() {
        let advised = gc_advice(&[platform(), anew("virtual")]);
        let [platform_advice, virtual_advice] = advised.as_slice() else { panic!("{advised:?}") };
        assert!(platform_advice.contains("a larger heap"), "it allocates least: {platform_advice}");
        assert!(!virtual_advice.contains("-Xmx"), "{virtual_advice}");
        assert!(virtual_advice.contains("They allocate more than with platform"), "{virtual_advice}");
        let alike = gc_advice(&[platform(), explained("virtual", &[(PAGE, 2_600.0)])]);
        assert!(alike.iter().all(|advice| advice.contains("-Xmx")), "a look-alike: {alike:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let cached = explained("virtual", &[(PAGE, 2_500.0), ("java.Parked", 2_500.0)]);
        let larger = explained("virtual", &[(PAGE, 30_000.0)]);
        let mut large = platform();
        if let Some(allocation) = large.jvm.as_mut().and_then(|jvm| jvm.allocation.as_mut()) {
            allocation.bytes_per_s *= 10.0;
        }
        let mut no_probe = anew("virtual");
        no_probe.jvm = None;
        let silent = [
            ("the cache holds them: twice as much, but little", vec![platform(), cached]),
            ("both allocate much", vec![large, larger]),
            ("reasons were not looked for", vec![platform(), no_probe]),
            ("nothing to compare with", vec![anew("virtual")]),
        ];
        for (case, records) in silent {
            assert_eq!(found("", &records), [], "{case}");
        }
    }
}
