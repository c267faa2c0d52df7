//! The time in which the JVM stopped all threads, cut to a window.

use super::line::Line;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::jvm::Total;
use threadcount_model::window::Window;

/// Lines tally safepoints by second, but a window begins and ends within a second. In such a second the pauses of collections, whose times
/// are known, count where they lie; the others count in proportion to the part of the second that lies in the window.
pub(super) fn safepoints(lines: &[Line], window: Window) -> Total {
    let pauses: Vec<Window> = lines.iter().filter_map(pause).collect();
    let mut sum = Total::default();
    for (began_ns, second) in seconds(lines) {
        let whole = Window { started_ns: began_ns, ended_ns: began_ns.saturating_add(NANOS_PER_S) };
        let part = whole.common(window);
        let in_pauses =
            |span: Window| pauses.iter().map(|it| it.common(span).length_ns() as f64).sum::<f64>();
        // The JVM measures both, but from different moments on.
        let known_ns = in_pauses(whole).min(second.total_ms * 1e6);
        let known_inside_ns = in_pauses(part).min(known_ns);
        let share = part.length_ns() as f64 / NANOS_PER_S as f64;
        sum.total_ms += (known_inside_ns + (second.total_ms * 1e6 - known_ns) * share) / 1e6;
        if window.contains_second(began_ns) {
            sum.count = sum.count.saturating_add(second.count);
            sum.longest_ms = sum.longest_ms.max(second.longest_ms);
        }
    }
    sum
}

/// The safepoints by second; a second may have several lines.
fn seconds(lines: &[Line]) -> BTreeMap<Nanos, Total> {
    let mut seconds = BTreeMap::<Nanos, Total>::new();
    for line in lines {
        if let Line::Safepoint(tally) = line {
            tally.add_to(seconds.entry(tally.t_ns).or_default());
        }
    }
    seconds
}

const fn pause(line: &Line) -> Option<Window> {
    match line {
        Line::GcPause { t_ns, duration_ns, .. } => {
            Some(Window { started_ns: *t_ns, ended_ns: t_ns.saturating_add(*duration_ns) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::parse;
    use super::*;

    const MS: u64 = 1_000_000;

    fn tally(second: u64, ms: u64) -> String {
        format!(
            r#"{{"type":"safepoint","t_ns":{},"count":1,"total_ns":{},"longest_ns":{},"holder":null,"application":null,"top":null,"reason":null}}"#,
            second * NANOS_PER_S,
            ms * MS,
            ms * MS
        )
    }

    fn gc(at_ms: u64, ms: u64) -> String {
        format!(
            r#"{{"type":"gc_pause","t_ns":{},"duration_ns":{},"name":"Pause Full","gc_id":1}}"#,
            at_ms * MS,
            ms * MS
        )
    }

    /// The time stopped in a window from 10.4 to 13.4 s.
    fn stopped_ms(lines: &[String]) -> f64 {
        let (lines, skipped) = parse(&lines.join("\n"));
        assert_eq!(skipped, 0);
        let window = Window { started_ns: 10_400 * MS, ended_ns: 13_400 * MS };
        (safepoints(&lines, window).total_ms * 1e6).round() / 1e6
    }

    #[test]
    fn a_collection_at_the_edge_of_the_window_counts_where_it_lies() {
        // The middle of second 10 lies in the window, the middle of second 13 does not.
        assert_eq!(stopped_ms(&[tally(10, 400), gc(10_000, 400)]), 0.0, "just before");
        assert_eq!(stopped_ms(&[tally(10, 400), gc(10_500, 400)]), 400.0, "just after it began");
        assert_eq!(stopped_ms(&[tally(13, 400), gc(13_000, 400)]), 400.0, "just before it ended");
        assert_eq!(stopped_ms(&[tally(13, 400), gc(13_500, 400)]), 0.0, "just after");
        assert_eq!(stopped_ms(&[tally(10, 400), gc(10_200, 400)]), 200.0, "half of it");
        let over_two_seconds = [tally(12, 300), tally(13, 300), gc(12_700, 600)];
        assert_eq!(stopped_ms(&over_two_seconds), 600.0);
    }

    #[test]
    fn a_safepoint_of_another_kind_counts_for_the_part_of_its_second_that_lies_in_the_window() {
        assert_eq!(stopped_ms(&[tally(10, 400)]), 240.0);
        assert_eq!(stopped_ms(&[tally(13, 400)]), 160.0);
        assert_eq!(stopped_ms(&[tally(10, 500), gc(10_500, 400)]), 460.0, "beside a collection");
    }

    #[test]
    fn seconds_within_the_window_count_whole_and_those_outside_not_at_all() {
        assert_eq!(stopped_ms(&[tally(11, 400), tally(12, 3), tally(12, 4)]), 407.0);
        assert_eq!(stopped_ms(&[tally(9, 400), tally(14, 400), gc(9_100, 400)]), 0.0);
    }
}
