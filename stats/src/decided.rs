//! Decides whether the result of a load is conclusive. This is tested after certain rounds ([`LoadSpec::interim_analyses`]).

use super::claim::certainty::{Certainty, certainty};
use super::claim::rounds::ClaimRounds;
use super::comparison::under;
use super::lost_on_purpose::LostOnPurpose;
use super::page::chance_of_a_headline;
use super::ratio::{MARGIN, NARROW};
use super::runs::complete;
use threadcount_model::comparison::{Ratio, Verdict};
use threadcount_model::experiment::claim::Claim;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;
use threadcount_model::rounds::RoundsEnd;

/// The reason why this load needs no more runs; `None` if it needs more.
///
/// Every ratio of the headline must be known, unless losses on purpose keep it from ever being known. Every claim that could be tested
/// by now must be decided, or known as precisely as asked.
#[must_use]
pub fn decided(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Option<RoundsEnd> {
    let compared = under(experiment.pairs(load), load, records);
    let chance = chance_of_a_headline(experiment);
    let headline = load.workload.headline();
    let is_known = compared.iter().all(|comparison| {
        let runs = |variant: &str| complete(records, variant, &load.name);
        let sides = [runs(&comparison.variant), runs(&comparison.baseline)];
        let lost = LostOnPurpose::of(load.workload, &[&sides[0], &sides[1]]);
        // A missing ratio (a capacity search that ended at its ceiling found none) counts as unknown.
        headline.iter().filter(|metric| !lost.hides(**metric)).all(|metric| {
            let ratio = comparison.ratios.iter().find(|ratio| ratio.metric == *metric);
            ratio.is_some_and(|ratio| is_known(ratio, chance))
        })
    });
    let claims: Vec<Certainty> = claims_about(experiment, load)
        .iter()
        .map(|claim| certainty(claim, &ClaimRounds::of(claim, records), load.interim_analyses().len()))
        .collect();
    let open = claims.iter().any(|claim| matches!(claim, Certainty::Open));
    let why = match (compared.is_empty(), claims.is_empty()) {
        (true, true) => return None,
        (true, false) => RoundsEnd::ClaimsDecided,
        (false, true) => RoundsEnd::ComparisonsDecided,
        (false, false) => RoundsEnd::AllDecided,
    };
    (is_known && !open).then_some(why)
}

/// Is a ratio known? Either there is no difference, known narrowly; or the difference is clearly on one side of the margin, has a
/// p-value that the whole page allows, and is larger than a second speed that these few runs may have missed could make it.
fn is_known(ratio: &Ratio, chance: f64) -> bool {
    let Some(interval) = ratio.interval else { return false };
    let is_proven =
        ratio.basis.p_value.is_some_and(|p_value| p_value <= chance) && ratio.basis.unseen_share.is_none();
    match ratio.verdict {
        Verdict::Higher => is_proven && interval.low > 1.0 + MARGIN,
        Verdict::Lower => is_proven && interval.high < 1.0 / (1.0 + MARGIN),
        Verdict::NoDifference => interval.half_width() <= NARROW,
        Verdict::NotEnoughRuns => false,
    }
}

/// The claims whose figures all belong to this load or to earlier ones, with at least one of this load. Claims about variants that do
/// not run under their load can never be tested.
fn claims_about<'a>(experiment: &'a Experiment, load: &LoadSpec) -> Vec<&'a Claim> {
    let place = |name: &str| experiment.loads.iter().position(|load| load.name == name);
    let Some(here) = place(&load.name) else { return Vec::new() };
    let runs_under = |variant: &str, load: &LoadSpec| {
        experiment.variants.iter().any(|known| known.name == variant && known.runs_under(load))
    };
    let about = |claim: &&Claim| {
        let figures = claim.figures();
        let runs = figures.iter().all(|figure| {
            place(&figure.load)
                .is_some_and(|place| place <= here && runs_under(&figure.variant, &experiment.loads[place]))
        });
        runs && figures.iter().any(|figure| figure.load == load.name)
    };
    experiment.claims.iter().map(|stated| &stated.expression).filter(about).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config as config;
    use threadcount_model::record::capacity::{CapacitySearch, SearchEnd};
    use threadcount_model::sample::{run, with_load};

    fn experiment(claims: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}, c: {{}}}}\n\
            loads: [{{clients: 4, duration: 1s, variants: [a, b]}}, {{clients: 8, duration: 1s, variants: [a, c]}}]\n\
            claims: [{claims}]\n"
        );
        config::parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    fn why(claims: &str, a: &[f64], b: &[f64]) -> Option<RoundsEnd> {
        let experiment = experiment(claims);
        let of = |variant: &'static str, rates: &[f64]| {
            rates.iter().map(|&rate| run(variant, "c4", rate, 5.0)).collect::<Vec<_>>()
        };
        decided(&experiment, &experiment.loads[0], &[of("a", a), of("b", b)].concat())
    }

    #[test]
    fn a_clear_difference_is_decided_and_a_wide_interval_is_not() {
        let clear = why("", &[100.0, 103.0, 97.0], &[200.0, 206.0, 194.0]);
        assert_eq!(clear, Some(RoundsEnd::ComparisonsDecided));
        assert_eq!(why("", &[100.0, 103.0, 97.0], &[100.0, 106.0, 94.0]), None);
    }

    #[test]
    fn no_difference_within_a_narrow_interval_is_decided() {
        assert!(why("", &[100.0, 100.1, 99.9], &[101.0, 101.1, 100.9]).is_some());
    }

    #[test]
    fn a_small_difference_asks_for_more_however_sure_since_a_second_speed_could_make_it() {
        let rates = |around: f64| [0.0, 0.1, -0.1].map(|off| around + off);
        assert_eq!(why("", &rates(100.0), &rates(110.0)), None, "10 % in three rounds");
        assert!(why("", &rates(100.0), &rates(140.0)).is_some(), "40 %");
    }

    #[test]
    fn a_claim_that_is_not_decided_asks_for_more() {
        let (a, b) = ([100.0, 103.0, 97.0], [206.0, 194.0, 200.0]);
        assert_eq!(why("b.rate / a.rate >= 1.9", &a, &b), None);
        let decided = why("b.rate / a.rate >= 1.2", &a, &b);
        assert_eq!(decided, Some(RoundsEnd::AllDecided));
    }

    #[test]
    fn claims_of_later_loads_and_of_variants_that_do_not_run_are_not_waited_for() {
        let (a, b) = ([100.0, 103.0, 97.0], [200.0, 206.0, 194.0]);
        assert!(why("c@c8.rate / a@c8.rate >= 1.9, c.rate > 1", &a, &b).is_some());
    }

    #[test]
    fn searches_that_end_at_their_ceiling_decide_nothing() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
            loads: [{capacity: {p99: 200ms, from: 50/s, to: 100/s}, duration: 2s}]\n";
        let experiment = config::parse("x", "x.yaml", text, false).expect("an experiment");
        let load = &experiment.loads[0];
        let searched = |variant: &str, ended| {
            let mut record = run(variant, &load.name, 100.0, 5.0);
            record.capacity = Some(CapacitySearch {
                sustained_per_s: Some(100.0),
                ended,
                log_trouble: None,
                steps: Vec::new(),
            });
            record
        };
        let decided_after = |ended| {
            let rounds = ["a", "b", "b", "a", "a", "b"].map(|variant| searched(variant, ended));
            decided(&experiment, load, &rounds)
        };
        assert_eq!(decided_after(SearchEnd::Ceiling), None);
        assert_eq!(decided_after(SearchEnd::Found), Some(RoundsEnd::ComparisonsDecided));
    }

    #[test]
    fn where_losses_are_expected_the_median_has_to_be_known_too_unless_many_are_lost() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
            loads: [{name: c4, rate: 100/s, duration: 10s, losses: expected}]\n";
        let experiment = config::parse("x", "x.yaml", text, false).expect("an experiment");
        let decided_with = |b_ms: [f64; 3], lost: u64| {
            let of = |variant: &'static str, ms: [f64; 3]| ms.map(|ms| run(variant, "c4", 100.0, ms));
            let all = [of("a", [5.0, 5.01, 4.99]), of("b", b_ms)].concat();
            let losing = |record| with_load(record, |load| load.requests.ok -= lost);
            let records: Vec<Record> = all.into_iter().map(losing).collect();
            decided(&experiment, &experiment.loads[0], &records)
        };
        let (known, open) = ([5.01, 5.0, 4.99], [4.0, 5.0, 6.2]);
        assert_eq!(decided_with(known, 0), Some(RoundsEnd::ComparisonsDecided));
        assert_eq!(decided_with(open, 0), None, "the rates are alike by schedule");
        assert_eq!(decided_with(open, 100), Some(RoundsEnd::ComparisonsDecided), "it can never be known");
    }

    #[test]
    fn nothing_to_compare_and_nothing_claimed_is_never_decided() {
        assert_eq!(why("", &[100.0; 3], &[]), None);
    }
}

#[cfg(test)]
mod simulation;
