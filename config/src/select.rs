//! The command line's changes to an experiment: variants, where their servers run, numbers of runs, durations, JDKs.

use super::for_compare::error::CompareError;
use super::for_compare::targets::target;
use miette::Diagnostic;
use thiserror::Error;
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{Experiment, Protocol, SessionSize, StatedClaim, Variant};
use threadcount_model::parse::suggest::advice;

/// `--variant`, `--target-url`, `--runs`, `--budget`, `--warmup` and `--jdk`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The only variants to run; empty: all.
    pub variants: Vec<String>,
    /// Names of variants with the base URLs of servers that run already. Only these variants run, and nothing is started for them.
    pub targets: Vec<(String, String)>,
    /// The exact number of runs of each variant under each load.
    pub runs: Option<u32>,
    /// Time budget in seconds.
    pub budget_s: Option<f64>,
    /// The warm-up of each load.
    pub warmup: Option<WarmUpTime>,
    /// JDKs that replace the one in the file. More than one multiplies the variants: `virtual@21`, `virtual@25`.
    pub jdks: Vec<u16>,
}

/// A selection that does not fit the experiment.
#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum SelectionError {
    /// `--variant` names none of the variants.
    #[error("{flag} {written}: the experiment `{experiment}` has no such variant")]
    UnknownVariant {
        flag: &'static str,
        /// The name as written.
        written: String,
        /// The experiment that lacks the variant.
        experiment: String,
        #[help]
        help: String,
    },
    /// `--target-url` is not the address of a server.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Target(#[from] CompareError),
    /// `--runs` leaves nothing after the rounds that the protocol drops.
    #[error("--runs {runs}: the experiment `{experiment}` drops the first {drop} rounds, so none is left")]
    #[diagnostic(help("write --runs {} or more", drop + 1))]
    AllDropped {
        /// The number as written.
        runs: u32,
        experiment: String,
        /// The number of rounds that the protocol drops.
        drop: u32,
    },
    /// `--jdk` for variants that run on no JDK of ours.
    #[error("--jdk has no effect: no variant of `{experiment}` names its JDK")]
    #[diagnostic(help("write `jdk: 25` in the experiment; the server's command then finds that JDK first"))]
    NoJdk { experiment: String },
}

/// Applies a selection. Variants keep their place, so that the first of them stays the baseline; loads under which
/// no variant is left are dropped.
///
/// # Errors
/// An unknown variant; a JDK for variants without any.
pub fn select(mut experiment: Experiment, selection: &Selection) -> Result<Experiment, SelectionError> {
    let names_variants = !selection.variants.is_empty() || !selection.targets.is_empty();
    // A crossover is one server on all kinds of thread: it has no variants, rounds or Java versions to choose from.
    experiment.crossover &= !names_variants && selection.runs.is_none() && selection.jdks.len() < 2;
    keep_only(&mut experiment, "--variant", &selection.variants)?;
    elsewhere(&mut experiment, &selection.targets)?;
    if let Some(runs) = selection.runs {
        for load in &mut experiment.loads {
            let drop = load.dropped_rounds();
            if drop >= runs {
                return Err(SelectionError::AllDropped { runs, experiment: experiment.name, drop });
            }
            (load.runs, load.protocol) = (runs, Protocol::Fixed { drop });
        }
        // The user asked for this many rounds; the budget for deciding a study's claims might end the session before them.
        if experiment.size == SessionSize::Decided {
            experiment.budget_s = None;
        }
    }
    experiment.budget_s = selection.budget_s.or(experiment.budget_s);
    if let Some(warmup) = selection.warmup {
        experiment.set_warmup(warmup);
        experiment.loads.iter_mut().for_each(|load| load.warmup_s = None);
    }
    match selection.jdks.as_slice() {
        [] => Ok(experiment),
        _ if experiment.variants.iter().all(|variant| variant.jdk.is_none()) => {
            Err(SelectionError::NoJdk { experiment: experiment.name })
        }
        [one] => {
            let jvms = experiment.variants.iter_mut().filter(|variant| variant.jdk.is_some());
            jvms.for_each(|variant| variant.jdk = Some(*one));
            Ok(experiment)
        }
        jdks => Ok(multiplied(experiment, jdks)),
    }
}

/// Keeps only these variants, or all if none is named.
fn keep_only(
    experiment: &mut Experiment,
    flag: &'static str,
    variants: &[String],
) -> Result<(), SelectionError> {
    if !variants.is_empty() {
        check_names(experiment, flag, variants)?;
        experiment.loads.retain_mut(|load| load.keep_only(variants));
    }
    Ok(())
}

/// Replaces the servers of these variants by servers that run already, and drops the other variants.
fn elsewhere(experiment: &mut Experiment, targets: &[(String, String)]) -> Result<(), SelectionError> {
    let names: Vec<String> = targets.iter().map(|(name, _)| name.clone()).collect();
    keep_only(experiment, "--target-url", &names)?;
    for (name, url) in targets {
        let subject = target(url)?;
        for variant in experiment.variants.iter_mut().filter(|variant| variant.name == *name) {
            // The JDK, and what surrounds a start, describe the server that would have been started.
            let Variant { label, note, compare_with, .. } = variant.clone();
            *variant = Variant { label, note, compare_with, ..Variant::new(name, subject.clone()) };
        }
    }
    Ok(())
}

