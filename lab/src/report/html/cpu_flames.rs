//! The CPU per request as a flame graph for each variant, coloured by its difference to the baseline.

use super::request_flames::FlameCell;
use crate::model::experiment::LoadSpec;
use crate::model::record::cpu_profile::CpuSampleSource;
use crate::model::result::ResultDocument;
use crate::report::figures;
use crate::report::html::method::ran;
use crate::report::load_words::load_words;
use crate::stats::cpu_profiles::{MethodDifference, SampledCpu, StackNode, methods_that_differ, tree};
use serde::Serialize;

/// Narrower cells, in percent of the whole, cannot be read.
const NARROWEST: f64 = 0.5;
/// Maximum number of rows.
const MOST_ROWS: usize = 48;
/// From this factor on a difference is a large one.
const LARGE: f64 = 1.5;
/// Methods that are named in the sentence.
const NAMED: usize = 3;

/// The graphs of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CpuFlames {
    pub words: String,
    pub flames: Vec<CpuFlame>,
}

/// One variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CpuFlame {
    pub variant: String,
    pub sentence: String,
    pub rows: Vec<Vec<FlameCell<Difference>>>,
}

/// How a frame of a variant compares with the same one of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// No more than chance, or it is the baseline.
    Same,
    More,
    MuchMore,
    Less,
    MuchLess,
}

/// Of each load under which code was sampled.
#[must_use]
pub fn cpu_flames(document: &ResultDocument) -> Vec<CpuFlames> {
    let loads = document.experiment.loads.iter().map(|load| of_load(document, load));
    loads.filter(|load| !load.flames.is_empty()).collect()
}

fn of_load(document: &ResultDocument, load: &LoadSpec) -> CpuFlames {
    let sampled = |variant: &str| SampledCpu::of_runs(document.runs_of(variant, &load.name));
    let baseline = document.experiment.baseline(load).map(|variant| variant.name.as_str());
    let of_baseline = baseline.and_then(sampled);
    let flame = |variant: &String| {
        let own = sampled(variant)?;
        // Samples that were taken in two ways cannot be compared.
        let other = of_baseline.as_ref().filter(|other| other.source == own.source);
        let other = other.filter(|_| Some(variant.as_str()) != baseline);
        let baseline = other.zip(baseline);
        Some(CpuFlame {
            variant: variant.clone(),
            sentence: sentence(&own, baseline),
            rows: rows(&tree(&own, other)),
        })
    };
    CpuFlames { words: load_words(load), flames: ran(document).filter_map(flame).collect() }
}

fn sentence(own: &SampledCpu, baseline: Option<(&SampledCpu, &str)>) -> String {
    let by = match own.source {
        CpuSampleSource::CpuTime => "by CPU time",
        CpuSampleSource::Execution => "of threads that run Java code",
    };
    let whole = format!(
        "{} per request in {} {by}",
        microseconds(own.us_per_request),
        figures::plural(own.samples, "sample")
    );
    let Some((baseline, name)) = baseline else { return whole };
    let methods = methods_that_differ(own, baseline);
    let said = |it: &MethodDifference| {
        let sign = if it.us > it.baseline_us { "+" } else { "-" };
        format!("{sign}{} in {}", microseconds((it.us - it.baseline_us).abs()), it.method)
    };
    let said: Vec<String> = methods.iter().take(NAMED).map(said).collect();
    let differences = if said.is_empty() {
        "no method differs by more than chance".to_owned()
    } else {
        format!("the largest differences of single methods are {}", said.join(", "))
    };
    format!("{whole}; {name} uses {}: {differences}", microseconds(baseline.us_per_request))
}

/// From the first frame that not all stacks have in common.
fn rows(root: &StackNode) -> Vec<Vec<FlameCell<Difference>>> {
    let mut start = root;
    while let [only] = start.children.values().collect::<Vec<_>>()[..] {
        if only.children.is_empty() {
            break;
        }
        start = only;
    }
    let mut rows = Vec::new();
    let mut level: Vec<(&StackNode, f64)> = vec![(start, 0.0)];
    let whole_us = start.us.max(f64::MIN_POSITIVE);
    while rows.len() < MOST_ROWS {
        let mut row = Vec::new();
        let mut above = Vec::new();
        for (node, left) in level {
            let mut x = left;
            let mut children: Vec<(&String, &StackNode)> = node.children.iter().collect();
            children.sort_by(|a, b| b.1.us.total_cmp(&a.1.us));
            for (name, child) in children {
                let width = 100.0 * child.us / whole_us;
                if width >= NARROWEST {
                    row.push(cell(name, child, x, width));
                    above.push((child, x));
                }
                x += width;
            }
        }
        if row.is_empty() {
            break;
        }
        rows.push(row);
        level = above;
    }
    rows
}

fn cell(name: &str, node: &StackNode, x: f64, width: f64) -> FlameCell<Difference> {
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    let kind = difference(node);
    let beside = if kind == Difference::Same {
        String::new()
    } else {
        format!(", baseline {}", microseconds(node.baseline_us))
    };
    FlameCell {
        kind,
        x: rounded(x),
        width: rounded(width),
        // The package is in the title.
        label: short(name).to_owned(),
        says: format!("{name}: {} per request, {width:.1} %{beside}", microseconds(node.us)),
    }
}

fn difference(node: &StackNode) -> Difference {
    let ratio = node.us / node.baseline_us.max(f64::MIN_POSITIVE);
    match ratio {
        _ if !node.differs() => Difference::Same,
        _ if ratio >= LARGE => Difference::MuchMore,
        _ if ratio >= 1.0 => Difference::More,
        _ if ratio <= 1.0 / LARGE => Difference::MuchLess,
        _ => Difference::Less,
    }
}

/// `Class.method`.
fn short(name: &str) -> &str {
    let method = name.rfind('.').unwrap_or(0);
    name[..method].rfind('.').map_or(name, |class| &name[class + 1..])
}

fn microseconds(us: f64) -> String {
    format!("{} µs", figures::number(us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::cpu_profile::{CpuProfile, CpuStack};
    use crate::model::record::explaining::ExplainingWindow;
    use crate::model::record::jvm::JvmReadings;
    use crate::model::record::{Cost, Record};
    use crate::report::sample;

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
        record.explaining = Some(ExplainingWindow { load: Default::default(), cost: Some(cost) });
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
