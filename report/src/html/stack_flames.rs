//! Sampled stacks (of CPU and of allocations) as flame graphs, coloured by the difference to the baseline.

use crate::html::method::ran;
use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::record::cpu_profile::CpuSampleSource;
use threadcount_stats::sampled_stacks::SampledStacks;
use threadcount_stats::stack_tree::{FrameDifference, StackAmounts, StackNode, frames_that_differ, tree};

/// Width in per cent below which a cell cannot be read and is left out.
const NARROWEST: f64 = 0.5;
/// Maximum number of rows.
const MOST_ROWS: usize = 48;
/// A difference counts as large from this factor on.
const LARGE: f64 = 1.5;
/// Maximum number of frames that the sentence names.
const NAMED: usize = 3;
/// The prefix of a frame that stands for an allocated class.
const NEW: &str = "new ";

/// The graphs of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackFlames {
    pub words: String,
    pub flames: Vec<StackFlame>,
}

/// The graph of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackFlame {
    pub variant: String,
    pub sentence: String,
    pub rows: Vec<Vec<FlameCell>>,
}

/// A cell of a flame graph; its position and width are per cent of the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlameCell {
    /// The difference to the baseline, which is the cell's colour.
    pub kind: Difference,
    pub x: f64,
    pub width: f64,
    pub label: String,
    /// The full text, with the amounts.
    pub says: String,
}

/// The comparison of a variant's frame with the same frame of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// No difference beyond chance, or the variant is the baseline.
    Same,
    More,
    MuchMore,
    Less,
    MuchLess,
}

/// CPU per request.
pub(super) const CPU: Sampled = Sampled {
    stacks: |document, variant, load| SampledStacks::cpu(document.runs_of(variant, load)),
    amount: |us| format!("{} µs", figures::number(us)),
    verb: "uses",
    places: "methods",
    place: "method",
};

/// Bytes allocated per request.
pub(super) const ALLOCATIONS: Sampled = Sampled {
    stacks: |document, variant, load| SampledStacks::allocations(document.runs_of(variant, load)),
    amount: figures::memory,
    verb: "allocates",
    places: "classes",
    place: "class",
};

/// A sampled quantity, and the words for it.
#[derive(Clone, Copy)]
pub(super) struct Sampled {
    /// The samples of a variant under a load.
    stacks: fn(&ResultDocument, &str, &str) -> Option<SampledStacks>,
    /// Formats an amount with its unit.
    amount: fn(f64) -> String,
    /// The verb for what a variant does with the quantity.
    verb: &'static str,
    /// The noun for several frames at the top of the stacks.
    places: &'static str,
    /// The noun for one frame at the top of a stack.
    place: &'static str,
}

impl Sampled {
    /// The graphs of each load that has samples.
    #[must_use]
    pub(super) fn flames(self, document: &ResultDocument) -> Vec<StackFlames> {
        let loads = document.experiment.loads.iter().map(|load| self.of_load(document, load));
        loads.filter(|load| !load.flames.is_empty()).collect()
    }

    fn of_load(self, document: &ResultDocument, load: &LoadSpec) -> StackFlames {
        let sampled = |variant: &str| (self.stacks)(document, variant, &load.name);
        let baseline = document.experiment.baseline(load).map(|variant| variant.name.as_str());
        let of_baseline = baseline.and_then(sampled);
        let flame = |variant: &String| {
            let own = sampled(variant)?;
            // Samples that were taken in different ways cannot be compared.
            let other = of_baseline.as_ref().filter(|other| other.source == own.source);
            let other = other.filter(|_| Some(variant.as_str()) != baseline);
            let (amounts, of_other) = (own.amounts(), other.map(SampledStacks::amounts));
            let named = other.zip(baseline).zip(of_other.as_ref());
            let difference = named
                .map(|((other, name), stacks)| self.difference(&amounts, (stacks, name, other.per_request)));
            Some(StackFlame {
                variant: variant.clone(),
                sentence: [Some(self.whole(&own)), difference]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; "),
                rows: self.rows(&amounts, of_other.as_ref()),
            })
        };
        StackFlames { words: load_words(load), flames: ran(document).filter_map(flame).collect() }
    }

