//! Finds compared variants of which only one was warm when measuring began.

use super::runs::complete;
use super::warmth::was_warm;
use std::cmp::Ordering;
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;

/// How a variant's warm-ups under a load ended.
struct WarmUps<'a> {
    variant: &'a str,
    /// Number of runs whose warm-up was long enough to tell.
    judged: usize,
    warm: usize,
}

impl WarmUps<'_> {
    /// Was more than half of the judged runs warm? `None` if unknown, or exactly half.
    fn is_warm(&self) -> Option<bool> {
        match (2 * self.warm).cmp(&self.judged) {
            _ if self.judged == 0 => None,
            Ordering::Equal => None,
            ordering => Some(ordering.is_gt()),
        }
    }
}

/// A doubt about each variant that was cold while variants that it is compared with were warm.
pub(super) fn unequally_warm(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    experiment.loads.iter().flat_map(|load| under(experiment, load, records)).collect()
}

fn under(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for pair in experiment.all_pairs(load) {
        let [variant, other] = [pair.variant, pair.other].map(|it| warm_ups(&it.name, load, records));
        let (cold, warm) = match (variant.is_warm(), other.is_warm()) {
            (Some(false), Some(true)) => (variant, other),
            (Some(true), Some(false)) => (other, variant),
            _ => continue,
        };
        let known = doubts.iter_mut().find(|doubt| doubt.variant == cold.variant);
        if let Some(DoubtReason::UnequallyWarm { than, .. }) = known.map(|doubt| &mut doubt.reason) {
            than.push(warm.variant.to_owned());
            continue;
        }
        let reason = DoubtReason::UnequallyWarm {
            than: vec![warm.variant.to_owned()],
            judged_runs: cold.judged as u32,
        };
        let runs = (cold.judged - cold.warm) as u32;
        doubts.push(Doubt { variant: cold.variant.to_owned(), load: load.name.clone(), runs, reason });
    }
    doubts
}

fn warm_ups<'a>(variant: &'a str, load: &LoadSpec, records: &[Record]) -> WarmUps<'a> {
    let warm: Vec<bool> = complete(records, variant, &load.name).into_iter().filter_map(was_warm).collect();
    WarmUps { variant, judged: warm.len(), warm: warm.iter().filter(|is_warm| **is_warm).count() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::record::WarmUp;
    use threadcount_model::sample::run;

    /// The doubts in words: who was cold beside whom, in how many runs. Each variant has a letter for each of its runs: `l`evel,
    /// `u`nsteady, `?` too short to tell.
    fn doubts(a: &str, b: &str, c: &str) -> Vec<String> {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n\
            loads: [{clients: 4, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let runs = |variant: &'static str, letters: &str| {
            let warmed = |letter| {
                let levelled = (letter != '?').then_some(letter == 'l');
                let warm_up = Some(WarmUp { levelled, ..WarmUp::default() });
                Record { warm_up, ..run(variant, "c4", 100.0, 5.0) }
            };
            letters.chars().map(warmed).collect::<Vec<Record>>()
        };
        let records = [runs("a", a), runs("b", b), runs("c", c)].concat();
        unequally_warm(&experiment, &records).iter().map(threadcount_judge::words::reasons::doubt).collect()
    }

    #[test]
    fn a_cold_variant_beside_a_warm_one_is_said() {
        let expected = "not equally warm: its warm-up ended before steady state in 3 of 3 runs, and that of a did not. A difference may be that of a warm and a cold JVM. Use a longer `warmup`";
        assert_eq!(doubts("lll", "uuu", "lul"), [format!("b under c4: {expected}")]);
        let of_baseline = doubts("ulu", "lll", "l?l");
        assert_eq!(of_baseline.len(), 1, "{of_baseline:?}");
        let beginning = "a under c4: not equally warm: its warm-up ended before steady state in 2 of 3 runs, and those of b and \
            c did not";
        assert!(of_baseline[0].starts_with(beginning), "{of_baseline:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        assert!(doubts("lll", "lll", "lll").is_empty(), "all warm");
        assert!(doubts("uuu", "uuu", "uuu").is_empty(), "none warm: that is another doubt");
        assert!(doubts("lll", "llu", "ull").is_empty(), "single runs");
        assert!(doubts("???", "uuu", "lll").is_empty(), "not known of what they are compared with");
        assert!(doubts("lll", "???", "").is_empty(), "not known");
        assert!(doubts("lu", "uu", "ll").is_empty(), "neither");
    }
}
