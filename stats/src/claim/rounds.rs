//! The runs that a claim rests on, round by round: for each load, the rounds in which every variant that the claim names under it has a run.

use crate::blocks::{Block, by_block};
use crate::runs::{complete, figures, mean};
use crate::student::PAIRED_FROM;
use std::collections::BTreeMap;
use threadcount_model::experiment::claim::{Claim, Figure};
use threadcount_model::record::Record;

/// Fewer rounds have no spread; then all runs count, and nothing is decided.
const FEWEST_ROUNDS: usize = 2;

/// The runs that a claim rests on, by load.
pub(in super::super) struct ClaimRounds<'a> {
    loads: Vec<LoadRounds<'a>>,
}

/// The runs of a claim under one load.
pub(super) struct LoadRounds<'a> {
    load: String,
    runs: BTreeMap<String, BTreeMap<Block, &'a Record>>,
    /// The rounds that all variants have in common; empty if they are too few.
    pub rounds: Vec<Block>,
}

/// The part that the jackknife leaves out: one round of one load, or the run of one variant in that round.
#[derive(Clone, Copy)]
pub(super) struct LeftOut<'a> {
    load: &'a str,
    round: Block,
    variant: Option<&'a str>,
}

impl<'a> ClaimRounds<'a> {
    pub fn of(claim: &Claim, records: &'a [Record]) -> Self {
        let mut loads: BTreeMap<&str, BTreeMap<String, BTreeMap<Block, &Record>>> = BTreeMap::new();
        for figure in claim.figures() {
            let runs = || by_block(&complete(records, &figure.variant, &figure.load));
            let of_load = loads.entry(&figure.load).or_default();
            let runs = of_load.entry(figure.variant.clone()).or_insert_with(runs);
            // A run without the figure is no round of the claim; if none has it, the claim says so itself.
            if runs.values().any(|run| figure.metric.of(run).is_some()) {
                runs.retain(|_, run| figure.metric.of(run).is_some());
            }
        }
        let loads = loads.into_iter().map(|(load, runs)| LoadRounds::new(load.to_owned(), runs));
        Self { loads: loads.collect() }
    }

    pub(super) fn loads(&self) -> &[LoadRounds<'a>] {
        &self.loads
    }

    /// The runs behind a figure.
    pub(super) fn runs(&self, figure: &Figure, skipped: Option<LeftOut<'_>>) -> Vec<&'a Record> {
        let Some(load) = self.loads.iter().find(|known| known.load == figure.load) else { return Vec::new() };
        let Some(runs) = load.runs.get(&figure.variant) else { return Vec::new() };
        let is_skipped = |round: &Block| {
            skipped.is_some_and(|it| it.is_of(&figure.load, &figure.variant) && it.round == *round)
        };
        let counts = |round: &Block| load.rounds.is_empty() || load.rounds.contains(round);
        let runs = runs.iter().filter(|(round, _)| counts(round) && !is_skipped(round));
        runs.map(|(_, run)| *run).collect()
    }

    /// The mean of a figure over its runs, without the part that is left out.
    pub(super) fn mean(&self, figure: &Figure, skipped: Option<LeftOut<'_>>) -> Option<f64> {
        mean(&figures(&self.runs(figure, skipped), figure.metric))
    }

    /// Do all figures have an interval? Not if a figure rests on one run, or if its variants have too few rounds in common.
    pub(super) fn have_intervals(&self, claim: &Claim) -> bool {
        let has_spread = |figure: &&Figure| figures(&self.runs(figure, None), figure.metric).len() > 1;
        self.loads.iter().all(|load| !load.rounds.is_empty()) && claim.figures().iter().all(has_spread)
    }
}

impl LeftOut<'_> {
    fn is_of(&self, load: &str, variant: &str) -> bool {
        self.load == load && self.variant.is_none_or(|only| only == variant)
    }
}

impl<'a> LoadRounds<'a> {
    fn new(load: String, runs: BTreeMap<String, BTreeMap<Block, &'a Record>>) -> Self {
        let every = |round: &&Block| runs.values().all(|rounds| rounds.contains_key(*round));
        let first = runs.values().next();
        let rounds: Vec<Block> = first.into_iter().flat_map(BTreeMap::keys).filter(every).copied().collect();
        Self { load, rounds: if rounds.len() < FEWEST_ROUNDS { Vec::new() } else { rounds }, runs }
    }

    /// The parts to leave out in turn, in groups whose noise is independent: the rounds, or, if these are too few to be blocks, the
    /// runs of each variant.
    pub fn groups(&self) -> Vec<Vec<LeftOut<'_>>> {
        let group = |variant| {
            let left_out = |&round| LeftOut { load: &self.load, round, variant };
            self.rounds.iter().map(left_out).collect()
        };
        if self.rounds.len() >= PAIRED_FROM {
            return vec![group(None)];
        }
        self.runs.keys().map(|variant| group(Some(variant.as_str()))).collect()
    }
}
