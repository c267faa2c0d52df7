//! Figures plotted against the number of clients or the rate, for loads that differ in nothing else.

use super::lines::rounded;
use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::{LoadSpec, Workload};
use threadcount_model::metric::Metric;

/// The picture; it has no points if the experiment sweeps nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Against {
    /// The axis title: the quantity in which the loads differ.
    pub what: &'static str,
    /// One point per variant and load, by rising x.
    pub points: Vec<AgainstPoint>,
}

/// One variant under one load; all figures are means over the runs, `None` if not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgainstPoint {
    pub variant: usize,
    pub load: String,
    /// The number of clients, or the rate per second.
    pub x: f64,
    pub rate_per_s: Option<f64>,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub cpu_us: Option<f64>,
    pub rss_mb: Option<f64>,
    pub os_threads: Option<f64>,
}

/// The sweep over clients or over rates, whichever has more loads.
pub fn against(document: &ResultDocument, variants: &[String]) -> Against {
    let clients = swept(document, |workload| workload.closed_clients().map(f64::from));
    let rates = swept(document, Workload::rate_per_s);
    let (what, loads) =
        if rates.len() > clients.len() { ("requests per second asked", rates) } else { ("clients", clients) };
    let points_of_load = |&(x, load): &(f64, &LoadSpec)| -> Vec<AgainstPoint> {
        (0..variants.len()).filter_map(|variant| point(document, variants, variant, x, load)).collect()
    };
    Against { what, points: loads.iter().flat_map(points_of_load).collect() }
}

/// The loads of one kind that send the same request, by rising x; empty if there are fewer than two.
fn swept(document: &ResultDocument, x: impl Fn(Workload) -> Option<f64>) -> Vec<(f64, &LoadSpec)> {
    let mut loads: Vec<(f64, &LoadSpec)> =
        document.experiment.loads.iter().filter_map(|load| Some((x(load.workload)?, load))).collect();
    let request = loads.first().map(|(_, load)| load.request.clone());
    loads.retain(|(_, load)| Some(&load.request) == request.as_ref());
    loads.sort_by(|a, b| a.0.total_cmp(&b.0));
    loads.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    if loads.len() < 2 { Vec::new() } else { loads }
}

fn point(
    document: &ResultDocument,
    variants: &[String],
    variant: usize,
    x: f64,
    load: &LoadSpec,
) -> Option<AgainstPoint> {
    let figure = |metric| document.mean(&variants[variant], &load.name, metric).map(rounded);
    let rate_per_s = figure(Metric::Rate);
    rate_per_s?;
    Some(AgainstPoint {
        variant,
        load: load_words(load),
        x,
        rate_per_s,
        p50_ms: figure(Metric::P50),
        p99_ms: figure(Metric::P99),
        cpu_us: figure(Metric::CpuPerRequest),
        rss_mb: figure(Metric::RssPeak).map(|bytes| rounded(bytes / 1e6)),
        os_threads: figure(Metric::OsThreads),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::record::Record;
    use threadcount_model::sample::run;

    /// Variant, place and rate.
    type Drawn = (usize, f64, Option<f64>);

    fn drawn(loads: &str, records: &[Record]) -> (&'static str, Vec<Drawn>) {
        let document = document("{a: {}, b: {}}", loads, records);
        let Against { what, points } = against(&document, &["a".to_owned(), "b".to_owned()]);
        (what, points.iter().map(|point| (point.variant, point.x, point.rate_per_s)).collect())
    }

    #[test]
    fn a_sweep_of_clients_has_a_point_for_each_variant_and_number() {
        let records = [
            run("a", "c400", 3_900.0, 100.0),
            run("b", "c400", 7_800.0, 50.0),
            run("b", "c400", 7_820.0, 50.0),
            run("a", "c100", 1_990.0, 50.0),
        ];
        let (what, points) = drawn("[{clients: [400, 100], duration: 1s}]", &records);
        assert_eq!(what, "clients");
        assert_eq!(points, [(0, 100.0, Some(1_990.0)), (0, 400.0, Some(3_900.0)), (1, 400.0, Some(7_810.0))]);
    }

    #[test]
    fn a_sweep_of_rates_is_drawn_against_the_rate_and_single_loads_not_at_all() {
        let records = [run("a", "r10", 10.0, 5.0), run("a", "r20", 20.0, 5.0), run("a", "c4", 700.0, 5.0)];
        let (what, points) =
            drawn("[{clients: 4, duration: 1s}, {rate: [10/s, 20/s], duration: 1s}]", &records);
        assert_eq!((what, points.len()), ("requests per second asked", 2));
        assert!(drawn("[{clients: 4, duration: 1s}]", &records).1.is_empty());
        let other = "[{clients: 4, duration: 1s}, {clients: 8, duration: 1s, request: /other}]";
        assert!(drawn(other, &records).1.is_empty(), "another request is no sweep");
    }
}
