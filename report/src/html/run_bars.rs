//! The figures of each run as bars, to show rounds that differ from the others.

use crate::html::colour::colour;
use crate::html::method::ran;
use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::published;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_stats::runs::{figures as figures_of, mean};

/// The metrics that get a picture.
const SHOWN: [Metric; 4] = [Metric::Mean, Metric::RssPeak, Metric::CpuPeak, Metric::OsThreads];

/// In the picture's units: width of a bar, the gap after it, the gap after a variant, and the height of the tallest bar.
const BAR: f64 = 8.0;
const GAP: f64 = 2.0;
const GROUP_GAP: f64 = 8.0;
const HEIGHT: f64 = 60.0;

/// The pictures of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunBars {
    pub words: String,
    /// The number of first rounds that the comparison leaves out.
    pub dropped: u32,
    /// One picture per metric that the runs have.
    pub pictures: Vec<Picture>,
}

/// One metric of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// The metric's name, capitalised.
    pub title: String,
    /// The figure of the tallest bar, with its unit.
    pub most: String,
    /// Width in the picture's units.
    pub width: f64,
    /// The variants one after the other, the rounds of each in their order.
    pub bars: Vec<Bar>,
    /// One group per variant that has a bar.
    pub groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    pub variant: String,
    /// The variant's colour, from 1.
    pub colour: usize,
    /// The mean of the runs that count.
    pub mean: String,
    pub published: Option<Mark>,
}

/// A published figure across the bars of its variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The published figure with its unit.
    pub figure: String,
    /// Left end of the line; `x2` is its right end, `y` its distance from the top.
    pub x1: f64,
    pub x2: f64,
    pub y: f64,
}

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
    /// Whether the comparison leaves this run out.
    pub dropped: bool,
    /// `virtual, round 3: 101 ms`.
    pub says: String,
}

/// The pictures of each load that has more than one run.
#[must_use]
pub fn run_bars(document: &ResultDocument) -> Vec<RunBars> {
    let loads = document.experiment.loads.iter();
    loads.filter_map(|load| of_load(document, load)).collect()
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> Option<RunBars> {
    let dropped = load.dropped_rounds();
    let wanted = |variant: &String| -> Vec<&Record> {
        let mine = |record: &&Record| record.load == load.name && record.variant == *variant;
        document.records.iter().filter(mine).collect()
    };
    let variants: Vec<Variant> = ran(document)
        .map(|name| {
            let counted = document.counted_runs(name, &load.name);
            Variant { name, colour: colour(document, name), runs: wanted(name), counted }
        })
        .filter(|variant| !variant.runs.is_empty())
        .collect();
    let published = published::rows(document);
    let published = |metric: Metric, variant: &str| {
        let mine = |row: &&published::PublishedRow| {
            (row.metric, row.variant.as_str(), row.load.as_str()) == (metric, variant, load.name.as_str())
        };
        published.iter().find(mine).map(|row| row.published)
    };
    let of = |metric: Metric| picture(metric, &variants, dropped, &|variant| published(metric, variant));
    let pictures: Vec<Picture> = SHOWN.into_iter().filter_map(of).collect();
    let several = variants.iter().map(|variant| variant.runs.len()).sum::<usize>() > 1;
    (several && !pictures.is_empty()).then(|| RunBars { words: load_words(load), dropped, pictures })
}

/// One variant and all its runs.
struct Variant<'a> {
    name: &'a str,
    colour: usize,
    runs: Vec<&'a Record>,
    /// The runs on which its figures rest.
    counted: Vec<&'a Record>,
}

