//! The paths that a piece of code names: `crate::a::b`, `super::c`, `child::D`, also out of nested `use` trees.

/// A path as written, segment by segment.
pub type Path = Vec<String>;

/// What a file names.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The paths of `use`, each with the name that it has here, and those that stand in the code.
    pub named: Vec<Path>,
    /// What others see through this file: the name here (`*` for all of them), and where it comes from.
    pub exported: Vec<(String, Path)>,
}

/// Reads the code of a file.
pub fn paths(code: &str) -> Paths {
    let words = words(code);
    let mut paths = Paths::default();
    let mut at = 0;
    while at < words.len() {
        if words[at] == "use" {
            let end = at + words[at..].iter().position(|word| word == ";").unwrap_or(words.len() - at);
            let is_exported = at > 0 && (words[at - 1] == "pub" || words[at - 1] == ")");
            for (name, path) in leaves(&words[at + 1..end]) {
                if is_exported {
                    paths.exported.push((name, path.clone()));
                }
                paths.named.push(path);
            }
            at = end;
        } else if is_name(&words[at]) {
            let mut path = vec![words[at].clone()];
            while at + 2 < words.len() && words[at + 1] == "::" && is_name(&words[at + 2]) {
                path.push(words[at + 2].clone());
                at += 2;
            }
            if path.len() > 1 {
                paths.named.push(path);
            }
            at += 1;
        } else {
            at += 1;
        }
    }
    paths
}

/// Does the code hold a module with a body? Rust allows it; here a module is a file.
pub fn has_inline_module(code: &str) -> bool {
    words(code).windows(3).any(|it| it[0] == "mod" && is_name(&it[1]) && it[2] == "{")
}

fn is_name(word: &str) -> bool {
    word.starts_with(|it: char| it.is_alphabetic() || it == '_')
}

fn words(code: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        words.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    words
}

/// The paths of a `use` tree with their names: `a::{self, b as c}` is `a` by the name `a` and `a::b` by the name `c`.
fn leaves(tree: &[String]) -> Vec<(String, Path)> {
    let Some(brace) = tree.iter().position(|word| word == "{") else {
        let (path, alias) = match tree.iter().position(|word| word == "as") {
            Some(at) => (&tree[..at], tree.get(at + 1)),
            None => (tree, None),
        };
        let mut path: Path = path.iter().filter(|word| *word != "::").cloned().collect();
        if path.len() > 1 && path.last().is_some_and(|it| it == "self") {
            path.pop();
        }
        let name = alias.or(path.last()).cloned().unwrap_or_default();
        return if path.is_empty() { Vec::new() } else { vec![(name, path)] };
    };
    let inner = &tree[brace + 1..tree.len() - 1];
    let mut all = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for at in 0..=inner.len() {
        match inner.get(at).map(String::as_str) {
            Some("{") => depth += 1,
            Some("}") => depth -= 1,
            None | Some(",") if depth == 0 => {
                all.extend(leaves(&[&tree[..brace], &inner[begin..at]].concat()));
                begin = at + 1;
            }
            _ => {}
        }
    }
    all
}
