//! What is allocated per request as a flame graph for each variant, coloured by its difference to the baseline.

use super::stack_flames::{Sampled, StackFlame, StackFlames};
use crate::html::method::ran;
use crate::load_words::load_words;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_stats::allocation_profiles::SampledAllocation;

const ALLOCATION: Sampled =
    Sampled { amount: figures::memory, verb: "allocates", places: "classes", place: "class" };

/// Of each load under which allocations were sampled.
#[must_use]
pub fn allocation_flames(document: &ResultDocument) -> Vec<StackFlames> {
    let loads = document.experiment.loads.iter().map(|load| of_load(document, load));
    loads.filter(|load| !load.flames.is_empty()).collect()
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> StackFlames {
    let sampled = |variant: &str| SampledAllocation::of_runs(document.runs_of(variant, &load.name));
    let baseline = document.experiment.baseline(load).map(|variant| variant.name.as_str());
    let of_baseline = baseline.and_then(sampled);
    let flame = |variant: &String| {
        let own = sampled(variant)?;
        let other = of_baseline.as_ref().filter(|_| Some(variant.as_str()) != baseline);
        let (amounts, of_other) = (own.amounts(), other.map(SampledAllocation::amounts));
        let named = other.zip(baseline).zip(of_other.as_ref());
        let difference = named.map(|((other, name), stacks)| {
            ALLOCATION.difference(&amounts, (stacks, name, other.bytes_per_request))
        });
        let samples = figures::plural(own.samples, "sample");
        let whole = format!("{} per request in {samples}", figures::memory(own.bytes_per_request));
        Some(StackFlame {
            variant: variant.clone(),
            sentence: [Some(whole), difference].into_iter().flatten().collect::<Vec<_>>().join("; "),
            rows: ALLOCATION.rows(&amounts, of_other.as_ref()),
        })
    };
    StackFlames { words: load_words(load), flames: ran(document).filter_map(flame).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::stack_flames::Difference;
    use super::*;
    use crate::sample;
    use threadcount_model::record::Record;
    use threadcount_model::sample::with_allocation;

    /// 1,000 requests per second; samples of a MiB.
    fn run(variant: &str, bytes_per_request: f64, stacks: &[(&str, u64)]) -> Record {
        with_allocation(
            threadcount_model::sample::run(variant, "c4", 1_000.0, 4.0),
            bytes_per_request,
            stacks,
        )
    }

    const PARSE: &str = "t.T.run;p.A.parse;new java.lang.String";
    const FILL: &str = "t.T.run;p.B.fill;new byte[]";

    #[test]
    fn the_class_that_a_variant_allocates_more_of_is_coloured_and_named() {
        let records = [run("a", 4_000.0, &[(PARSE, 400)]), run("b", 6_000.0, &[(PARSE, 400), (FILL, 200)])];
        let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
        let load = &allocation_flames(&document)[0];
        let cells: Vec<_> = load.flames[1].rows.iter().flatten().collect();
        let seen: Vec<_> = cells.iter().map(|cell| (cell.label.as_str(), cell.width, cell.kind)).collect();
        let expected = [
            ("A.parse", 66.67, Difference::Same),
            ("B.fill", 33.33, Difference::MuchMore),
            ("new String", 66.67, Difference::Same),
            ("new byte[]", 33.33, Difference::MuchMore),
        ];
        assert_eq!(seen, expected);
        assert_eq!(load.flames[0].sentence, "4.00 kB per request in 400 samples");
        assert_eq!(
            load.flames[1].sentence,
            "6.00 kB per request in 600 samples; a allocates 4.00 kB: the largest differences of single classes are +2.00 kB in byte[]"
        );
    }

    #[test]
    fn two_variants_that_allocate_the_same_differ_in_nothing_and_without_samples_there_is_no_graph() {
        let records = [
            run("a", 4_000.0, &[(PARSE, 190), (FILL, 210)]),
            run("b", 4_000.0, &[(PARSE, 208), (FILL, 192)]),
        ];
        let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
        let flames = &allocation_flames(&document)[0].flames;
        assert!(
            flames[1].sentence.ends_with("no class differs by more than chance"),
            "{}",
            flames[1].sentence
        );
        assert!(flames.iter().flat_map(|it| it.rows.iter().flatten()).all(|it| it.kind == Difference::Same));
        let none = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &[]);
        assert_eq!(allocation_flames(&none), []);
    }
}
