//! Decides whether a claim holds. It is evaluated over the mean of each figure over the complete runs; for several variants under one load,
//! over the rounds in which each of them has a run.

pub(super) mod certainty;
mod lower_bound;
pub(super) mod rounds;
mod value;

use super::trust::{doubt_about_cpu, doubts_about};
use certainty::{Certainty, certainty, interval, rounds_needed};
use rounds::ClaimRounds;
use threadcount_model::claim_result::{ClaimResult, NotTried};
use threadcount_model::doubt::Doubt;
use threadcount_model::experiment::claim::{Claim, Comparison, Figure, Test};
use threadcount_model::experiment::{Experiment, LoadSpec, StatedClaim};
use threadcount_model::record::Record;
use value::{Look, value};

/// Tests every claim of the experiment. The result of a claim that cannot be tested (its load was left out, for example) gives the reason.
#[must_use]
pub fn claims(experiment: &Experiment, records: &[Record]) -> Vec<ClaimResult> {
    let tried = experiment.claims.iter().map(|StatedClaim { claim: written, expression, says }| {
        let result = judge(written, expression, experiment, records);
        ClaimResult { says: says.clone(), ..result }
    });
    tried.collect()
}

/// Tests one claim, also one of `--fail-if`.
#[must_use]
pub fn judge(written: &str, claim: &Claim, experiment: &Experiment, records: &[Record]) -> ClaimResult {
    let rounds = ClaimRounds::of(claim, records);
    let measure = |figure: &Figure| measured(figure, experiment, &rounds);
    let publish = |figure: &Figure| published(figure, experiment).ok_or(NotTried::DividesByZero);
    let looks =
        claim.figures().iter().map(|figure| experiment.interim_analyses(&figure.load)).max().unwrap_or(1);
    let first = claim.comparisons.first();
    let left = |look: Look<'_>| first.and_then(|it| value(&it.left, look).ok());
    let (holds, why) = truth(claim, &measure);
    let certainty = certainty(claim, &rounds, looks);
    let is_decided = |verdict| certainty == Certainty::Decided(verdict);
    let serious = serious(claim, experiment, records);
    let stands = holds.is_some_and(|it| is_decided(it) && lower_bound::stands(claim, it, &measure, &serious));
    let is_lower_bound = stands && !serious.is_empty();
    let serious = serious.into_iter().next().filter(|_| !stands).map(|(_, doubt)| doubt);
    let is_scaled = |figure: &&Figure| experiment.load(&figure.load).is_some_and(LoadSpec::is_scaled);
    let undecided =
        holds.is_some() && !matches!(certainty, Certainty::Decided(_)) && rounds.have_intervals(claim);
    ClaimResult {
        claim: written.to_owned(),
        says: None,
        published: left(&publish),
        measured: left(&measure),
        interval: first.and_then(|it| interval(&it.left, &rounds, looks)),
        bound: first
            .filter(|it| !matches!(it.test, Test::Within(_)))
            .and_then(|it| value(&it.right, &measure).ok()),
        holds,
        why: why.filter(|_| holds.is_none()),
        decided: holds.is_some_and(is_decided),
        is_scaled: claim.figures().iter().any(is_scaled),
        is_lower_bound,
        doubt: serious.or_else(|| doubt_of_cpu(claim, records)),
        undecided,
        rounds_needed: Some(claim).filter(|_| undecided).and_then(|it| rounds_needed(it, &rounds, looks)),
    }
}

/// All serious doubts about the figures of the claim.
fn serious<'a>(claim: &'a Claim, experiment: &Experiment, records: &[Record]) -> Vec<(&'a Figure, Doubt)> {
    let of_figure = |figure: &'a Figure| {
        let doubts = doubts_about(experiment, (&figure.variant, &figure.load), figure.metric, records);
        doubts.into_iter().map(move |doubt| (figure, doubt))
    };
    claim.figures().into_iter().flat_map(of_figure).collect()
}

/// Why nothing may be concluded from the server's CPU in the claim.
fn doubt_of_cpu(claim: &Claim, records: &[Record]) -> Option<Doubt> {
    let mut of_cpu = claim.figures().into_iter().filter(|it| it.metric.is_server_cpu());
    of_cpu.find_map(|it| doubt_about_cpu(&it.variant, &it.load, records))
}

