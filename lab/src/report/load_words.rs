//! A load in words.

use crate::model::experiment::{LoadKind, LoadSpec, Shape, ShapeStep, Tool};
use crate::report::figures;
use threadcount_load::plan::{Arrivals, ProtocolChoice};

/// A load in words: `400 clients`, `5,000/s over at most 64 clients`, `50 clients of 5 ab, a connection for each request`.
#[must_use]
pub fn load_words(load: &LoadSpec) -> String {
    let size = match load.kind {
        LoadKind::Closed { clients } => figures::plural(clients as usize, "client"),
        LoadKind::Benchmark(size) => {
            let forks = figures::plural(size.forks as usize, "JVM");
            let iterations = figures::plural(size.iterations as usize, "iteration");
            let each = figures::plain(load.duration_s.unwrap_or_default());
            format!("JMH, {forks}, {iterations} of {each} s")
        }
        LoadKind::Open { rate_per_s, clients } => {
            let clients = figures::plural(clients as usize, "client");
            let rate =
                load.shape.as_ref().map_or_else(|| format!("{}/s", figures::number(rate_per_s)), shape_words);
            let arrivals = if load.sending.arrivals == Arrivals::Poisson { " at random moments" } else { "" };
            format!("{rate}{arrivals} over at most {clients}")
        }
        LoadKind::Capacity(capacity) => format!("the highest rate with {}", capacity.limit_in_words()),
    };
    let by = match load.tool {
        None => String::new(),
        Some(Tool::Ab { processes: 1 }) => " of ab".to_owned(),
        Some(Tool::Ab { processes }) => format!(" of {processes} ab at once"),
    };
    let connections = if load.keep_alive { "" } else { ", a connection for each request" };
    let http = if load.sending.http == ProtocolChoice::Http2 { ", HTTP/2" } else { "" };
    format!("{size}{by}{http}{connections}")
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
    use crate::config::parse;

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
