//! The live objects in a JVM's heap, counted by its diagnostic command `GC.class_histogram`.
//!
//! The command collects the whole heap and then counts the reachable objects, with every collector, even if the JVM's flags disable
//! `System.gc()`. So the figure is exact to the byte, whereas a log rounds the heap after a collection to MiB and includes what was
//! allocated meanwhile. The JVM stands still while it counts.

use super::attach;
use threadcount_model::record::memory::LiveHeap;

/// The heap class in which an unmounted virtual thread keeps its stack.
const STACK_CHUNK: &str = "jdk.internal.vm.StackChunk";

/// Classes that collectors use to fill gaps (Java 19 and later): nobody's objects, but up to several megabytes.
const FILLERS: [&str; 2] = ["jdk.internal.vm.FillerObject", "[Ljdk.internal.vm.FillerElement;"];

/// Counts the heap of one JVM.
#[derive(Clone, Copy, Debug)]
pub struct HeapReader {
    pub pid: u32,
}

impl HeapReader {
    /// Collects and counts; `None` if this is not a JVM, or it did not respond in time.
    #[must_use]
    pub fn read(&self) -> Option<LiveHeap> {
        parse(&attach::ask(self.pid, "GC.class_histogram")?)
    }
}

/// Parses the histogram of Java 17 to 25: `num: instances bytes class (module)`, and at the end `Total instances bytes`.
pub(super) fn parse(histogram: &str) -> Option<LiveHeap> {
    let mut heap = LiveHeap::default();
    let (mut total, mut filler_bytes) = (None, 0);
    for line in histogram.lines() {
        let mut words = line.split_whitespace();
        let first = words.next();
        let mut number = || words.next()?.parse::<u64>().ok();
        let (Some(instances), Some(bytes)) = (number(), number()) else { continue };
        match first {
            Some("Total") => total = Some(bytes),
            _ => match words.next() {
                Some(STACK_CHUNK) => {
                    let (stacks, all_bytes) =
                        (&mut heap.virtual_thread_stacks, &mut heap.virtual_thread_stacks_bytes);
                    (*stacks, *all_bytes) =
                        (stacks.saturating_add(instances), all_bytes.saturating_add(bytes));
                }
                Some(class) if FILLERS.contains(&class) => filler_bytes = bytes.saturating_add(filler_bytes),
                _ => {}
            },
        }
    }
    Some(LiveHeap { live_bytes: total?.saturating_sub(filler_bytes), ..heap })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_and_the_stacks_of_virtual_threads_are_read() {
        let histogram = "4711:\n num     #instances         #bytes  class name (module)\n\
            -------------------------------------------------------\n   \
            1:         12345        1678900  [B (java.base@25.0.1)\n   \
            2:          1000         480016  jdk.internal.vm.StackChunk (java.base@25.0.1)\n   \
            3:            10            160  shop.jdk.internal.vm.StackChunk\n\
            Total         13355        2159076\n";
        let expected = LiveHeap {
            live_bytes: 2_159_076,
            virtual_thread_stacks: 1_000,
            virtual_thread_stacks_bytes: 480_016,
        };
        assert_eq!(parse(histogram), Some(expected));
    }

    #[test]
    fn gaps_that_the_serial_collector_left_are_not_live() {
        let histogram = "   1:         21836        3561256  [B (java.base@21.0.8)\n   \
            2:           186        3400504  [Ljdk.internal.vm.FillerElement; (java.base@21.0.8)\n   \
            3:             2             32  jdk.internal.vm.FillerObject (java.base@21.0.8)\n\
            Total        192372       13639200\n";
        assert_eq!(parse(histogram).map(|heap| heap.live_bytes), Some(13_639_200 - 3_400_504 - 32));
    }

    #[test]
    fn an_answer_that_was_cut_off_or_is_of_no_jvm_is_nothing() {
        assert_eq!(parse("   1:   12345   1678900  [B (java.base@25.0.1)\n"), None);
        assert_eq!(parse("4711: No such process\n"), None);
    }
}
