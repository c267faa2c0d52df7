use super::{ThreadCache, ThreadCaches};
use crate::words::finding::Words;
use threadcount_model::figures::memory;

/// Package of Jackson, which keeps its buffers by thread unless it is configured otherwise.
const JACKSON: &str = "com.fasterxml.jackson.";

impl Words for ThreadCaches {
    fn sentence(&self) -> String {
        let place = |cache: &ThreadCache| {
            let application = cache.application.as_ref().filter(|&frame| *frame != cache.asked_by);
            let application = application.map_or_else(String::new, |frame| format!(", for {frame}"));
            let bytes = memory_or_rate(cache.bytes_per_request, cache.bytes_per_s);
            format!("{bytes} ({}) at {}{application}", cache.class, cache.asked_by)
        };
        let (allocates, of_whom) = match self.all_bytes_per_request {
            Some(_) => ("a request allocates", "its thread"),
            None => ("the JVM allocates", "threads"),
        };
        format!(
            "{} of the {} that {allocates} are caches of {of_whom}. Each virtual thread makes its own. {}",
            memory_or_rate(self.bytes_per_request, self.bytes_per_s),
            memory_or_rate(self.all_bytes_per_request, self.all_bytes_per_s),
            self.places.iter().map(place).collect::<Vec<_>>().join(". ")
        )
    }

    fn advice(&self) -> Option<String> {
        let is_jackson = self.places.iter().any(|it| it.asked_by.starts_with(JACKSON));
        Some(
            if is_jackson {
                "buffers that threads share: JsonFactory.builder().recyclerPool(JsonRecyclerPools.newConcurrentDequePool()) (Jackson \
                 2.16 or newer)"
            } else {
                "objects that threads share (a pool, or immutable ones) instead of a ThreadLocal. A virtual thread serves one request \
                 and uses its value once"
            }
            .to_owned(),
        )
    }
}

/// `12.0 kB` per request, or `12.0 MB/s` if the number of requests is unknown.
fn memory_or_rate(bytes: Option<f64>, bytes_per_s: Option<f64>) -> String {
    let rate = || format!("{}/s", memory(bytes_per_s.unwrap_or_default()));
    bytes.map_or_else(rate, memory)
}
