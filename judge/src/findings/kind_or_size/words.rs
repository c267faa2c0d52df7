use super::KindOrSize;
use crate::finding::RunsShowing;
use crate::words::figure::known;
use crate::words::finding::Words;
use crate::words::metric::{bound, metric_noun};
use threadcount_model::figures::{count, interval, whole};

impl Words for KindOrSize {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let noun = metric_noun(self.metric);
        let (counts, answer) = match self.is_same {
            true => (
                "the number of threads counts, not their kind",
                format!("the same {noun} within {}", bound(self.interval.largest_difference())),
            ),
            false => ("the kind of thread counts", format!("{:.2}x the {noun}", self.ratio)),
        };
        let cpu = self.cpu_per_request_ratio.map_or_else(String::new, |cpu| {
            let interval = self.cpu_per_request_interval.map(|it| format!(" {}", interval(it)));
            format!(" and {cpu:.2}x the CPU per request{}", interval.unwrap_or_default())
        });
        format!(
            "{counts}. A pool of {} has {answer} {}. It has {} OS threads{cpu}",
            count(self.pool_threads.into()),
            interval(self.interval),
            whole(self.pool_os_threads),
        )
    }

    fn advice(&self) -> Option<String> {
        None
    }

    fn evidence(&self) -> Vec<String> {
        let answer = format!("{} of the pool by that of virtual threads", metric_noun(self.metric));
        known(&[
            (answer.as_str(), Some(self.ratio), ""),
            ("OS threads of the pool", Some(self.pool_os_threads), "threads"),
            ("OS threads otherwise", self.virtual_os_threads, "threads"),
            ("CPU per request of the pool by that of virtual threads", self.cpu_per_request_ratio, ""),
        ])
    }
}
