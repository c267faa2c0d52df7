//! The time of a request as a bar of parts per variant; all bars of a load have one scale.

use crate::html::colour::colour;
use crate::load_words::load_words;
use crate::request_time::{PartKind, PartWords, not_sampled, on_one_scale, words};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;

/// Width of the longest bar, in the picture's units.
const WIDTH: f64 = 100.0;

/// The bars of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestBars {
    pub words: String,
    /// Whether this is the first load with bars.
    pub is_first: bool,
    pub bars: Vec<RequestBar>,
    /// Sentences that tell why threads of a variant were not sampled.
    pub not_sampled: Vec<String>,
}

/// The mean service time of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestBar {
    pub variant: String,
    /// The variant's colour, from 1.
    pub colour: usize,
    /// The sentence with the largest parts only.
    pub brief: String,
    /// The sentence with the interval of each part.
    pub sentence: String,
    pub segments: Vec<Segment>,
}

/// One part of a request's time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    pub kind: PartKind,
    /// Left edge; like `width`, in the picture's units.
    pub x: f64,
    pub width: f64,
    /// `19.0 ms [18.1, 20.3] waiting for a HikariCP connection at ...`.
    pub says: String,
}

/// The bars of each load whose threads were sampled.
#[must_use]
pub fn request_bars(document: &ResultDocument) -> Vec<RequestBars> {
    let bars = document.experiment.loads.iter().map(|load| of_load(document, load));
    let mut loads: Vec<RequestBars> =
        bars.filter(|load| !load.bars.is_empty() || !load.not_sampled.is_empty()).collect();
    if let Some(first) = loads.iter_mut().find(|load| !load.bars.is_empty()) {
        first.is_first = true;
    }
    loads
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> RequestBars {
    let bar = |(time, of_longest)| {
        let words = words(time);
        RequestBar {
            colour: colour(document, &words.variant),
            segments: segments(&words.parts, WIDTH * of_longest),
            variant: words.variant,
            brief: words.brief,
            sentence: words.sentence_with_intervals,
        }
    };
    let bars = on_one_scale(document, load).into_iter().map(bar).collect();
    RequestBars { words: load_words(load), is_first: false, bars, not_sampled: not_sampled(document, load) }
}

/// The parts one after the other in a bar of this width.
fn segments(parts: &[PartWords], width: f64) -> Vec<Segment> {
    let mut x = 0.0;
    let segment = |part: &PartWords| {
        let left = x;
        x += part.share * width;
        let says = format!("{} {}", part.time, part.what);
        Segment { kind: part.kind, x: rounded(left), width: rounded(x - left), says }
    };
    parts.iter().filter(|part| part.share > 0.0).map(segment).collect()
}

/// Rounds to a thousandth of [`WIDTH`].
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn bars_of_a_load_have_one_scale_and_their_parts_follow_each_other() {
        let mut document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &[]);
        document.request_times = vec![
            sample::request_time("a", "c4", 40.0, &[30.0]),
            sample::request_time("b", "c4", 20.0, &[25.0]),
        ];
        let bars = request_bars(&document);
        let seen: Vec<Vec<(f64, f64)>> = bars[0]
            .bars
            .iter()
            .map(|bar| bar.segments.iter().map(|segment| (segment.x, segment.width)).collect())
            .collect();
        // Sampling more threads than there were requests does not make a bar longer.
        assert_eq!(seen, [vec![(0.0, 75.0), (75.0, 25.0)], vec![(0.0, 50.0)]]);
        assert!(bars[0].is_first);
        document.request_times.clear();
        assert_eq!(request_bars(&document), []);
    }
}
