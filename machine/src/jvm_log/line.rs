//! Parses one line of the log. The texts are those of HotSpot 17 to 25; unknown lines are passed over.

use threadcount_load::clock::Nanos;

const MIB: u64 = 1024 * 1024;

/// A logged event. Anything with a duration is logged when it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum Event<'a> {
    /// `Using G1`, at the start.
    Collector(&'a str),
    /// A pause of the collector, with its kind and cause: `Pause Young (Normal) (G1 Evacuation Pause)`.
    Pause { name: &'a str, duration_ns: Nanos, heap: Option<Heap> },
    /// A cycle of ZGC, whose pauses are negligible: `Major Collection (Allocation Stall)`.
    Cycle { name: &'a str, heap: Heap },
    /// All threads were stopped for `reason`.
    Safepoint { reason: &'a str, reaching_ns: Nanos, total_ns: Nanos },
    /// A thread waited for memory that the collector had not freed yet.
    Stall { duration_ns: Nanos },
}

/// The heap in use before and after a collection, in bytes; the JVM rounds down to MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Heap {
    pub before_bytes: u64,
    pub after_bytes: u64,
}

/// A line's time and event; `None` if nothing here reads this line.
#[must_use]
pub fn parse(line: &str) -> Option<(Nanos, Event<'_>)> {
    let (t_ns, rest) = time(line)?;
    let (_, message) = rest.strip_prefix('[')?.split_once("] ")?;
    Some((t_ns, event(message.trim_end())?))
}

/// A line's time, `[731896532072ns]`, and the rest of the line.
#[must_use]
pub fn time(line: &str) -> Option<(Nanos, &str)> {
    let (digits, rest) = line.strip_prefix('[')?.split_once("ns]")?;
    Some((digits.parse().ok()?, rest))
}

fn event(message: &str) -> Option<Event<'_>> {
    if let Some(name) = message.strip_prefix("Using ") {
        return Some(Event::Collector(name));
    }
    if let Some(safepoint) = message.strip_prefix("Safepoint \"") {
        return safepoint_event(safepoint);
    }
    if let Some(stall) = message.strip_prefix("Allocation Stall (") {
        // A thread's name may contain anything, even `) `.
        let duration_ns = milliseconds(stall.rsplit_once(") ")?.1)?;
        return Some(Event::Stall { duration_ns });
    }
    let (_, collection) = message.strip_prefix("GC(")?.split_once(") ")?;
    if collection.starts_with("Pause ") {
        return pause(collection);
    }
    const CYCLES: [&str; 3] = ["Major Collection", "Minor Collection", "Garbage Collection"];
    CYCLES.iter().any(|name| collection.starts_with(name)).then(|| cycle(collection)).flatten()
}

/// Parses `Pause Full (System.gc()) 24M->4M(64M) 2.678ms`; the heap is missing if the pause frees nothing.
fn pause(text: &str) -> Option<Event<'_>> {
    let (rest, last) = text.rsplit_once(' ')?;
    let duration_ns = milliseconds(last)?;
    let with_heap = rest.rsplit_once(' ').and_then(|(name, sizes)| Some((name, heap(sizes)?)));
    let (name, heap) = with_heap.map_or((rest, None), |(name, heap)| (name, Some(heap)));
    Some(Event::Pause { name, duration_ns, heap })
}

/// Parses `Major Collection (Warmup) 40M(100%)->22M(55%) 0.012s`; Java 21's older ZGC omits the duration.
fn cycle(text: &str) -> Option<Event<'_>> {
    let (name, rest) = text.split_once(") ")?;
    let heap = heap(rest.split(' ').next()?)?;
    Some(Event::Cycle { name: &text[..=name.len()], heap })
}

/// Parses `24M->4M(64M)` or `40M(100%)->22M(55%)`.
fn heap(sizes: &str) -> Option<Heap> {
    let (before, after) = sizes.split_once("->")?;
    Some(Heap { before_bytes: bytes(before)?, after_bytes: bytes(after)? })
}

fn bytes(size: &str) -> Option<u64> {
    size.split('(').next()?.strip_suffix('M')?.parse::<u64>().ok()?.checked_mul(MIB)
}

/// Parses `G1CollectFull", Time since last: 12 ns, Reaching safepoint: 9 ns, At safepoint: 5 ns, Total: 14 ns, ...`
fn safepoint_event(text: &str) -> Option<Event<'_>> {
    let (reason, parts) = text.split_once("\", ")?;
    let part = |name: &str| {
        let of_name = parts.split(", ").find_map(|part| part.strip_prefix(name));
        of_name?.strip_prefix(": ")?.strip_suffix(" ns")?.parse().ok()
    };
    Some(Event::Safepoint { reason, reaching_ns: part("Reaching safepoint")?, total_ns: part("Total")? })
}

fn milliseconds(text: &str) -> Option<Nanos> {
    let ms: f64 = text.strip_suffix("ms")?.parse().ok()?;
    (ms >= 0.0).then(|| (ms * 1e6).round() as Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_name_and_a_half_written_line_do_not_confuse() {
        let stall = "[773389528939ns][gc          ] Allocation Stall (pool (a) 1.0ms) 9.521ms";
        assert_eq!(parse(stall), Some((773_389_528_939, Event::Stall { duration_ns: 9_521_000 })));
        let whole = "[731896532072ns][gc ] GC(0) Pause Full (System.gc()) 24M->4M(61M) 2.678ms";
        assert!(parse(whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]), None, "{}", &whole[..length]);
        }
        for odd in
            ["", "[", "[ns][gc] Using G1", "[1ns]", "[1ns][gc] GC(1) Pause NaNms", "[-1ns][gc] Using G1"]
        {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_cycle_of_zgc_has_its_cause_and_the_heap_with_or_without_its_length() {
        let heap = Heap { before_bytes: 24 * MIB, after_bytes: 4 * MIB };
        for length in ["", " 0.045s"] {
            let line = format!("[7ns][gc] GC(3) Major Collection (System.gc()) 24M(60%)->4M(10%){length}");
            let cycle = Event::Cycle { name: "Major Collection (System.gc())", heap };
            assert_eq!(parse(&line), Some((7, cycle)));
        }
        assert_eq!(parse("[7ns][gc] GC(3) Major Collection (Warmup)"), None);
        assert_eq!(parse("[7ns][gc] GC(3) Major Collection (Allocation Rate) Aborted"), None);
    }

    #[test]
    fn the_stall_of_a_collectors_own_thread_is_none_of_the_applications() {
        let own = "[1ns][gc] GC(7) y: Relocation Stall (ZWorkerYoung#0) 1.123ms";
        assert_eq!(parse(own), None);
    }
}