fn picture(
    metric: Metric,
    variants: &[Variant],
    dropped: u32,
    published: &dyn Fn(&str) -> Option<f64>,
) -> Option<Picture> {
    let figure = |record: &&Record| metric.of(record).filter(|it| it.is_finite());
    let measured = variants.iter().flat_map(|variant| &variant.runs).filter_map(figure).fold(0.0, f64::max);
    let most = variants.iter().filter_map(|variant| published(variant.name)).fold(measured, f64::max);
    let height = |value: f64| if most > 0.0 { value / most * HEIGHT } else { 0.0 };
    let (mut bars, mut groups, mut x) = (Vec::new(), Vec::new(), 0.0);
    for variant in variants {
        let left = x;
        for record in &variant.runs {
            let value = figure(record);
            let height = height(value.unwrap_or(0.0));
            let text = value.map_or_else(|| "nothing".to_owned(), |value| figures::figure(metric, value));
            let says = format!("{}, round {}: {text}", variant.name, record.round);
            let dropped = record.round <= dropped;
            bars.push(Bar { colour: variant.colour, x, y: HEIGHT - height, height, dropped, says });
            x += BAR + GAP;
        }
        let mark = |value| Mark {
            figure: figures::figure(metric, value),
            x1: left,
            x2: x - GAP,
            y: HEIGHT - height(value),
        };
        groups.push(Group {
            variant: variant.name.to_owned(),
            colour: variant.colour,
            mean: mean_of_runs(metric, &variant.counted),
            published: published(variant.name).map(mark),
        });
        x += GROUP_GAP;
    }
    let label = metric.label();
    let title = label[..1].to_uppercase() + &label[1..];
    let width = (x - GAP - GROUP_GAP).max(BAR);
    (measured > 0.0).then(|| Picture { title, most: figures::figure(metric, measured), width, bars, groups })
}

fn mean_of_runs(metric: Metric, counted: &[&Record]) -> String {
    let mean = mean(&figures_of(counted, metric));
    mean.map_or_else(|| "nothing".to_owned(), |mean| figures::figure(metric, mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::{run, with_cost};

    fn variant<'a>(name: &'a str, colour: usize, runs: &'a [Record]) -> Variant<'a> {
        let counted = runs.iter().filter(|run| !run.dropped).collect();
        Variant { name, colour, runs: runs.iter().collect(), counted }
    }

    #[test]
    fn the_tallest_bar_is_the_highest_figure_and_each_variant_has_its_colour() {
        let round = |variant, round, ms| Record { round, ..run(variant, "c4", 10.0, ms) };
        let dropped = Record { dropped: true, ..round("pool", 1, 100.0) };
        let (pool, virtuals) = ([dropped, round("pool", 2, 50.0)], [round("virtual", 2, 25.0)]);
        let variants = [variant("pool", 1, &pool), variant("virtual", 3, &virtuals)];
        let mean = picture(Metric::Mean, &variants, 1, &|_| None).unwrap();
        assert_eq!((mean.title.as_str(), mean.most.as_str()), ("Mean response time", "100 ms"));
        let bars: Vec<_> = mean.bars.iter().map(|bar| (bar.x, bar.height, bar.colour, bar.dropped)).collect();
        assert_eq!(bars, [(0.0, 60.0, 1, true), (10.0, 30.0, 1, false), (28.0, 15.0, 3, false)]);
        assert_eq!((mean.width, mean.bars[1].y), (36.0, 30.0));
        assert_eq!(mean.bars[1].says, "pool, round 2: 50.0 ms");
        assert_eq!(mean.groups[0].mean, "50.0 ms", "a dropped run is in no mean");
    }

    #[test]
    fn a_published_figure_lies_across_the_bars_of_its_variant_and_may_be_the_highest() {
        let (pool, virtuals) = (
            [run("pool", "c4", 10.0, 50.0), run("pool", "c4", 10.0, 50.0)],
            [run("virtual", "c4", 10.0, 25.0)],
        );
        let variants = [variant("pool", 1, &pool), variant("virtual", 2, &virtuals)];
        let published = |name: &str| (name == "pool").then_some(100.0);
        let mean = picture(Metric::Mean, &variants, 0, &published).unwrap();
        assert_eq!(mean.bars.iter().map(|bar| bar.height).collect::<Vec<_>>(), [30.0, 30.0, 15.0]);
        let mark = Mark { figure: "100 ms".into(), x1: 0.0, x2: 18.0, y: 0.0 };
        assert_eq!(mean.groups[0].published, Some(mark));
        assert_eq!((mean.groups[1].published.as_ref(), mean.most.as_str()), (None, "50.0 ms"));
    }

    #[test]
    fn a_figure_that_no_run_has_is_no_picture() {
        let without = [with_cost(run("pool", "c4", 10.0, 5.0), |cost| cost.cpu_cores_peak = None)];
        assert_eq!(picture(Metric::CpuPeak, &[variant("pool", 1, &without)], 0, &|_| Some(1.0)), None);
    }
}
