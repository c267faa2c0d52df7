//! Comparison of published figures with the measured ones.

use crate::result::ResultDocument;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::figures::{percent, plural};
use threadcount_model::metric::Metric;
use threadcount_stats::trust::{doubt_about, doubt_about_cpu};

/// One published figure and what was measured here.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    pub variant: String,
    pub load: String,
    pub metric: Metric,
    pub published: f64,
    /// Mean over the runs here; `None` if not measured.
    pub measured: Option<f64>,
    /// Number of runs in the mean.
    pub runs: usize,
    /// Whether these runs are trusted enough for a verdict.
    pub trusted: bool,
    /// The place in the study, e.g. a table or page.
    pub source: Option<String>,
}

/// A measured figure within this share of the published one counts as reproduced.
pub const TOLERANCE: f64 = 0.10;

/// Whether a published figure was reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reproduced {
    /// Within [`TOLERANCE`].
    Yes,
    /// Not within [`TOLERANCE`].
    No,
    /// A single run, which has no spread, lies within [`TOLERANCE`] or not.
    Indicative { within: bool },
    /// The runs are not trusted.
    NoVerdict,
    /// Not measured here.
    NotMeasured,
}

impl Reproduced {
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Yes => "reproduced",
            Self::No => "not reproduced",
            Self::Indicative { within: true } => "indicative (1 run): would be reproduced",
            Self::Indicative { within: false } => "indicative (1 run): would not be reproduced",
            Self::NoVerdict => "no verdict",
            Self::NotMeasured => "not measured",
        }
    }
}

impl PublishedRow {
    /// Compares the measured figure with the published one.
    #[must_use]
    pub fn reproduced(&self) -> Reproduced {
        let Some(measured) = self.measured else { return Reproduced::NotMeasured };
        let within = (measured - self.published).abs() <= TOLERANCE * self.published.abs();
        match (self.trusted, self.runs, within) {
            (false, ..) => Reproduced::NoVerdict,
            (true, ..=1, within) => Reproduced::Indicative { within },
            (true, _, true) => Reproduced::Yes,
            (true, _, false) => Reproduced::No,
        }
    }

    /// measured / published; `None` if either is missing or the published figure is 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.measured.filter(|_| self.published != 0.0).map(|measured| measured / self.published)
    }
}

/// measured / published in per cent, with enough digits to show on which side of [`TOLERANCE`] it lies: `98 %`, but `89.99 %`.
#[must_use]
pub fn share(ratio: f64) -> String {
    let decided = |shown: f64| (shown - 100.0).abs() <= TOLERANCE * 100.0;
    let truth = (ratio - 1.0).abs() <= TOLERANCE;
    let digits = (0..4).find(|&digits| {
        let scale = 10_f64.powi(digits);
        let shown = (ratio * 100.0 * scale).round() / scale;
        decided(shown) == truth
    });
    format!("{:.*} %", digits.unwrap_or(4) as usize, ratio * 100.0)
}

/// `2 of 5 published figures reproduced within 10 %; indicative (1 run): 1 would be, 1 would not; no verdict: 1`: a count of
/// the measured figures.
#[must_use]
pub fn tally(measured: &[&PublishedRow]) -> String {
    let count = |wanted: Reproduced| measured.iter().filter(|row| row.reproduced() == wanted).count();
    format!(
        "{} of {} reproduced within {}{}",
        count(Reproduced::Yes),
        plural(measured.len(), "published figure"),
        percent(TOLERANCE),
        without_verdict(measured)
    )
}

/// `; indicative (1 run): 1 would be, 1 would not; no verdict: 1`: the figures without a verdict.
#[must_use]
pub fn without_verdict(measured: &[&PublishedRow]) -> String {
    let count = |wanted: Reproduced| measured.iter().filter(|row| row.reproduced() == wanted).count();
    let indicative = [true, false].map(|within| count(Reproduced::Indicative { within }));
    let mut words = match indicative {
        [0, 0] => String::new(),
        [would, would_not] => format!("; indicative (1 run): {would} would be, {would_not} would not"),
    };
    if let doubtful @ 1.. = count(Reproduced::NoVerdict) {
        words.push_str(&format!("; no verdict: {doubtful}"));
    }
    words
}

