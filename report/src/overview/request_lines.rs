//! Where the time of a request goes: a sentence and a bar of characters for each variant; all bars have one scale.

use crate::request_time::{PartKind, PartWords, on_one_scale, words};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;

/// Columns of the longest bar.
const WIDTH: f64 = 8.0;
/// The parts in the order of the sentence, the longest first; those after them look alike.
const FILLS: [char; 4] = ['█', '▓', '▒', '░'];
const ON_NO_THREAD: char = '·';

/// The mean service time of one variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestLine {
    pub variant: String,
    /// `████▓▓··`.
    pub bar: String,
    /// With the interval of each part.
    pub sentence: String,
    /// Without, and only the largest parts.
    pub brief: String,
}

/// Under the first load whose threads were sampled.
pub(super) fn request_lines(document: &ResultDocument) -> Vec<RequestLine> {
    let of_loads = document.experiment.loads.iter().map(|load| of_load(document, load));
    of_loads.into_iter().find(|lines| !lines.is_empty()).unwrap_or_default()
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> Vec<RequestLine> {
    let line = |(time, of_longest)| {
        let words = words(time);
        RequestLine {
            bar: bar(&words.parts, WIDTH * of_longest),
            variant: words.variant,
            sentence: words.sentence_with_intervals,
            brief: words.brief,
        }
    };
    on_one_scale(document, load).into_iter().map(line).collect()
}

/// Each part ends where its sum with those before it does, to the nearest column.
fn bar(parts: &[PartWords], columns: f64) -> String {
    let whole = (columns.round() as usize).max(1);
    let mut bar: Vec<char> = Vec::new();
    let mut share = 0.0;
    for (number, part) in parts.iter().filter(|part| part.share > 0.0).enumerate() {
        share += part.share;
        let fill = if part.kind == PartKind::WithoutThread {
            ON_NO_THREAD
        } else {
            FILLS[number.min(FILLS.len() - 1)]
        };
        let end = ((share * columns).round() as usize).min(whole);
        bar.resize(end.max(bar.len()), fill);
    }
    bar.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn lines(totals_ms: [f64; 2]) -> Vec<RequestLine> {
        let mut document =
            sample::document("{platform: {}, virtual: {}}", "[{clients: 4, duration: 1s}]", &[]);
        document.request_times = vec![
            sample::request_time("platform", "c4", totals_ms[0], &[50.0, 20.0]),
            sample::request_time("virtual", "c4", totals_ms[1], &[50.0]),
        ];
        request_lines(&document)
    }

    #[test]
    fn bars_have_one_scale_and_their_parts_the_order_of_the_sentence() {
        let [platform, virtual_threads] = &lines([100.0, 50.0])[..] else { panic!("two variants") };
        assert_eq!(platform.bar, "████▓▓··");
        assert_eq!(virtual_threads.bar, "████");
        assert!(platform.sentence.starts_with("100 ms = 50 [45, 55] sleeping"), "{}", platform.sentence);
        assert!(platform.brief.ends_with(" + 30 waiting without a thread"), "{}", platform.brief);
    }

    #[test]
    fn a_bar_is_no_longer_than_its_whole_where_threads_were_found_too_often_and_never_empty() {
        let [platform, virtual_threads] = &lines([40.0, 400.0])[..] else { panic!("two variants") };
        assert_eq!(platform.bar, "█");
        assert_eq!(virtual_threads.bar, "█·······");
    }

    #[test]
    fn nothing_is_said_where_no_thread_was_sampled() {
        let document = sample::document("{virtual: {}}", "[{clients: 4, duration: 1s}]", &[]);
        assert_eq!(request_lines(&document), []);
    }
}
