//! Sampled stacks as a flame graph, coloured by the difference to the baseline: of CPU, and of allocations.

use super::request_flames::FlameCell;
use serde::Serialize;
use threadcount_stats::stack_tree::{FrameDifference, StackAmounts, StackNode, frames_that_differ, tree};

/// Narrower cells, in percent of the whole, cannot be read.
const NARROWEST: f64 = 0.5;
/// Maximum number of rows.
const MOST_ROWS: usize = 48;
/// From this factor on a difference is a large one.
const LARGE: f64 = 1.5;
/// Frames that are named in the sentence.
const NAMED: usize = 3;
/// What stands before the class of an object that is allocated.
const NEW: &str = "new ";

/// The graphs of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackFlames {
    pub words: String,
    pub flames: Vec<StackFlame>,
}

/// One variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackFlame {
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

/// What is sampled, in words.
#[derive(Clone, Copy)]
pub(super) struct Sampled {
    /// An amount with its unit.
    pub amount: fn(f64) -> String,
    /// What a variant does with it.
    pub verb: &'static str,
    /// What the frames at the top are.
    pub places: &'static str,
    /// One of them.
    pub place: &'static str,
}

impl Sampled {
    /// What differs between a variant and its baseline, which uses so much in all.
    pub(super) fn difference(
        self,
        own: &StackAmounts,
        (baseline, name, whole): (&StackAmounts, &str, f64),
    ) -> String {
        let frame = |it: &FrameDifference| {
            let sign = if it.value > it.baseline_value { "+" } else { "-" };
            let frame = it.frame.strip_prefix(NEW).unwrap_or(&it.frame);
            format!("{sign}{} in {frame}", (self.amount)((it.value - it.baseline_value).abs()))
        };
        let frames: Vec<String> = frames_that_differ(own, baseline).iter().take(NAMED).map(frame).collect();
        let differences = if frames.is_empty() {
            format!("no {} differs by more than chance", self.place)
        } else {
            format!("the largest differences of single {} are {}", self.places, frames.join(", "))
        };
        format!("{name} {} {}: {differences}", self.verb, (self.amount)(whole))
    }

    /// From the first frame that not all stacks have in common.
    pub(super) fn rows(
        self,
        own: &StackAmounts,
        baseline: Option<&StackAmounts>,
    ) -> Vec<Vec<FlameCell<Difference>>> {
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

    fn cell(self, name: &str, node: &StackNode, x: f64, width: f64) -> FlameCell<Difference> {
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
            // The package is in the title.
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
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_frame_or_a_class_without_its_package() {
        let names = ["p.q.A.parse", "A.parse", "parse", "new java.lang.String", "new byte[]", "new p.A$B[]"];
        let labels = names.map(short);
        assert_eq!(labels, ["A.parse", "A.parse", "parse", "new String", "new byte[]", "new A$B[]"]);
    }
}