/// Every published figure in the order of the experiment's list; its metrics in the order of reports.
#[must_use]
pub fn rows(document: &ResultDocument) -> Vec<PublishedRow> {
    let mut rows = Vec::new();
    for published in &document.experiment.published {
        let load = published.load.as_deref().unwrap_or_else(|| first_load(&document.experiment));
        for metric in Metric::ALL {
            let figure = published.figures.iter().find(|(name, _)| Metric::from_name(name) == Some(metric));
            if let Some((_, &figure)) = figure {
                rows.push(PublishedRow {
                    variant: published.variant.clone(),
                    load: load.to_owned(),
                    metric,
                    published: figure,
                    measured: document.mean(&published.variant, load, metric),
                    runs: document.figures(&published.variant, load, metric).len(),
                    trusted: is_trusted(document, &published.variant, load, metric),
                    source: published.source.clone(),
                });
            }
        }
    }
    rows
}

fn first_load(experiment: &Experiment) -> &str {
    experiment.loads.first().map_or("", |load| load.name.as_str())
}

/// Whether the figure may be compared with the published one: it is not in doubt, and its load is the study's.
fn is_trusted(document: &ResultDocument, variant: &str, load: &str, metric: Metric) -> bool {
    if document.experiment.load(load).is_some_and(LoadSpec::is_scaled) {
        return false;
    }
    let of_cpu = || metric.is_server_cpu().then(|| doubt_about_cpu(variant, load, &document.records));
    doubt_about(&document.experiment, (variant, load), metric, &document.records)
        .or_else(|| of_cpu().flatten())
        .is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::conclude::{Origin, conclude};
    use threadcount_config::parse;
    use threadcount_model::sample::{run, with_load};

    fn row(published: f64, measured: Option<f64>) -> PublishedRow {
        PublishedRow {
            variant: "virtual".to_owned(),
            load: "c400".to_owned(),
            metric: Metric::Rate,
            published,
            measured,
            runs: 2,
            trusted: true,
            source: None,
        }
    }

    fn verdict(published: f64, measured: Option<f64>) -> Reproduced {
        row(published, measured).reproduced()
    }

    #[test]
    fn one_run_is_indicative_and_runs_that_are_not_trusted_have_no_verdict() {
        let verdicts = |records: &[threadcount_model::record::Record]| {
            let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\nloads: [{clients: 4, duration: 1s}]\n";
            let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
            let mut document = conclude(&experiment, records.to_vec(), Vec::new(), Origin::default());
            document.experiment.published = serde_json::from_value(serde_json::json!([
                {"variant": "a", "load": "c4", "figures": {"rate_per_s": 100.0, "p50_ms": 9.0}}
            ]))
            .expect("published figures");
            let rows = rows(&document);
            let words: Vec<&str> = rows.iter().map(|row| row.reproduced().words()).collect();
            (words.join(", "), tally(&rows.iter().collect::<Vec<_>>()))
        };
        let (one, other) = (run("a", "c4", 101.0, 5.0), run("a", "c4", 99.0, 5.0));
        let (words, said) = verdicts(&[one.clone(), other.clone()]);
        assert_eq!(words, "reproduced, not reproduced");
        assert_eq!(said, "1 of 2 published figures reproduced within 10 %");
        let (words, said) = verdicts(std::slice::from_ref(&one));
        assert_eq!(
            words,
            "indicative (1 run): would be reproduced, indicative (1 run): would not be reproduced"
        );
        assert_eq!(
            said,
            "0 of 2 published figures reproduced within 10 %; indicative (1 run): 1 would be, 1 would not"
        );
        let late = with_load(other, |load| load.generator.bottleneck = true);
        let (words, said) = verdicts(&[one, late]);
        assert_eq!(words, "no verdict, no verdict");
        assert_eq!(said, "0 of 2 published figures reproduced within 10 %; no verdict: 2");
    }

    #[test]
    fn a_share_shows_the_digit_that_decides() {
        let shown = [0.9804, 0.8999, 0.899_97, 0.9001, 1.1004, 0.0793].map(share);
        assert_eq!(shown, ["98 %", "89.99 %", "89.997 %", "90 %", "110.04 %", "8 %"]);
    }

    #[test]
    fn a_figure_within_ten_per_cent_was_reproduced() {
        assert_eq!(verdict(1_000.0, Some(900.0)), Reproduced::Yes);
        assert_eq!(verdict(1_000.0, Some(1_100.0)), Reproduced::Yes);
        assert_eq!(verdict(1_000.0, Some(899.0)), Reproduced::No);
        assert_eq!(verdict(1_000.0, Some(2_000.0)), Reproduced::No);
        assert_eq!(verdict(1_000.0, None), Reproduced::NotMeasured);
    }
}
