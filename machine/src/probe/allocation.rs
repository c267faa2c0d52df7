//! Allocation over a window: the JVM's counter, and the sites where its samples were taken.

use super::line::Allocated;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::allocation::{Allocation, AllocationSite};

/// The number of sites that are kept; the rest is noise.
const MOST_SITES: usize = 40;

/// The class, its maker, the application's frame, and the requester of a thread's cache.
type Site = (String, Option<String>, Option<String>, Option<String>);

/// The readings and samples so far.
#[derive(Default)]
pub(super) struct AllocationTally {
    first: Option<(Nanos, u64)>,
    last: Option<(Nanos, u64)>,
    bytes_by_site: BTreeMap<Site, u64>,
    samples: u64,
}

impl AllocationTally {
    /// Adds a reading of the counter.
    pub(super) fn count(&mut self, t_ns: Nanos, allocated_bytes: u64) {
        self.first.get_or_insert((t_ns, allocated_bytes));
        self.last = Some((t_ns, allocated_bytes));
    }

    /// Adds samples at a site.
    pub(super) fn add(&mut self, sampled: &Allocated) {
        let site = (
            sampled.class.clone(),
            sampled.maker.clone(),
            sampled.application.clone(),
            sampled.thread_cache.clone(),
        );
        let bytes = self.bytes_by_site.entry(site).or_default();
        *bytes = bytes.saturating_add(sampled.bytes);
        self.samples = self.samples.saturating_add(sampled.count);
    }

    /// The allocation in the window; `None` with fewer than two readings of the counter.
    pub(super) fn finish(self) -> Option<Allocation> {
        let ((from_ns, from), (to_ns, to)) = (self.first?, self.last?);
        let window_s = to_ns.saturating_sub(from_ns) as f64 / NANOS_PER_S as f64;
        let all: f64 = self.bytes_by_site.values().map(|bytes| *bytes as f64).sum();
        let site = |((class, maker, application, thread_cache), bytes): (Site, u64)| AllocationSite {
            class,
            maker,
            application,
            thread_cache,
            share: bytes as f64 / all,
        };
        let mut sites: Vec<AllocationSite> = self.bytes_by_site.into_iter().map(site).collect();
        sites.sort_by(|a, b| b.share.total_cmp(&a.share));
        sites.truncate(MOST_SITES);
        (window_s > 0.0).then(|| Allocation {
            bytes_per_s: to.saturating_sub(from) as f64 / window_s,
            window_s,
            sites,
            samples: self.samples,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::read;
    use super::*;

    const S: u64 = NANOS_PER_S;

    fn sample(at_s: u64, allocated: u64) -> String {
        format!(
            r#"{{"type":"sample","t_ns":{},"heap_used_bytes":5,"heap_committed_bytes":6,"allocated_bytes":{allocated},"process_cpu_ns":0,"rss_bytes":7,"os_threads":9,"platform_threads":8}}"#,
            at_s * S
        )
    }

    fn allocated(second: u64, count: u64, bytes: u64, maker: &str) -> String {
        format!(
            r#"{{"type":"allocated","t_ns":{},"count":{count},"bytes":{bytes},"class":"byte[]","maker":"{maker}","application":null}}"#,
            second * S
        )
    }

    #[test]
    fn what_was_allocated_before_and_after_the_window_is_not_in_it() {
        let counted =
            [sample(9, 0), sample(11, 5_000), sample(15, 9_000), sample(19, 21_000), sample(22, 99_000)];
        let allocation = read(&counted).allocation.unwrap();
        assert_eq!((allocation.bytes_per_s, allocation.window_s), (2_000.0, 8.0));
        assert_eq!(allocation.sites, []);
    }

    #[test]
    fn sites_have_their_share_of_the_sampled_bytes_in_the_window() {
        let sites = [
            allocated(9, 1, 1_000_000, "shop.Before.b:1"),
            allocated(12, 2, 100, "shop.A.a:1"),
            allocated(13, 1, 600, "shop.B.b:2"),
            allocated(14, 3, 100, "shop.A.a:1"),
        ];
        let lines = [vec![sample(11, 0), sample(19, 8)], sites.to_vec()].concat();
        let allocation = read(&lines).allocation.unwrap();
        let shares: Vec<_> = allocation.sites.iter().map(|it| (it.maker.as_deref(), it.share)).collect();
        assert_eq!(shares, [(Some("shop.B.b:2"), 0.75), (Some("shop.A.a:1"), 0.25)]);
        assert_eq!(allocation.samples, 6);
    }

    #[test]
    fn one_reading_of_the_counter_is_no_figure_and_many_sites_are_bounded() {
        assert_eq!(read(&[sample(11, 5_000)]).allocation, None);
        let many = (0..100).map(|site| allocated(12, 1, 10, &format!("A.a:{site}")));
        let lines: Vec<String> = [sample(11, 0), sample(19, 8)].into_iter().chain(many).collect();
        assert_eq!(read(&lines).allocation.unwrap().sites.len(), MOST_SITES);
    }
}
