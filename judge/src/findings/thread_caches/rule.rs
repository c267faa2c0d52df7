//! Decides when thread caches cost enough to be named.

use super::{ThreadCache, ThreadCaches};
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::findings::allocation::{MOST_NAMED, WORTH_NAMING};
use std::collections::BTreeMap;
use threadcount_model::record::Record;
use threadcount_model::record::allocation::AllocationSite;

/// A smaller share of the bytes that a request allocates shows in no other figure.
const LEAST_SHARE: f64 = 0.1;
/// Fewer bytes per request show in no other figure.
const LEAST_BYTES: f64 = 1_024.0;
/// Fewer bytes per second show in no other figure; used if the number of requests is unknown.
const LEAST_BYTES_PER_S: f64 = 10_000_000.0;
/// The fewest samples in a window without a load; fewer may show a large share by chance.
const FEWEST_SAMPLES: u64 = 50;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.observed().typical_finding(|run| caches(run).map(Fact::ThreadCaches))
}

fn caches(record: &Record) -> Option<ThreadCaches> {
    let all_bytes = record.allocated_bytes_per_request()?;
    let sites = &record.jvm.as_ref()?.allocation.as_ref()?.sites;
    caches_of(sites, all_bytes, Per::Request)
}

/// Finds caches in a window without a load, by what the JVM allocates per second.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let allocation = record.jvm.as_ref()?.allocation.as_ref()?;
    let caches = caches_of(&allocation.sites, allocation.bytes_per_s, Per::Second);
    caches.filter(|_| allocation.samples >= FEWEST_SAMPLES).map(Fact::ThreadCaches)
}

/// The unit that bytes are counted for.
#[derive(Clone, Copy)]
enum Per {
    Request,
    Second,
}

impl Per {
    /// The bytes per request and the bytes per second, one of which is known.
    const fn figures(self, bytes: f64) -> (Option<f64>, Option<f64>) {
        match self {
            Self::Request => (Some(bytes), None),
            Self::Second => (None, Some(bytes)),
        }
    }

    const fn least_bytes(self) -> f64 {
        match self {
            Self::Request => LEAST_BYTES,
            Self::Second => LEAST_BYTES_PER_S,
        }
    }
}

fn caches_of(sites: &[AllocationSite], all_bytes: f64, per: Per) -> Option<ThreadCaches> {
    let share: f64 = cached(sites).map(|(_, site)| site.share).sum();
    let bytes = share * all_bytes;
    let (bytes_per_request, bytes_per_s) = per.figures(bytes);
    let (all_bytes_per_request, all_bytes_per_s) = per.figures(all_bytes);
    (share >= LEAST_SHARE && bytes >= per.least_bytes()).then(|| ThreadCaches {
        bytes_per_request,
        all_bytes_per_request,
        bytes_per_s,
        all_bytes_per_s,
        places: places(sites, all_bytes, per),
    })
}

fn cached(sites: &[AllocationSite]) -> impl Iterator<Item = (&String, &AllocationSite)> {
    sites.iter().filter_map(|site| Some((site.thread_cache.as_ref()?, site)))
}