/// Whether the claim holds with the figures that are looked up, and the first reason why that is unknown. One false comparison makes it
/// false, whatever the others are.
fn truth(claim: &Claim, look: Look<'_>) -> (Option<bool>, Option<NotTried>) {
    let (mut holds, mut why) = (Some(true), None);
    for comparison in &claim.comparisons {
        match is_true(comparison, look) {
            Ok(true) => {}
            Ok(false) => holds = Some(false),
            Err(reason) => {
                why = why.or(Some(reason));
                holds = holds.filter(|so_far| !so_far);
            }
        }
    }
    (holds, why)
}

fn is_true(comparison: &Comparison, look: Look<'_>) -> Result<bool, NotTried> {
    let (left, right) = (value(&comparison.left, look)?, value(&comparison.right, look)?);
    Ok(match comparison.test {
        Test::AtLeast => left >= right,
        Test::AtMost => left <= right,
        Test::More => left > right,
        Test::Less => left < right,
        #[expect(clippy::float_cmp, reason = "that is what == says; `within` is beside it")]
        Test::Equal => left == right,
        Test::Within(fraction) => (left - right).abs() <= fraction * right.abs(),
    })
}

fn measured(figure: &Figure, experiment: &Experiment, rounds: &ClaimRounds<'_>) -> Result<f64, NotTried> {
    let Figure { variant, load, metric, .. } = figure;
    if experiment.loads.iter().all(|it| it.name != *load) {
        return Err(NotTried::NoSuchLoad { load: load.clone() });
    }
    if rounds.runs(figure, None).is_empty() {
        let variant_skipped = experiment.variant(variant).and_then(|it| it.skipped.as_ref());
        let load_skipped = experiment.load(load).and_then(|it| it.skipped.as_ref());
        if let Some(why) = variant_skipped.or(load_skipped) {
            return Err(NotTried::Skipped { why: why.clone() });
        }
        return Err(NotTried::NoCompleteRun { variant: variant.clone(), load: load.clone() });
    }
    rounds.mean(figure, None).ok_or_else(|| NotTried::NotMeasured {
        metric: *metric,
        variant: variant.clone(),
        load: load.clone(),
    })
}

