use super::{AllocatingPlace, AllocationDifference, ProcessorsMadeAnew};
use crate::words::finding::Words;
use threadcount_model::figures::{memory, percent, ratio, whole};

impl Words for AllocationDifference {
    fn sentence(&self) -> String {
        let (bytes, least) = (self.bytes_per_request, self.least_bytes_per_request);
        let difference = format!(
            "each request allocates {}, {}x as much as with {} ({})",
            memory(bytes),
            ratio(bytes / least),
            self.least_variant,
            memory(least)
        );
        let reason = self.processors.map(made_anew).or_else(|| places(&self.sites));
        reason.map_or_else(|| difference.clone(), |reason| format!("{difference}. {reason}"))
    }

    fn advice(&self) -> Option<String> {
        Some(match self.processors {
            Some(_) => "processorCache=\"-1\" at Tomcat's Connector (here `processor_cache: unlimited`; Spring Boot: \
                        server.tomcat.processor-cache=-1), before a larger heap"
                .to_owned(),
            None => "fewer or smaller objects there, before a larger heap or another collector".to_owned(),
        })
    }
}

fn made_anew(processors: ProcessorsMadeAnew) -> String {
    format!(
        "{} of the difference are processors of the Connector (request, response and their buffers). A new one is made for \
         each request beyond {} in flight, and {} are in flight",
        percent(processors.share),
        whole(processors.cache.into()),
        whole(processors.in_flight)
    )
}

fn places(sites: &[AllocatingPlace]) -> Option<String> {
    let places: Vec<String> = sites.iter().map(place).collect();
    (!places.is_empty()).then(|| format!("The difference: {}", places.join(", ")))
}

fn place(site: &AllocatingPlace) -> String {
    let maker = site.maker.as_deref().unwrap_or("a place in the JDK");
    let application = site.application.as_deref().filter(|&it| it != maker);
    let application = application.map_or_else(String::new, |it| format!(", for {it}"));
    format!("{} at {maker} ({}{application})", percent(site.share), site.class)
}

/// Advice to allocate less, for a heap that is large enough.
pub(crate) fn fewer_allocations(least_variant: &str) -> String {
    format!(
        "fewer allocations per request. They allocate more than with {least_variant}, and the size of the heap is not the \
         reason"
    )
}
