use super::*;
use crate::sample;
use threadcount_model::record::cpu_profile::{CpuProfile, CpuStack};
use threadcount_model::record::explaining::ExplainingWindow;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::{Cost, Record};
use threadcount_model::sample::with_allocation;

#[test]
fn a_label_is_a_frame_or_a_class_without_its_package() {
    let names = ["p.q.A.parse", "A.parse", "parse", "new java.lang.String", "new byte[]", "new p.A$B[]"];
    let labels = names.map(short);
    assert_eq!(labels, ["A.parse", "A.parse", "parse", "new String", "new byte[]", "new A$B[]"]);
}

fn cpu_run(variant: &str, us: f64, stacks: &[(&str, u64)]) -> Record {
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
        cpu_run("a", 80.0, &[("t.T.run p.A.parse", 400), ("t.T.run p.A.write", 400)]),
        cpu_run(
            "b",
            120.0,
            &[("t.T.run p.A.parse", 400), ("t.T.run p.B.fill", 400), ("t.T.run p.A.write", 400)],
        ),
    ];
    let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
    let load = &CPU.flames(&document)[0];
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
    let records = [cpu_run("a", 80.0, &stacks), cpu_run("b", 80.0, &other)];
    let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
    let flames = &CPU.flames(&document)[0].flames;
    assert!(flames[1].sentence.ends_with("no method differs by more than chance"), "{}", flames[1].sentence);
    assert!(flames.iter().flat_map(|it| it.rows.iter().flatten()).all(|it| it.kind == Difference::Same));
    let none = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &[]);
    assert_eq!(CPU.flames(&none), []);
}

/// A run with 1,000 requests per second whose allocation samples stand for 1 MiB each.
fn allocation_run(variant: &str, bytes_per_request: f64, stacks: &[(&str, u64)]) -> Record {
    with_allocation(threadcount_model::sample::run(variant, "c4", 1_000.0, 4.0), bytes_per_request, stacks)
}

const PARSE: &str = "t.T.run;p.A.parse;new java.lang.String";
const FILL: &str = "t.T.run;p.B.fill;new byte[]";

#[test]
fn the_class_that_a_variant_allocates_more_of_is_coloured_and_named() {
    let records = [
        allocation_run("a", 4_000.0, &[(PARSE, 400)]),
        allocation_run("b", 6_000.0, &[(PARSE, 400), (FILL, 200)]),
    ];
    let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
    let load = &ALLOCATIONS.flames(&document)[0];
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
        allocation_run("a", 4_000.0, &[(PARSE, 190), (FILL, 210)]),
        allocation_run("b", 4_000.0, &[(PARSE, 208), (FILL, 192)]),
    ];
    let document = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &records);
    let flames = &ALLOCATIONS.flames(&document)[0].flames;
    assert!(flames[1].sentence.ends_with("no class differs by more than chance"), "{}", flames[1].sentence);
    assert!(flames.iter().flat_map(|it| it.rows.iter().flatten()).all(|it| it.kind == Difference::Same));
    let none = sample::document("{a: {}, b: {}}", "[{clients: 4, duration: 1s}]", &[]);
    assert_eq!(ALLOCATIONS.flames(&none), []);
}