fn check_names(
    experiment: &Experiment,
    flag: &'static str,
    written: &[String],
) -> Result<(), SelectionError> {
    let names = experiment.variants.iter().map(|variant| variant.name.as_str());
    match written.iter().find(|written| names.clone().all(|name| name != written.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(SelectionError::UnknownVariant {
            flag,
            written: unknown.clone(),
            experiment: experiment.name.clone(),
            help: advice(unknown, "its variants", names),
        }),
    }
}

fn multiplied(experiment: Experiment, jdks: &[u16]) -> Experiment {
    let claims = jdks.iter().flat_map(|&jdk| claims_on(&experiment, jdk));
    let mut claims: Vec<StatedClaim> = claims.collect();
    claims.dedup();
    let mut variants: Vec<Variant> = Vec::new();
    for &jdk in jdks {
        for variant in &experiment.variants {
            match variant.jdk {
                Some(_) => {
                    let name = on(&variant.name, jdk);
                    let compare_with = variant.compare_with.as_ref().map(|other| {
                        let has_jdk = experiment.variant(other).is_some_and(|other| other.jdk.is_some());
                        if has_jdk { on(other, jdk) } else { other.clone() }
                    });
                    variants.push(Variant { name, jdk: Some(jdk), compare_with, ..variant.clone() });
                }
                None if !variants.contains(variant) => variants.push(variant.clone()),
                None => {}
            }
        }
    }
    let names_on = |name: &String| {
        let has_jdk =
            experiment.variants.iter().any(|variant| variant.name == *name && variant.jdk.is_some());
        if has_jdk { jdks.iter().map(|&jdk| on(name, jdk)).collect() } else { vec![name.clone()] }
    };
    let mut loads = experiment.loads.clone();
    for load in &mut loads {
        load.only_variants = load.only_variants.iter().flat_map(names_on).collect();
    }
    let published = experiment.published.iter().flat_map(|entry| {
        names_on(&entry.variant)
            .into_iter()
            .map(|variant| threadcount_model::experiment::Published { variant, ..entry.clone() })
    });
    let published = published.collect();
    Experiment { variants, loads, published, claims, ..experiment }
}

fn on(variant: &str, jdk: u16) -> String {
    format!("{variant}@{jdk}")
}

/// The claims, with each variant that has a JDK renamed for this JDK: `virtual` becomes `virtual@21`.
fn claims_on(experiment: &Experiment, jdk: u16) -> Vec<StatedClaim> {
    let has_jdk =
        |name: &str| experiment.variants.iter().any(|variant| variant.name == name && variant.jdk.is_some());
    let renamed = experiment.claims.iter().map(|stated| {
        let mut stated = stated.clone();
        let suffix = format!("@{jdk}");
        let mut inserted = 0;
        for figure in stated.expression.figures_mut() {
            let is_renamed = has_jdk(&figure.variant);
            let end = figure.variant_span.end + inserted;
            figure.variant_span.start += inserted;
            if is_renamed {
                stated.claim.insert_str(end, &suffix);
                figure.variant.push_str(&suffix);
                inserted += suffix.len();
            }
            figure.variant_span.end = figure.variant_span.start + figure.variant.len();
        }
        stated
    });
    renamed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use threadcount_model::experiment::claim::Names;
    use threadcount_model::experiment::plan::plan;
    use threadcount_model::parse::claim;

    fn experiment() -> Experiment {
        let text = "question: q\nserver: {tomcat: 11.0}\njdk: 25\nrequest: /\nruns: 1\n\
            variants: {platform: {}, platform-10.1: {server: {tomcat: '10.1'}}, virtual: {threads: virtual}}\n\
            loads: [{clients: 4, duration: 1s}, {clients: 8, duration: 1s, variants: [platform-10.1]}]\n\
            published: [{variant: virtual, rate: 7}]\n\
            claims: ['virtual.rate / platform-10.1.rate > 1', 'virtual@c8.p50 < 3']\n";
        parse("x", "x.yaml", text, false).expect("an experiment")
    }

    fn names(experiment: &Experiment) -> Vec<(&str, &str)> {
        let named = |run: threadcount_model::experiment::plan::PlannedRun| {
            (experiment.variants[run.variant].name.as_str(), experiment.loads[run.load].name.as_str())
        };
        plan(experiment).into_iter().map(named).collect()
    }

    #[test]
    fn chosen_variants_keep_the_order_of_the_file_and_empty_loads_go() {
        let selection =
            Selection { variants: vec!["virtual".into(), "platform".into()], ..Selection::default() };
        let chosen = select(experiment(), &selection).expect("a selection");
        assert_eq!(names(&chosen), [("platform", "c4"), ("virtual", "c4")]);
    }

    #[test]
    fn an_unknown_variant_is_answered_with_its_neighbour() {
        let selection = Selection { variants: vec!["virtaul".into()], ..Selection::default() };
        let error = select(experiment(), &selection).expect_err("an error");
        assert_eq!(error.to_string(), "--variant virtaul: the experiment `x` has no such variant");
        let SelectionError::UnknownVariant { help, .. } = error else { panic!("another error") };
        assert_eq!(help, "did you mean `virtual`? its variants: platform, platform-10.1, virtual");
    }

    #[test]
    fn runs_are_replaced_for_every_load() {
        let chosen =
            select(experiment(), &Selection { runs: Some(4), ..Selection::default() }).expect("a selection");
        assert_eq!(plan(&chosen).len(), 4 * 3 + 4);
        assert!(chosen.loads.iter().all(|load| load.interim_analyses() == [4]), "exactly so many");
    }

    #[test]
    fn a_budget_replaces_that_of_the_file() {
        let selection = Selection { budget_s: Some(600.0), ..Selection::default() };
        assert_eq!(select(experiment(), &selection).expect("a selection").budget_s, Some(600.0));
    }

    #[test]
    fn a_warm_up_replaces_that_of_the_file_and_that_of_each_load() {
        let mut timed = experiment();
        timed.loads[1].warmup_s = Some(0.0);
        let chosen =
            select(timed, &Selection { warmup: Some(WarmUpTime::AtMost(10.0)), ..Selection::default() });
        let chosen = chosen.expect("a selection");
        assert!(chosen.loads.iter().all(|load| chosen.warmup_s(load) == 10.0));
    }

    #[test]
    fn runs_that_are_all_dropped_are_an_error() {
        let mut dropping = experiment();
        dropping.loads[0].protocol = Protocol::Fixed { drop: 2 };
        let runs = |runs| select(dropping.clone(), &Selection { runs: Some(runs), ..Selection::default() });
        let error = runs(2).expect_err("an error");
        assert!(error.to_string().contains("drops the first 2 rounds"), "{error}");
        assert_eq!(runs(3).expect("a selection").loads[0].dropped_rounds(), 2);
    }

    #[test]
    fn one_jdk_replaces_and_several_multiply_the_variants() {
        let one =
            select(experiment(), &Selection { jdks: vec![21], ..Selection::default() }).expect("a selection");
        assert!(one.variants.iter().all(|variant| variant.jdk == Some(21) && !variant.name.contains('@')));

        let two = select(experiment(), &Selection { jdks: vec![21, 25], ..Selection::default() })
            .expect("a selection");
        let variants: Vec<&str> = two.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(
            variants,
            [
                "platform@21",
                "platform-10.1@21",
                "virtual@21",
                "platform@25",
                "platform-10.1@25",
                "virtual@25"
            ]
        );
        assert_eq!(two.loads[1].only_variants, ["platform-10.1@21", "platform-10.1@25"]);
        assert_eq!(
            two.published.iter().map(|entry| entry.variant.as_str()).collect::<Vec<_>>(),
            ["virtual@21", "virtual@25"]
        );
        assert_eq!(
            two.claims.iter().map(|stated| stated.claim.as_str()).collect::<Vec<_>>(),
            [
                "virtual@21.rate / platform-10.1@21.rate > 1",
                "virtual@21@c8.p50 < 3",
                "virtual@25.rate / platform-10.1@25.rate > 1",
                "virtual@25@c8.p50 < 3"
            ]
        );
        for stated in &two.claims {
            assert_eq!(claim::parse(&stated.claim, &Names::of(&two)).as_ref(), Ok(&stated.expression));
        }
    }

    #[test]
    fn a_jdk_for_commands_without_one_is_an_error() {
        let text = "question: q\nrequest: /\nvariants: {a: {command: 'x {port}'}}\nloads: \
            [{clients: 4, duration: 1s}]\n";
        let commands = parse("x", "x.yaml", text, false).expect("an experiment");
        let error =
            select(commands, &Selection { jdks: vec![21], ..Selection::default() }).expect_err("an error");
        assert_eq!(error, SelectionError::NoJdk { experiment: "x".into() });
    }

    #[test]
    fn a_crossover_stays_unless_what_is_chosen_is_about_runs_in_fresh_jvms() {
        let is_crossover = |selection: &Selection| {
            let experiment = Experiment { crossover: true, ..experiment() };
            select(experiment, selection).expect("a selection").crossover
        };
        let all = Selection::default;
        assert!(is_crossover(&all()) && is_crossover(&Selection { jdks: vec![25], ..all() }));
        assert!(is_crossover(&Selection { budget_s: Some(600.0), ..all() }));
        let variants = vec!["virtual".to_owned()];
        for chosen in [
            Selection { runs: Some(4), ..all() },
            Selection { jdks: vec![21, 25], ..all() },
            Selection { variants, ..all() },
        ] {
            assert!(!is_crossover(&chosen), "{chosen:?}");
        }
    }
}
