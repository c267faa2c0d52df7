//! Decides which of a page's many figures get a verdict.
//!
//! If 24 figures without a difference each have their own 95 %, two pages in three have a figure that looks different. So "higher" and
//! "lower" are given by [Holm's weighted procedure](super::holm) over all ratios and differences of a result, which keeps the chance of
//! a single false verdict on the whole page below 5 %. The shares are fixed before anything is measured: half for the figures that a
//! load is run for ([`Workload::headline`](threadcount_model::experiment::Workload::headline)), three tenths for the other columns of
//! the tables, two tenths for everything else, in equal parts among all planned comparisons.

use super::holm::{WeightedTest, with_word};
use super::ratio::CONFIDENCE;
use threadcount_model::comparison::{Basis, Comparison, Ratio, Verdict};
use threadcount_model::experiment::{Experiment, LoadSpec, Workload};
use threadcount_model::metric::Metric;

/// The part of the page that a figure belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The figures that the load is run for.
    Headline,
    /// The other columns of the tables.
    Table,
    Rest,
}

impl Part {
    const ALL: [Self; 3] = [Self::Headline, Self::Table, Self::Rest];

    fn for_metric(metric: Metric, load: &Workload) -> Self {
        match () {
            () if load.headline().contains(&metric) => Self::Headline,
            () if metric == Metric::Mean || Metric::IN_TABLES.contains(&metric) => Self::Table,
            () => Self::Rest,
        }
    }

    /// The part's share of the 5 %.
    const fn share(self) -> f64 {
        match self {
            Self::Headline => 0.5,
            Self::Table => 0.3,
            Self::Rest => 0.2,
        }
    }
}

/// The chance of a false verdict that one headline figure has from the beginning. Whatever else is measured, a figure with a p-value up
/// to this gets its verdict.
pub fn chance_of_a_headline(experiment: &Experiment) -> f64 {
    let loads = experiment.loads.iter();
    let figures: usize =
        loads.map(|load| comparisons(experiment, load) * load.workload.headline().len()).sum();
    (1.0 - CONFIDENCE) * Part::Headline.share() / figures.max(1) as f64
}

/// Number of comparisons planned under a load.
fn comparisons(experiment: &Experiment, load: &LoadSpec) -> usize {
    experiment.all_pairs(load).len()
}

/// Withholds each verdict that the whole page does not allow.
pub(super) fn judge(experiment: &Experiment, compared: &mut [Comparison]) {
    let weights = Weights::planned(experiment, compared);
    withhold(&weights, compared.iter_mut().flat_map(|it| figures(experiment, it)).collect());
}

/// Does the same for ratios of two sessions, each list with its load; `compared` contains everything that will ever be compared.
pub fn judge_sessions<'a>(compared: impl Iterator<Item = (Workload, &'a mut Vec<Ratio>)>) {
    let figures: Vec<Figure<'a>> = compared
        .flat_map(|(load, ratios)| {
            ratios.iter_mut().map(move |ratio| Figure {
                part: Part::for_metric(ratio.metric, &load),
                verdict: &mut ratio.verdict,
                basis: &mut ratio.basis,
            })
        })
        .collect();
    withhold(&Weights::of_figures(&figures), figures);
}

/// Applies Holm's weighted procedure. A figure without a p-value (no interval, a busy compiler) cannot have a verdict, and takes no
/// part of the 5 % from the others.
fn withhold(weights: &Weights, figures: Vec<Figure<'_>>) {
    let (mut figures, mut without): (Vec<_>, Vec<_>) =
        figures.into_iter().partition(|figure| may_have_a_word(figure.basis));
    without.iter_mut().for_each(Figure::withhold);
    let test =
        |figure: &Figure<'_>| WeightedTest { p_value: figure.p_value(), weight: weights.of_one(figure.part) };
    let words = with_word(&figures.iter().map(test).collect::<Vec<_>>(), weights.total(), 1.0 - CONFIDENCE);
    figures.iter_mut().zip(words).filter(|(_, has_word)| !has_word).for_each(|(figure, _)| figure.withhold());
}

const fn may_have_a_word(basis: &Basis) -> bool {
    basis.p_value.is_some()
}

/// A ratio or a difference of the page.
struct Figure<'a> {
    part: Part,
    verdict: &'a mut Verdict,
    basis: &'a mut Basis,
}

impl Figure<'_> {
    fn p_value(&self) -> f64 {
        self.basis.p_value.unwrap_or(1.0)
    }

    fn withhold(&mut self) {
        if matches!(self.verdict, Verdict::Higher | Verdict::Lower) {
            *self.verdict = Verdict::NotEnoughRuns;
            self.basis.withheld = true;
        }
    }
}

fn figures<'a>(experiment: &Experiment, comparison: &'a mut Comparison) -> Vec<Figure<'a>> {
    let Some(load) = experiment.load(&comparison.load) else { return Vec::new() };
    let ratios =
        comparison.ratios.iter_mut().map(|ratio| (ratio.metric, &mut ratio.verdict, &mut ratio.basis));
    let differences = comparison.differences.iter_mut().map(|it| (it.metric, &mut it.verdict, &mut it.basis));
    let figure =
        |(metric, verdict, basis)| Figure { part: Part::for_metric(metric, &load.workload), verdict, basis };
    ratios.chain(differences).map(figure).collect()
}

/// Number of figures in each part of the page that may have a verdict, once every planned comparison is there.
struct Weights([(Part, usize); 3]);

impl Weights {
    fn planned(experiment: &Experiment, compared: &[Comparison]) -> Self {
        Self(Part::ALL.map(|part| {
            let planned = experiment.loads.iter().map(|load| {
                let measured = compared.iter().filter(|it| it.load == load.name);
                let most = measured.map(|it| count(it, part, &load.workload)).max().unwrap_or(0);
                let is_headline = part == Part::Headline;
                let headline = if is_headline { load.workload.headline().len() } else { 0 };
                most.max(headline) * comparisons(experiment, load)
            });
            (part, planned.sum())
        }))
    }

    /// The weights if no more figures will come.
    fn of_figures(figures: &[Figure<'_>]) -> Self {
        Self(Part::ALL.map(|part| {
            let here = figures.iter().filter(|it| it.part == part && may_have_a_word(it.basis));
            (part, here.count())
        }))
    }

    /// The weight of one figure.
    fn of_one(&self, part: Part) -> f64 {
        let figures = self.0.iter().find(|(known, _)| *known == part).map_or(0, |(_, figures)| *figures);
        part.share() / figures.max(1) as f64
    }

    /// The weight of all figures together.
    fn total(&self) -> f64 {
        self.0.iter().filter(|(_, figures)| *figures > 0).map(|(part, _)| part.share()).sum()
    }
}

fn count(comparison: &Comparison, part: Part, load: &Workload) -> usize {
    let ratios = comparison.ratios.iter().map(|ratio| (ratio.metric, &ratio.basis));
    let all = ratios.chain(comparison.differences.iter().map(|it| (it.metric, &it.basis)));
    all.filter(|(metric, basis)| Part::for_metric(*metric, load) == part && may_have_a_word(basis)).count()
}

#[cfg(test)]
mod tests;
