//! Published figures beside the measured ones.

use crate::model::experiment::Experiment;
use crate::model::metric::Metric;
use crate::model::result::ResultDocument;
use crate::stats::runs;

/// One published figure and what was measured here.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    pub variant: String,
    pub load: String,
    pub metric: Metric,
    pub published: f64,
    /// Mean over the runs here; `None`: not measured.
    pub measured: Option<f64>,
    /// Where in the study.
    pub source: Option<String>,
}

/// Tolerance of a reproduced figure.
pub const TOLERANCE: f64 = 0.10;

/// Whether a published figure was reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reproduced {
    /// Within [`TOLERANCE`].
    Yes,
    /// Not within [`TOLERANCE`].
    No,
    /// Not measured here.
    NotMeasured,
}

impl Reproduced {
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Yes => "reproduced",
            Self::No => "not reproduced",
            Self::NotMeasured => "not measured",
        }
    }
}

impl PublishedRow {
    /// Compares the measured figure with the published one.
    #[must_use]
    pub fn reproduced(&self) -> Reproduced {
        match self.measured {
            None => Reproduced::NotMeasured,
            Some(measured) if (measured - self.published).abs() <= TOLERANCE * self.published.abs() => {
                Reproduced::Yes
            }
            Some(_) => Reproduced::No,
        }
    }

    /// measured / published.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.measured.filter(|_| self.published != 0.0).map(|measured| measured / self.published)
    }
}

/// measured / published as per cent, with so many digits that it shows on which side of [`TOLERANCE`] it lies: `98 %`, but
/// `89.99 %`.
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

/// Every published figure, in the order of the experiment's list, metrics in the order of reports.
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
                    measured: mean(document, &published.variant, load, metric),
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

/// The mean of one figure over the runs of a variant under a load on which its figures rest.
#[must_use]
pub fn mean(document: &ResultDocument, variant: &str, load: &str, metric: Metric) -> Option<f64> {
    runs::mean(&runs::figures(&runs::complete(&document.records, variant, load), metric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(published: f64, measured: Option<f64>) -> Reproduced {
        let (variant, load) = ("virtual".to_owned(), "c400".to_owned());
        let row = PublishedRow { variant, load, metric: Metric::Rate, published, measured, source: None };
        row.reproduced()
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