fn published(figure: &Figure, experiment: &Experiment) -> Option<f64> {
    let first = experiment.loads.first().map(|load| load.name.as_str());
    let here = experiment.published.iter().filter(|entry| {
        entry.variant == figure.variant && entry.load.as_deref().or(first) == Some(figure.load.as_str())
    });
    here.filter_map(|entry| entry.figures.get(figure.metric.name()).copied()).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config as config;
    use threadcount_model::doubt::DoubtReason;
    use threadcount_model::experiment::Scale;
    use threadcount_model::record::external::ExternalLoad;
    use threadcount_model::record::{Cost, WarmUp};
    use threadcount_model::sample::{run, with_load};

    fn experiment(claims: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\n\
            variants: {{platform: {{}}, virtual: {{}}, platform-10.1: {{}}}}\n\
            loads: [{{clients: 400, duration: 1s}}, {{clients: 1000, duration: 1s}}]\n\
            published:\n- {{variant: platform, rate: 3968}}\n- {{variant: virtual, load: c400, rate: 7881}}\n\
            - {{variant: virtual, load: c1000, rate: 19673}}\nclaims: [{claims}]\n"
        );
        config::parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    fn records() -> Vec<Record> {
        vec![
            run("platform", "c400", 3960.0, 100.0),
            run("platform", "c400", 3962.0, 102.0),
            run("virtual", "c400", 7800.0, 50.0),
            run("virtual", "c400", 7844.0, 51.0),
            run("virtual", "c1000", 18_000.0, 53.0),
        ]
    }

    fn reason_not_tried(result: &ClaimResult) -> Option<String> {
        result.why.as_ref().map(threadcount_judge::words::reasons::not_tried)
    }

    fn tried(claim: &str) -> ClaimResult {
        claims(&experiment(claim), &records()).remove(0)
    }

    #[test]
    fn a_claim_is_tried_on_the_means_of_the_runs_beside_what_was_published() {
        let result = tried("virtual.rate / platform.rate >= 1.9");
        assert_eq!(result.measured, Some(7822.0 / 3961.0));
        assert_eq!(result.published, Some(7881.0 / 3968.0));
        assert_eq!((result.holds, result.why), (Some(true), None));
    }

    #[test]
    fn each_comparison_is_true_or_false() {
        let known = [
            ("platform.p50 == 101", true),
            ("platform.p50 > 101", false),
            ("platform.p50 >= 101ms", true),
            ("platform.p50 < 0.101s", false),
            ("platform.p50 <= 101", true),
            ("virtual@c1000.rate > 2 * virtual.rate", true),
            ("virtual.p50 * 2 within 1% of platform.p50", true),
            ("virtual.p50 within 1% of platform.p50", false),
            ("platform.rate - virtual.rate < 0 and platform.p50 > 200", false),
            ("-(platform.rate - virtual.rate) > 3_000", true),
        ];
        for (claim, holds) in known {
            assert_eq!(tried(claim).holds, Some(holds), "{claim}");
        }
    }

    #[test]
    fn what_was_not_measured_is_neither_true_nor_false() {
        let known = [
            ("platform-10.1.rate > 1", "there is no complete run of platform-10.1 under c400"),
            ("platform@c1000.rate > 1", "there is no complete run of platform under c1000"),
            ("virtual.nmt_threads < 50", "nmt_threads of virtual under c400 was not measured"),
            ("1 / (platform.rate - platform.rate) > 1", "it divides by zero"),
        ];
        for (claim, why) in known {
            let result = tried(claim);
            assert_eq!((result.holds, reason_not_tried(&result).as_deref()), (None, Some(why)), "{claim}");
        }
    }

    #[test]
    fn a_claim_about_a_variant_that_cannot_run_here_says_why_and_keeps_what_the_study_says() {
        let mut without = experiment("{claim: platform-10.1.rate > 1, says: an old Tomcat answers}");
        without.variants[2].skipped = Some("there is no Tomcat 10.1".into());
        let result = claims(&without, &records()).remove(0);
        assert_eq!(reason_not_tried(&result).as_deref(), Some("not testable here: there is no Tomcat 10.1"));
        assert_eq!((result.holds, result.says.as_deref()), (None, Some("an old Tomcat answers")));
        let mut without = experiment("{claim: virtual@c1000.p99 > 1, says: it is slow}");
        without.loads[1].skipped = Some("ab is missing".into());
        let records: Vec<_> = records().into_iter().filter(|record| record.load != "c1000").collect();
        let result = claims(&without, &records).remove(0);
        assert_eq!(reason_not_tried(&result).as_deref(), Some("not testable here: ab is missing"));
    }

    #[test]
    fn intervals_that_cover_the_bound_decide_nothing_and_one_run_has_none() {
        use threadcount_model::claim_result::ClaimVerdict::{
            DoesNotHold, Holds, Indicative, NotDecided, NotTried,
        };
        let known = [
            ("virtual.rate / platform.rate >= 1.5", Holds),
            ("virtual.rate / platform.rate >= 1.98", NotDecided),
            ("virtual.rate / platform.rate <= 1.97", NotDecided),
            ("virtual.rate / platform.rate >= 3", DoesNotHold),
            ("virtual.rate > 1 and virtual.rate / platform.rate >= 1.98", NotDecided),
            ("virtual.rate < 1 and virtual.rate / platform.rate >= 1.98", DoesNotHold),
            ("virtual@c1000.rate >= 17_999", Indicative),
            ("virtual@c1000.rate >= 18_001", Indicative),
            ("platform-10.1.rate > 1", NotTried),
        ];
        for (claim, verdict) in known {
            assert_eq!(tried(claim).verdict(), verdict, "{claim}");
        }
    }

    #[test]
    fn a_claim_is_doubted_for_its_own_figures_only_and_what_a_tool_says_of_itself_is_believed() {
        let experiment = experiment("virtual.rate > 1, virtual@c1000.rate > 1");
        let doubts = |records: &[Record]| {
            let claims = claims(&experiment, records).into_iter();
            claims.map(|claim| claim.doubt.is_some()).collect::<Vec<_>>()
        };
        let mut records = records();
        assert_eq!(doubts(&records), [false; 2]);
        let slow = records.pop().expect("the one of c1000");
        records.push(with_load(slow, |load| load.generator.bottleneck = true));
        assert_eq!(doubts(&records), [false, true]);
        records[4].external = Some(ExternalLoad::default());
        assert_eq!(doubts(&records), [false; 2]);
    }

    #[test]
    fn a_rate_that_the_generator_limited_is_a_lower_bound_that_decides_what_no_higher_rate_would_change() {
        let known = [
            ("virtual.rate > platform.rate", None, "a higher rate is above it too"),
            ("virtual.rate < platform.rate", None, "and never below it"),
            ("virtual.rate within 5% of platform.rate", None, "nor near it"),
            ("virtual.rate / platform.rate <= 2.5", Some(()), "a higher rate may exceed that"),
            ("virtual.rate within 5% of 2.4 * platform.rate", Some(()), "or reach that"),
            (
                "virtual.rate within 1% of 2.4 * platform.rate",
                Some(()),
                "nor may it pass a narrow one unseen",
            ),
            ("virtual.rate >= 9000 and virtual.rate <= 9010", Some(()), "nor a written one"),
            ("virtual.p50 < platform.p50", Some(()), "times are no lower bounds"),
        ];
        let mut records: Vec<Record> = records().into_iter().filter(|it| it.load == "c400").collect();
        records.extend([run("platform", "c400", 3961.0, 101.0), run("virtual", "c400", 7820.0, 51.0)]);
        let limited = |record| with_load(record, |load| load.generator.bottleneck = true);
        let of_virtual = |record: Record| if record.variant == "virtual" { limited(record) } else { record };
        let records: Vec<Record> = records.into_iter().map(of_virtual).collect();
        for (claim, doubted, why) in known {
            let result = claims(&experiment(claim), &records).remove(0);
            assert_eq!(result.doubt.map(drop), doubted, "{claim}: {why}");
        }
        let losing = |record| with_load(record, |load| load.requests.failed = 3);
        let records: Vec<Record> = records.into_iter().map(losing).collect();
        let result = claims(&experiment("virtual.rate > platform.rate"), &records).remove(0);
        assert!(result.doubt.is_some(), "requests that fail are another doubt");
    }

    #[test]
    fn a_claim_about_a_load_that_was_scaled_says_so() {
        let mut experiment = experiment("virtual.rate > 1, virtual@c1000.rate > 1");
        experiment.loads[1].scale = Some(Scale { for_cores: 16, factor: 0.125 });
        let scaled: Vec<bool> = claims(&experiment, &records()).iter().map(|it| it.is_scaled).collect();
        assert_eq!(scaled, [false, true]);
    }

    #[test]
    fn a_busy_compiler_doubts_claims_about_cpu_and_no_other() {
        let experiment = experiment("virtual.cpu_us_per_request < 500, virtual.rate > 1");
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.variant == "virtual") {
            record.warm_up = Some(WarmUp::default());
            record.cost = record.cost.map(|cost| Cost { jit_cpu_cores: Some(0.23 * cost.cpu_cores), ..cost });
        }
        let doubts: Vec<Option<DoubtReason>> =
            claims(&experiment, &records).into_iter().map(|claim| claim.doubt.map(|it| it.reason)).collect();
        assert_eq!(doubts, [Some(DoubtReason::CompilerBusy { share: 0.23 }), None]);
    }

    #[test]
    fn one_false_part_makes_a_claim_false_even_when_another_was_not_measured() {
        assert_eq!(tried("platform.rate > 9_999 and platform-10.1.rate > 1").holds, Some(false));
        assert_eq!(tried("platform.rate > 1 and platform-10.1.rate > 1").holds, None);
    }

    #[test]
    fn published_needs_every_figure_of_the_left_side() {
        assert_eq!(tried("platform.p50 > 1").published, None);
        assert_eq!(tried("virtual@c1000.rate > 1").published, Some(19_673.0));
    }

    #[test]
    fn a_claim_about_a_load_that_was_left_out_says_so() {
        let mut small = experiment("virtual@c1000.rate > 1");
        small.loads.truncate(1);
        let result = claims(&small, &records()).remove(0);
        assert_eq!(
            (result.holds, reason_not_tried(&result).as_deref()),
            (None, Some("there is no load `c1000`"))
        );
    }
}
