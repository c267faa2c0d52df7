//! Values of thread locals that are meant to be used again by the same thread, and are made anew for each request, because each request
//! has a virtual thread of its own.
//!
//! The probe marks them by their stacks: what is allocated on a virtual thread while a thread local makes its first value.

use super::VariantRuns;
use super::variant_runs::mean_of;
use crate::model::finding::{Fact, Finding, ThreadCache, ThreadCaches};
use crate::model::record::Record;
use crate::model::record::allocation::AllocationSite;
use std::collections::BTreeMap;

/// A smaller part of what a request allocates shows in no other figure.
const WORTH_SAYING: f64 = 0.1;
/// Nor does less than this.
const WORTH_SAYING_BYTES: f64 = 1_024.0;
/// A place with a smaller part of them is not named.
const WORTH_NAMING: f64 = 0.1;
/// No more places than these are named.
const MOST_NAMED: usize = 3;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.observed().in_most(caches)?;
    let mean = |figure: fn(&ThreadCaches) -> f64| mean_of(found.iter().map(figure)).unwrap_or_default();
    let (bytes_per_request, all_bytes_per_request) =
        (mean(|it| it.bytes_per_request), mean(|it| it.all_bytes_per_request));
    let most = found.into_iter().max_by(|a, b| a.bytes_per_request.total_cmp(&b.bytes_per_request))?;
    let caches = ThreadCaches { bytes_per_request, all_bytes_per_request, places: most.places };
    Some(runs_of_variant.finding(Fact::ThreadCaches(caches), runs))
}

fn caches(record: &Record) -> Option<ThreadCaches> {
    let all_bytes_per_request = record.allocated_bytes_per_request()?;
    let sites = &record.jvm.as_ref()?.allocation.as_ref()?.sites;
    let share: f64 = cached(sites).map(|(_, site)| site.share).sum();
    let bytes_per_request = share * all_bytes_per_request;
    (share >= WORTH_SAYING && bytes_per_request >= WORTH_SAYING_BYTES).then(|| ThreadCaches {
        bytes_per_request,
        all_bytes_per_request,
        places: places(sites, all_bytes_per_request),
    })
}

fn cached(sites: &[AllocationSite]) -> impl Iterator<Item = (&String, &AllocationSite)> {
    sites.iter().filter_map(|site| Some((site.thread_cache.as_ref()?, site)))
}

/// A cache may consist of objects of several classes, and be asked for at several lines of the application: the largest is named.
fn places(sites: &[AllocationSite], all_bytes_per_request: f64) -> Vec<ThreadCache> {
    let mut by_frame: BTreeMap<&String, Vec<&AllocationSite>> = BTreeMap::new();
    for (asked_by, site) in cached(sites) {
        by_frame.entry(asked_by).or_default().push(site);
    }
    let place = |(asked_by, sites): (&String, Vec<&AllocationSite>)| {
        let largest = sites.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
        Some(ThreadCache {
            asked_by: asked_by.clone(),
            application: largest.application.clone(),
            class: largest.class.clone(),
            bytes_per_request: sites.iter().map(|site| site.share).sum::<f64>() * all_bytes_per_request,
        })
    };
    let mut places: Vec<ThreadCache> = by_frame.into_iter().filter_map(place).collect();
    places.sort_by(|a, b| b.bytes_per_request.total_cmp(&a.bytes_per_request));
    let all: f64 = places.iter().map(|place| place.bytes_per_request).sum();
    places.retain(|place| place.bytes_per_request >= WORTH_NAMING * all);
    places.truncate(MOST_NAMED);
    places
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, run, sentence};
    use super::*;
    use crate::model::record::allocation::Allocation;
    use crate::model::record::explaining::ExplainingWindow;
    use crate::model::record::jvm::JvmReadings;

    const BUFFERS: &str = "com.fasterxml.jackson.core.util.BufferRecycler.balloc:241";
    const FORMAT: &str = "shop.Dates.format:17";

    /// 1,000 requests a second that allocate so many bytes each; sites: who asked for the cache, and its share.
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
            "12.0 kB of the 20.0 kB that a request allocates are caches of its thread, which each virtual thread makes anew: 10.0 kB \
             (byte[]) asked for at com.fasterxml.jackson.core.util.BufferRecycler.balloc:241, for shop.Orders.json:42; 2.00 kB \
             (byte[]) asked for at shop.Dates.format:17, for shop.Orders.json:42"
        );
        assert!(advice(&finding).contains("JsonRecyclerPools"), "{}", advice(&finding));
        let other = found(find, "clients: 20", with(20_000.0, &[(Some(FORMAT), 0.5)])).expect("a finding");
        assert!(!advice(&other).contains("Jackson"), "{}", advice(&other));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("the same objects for something else, as on platform threads", with(20_000.0, &[(None, 0.9)])),
            ("a small part", with(20_000.0, &[(Some(BUFFERS), 0.08), (None, 0.9)])),
            ("few bytes", with(2_000.0, &[(Some(BUFFERS), 0.4)])),
            ("no probe", Record { jvm: None, ..with(20_000.0, &[(Some(BUFFERS), 0.5)]) }),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{what}");
        }
    }
}
