//! What requests allocate.

use super::Words;
use super::evidence::known;
use crate::finding::{
    AllocatingPlace, AllocationDifference, ProcessorsMadeAnew, RunsShowing, ThreadCache, ThreadCaches,
};
use threadcount_model::figures::{memory, percent, ratio, whole};

impl Words for AllocationDifference {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (bytes, least) = (self.bytes_per_request, self.least_bytes_per_request);
        let difference = format!(
            "each request allocates {}, {}x as much as with {} ({})",
            memory(bytes),
            ratio(bytes / least),
            self.least_variant,
            memory(least)
        );
        let reason = self.processors.map(made_anew).or_else(|| places(&self.sites));
        reason.map_or_else(|| difference.clone(), |reason| format!("{difference}; {reason}"))
    }

    fn advice(&self) -> Option<String> {
        Some(match self.processors {
            Some(_) => "processorCache=\"-1\" at Tomcat's Connector (here `processor_cache: unlimited`; Spring Boot: \
                        server.tomcat.processor-cache=-1), before a larger heap"
                .to_owned(),
            None => "fewer or smaller objects there, before a larger heap or another collector".to_owned(),
        })
    }

    fn evidence(&self) -> Vec<String> {
        let processors = self.processors;
        let share = processors.map(|it| it.share * 100.0);
        let mut evidence = known(&[
            ("allocated per request", Some(self.bytes_per_request), "bytes"),
            (&format!("with {}", self.least_variant), Some(self.least_bytes_per_request), "bytes"),
            ("requests in flight", processors.map(|it| it.in_flight), "requests"),
            ("processors that Tomcat keeps", processors.map(|it| it.cache.into()), "processors"),
            ("of the difference by processors", share, "%"),
        ]);
        evidence.extend(self.sites.iter().map(|site| format!("of the difference {}", place(site))));
        evidence
    }
}

/// Jackson keeps its buffers by thread, unless it is told otherwise.
const JACKSON: &str = "com.fasterxml.jackson.";

impl Words for ThreadCaches {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let place = |it: &ThreadCache| {
            let application = it.application.as_ref().filter(|&frame| *frame != it.asked_by);
            let application = application.map_or_else(String::new, |frame| format!(", for {frame}"));
            let bytes = memory_or_rate(it.bytes_per_request, it.bytes_per_s);
            format!("{bytes} ({}) asked for at {}{application}", it.class, it.asked_by)
        };
        let (allocates, of_whom) = match self.all_bytes_per_request {
            Some(_) => ("a request allocates", "its thread"),
            None => ("the JVM allocates", "threads"),
        };
        format!(
            "{} of the {} that {allocates} are caches of {of_whom}, which each virtual thread makes anew: {}",
            memory_or_rate(self.bytes_per_request, self.bytes_per_s),
            memory_or_rate(self.all_bytes_per_request, self.all_bytes_per_s),
            self.places.iter().map(place).collect::<Vec<_>>().join("; ")
        )
    }

    fn advice(&self) -> Option<String> {
        let is_jackson = self.places.iter().any(|it| it.asked_by.starts_with(JACKSON));
        Some(
            if is_jackson {
                "buffers that threads share: JsonFactory.builder().recyclerPool(JsonRecyclerPools.newConcurrentDequePool()) (Jackson \
                 2.16 or newer)"
            } else {
                "objects that threads share (a pool, or immutable ones) instead of a ThreadLocal: a virtual thread serves one request \
                 and uses its value once"
            }
            .to_owned(),
        )
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("allocated per request", self.all_bytes_per_request, "bytes"),
            ("of it caches of the thread", self.bytes_per_request, "bytes"),
            ("allocated", self.all_bytes_per_s, "bytes/s"),
            ("of it caches of threads", self.bytes_per_s, "bytes/s"),
        ])
    }
}

/// `12.0 kB`; per second where the number of requests is not known: `12.0 MB/s`.
fn memory_or_rate(bytes: Option<f64>, bytes_per_s: Option<f64>) -> String {
    let rate = || format!("{}/s", memory(bytes_per_s.unwrap_or_default()));
    bytes.map_or_else(rate, memory)
}

fn made_anew(processors: ProcessorsMadeAnew) -> String {
    format!(
        "{} of the difference: a processor of the Connector (request, response and their buffers) is made anew for each \
         request beyond {} in flight, and {} are",
        percent(processors.share),
        whole(processors.cache.into()),
        whole(processors.in_flight)
    )
}

fn places(sites: &[AllocatingPlace]) -> Option<String> {
    let places: Vec<String> = sites.iter().map(place).collect();
    (!places.is_empty()).then(|| format!("of the difference {}", places.join(", ")))
}

/// `56 % at shop.Cart.copy:59 (byte[])`.
fn place(site: &AllocatingPlace) -> String {
    let maker = site.maker.as_deref().unwrap_or("a place in the JDK");
    let application = site.application.as_deref().filter(|&it| it != maker);
    let application = application.map_or_else(String::new, |it| format!(", for {it}"));
    format!("{} at {maker} ({}{application})", percent(site.share), site.class)
}
