//! Loads, limits and runs in words.

use threadcount_load::plan::{Arrivals, ProtocolChoice};
use threadcount_model::experiment::capacity::Capacity;
use threadcount_model::experiment::{
    Experiment, ExternalTool, LoadKind, LoadSpec, Shape, ShapeStep, Tool, Workload,
};
use threadcount_model::figures;
use threadcount_model::metric::Metric;

/// A load in words: `400 clients`, `5,000/s over at most 64 clients`, `50 clients of 5 ab, a connection for each request`.
#[must_use]
pub fn load_words(load: &LoadSpec) -> String {
    let clients = |clients: u32| figures::plural(clients, "client");
    let size = match load.workload {
        Workload::Http(LoadKind::Closed { clients: count }) => clients(count),
        Workload::Http(LoadKind::Open { rate_per_s, clients: count, .. }) => {
            let rate =
                load.shape.as_ref().map_or_else(|| format!("{}/s", figures::number(rate_per_s)), shape_words);
            let arrivals = if load.sending.arrivals == Arrivals::Poisson { " at random moments" } else { "" };
            format!("{rate}{arrivals} over at most {}", clients(count))
        }
        Workload::Capacity(capacity) => format!("the highest rate with {}", limit_words(&capacity)),
        Workload::External(ExternalTool { tool: Tool::Ab { processes: 1 }, clients: count }) => {
            format!("{} of ab", clients(count))
        }
        Workload::External(ExternalTool { tool: Tool::Ab { processes }, clients: count }) => {
            format!("{} of {processes} ab at once", clients(count))
        }
        Workload::Jmh(size) => {
            let forks = figures::plural(size.forks, "JVM");
            let iterations = figures::plural(size.iterations, "iteration");
            let each = figures::plain(load.duration_s.unwrap_or_default());
            format!("JMH, {forks}, {iterations} of {each} s")
        }
    };
    let connections = if load.keep_alive { "" } else { ", a connection for each request" };
    let http = if load.sending.http == ProtocolChoice::Http2 { ", HTTP/2" } else { "" };
    let scaled = load
        .scale
        .filter(|_| load.is_scaled())
        .map_or_else(String::new, |scale| format!(", scaled from {} cores", scale.for_cores));
    format!("{size}{http}{connections}{scaled}")
}

/// The runs of a variant under a load: `virtual, 400 clients`, or just `virtual` if there is one load.
#[must_use]
pub fn runs_words(experiment: &Experiment, variant: &str, load: &str) -> String {
    if experiment.loads.len() <= 1 {
        return variant.to_owned();
    }
    let words = experiment.load(load).map_or_else(|| load.to_owned(), load_words);
    format!("{variant}, {words}")
}

/// The limit of a capacity search: `p99 within 200 ms`.
#[must_use]
pub fn limit_words(capacity: &Capacity) -> String {
    format!("{} within {} ms", metric_words(capacity.metric), capacity.limit_ms)
}

/// The usual name of a response-time metric: `p99.9`.
#[must_use]
pub fn metric_words(metric: Metric) -> String {
    metric.short_name().replace('_', ".")
}

/// `100/s to 5,000/s within 30 s`, `100/s for 10 s, then 500/s for 5 s`.
fn shape_words(shape: &Shape) -> String {
    match shape {
        Shape::Ramp { from_per_s, to_per_s, over_s } => {
            let (from, to) = (figures::number(*from_per_s), figures::number(*to_per_s));
            format!("{from}/s to {to}/s within {} s", figures::plain(*over_s))
        }
        Shape::Steps(steps) => {
            let step = |step: &ShapeStep| {
                format!("{}/s for {} s", figures::number(step.rate_per_s), figures::plain(step.lasts_s))
            };
            steps.iter().map(step).collect::<Vec<_>>().join(", then ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;

    #[test]
    fn the_limit_of_a_search_is_said_with_its_metric() {
        assert_eq!(limit_words(&Capacity::under(Metric::P99_9, 200.0)), "p99.9 within 200 ms");
        assert_eq!(limit_words(&Capacity::under(Metric::Mean, 1.5)), "mean within 1.5 ms");
    }

    #[test]
    fn a_load_says_who_sends_it_and_over_what_connections() {
        let words = |load: &str| {
            let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\n";
            let read = parse("x", "x.yaml", &format!("{head}loads: [{{{load}, duration: 1s}}]\n"), false);
            load_words(&read.expect("an experiment").loads[0])
        };
        assert_eq!(words("clients: 1"), "1 client");
        assert_eq!(words("clients: 10, tool: {ab: 1}"), "10 clients of ab");
        assert_eq!(
            words("clients: 50, tool: {ab: 5}, keep_alive: false"),
            "50 clients of 5 ab at once, a connection for each request"
        );
    }
}
