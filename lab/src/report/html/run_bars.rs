//! What each run measured, as bars beside each other: does one round differ from the others?

use crate::compare::metric::Metric;
use crate::experiment::LoadSpec;
use crate::record::Record;
use crate::report::figures;
use crate::report::html::method::ran;
use crate::report::summary::load_words;
use crate::result::ResultDocument;
use serde::Serialize;

/// The figures that get a picture.
const SHOWN: [Metric; 4] = [Metric::Mean, Metric::RssPeak, Metric::CpuPeak, Metric::OsThreads];

/// The page has so many colours for variants.
const COLOURS: usize = 6;

/// Width of a bar, of the gap after it, of the gap after a variant, and the height of the tallest, in the picture's units.
const BAR: f64 = 8.0;
const GAP: f64 = 2.0;
const GROUP_GAP: f64 = 8.0;
const HEIGHT: f64 = 60.0;

/// The pictures of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunBars {
    /// The load in words.
    pub words: String,
    /// How many of the first rounds are in no figure of the comparison.
    pub dropped: u32,
    /// One for each figure that the runs have.
    pub pictures: Vec<Picture>,
}

/// One figure of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// What is shown, with a capital.
    pub title: String,
    /// The tallest bar, with its unit.
    pub most: String,
    /// In the picture's units.
    pub width: f64,
    /// The variants one after the other, the rounds of each in their order.
    pub bars: Vec<Bar>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// The colour of its variant, from 1.
    pub colour: usize,
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Height; 0 is at the bottom of the picture.
    pub height: f64,
    /// Is it left out of the comparison?
    pub dropped: bool,
    /// `virtual, round 3: 101 ms`.
    pub says: String,
}

/// The pictures of each load that has more than one round.
#[must_use]
pub fn run_bars(document: &ResultDocument) -> Vec<RunBars> {
    let loads = document.experiment.loads.iter();
    loads.filter_map(|load| of_load(document, load)).collect()
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> Option<RunBars> {
    let dropped = load.dropped_rounds();
    let runs: Vec<Vec<&Record>> = ran(document)
        .map(|variant| {
            let wanted = |record: &&Record| record.load == load.name && record.variant == *variant;
            document.records.iter().filter(wanted).collect()
        })
        .collect();
    let several = runs.iter().any(|of_variant| of_variant.len() > 1);
    let pictures: Vec<Picture> = SHOWN.into_iter().filter_map(|it| picture(it, &runs, dropped)).collect();
    (several && !pictures.is_empty()).then(|| RunBars { words: load_words(load), dropped, pictures })
}

fn picture(metric: Metric, runs: &[Vec<&Record>], dropped: u32) -> Option<Picture> {
    let figure = |record: &&Record| metric.of(record).filter(|it| it.is_finite());
    let most = runs.iter().flatten().filter_map(figure).fold(0.0, f64::max);
    let mut bars = Vec::new();
    let mut x = 0.0;
    for (place, of_variant) in runs.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        for record in of_variant {
            let value = figure(record);
            let height = if most > 0.0 { value.unwrap_or(0.0) / most * HEIGHT } else { 0.0 };
            let text = value.map_or_else(|| "nothing".to_owned(), |value| figures::figure(metric, value));
            bars.push(Bar {
                colour: place % COLOURS + 1,
                x,
                y: HEIGHT - height,
                height,
                dropped: record.round <= dropped,
                says: format!("{}, round {}: {text}", record.variant, record.round),
            });
            x += BAR + GAP;
        }
        x += GROUP_GAP;
    }
    let label = metric.label();
    let title = label[..1].to_uppercase() + &label[1..];
    let width = (x - GAP - GROUP_GAP).max(BAR);
    (most > 0.0).then(|| Picture { title, most: figures::figure(metric, most), width, bars })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample::{run, with_cost};

    #[test]
    fn the_tallest_bar_is_the_highest_figure_and_each_variant_has_its_colour() {
        let runs: Vec<Record> = [("pool", 1, 100.0), ("pool", 2, 50.0), ("virtual", 1, 25.0)]
            .map(|(variant, round, ms)| Record { round, ..run(variant, "c4", 10.0, ms) })
            .into();
        let groups = vec![vec![&runs[0], &runs[1]], Vec::new(), vec![&runs[2]]];
        let mean = picture(Metric::Mean, &groups, 1).unwrap();
        assert_eq!((mean.title.as_str(), mean.most.as_str()), ("Mean response time", "100.0 ms"));
        let bars: Vec<_> = mean.bars.iter().map(|bar| (bar.x, bar.height, bar.colour, bar.dropped)).collect();
        assert_eq!(bars, [(0.0, 60.0, 1, true), (10.0, 30.0, 1, false), (28.0, 15.0, 3, true)]);
        assert_eq!((mean.width, mean.bars[1].y), (36.0, 30.0));
        assert_eq!(mean.bars[1].says, "pool, round 2: 50.0 ms");
    }

    #[test]
    fn a_figure_that_no_run_has_is_no_picture() {
        let without = with_cost(run("pool", "c4", 10.0, 5.0), |cost| cost.cpu_cores_peak = None);
        assert_eq!(picture(Metric::CpuPeak, &[vec![&without]], 0), None);
    }
}
