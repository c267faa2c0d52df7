//! The CPU per request as a flame graph for each variant, coloured by its difference to the baseline.

use super::stack_flames::{Sampled, StackFlame, StackFlames};
use crate::html::method::ran;
use crate::load_words::load_words;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::record::cpu_profile::CpuSampleSource;
use threadcount_stats::cpu_profiles::SampledCpu;

const CPU: Sampled = Sampled { amount: microseconds, verb: "uses", places: "methods", place: "method" };

/// Of each load under which code was sampled.
#[must_use]
pub fn cpu_flames(document: &ResultDocument) -> Vec<StackFlames> {
    let loads = document.experiment.loads.iter().map(|load| of_load(document, load));
    loads.filter(|load| !load.flames.is_empty()).collect()
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> StackFlames {
    let sampled = |variant: &str| SampledCpu::of_runs(document.runs_of(variant, &load.name));
    let baseline = document.experiment.baseline(load).map(|variant| variant.name.as_str());
    let of_baseline = baseline.and_then(sampled);
    let flame = |variant: &String| {
        let own = sampled(variant)?;
        // Samples that were taken in two ways cannot be compared.
        let other = of_baseline.as_ref().filter(|other| other.source == own.source);
        let other = other.filter(|_| Some(variant.as_str()) != baseline);
        let (amounts, of_other) = (own.amounts(), other.map(SampledCpu::amounts));
        let named = other.zip(baseline).zip(of_other.as_ref());
        let difference = named
            .map(|((other, name), stacks)| CPU.difference(&amounts, (stacks, name, other.us_per_request)));
        Some(StackFlame {
            variant: variant.clone(),
            sentence: [Some(whole(&own)), difference].into_iter().flatten().collect::<Vec<_>>().join("; "),
            rows: CPU.rows(&amounts, of_other.as_ref()),
        })
    };
    StackFlames { words: load_words(load), flames: ran(document).filter_map(flame).collect() }
}

fn whole(own: &SampledCpu) -> String {
    let by = match own.source {
        CpuSampleSource::CpuTime => "by CPU time",
        CpuSampleSource::Execution => "of threads that run Java code",
    };
    let samples = figures::plural(own.samples, "sample");
    format!("{} per request in {samples} {by}", microseconds(own.us_per_request))
}

fn microseconds(us: f64) -> String {
    format!("{} µs", figures::number(us))
}

#[cfg(test)]
mod tests {
    use super::super::stack_flames::Difference;
    use super::*;
    use crate::sample;
    use threadcount_model::record::cpu_profile::{CpuProfile, CpuStack};
    use threadcount_model::record::explaining::ExplainingWindow;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::{Cost, Record};

    fn run(variant: &str, us: f64, stacks: &[(&str, u64)]) -> Record {
        let stacks: Vec<CpuStack> = stacks
            .iter()
            .map(|(frames, samples)| CpuStack {
                frames: frames.split(' ').map(str::to_owned).collect(),
                samples: *samples,
            })
            .collect();
        let samples = stacks.iter().map(|stack| stack.samples).sum();
        let profile = CpuProfile { source: CpuSampleSource::CpuTime, samples, stacks };
        let cost = Cost { cpu_us_per_request: Some(us), cpu_cores: 1.0, ..Cost::default() };
        let mut record = Record { variant: variant.to_owned(), load: "c4".to_owned(), ..Record::default() };
        record.jvm = Some(JvmReadings { cpu_profile: Some(profile), ..JvmReadings::default() });
        record.explaining =
            Some(ExplainingWindow { load: Default::default(), cost: Some(cost), recompiling: None });
        record
    }

    #[test]
    fn what_a_variant_does_more_than_the_baseline_is_coloured_and_named() {
        let records = [
            run("a", 80.0, &[("t.T.run p.A.parse", 400), ("t.T.run p.A.write", 400)]),
            run(
                "b",
                120.0,
                &[("t.T.run p.A.parse", 400), ("t.T.run p.B.fill", 400), ("t.T.run p.A.write", 400)],
            ),
        ];
        let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
        let load = &cpu_flames(&document)[0];
        let seen: Vec<Vec<_>> = load
            .flames
            .iter()
            .map(|flame| {
                let cells = flame.rows.iter().flatten();
                cells.map(|cell| (cell.label.as_str(), cell.x, cell.width, cell.kind)).collect()
            })
            .collect();
        let same = Difference::Same;
        assert_eq!(seen[0], [("A.parse", 0.0, 50.0, same), ("A.write", 50.0, 50.0, same)]);
        let of_b = [
            ("A.parse", 0.0, 33.33, same),
            ("A.write", 33.33, 33.33, same),
            ("B.fill", 66.67, 33.33, Difference::MuchMore),
        ];
        assert_eq!(seen[1], of_b);
        assert_eq!(load.flames[0].sentence, "80.0 µs per request in 800 samples by CPU time");
        assert_eq!(
            load.flames[1].sentence,
            "120 µs per request in 1,200 samples by CPU time; a uses 80.0 µs: the largest differences of single methods are +40.0 µs \
             in p.B.fill"
        );
    }

    #[test]
    fn two_variants_with_the_same_code_differ_in_nothing_and_without_samples_there_is_no_graph() {
        let stacks = [("t.T.run p.A.parse", 190), ("t.T.run p.A.write", 210)];
        let other = [("t.T.run p.A.parse", 208), ("t.T.run p.A.write", 192)];
        let records = [run("a", 80.0, &stacks), run("b", 80.0, &other)];
        let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
        let flames = &cpu_flames(&document)[0].flames;
        assert!(
            flames[1].sentence.ends_with("no method differs by more than chance"),
            "{}",
            flames[1].sentence
        );
        assert!(flames.iter().flat_map(|it| it.rows.iter().flatten()).all(|it| it.kind == Difference::Same));
        let none = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &[]);
        assert_eq!(cpu_flames(&none), []);
    }
}
