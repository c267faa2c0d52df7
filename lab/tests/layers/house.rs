//! A crate as a graph of files, and what is wrong with its shape.

use super::code::{test_modules, without_tests};
use super::paths::{Path, Paths, has_inline_module, paths};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate without its tests, by module path: `["stats", "ratio"]`.
#[derive(Clone)]
pub struct House {
    files: BTreeMap<Path, Paths>,
    names: BTreeMap<Path, String>,
    inline: Vec<String>,
}

impl House {
    /// From all files below `src`: the name (`stats/ratio.rs`) and the text of each.
    pub fn new(sources: &[(String, String)]) -> Self {
        let tests: BTreeSet<Path> = sources
            .iter()
            .flat_map(|(name, text)| {
                let module = module(name);
                test_modules(text).into_iter().map(move |child| [module.clone(), vec![child]].concat())
            })
            .collect();
        let mut house = Self { files: BTreeMap::new(), names: BTreeMap::new(), inline: Vec::new() };
        for (name, text) in sources {
            let module = module(name);
            if !(1..=module.len()).any(|length| tests.contains(&module[..length])) {
                house.add(name, text);
            }
        }
        house
    }

    /// Adds a file, or puts it in the place of the one that has its name.
    pub fn add(&mut self, name: &str, text: &str) {
        let code = without_tests(text);
        if has_inline_module(&code) {
            self.inline.push(name.to_owned());
        }
        self.files.insert(module(name), paths(&code));
        self.names.insert(module(name), name.to_owned());
    }

    /// Modules with a body: their `super` would be misread here.
    pub fn inline_modules(&self) -> &[String] {
        &self.inline
    }

    /// Imports of a layer above, or of one that is not in the list. `layers` begins with the uppermost.
    pub fn upward(&self, layers: &[&str]) -> Vec<String> {
        let height =
            |module: &Path| layers.iter().position(|layer| module.first().is_some_and(|it| it == layer));
        let mut wrong = Vec::new();
        for (from, file) in self.files.iter().filter(|(module, _)| !module.is_empty()) {
            let Some(own) = height(from) else {
                wrong.push(format!("{} is in no layer", self.names[from]));
                continue;
            };
            let is_above = |to: &Path| height(to).is_some_and(|other| other < own);
            let targets = self.targets(from, file);
            let mut above: BTreeSet<Path> = targets.into_iter().filter(is_above).collect();
            // A name that a layer above passes on is imported through it, wherever it is defined.
            let layers = file.named.iter().flat_map(|path| self.absolute(from, path));
            let layers = layers.filter_map(|path| Some(vec![path.first()?.clone()]));
            let is_new = |layer: &Path| is_above(layer) && !above.iter().any(|to| to.starts_with(layer));
            let layers: Vec<Path> = layers.filter(is_new).collect();
            above.extend(layers);
            wrong.extend(above.iter().map(|to| format!("{} imports {}", self.names[from], self.names[to])));
        }
        wrong
    }

    /// Files that import each other, directly or through others; each circle once, in the order of its imports.
    ///
    /// A file may use what the `mod.rs` of its own folder, or of a folder above it, defines itself.
    pub fn circles(&self) -> Vec<String> {
        let graph: BTreeMap<&Path, BTreeSet<Path>> = self
            .files
            .iter()
            .map(|(from, file)| {
                let targets = self.targets(from, file).into_iter();
                (from, targets.filter(|to| !from.starts_with(to)).collect())
            })
            .collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for start in graph.keys().copied() {
            if let Some(circle) =
                shortest_circle(&graph, start).filter(|circle| !circle.iter().any(|it| seen.contains(it)))
            {
                let words = circle.iter().chain([start]).map(|module| self.names[module].as_str());
                circles.push(words.collect::<Vec<_>>().join(" -> "));
                seen.extend(circle);
            }
        }
        circles
    }

    /// The files that a file imports.
    fn targets(&self, from: &Path, file: &Paths) -> BTreeSet<Path> {
        let all = file
            .named
            .iter()
            .flat_map(|path| self.absolute(from, path))
            .flat_map(|path| self.homes(&path, 0));
        all.filter(|to| to != from && !to.is_empty()).collect()
    }

    /// The path from the root of the crate; `None`: it leads to another crate, or to something of the file itself.
    fn absolute(&self, from: &Path, path: &Path) -> Option<Path> {
        let supers = path.iter().take_while(|it| *it == "super").count();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([from.as_slice(), &path[1..]].concat()),
            "super" => Some([&from[..from.len().checked_sub(supers)?], &path[supers..]].concat()),
            _ => {
                let child = [from.as_slice(), path].concat();
                let is_child = self.files.contains_key(&child[..=from.len()]);
                is_child.then_some(child)
            }
        }
    }

    /// The files in which what a path names is defined: a name that a module only passes on is followed.
    fn homes(&self, path: &Path, depth: usize) -> Vec<Path> {
        let length = (0..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]));
        let module = path[..length.unwrap_or(0)].to_vec();
        let (Some(file), Some(item)) = (self.files.get(&module), path.get(module.len())) else {
            return vec![module];
        };
        let passed_on = |name: &String| item == "*" || name == item || name == "*";
        let mut homes: Vec<Path> = file
            .exported
            .iter()
            .filter(|(name, _)| depth < 8 && passed_on(name))
            .flat_map(|(_, source)| self.absolute(&module, source))
            .flat_map(|source| self.homes(&source, depth + 1))
            .collect();
        let is_passed_on = file.exported.iter().any(|(name, _)| name == item);
        if !is_passed_on {
            homes.push(module);
        }
        homes
    }
}

fn module(name: &str) -> Path {
    let name = name.strip_suffix(".rs").unwrap_or(name);
    let name = name.strip_suffix("/mod").unwrap_or(name);
    if matches!(name, "lib" | "main") { Vec::new() } else { name.split('/').map(str::to_owned).collect() }
}

/// The shortest way from a file back to itself.
fn shortest_circle(graph: &BTreeMap<&Path, BTreeSet<Path>>, start: &Path) -> Option<Vec<Path>> {
    let mut ways = vec![vec![start.clone()]];
    let mut reached = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in way.last().and_then(|end| graph.get(end)).into_iter().flatten() {
                if next == start {
                    return Some(way);
                }
                if reached.insert(next.clone()) {
                    longer.push([way.clone(), vec![next.clone()]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}
