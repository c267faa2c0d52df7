//! Two variants of one application.

use super::Words;
use super::evidence::{figure, known};
use crate::finding::{BoundEffect, CpuBound, RequestBound, RunsShowing};
use crate::words::metric::bound;
use crate::words::metric::metric_noun;
use threadcount_model::figures::{interval, milliseconds as ms, percent, whole};

impl Words for CpuBound {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "requests compute: {} of their {} they run or wait for a core, so threads of another kind change nothing: the same {} as {} \
             within {} {}",
            percent(self.on_cpu_share),
            ms(self.service_time_ms),
            metric_noun(self.metric),
            self.other,
            bound(self.interval.largest_difference()),
            interval(self.interval)
        )
    }

    fn advice(&self) -> Option<String> {
        Some("less CPU per request (the flame graphs say where it goes), or more cores".to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        vec![
            figure("of the mean service time, running or waiting for a core", self.on_cpu_share * 100.0, "%"),
            figure("mean service time", self.service_time_ms, "ms"),
            figure(&format!("{} by that of {}", metric_noun(self.metric), self.other), self.ratio, ""),
        ]
    }
}

impl Words for RequestBound {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (limit, unlimited) = (whole(self.at_once), &self.unlimited);
        match self.effect {
            BoundEffect::Saves { goodput_per_s, unlimited_goodput_per_s, behind_ms, unlimited_behind_ms } => {
                let behind =
                    behind_ms.zip(unlimited_behind_ms).map_or_else(String::new, |(with, without)| {
                        format!("; behind for {} instead of {}", ms(with), ms(without))
                    });
                format!(
                    "a limit of {limit} requests at once saves the service in this overload: {} expected responses per second, {} with \
                     {unlimited}{behind}",
                    whole(goodput_per_s),
                    whole(unlimited_goodput_per_s)
                )
            }
            BoundEffect::CostsNothing { metric, interval: within, .. } => format!(
                "a limit of {limit} requests at once costs nothing here: the same {} as {unlimited} within {} {}",
                metric_noun(metric),
                bound(within.largest_difference()),
                interval(within)
            ),
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = "a limit for virtual threads (docs/bounded-virtual-threads.md)";
        matches!(self.effect, BoundEffect::Saves { .. }).then(|| advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let limit = figure("requests at once", self.at_once, "requests");
        let figures = match self.effect {
            BoundEffect::Saves { goodput_per_s, unlimited_goodput_per_s, behind_ms, unlimited_behind_ms } => {
                known(&[
                    ("goodput with the limit", Some(goodput_per_s), "requests/s"),
                    ("goodput without it", Some(unlimited_goodput_per_s), "requests/s"),
                    ("time behind with the limit", behind_ms, "ms"),
                    ("time behind without it", unlimited_behind_ms, "ms"),
                ])
            }
            BoundEffect::CostsNothing { metric, ratio, .. } => {
                vec![figure(&format!("{} by that without it", metric_noun(metric)), ratio, "")]
            }
        };
        std::iter::once(limit).chain(figures).collect()
    }
}