/// Groups sites by the frame that asked. A cache may consist of several classes and have several callers; the largest is named.
fn places(sites: &[AllocationSite], all_bytes: f64, per: Per) -> Vec<ThreadCache> {
    let mut by_frame: BTreeMap<&String, Vec<&AllocationSite>> = BTreeMap::new();
    for (asked_by, site) in cached(sites) {
        by_frame.entry(asked_by).or_default().push(site);
    }
    let place = |(asked_by, sites): (&String, Vec<&AllocationSite>)| {
        let largest = sites.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
        let share = sites.iter().map(|site| site.share).sum::<f64>();
        let (bytes_per_request, bytes_per_s) = per.figures(share * all_bytes);
        let place = ThreadCache {
            asked_by: asked_by.clone(),
            application: largest.application.clone(),
            class: largest.class.clone(),
            bytes_per_request,
            bytes_per_s,
        };
        Some((share, place))
    };
    let mut places: Vec<(f64, ThreadCache)> = by_frame.into_iter().filter_map(place).collect();
    places.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let all: f64 = places.iter().map(|(share, _)| share).sum();
    places.retain(|(share, _)| *share >= WORTH_NAMING * all);
    places.into_iter().map(|(_, place)| place).take(MOST_NAMED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use threadcount_model::record::allocation::Allocation;
    use threadcount_model::record::explaining::ExplainingWindow;
    use threadcount_model::record::jvm::JvmReadings;

    const BUFFERS: &str = "com.fasterxml.jackson.core.util.BufferRecycler.balloc:241";
    const FORMAT: &str = "shop.Dates.format:17";

    /// 1,000 requests per second that allocate `bytes` each; each of `sites` is the frame that asked for the cache, and its share.
    fn with(bytes: f64, sites: &[(Option<&str>, f64)]) -> Record {
        let mut record = run(1_000.0, 1.0, 3.0, 1.0);
        let load = record.measured.clone().expect("a load");
        let site = |&(cache, share): &(Option<&str>, f64)| AllocationSite {
            class: "byte[]".to_owned(),
            application: Some("shop.Orders.json:42".to_owned()),
            thread_cache: cache.map(str::to_owned),
            share,
            ..AllocationSite::default()
        };
        let bytes_per_s = bytes * load.rate_per_s.completed;
        let sites = sites.iter().map(site).collect();
        let allocation = Allocation { bytes_per_s, window_s: 3.0, sites, samples: 600 };
        record.explaining = Some(ExplainingWindow { load, cost: None, recompiling: None });
        record.jvm = Some(JvmReadings { allocation: Some(allocation), ..JvmReadings::default() });
        record
    }

    #[test]
    fn buffers_that_each_thread_makes_are_named_with_who_asked_for_them_and_how_to_share_them() {
        let sites = [
            (Some(BUFFERS), 0.4),
            (None, 0.4),
            (Some(BUFFERS), 0.1),
            (Some(FORMAT), 0.1),
            (Some("A.a:1"), 0.0004),
        ];
        let finding = found(find, "clients: 20", with(20_000.0, &sites)).expect("a finding");
        assert_eq!(
            sentence(&finding),
            "12.0 kB of the 20.0 kB that a request allocates are caches of its thread. Each virtual thread makes its own. 10.0 kB \
             (byte[]) at com.fasterxml.jackson.core.util.BufferRecycler.balloc:241, for shop.Orders.json:42. 2.00 kB \
             (byte[]) at shop.Dates.format:17, for shop.Orders.json:42"
        );
        assert!(advice(&finding).contains("JsonRecyclerPools"), "{}", advice(&finding));
        let other = found(find, "clients: 20", with(20_000.0, &[(Some(FORMAT), 0.5)])).expect("a finding");
        assert!(!advice(&other).contains("Jackson"), "{}", advice(&other));
    }

    fn in_a_window(record: Record) -> Option<Finding> {
        let record = Record { explaining: None, measured: None, ..record };
        let fact = in_window(&record)?;
        Some(Finding { variant: None, load: None, runs: None, fact })
    }

    #[test]
    fn of_a_running_jvm_the_bytes_are_those_of_a_second() {
        let sites = [(Some(BUFFERS), 0.5), (None, 0.4), (Some(FORMAT), 0.1)];
        let finding = in_a_window(with(20_000.0, &sites)).expect("a finding");
        assert_eq!(
            sentence(&finding),
            "12.0 MB/s of the 20.0 MB/s that the JVM allocates are caches of threads. Each virtual thread makes its own. 10.0 MB/s \
             (byte[]) at com.fasterxml.jackson.core.util.BufferRecycler.balloc:241, for shop.Orders.json:42. 2.00 MB/s \
             (byte[]) at shop.Dates.format:17, for shop.Orders.json:42"
        );
        let json = serde_json::to_value(&finding).expect("it is written");
        assert_eq!(json["figures"]["bytes_per_s"], 12_000_000.0);
        assert_eq!(json["figures"]["bytes_per_request"], serde_json::Value::Null);
        assert_eq!(in_a_window(with(16_000.0, &sites)), None, "9.6 MB/s");
        assert_eq!(in_a_window(with(200_000.0, &[(Some(BUFFERS), 0.08), (None, 0.9)])), None, "a small part");
        assert_eq!(in_a_window(with(200_000.0, &[(None, 1.0)])), None, "objects for something else");
        let mut few = with(20_000.0, &sites);
        few.jvm.as_mut().and_then(|jvm| jvm.allocation.as_mut()).expect("an allocation").samples = 49;
        assert_eq!(in_a_window(few), None);
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("the same objects for something else, as on platform threads", with(20_000.0, &[(None, 0.9)])),
            ("a small part", with(20_000.0, &[(Some(BUFFERS), 0.08), (None, 0.9)])),
            ("few bytes", with(2_000.0, &[(Some(BUFFERS), 0.4)])),
            ("no probe", Record { jvm: None, ..with(20_000.0, &[(Some(BUFFERS), 0.5)]) }),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{case}");
        }
    }
}
