//! Running threads that do no work: they give way again and again (`Thread.yield` in a loop) until something has happened.
//!
//! The CPU is full then as in a server that computes, so the CPU alone shows nothing. What shows it are looks at the
//! running threads: in a server that works few of them see a thread giving way, or a carrier between two threads.

use super::carriers::Carriers;
use super::site::place;
use super::variant_runs::{RunFigures, mean_of};
use super::{Rule, VariantRuns, known};
use crate::model::figures::{percent, whole};
use crate::model::record::Record;
use crate::model::record::jvm::{Looks, SiteReason, SiteTotal};
use crate::model::result::Finding;

/// Fewer looks than this show nothing.
const FEWEST_LOOKS: u64 = 10;
/// More than this much of the looks saw no work. A server of virtual threads that answers 40,000 trivial requests a second
/// spends a part of its time in the scheduler too, but less.
const MOSTLY: f64 = 0.5;
/// And at least this much of them saw a thread giving way: a scheduler that has much to do does not yield.
const YIELDS: f64 = 0.1;
/// Less CPU than this, in cores, is no storm.
const WORTH_SAYING: f64 = 0.25;

pub(super) struct WithoutProgress;

struct RunWithoutProgress {
    facts: RunFigures,
    looks: f64,
    without_work: f64,
    yields: f64,
    site: SiteTotal,
    carriers: Option<Carriers>,
}

impl RunWithoutProgress {
    fn of(record: &Record) -> Option<Self> {
        let facts = RunFigures::of(record)?;
        let jvm = record.jvm.as_ref()?;
        let yields = |site: &&SiteTotal| site.reason == Some(SiteReason::Yield);
        let seen = Self {
            looks: jvm.looks.count as f64,
            without_work: share(&jvm.looks, |_| true),
            yields: share(&jvm.looks, yields),
            site: jvm.looks.without_progress.iter().find(yields)?.clone(),
            carriers: Carriers::of(jvm),
            facts,
        };
        (jvm.looks.count >= FEWEST_LOOKS
            && seen.without_work >= MOSTLY
            && seen.yields >= YIELDS
            && facts.server_cpu_cores >= WORTH_SAYING)
            .then_some(seen)
    }
}

fn share(looks: &Looks, which: impl Fn(&&SiteTotal) -> bool) -> f64 {
    let count: u64 = looks.without_progress.iter().filter(which).map(|site| site.total.count).sum();
    if looks.count == 0 { 0.0 } else { count as f64 / looks.count as f64 }
}

impl Rule for WithoutProgress {
    fn name(&self) -> &'static str {
        "busy-without-progress"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let (runs, confidence) = runs_of_variant.in_most(RunWithoutProgress::of)?;
        let place = place(&runs.first()?.site);
        let mean = |of: fn(&RunWithoutProgress) -> Option<f64>| mean_of(runs.iter().filter_map(of));
        let (cpu, rate) =
            (mean(|it| Some(it.facts.server_cpu_cores))?, mean(|it| Some(it.facts.rate_per_s))?);
        let without_work = mean(|it| Some(it.without_work))?;
        let sentence = format!(
            "running threads do no work in {} of the samples: they yield (Thread.yield) at {place} or are being rescheduled; \
             {cpu:.2} cores for {}/s",
            percent(without_work),
            whole(rate)
        );
        let figures = [
            ("samples of running threads", mean(|it| Some(it.looks)), "samples per run"),
            ("of them without work", Some(without_work * 100.0), "%"),
            ("of them yielding", mean(|it| Some(it.yields * 100.0)), "%"),
            ("readings with all carriers taken", mean(|it| Some(it.carriers?.full * 100.0)), "%"),
            ("virtual threads waiting for a carrier", mean(|it| Some(it.carriers?.queued)), "threads"),
            ("CPU of the server", Some(cpu), "cores"),
            ("measured throughput", Some(rate), "requests/s"),
        ];
        let seen = known(&figures);
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence);
        let advice = format!(
            "a blocking wait (a lock's condition, a queue, LockSupport.park) instead of Thread.yield in a loop at {place}: a \
             blocked virtual thread costs no CPU"
        );
        Some(finding.advising(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{carriers, look, run, site};
    use super::*;
    use crate::model::record::jvm::JvmReadings;
    use crate::stats::sample::with_cost;

    /// As seen on Java 25: 60 of 100 looks in the scheduler, 35 giving way.
    fn storm(scheduling: u64, yields: u64, cpu_cores: f64) -> Record {
        let mut record = run(160.0, 50.1, 52.0, 1.98);
        record.jvm = Some(JvmReadings {
            carriers: vec![carriers(2, 2, 18); 20],
            looks: Looks {
                count: 100,
                without_progress: vec![
                    site(None, None, Some(SiteReason::Scheduling), scheduling, 0.0),
                    site(None, Some("shop.Poll.until:31"), Some(SiteReason::Yield), yields, 0.0),
                ],
            },
            ..JvmReadings::default()
        });
        with_cost(record, |cost| cost.cpu_cores = cpu_cores)
    }

    #[test]
    fn a_yield_storm_is_named_with_its_site() {
        let finding = look(&WithoutProgress, "clients: 20", storm(60, 35, 1.9)).expect("a finding");
        let expected = "running threads do no work in 95 % of the samples: they yield (Thread.yield) at \
            shop.Poll.until:31 or are being rescheduled; 1.90 cores for 160/s";
        assert_eq!(finding.sentence, expected);
        assert!(finding.advice.is_some_and(|advice| advice.contains("instead of Thread.yield")));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let mut few = storm(60, 35, 1.9);
        if let Some(jvm) = &mut few.jvm {
            jvm.looks.count = 9;
        }
        let silent = [
            ("a server that works", storm(20, 2, 1.9)),
            ("a scheduler with much to do", storm(70, 3, 1.9)),
            ("a few yields of an idle server", storm(60, 35, 0.1)),
            ("too few looks", few),
            ("no probe", Record { jvm: None, ..storm(60, 35, 1.9) }),
        ];
        for (what, record) in silent {
            assert_eq!(look(&WithoutProgress, "clients: 20", record), None, "{what}");
        }
    }
}