    fn whole(self, own: &SampledStacks) -> String {
        let by = match own.source {
            Some(CpuSampleSource::CpuTime) => " by CPU time",
            Some(CpuSampleSource::Execution) => " of threads that run Java code",
            None => "",
        };
        let samples = figures::plural(own.samples, "sample");
        format!("{} per request in {samples}{by}", (self.amount)(own.per_request))
    }

    /// The sentence on the frames that differ most from the baseline, which uses `whole` in all.
    fn difference(self, own: &StackAmounts, (baseline, name, whole): (&StackAmounts, &str, f64)) -> String {
        let frame = |difference: &FrameDifference| {
            let sign = if difference.value > difference.baseline_value { "+" } else { "-" };
            let frame = difference.frame.strip_prefix(NEW).unwrap_or(&difference.frame);
            format!(
                "{sign}{} in {frame}",
                (self.amount)((difference.value - difference.baseline_value).abs())
            )
        };
        let frames: Vec<String> = frames_that_differ(own, baseline).iter().take(NAMED).map(frame).collect();
        let differences = if frames.is_empty() {
            format!("no {} differs by more than chance", self.place)
        } else {
            format!("the largest differences of single {} are {}", self.places, frames.join(", "))
        };
        format!("{name} {} {}: {differences}", self.verb, (self.amount)(whole))
    }

    /// The rows from the first frame that the stacks do not all share.
    fn rows(self, own: &StackAmounts, baseline: Option<&StackAmounts>) -> Vec<Vec<FlameCell>> {
        let root = tree(own, baseline);
        let start = branching(&root);
        let mut rows = Vec::new();
        let mut level: Vec<(&StackNode, f64)> = vec![(start, 0.0)];
        let whole = start.own.value.max(f64::MIN_POSITIVE);
        while rows.len() < MOST_ROWS {
            let mut row = Vec::new();
            let mut above = Vec::new();
            for (node, left) in level {
                let mut x = left;
                let mut children: Vec<(&String, &StackNode)> = node.children.iter().collect();
                children.sort_by(|a, b| b.1.own.value.total_cmp(&a.1.own.value));
                for (name, child) in children {
                    let width = 100.0 * child.own.value / whole;
                    if width >= NARROWEST {
                        row.push(self.cell(name, child, x, width));
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

    fn cell(self, name: &str, node: &StackNode, x: f64, width: f64) -> FlameCell {
        let rounded = |value: f64| (value * 100.0).round() / 100.0;
        let kind = difference(node);
        let beside = if kind == Difference::Same {
            String::new()
        } else {
            format!(", baseline {}", (self.amount)(node.baseline.value))
        };
        FlameCell {
            kind,
            x: rounded(x),
            width: rounded(width),
            // The title shows the package.
            label: short(name),
            says: format!("{name}: {} per request, {width:.1} %{beside}", (self.amount)(node.own.value)),
        }
    }
}

fn branching(root: &StackNode) -> &StackNode {
    let mut start = root;
    while let [only] = start.children.values().collect::<Vec<_>>()[..] {
        if only.children.is_empty() {
            break;
        }
        start = only;
    }
    start
}

fn difference(node: &StackNode) -> Difference {
    let ratio = node.own.value / node.baseline.value.max(f64::MIN_POSITIVE);
    match ratio {
        _ if !node.differs() => Difference::Same,
        _ if ratio >= LARGE => Difference::MuchMore,
        _ if ratio >= 1.0 => Difference::More,
        _ if ratio <= 1.0 / LARGE => Difference::MuchLess,
        _ => Difference::Less,
    }
}

/// `Class.method`, or `new Class`.
fn short(name: &str) -> String {
    if let Some(class) = name.strip_prefix(NEW) {
        return format!("{NEW}{}", class.rsplit('.').next().unwrap_or(class));
    }
    let method = name.rfind('.').unwrap_or(0);
    name[..method].rfind('.').map_or(name, |class| &name[class + 1..]).to_owned()
}

#[cfg(test)]
mod tests;
