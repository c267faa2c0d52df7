//! The file of a project, `threadcount.yaml`: an experiment, or several that share the keys at its top.

use super::{KEYS, REQUIRED, ReadError, Source, experiment, name, text_of};
use std::path::{Path, PathBuf};
use threadcount_model::experiment::{Experiment, SessionSize};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::{KeySpec, at_most_one, json_schema, map};
use threadcount_model::parse::value_kinds::Name;
use threadcount_model::parse::yaml;
use threadcount_model::parse::yaml::{Key, Kind, Node};
use threadcount_model::{keys, value_kinds};

/// The names of the file in the working folder.
const FILES: [&str; 2] = ["threadcount.yaml", "threadcount.yml"];

/// The key that holds several experiments.
const EXPERIMENTS: &str = "experiments";

const OWN_KEYS: &[KeySpec] = keys! {
    /// Several experiments by name; each inherits the keys at the top of the file that it does not set itself.
    experiments: ExperimentsByName,
};

value_kinds! {
    /// For editors: the keys of an experiment, at the top or in each of several experiments. No key is required, because it may be in
    /// either place.
    pub(super) ProjectKeys = |generator| {
        let rules = json_schema!({
            "allOf": [at_most_one(&ALTERNATIVES)],
            "if": {"not": {"required": [EXPERIMENTS]}},
            "then": {"required": REQUIRED},
        });
        map(generator, &[KEYS, OWN_KEYS].concat(), rules)
    };

    ExperimentsByName = |generator| json_schema!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": generator.subschema_for::<Name>(),
        "additionalProperties": generator.subschema_for::<ExperimentOfProject>(),
    });

    /// An experiment of the project.
    ExperimentOfProject = |generator| map(generator, KEYS, json_schema!({"allOf": [at_most_one(&ALTERNATIVES)]}));
}

/// Two ways to write the same thing: an experiment that has either of them inherits neither.
pub(super) const ALTERNATIVES: [&str; 2] = ["backend", "backends"];

/// The project's file, if the working folder has one.
#[must_use]
pub fn file() -> Option<PathBuf> {
    FILES.iter().map(PathBuf::from).find(|it| it.is_file())
}

/// All experiments of the file, with these sizes.
///
/// # Errors
/// The file cannot be read, or contains a mistake, which is shown with its line and a caret.
pub fn read(path: &Path, size: impl Into<SessionSize>) -> Result<Vec<Experiment>, ReadError> {
    let text = text_of(path)?;
    let own_name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let found = experiments(&own_name, &text, folder, size.into());
    Ok(found.map_err(|diagnostic| diagnostic.within(&path.display().to_string(), &text))?)
}

fn experiments(
    own_name: &str,
    text: &str,
    folder: &Path,
    size: SessionSize,
) -> Result<Vec<Experiment>, Diagnostic> {
    let root = yaml::parse(text)?;
    let source = Source { name: own_name, text, folder, size, requests: None };
    let Kind::Map(entries) = &root.kind else {
        return Ok(vec![experiment(&source, &root)?]);
    };
    let Some((_, node)) = entries.iter().find(|(key, _)| key.name == EXPERIMENTS) else {
        return Ok(vec![experiment(&source, &root)?]);
    };
    let span = &node.span;
    let Kind::Map(several) = &node.kind else {
        let message =
            format!("`{EXPERIMENTS}` is a map from name to experiment, and this is {}", node.noun());
        return Err(Diagnostic::new(span.clone(), message, "expected `NAME: {question: ..., loads: ...}`"));
    };
    if several.is_empty() {
        let message = format!("`{EXPERIMENTS}` is empty");
        return Err(Diagnostic::new(span.clone(), message, "no experiment")
            .help("write `NAME: {question: ..., loads: ...}`, or leave the key out where the file is one experiment"));
    }
    let shared: Vec<&(Key, Node)> = entries.iter().filter(|(key, _)| key.name != EXPERIMENTS).collect();
    several
        .iter()
        .map(|(key, node)| {
            let checked = name(&key.name, &key.span, "experiment")?;
            experiment(&Source { name: &checked, requests: None, ..source }, &merged(node, &shared)?)
        })
        .collect()
}

/// An experiment with the shared keys that it does not set itself.
fn merged(node: &Node, shared: &[&(Key, Node)]) -> Result<Node, Diagnostic> {
    let Kind::Map(own) = &node.kind else {
        let message = format!("an experiment is a map, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `question: ...`"));
    };
    let is_own = |key: &Key| own.iter().any(|(mine, _)| is_the_same(&mine.name, &key.name));
    let inherited = shared.iter().filter(|(key, _)| !is_own(key)).map(|&it| it.clone());
    Ok(Node { span: node.span.clone(), kind: Kind::Map(own.iter().cloned().chain(inherited).collect()) })
}

fn is_the_same(key: &str, other: &str) -> bool {
    key == other || [key, other].iter().all(|it| ALTERNATIVES.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::ONLY_BACKEND;

    const SEVERAL: &str = "server: {command: 'serve {port}'}\nwarmup: 1s\nvariants: {a: {}, b: {}}\nexperiments:\n  \
        read: {question: q, request: /read, loads: [{clients: 1, duration: 1s}]}\n  \
        write: {question: w, request: /write, warmup: 2s, loads: [{clients: 2, duration: 1s}]}\n";

    fn read(text: &str) -> Result<Vec<Experiment>, Diagnostic> {
        experiments("threadcount", text, Path::new(""), SessionSize::AsWritten)
    }

    #[test]
    fn experiments_share_what_stands_at_the_top_unless_they_say_it_themselves() {
        let found = read(SEVERAL).unwrap();
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["read", "write"]);
        let requests: Vec<&str> = found.iter().map(|it| it.loads[0].request.path.as_str()).collect();
        assert_eq!(requests, ["/read", "/write"]);
        assert_eq!(found.iter().map(|it| it.warmup_s).collect::<Vec<_>>(), [1.0, 2.0]);
        assert!(found.iter().all(|it| it.variants.len() == 2));
    }

    #[test]
    fn an_experiment_with_backends_of_its_own_does_not_inherit_the_shared_ones() {
        let names_of = |text: &str| {
            let found = read(text).unwrap();
            let names = |experiment: &Experiment| -> Vec<String> {
                experiment.variants[0].backends.iter().map(|backend| backend.name.clone()).collect()
            };
            [names(&found[0]), names(&found[1])]
        };
        let single = "backend: {command: 'one {port}', ready: tcp}";
        let several = "backends: {database: {command: 'two {port}', ready: tcp}}";
        for (shared, own, expected) in [
            (single, several, [ONLY_BACKEND, "database"]),
            (several, single, ["database", ONLY_BACKEND]),
            (
                several,
                "backends: {neighbour: {command: 'three {port}', ready: tcp}}",
                ["database", "neighbour"],
            ),
        ] {
            let text = SEVERAL.replace("question: w", &format!("question: w, {own}"));
            let found = names_of(&format!("{shared}\n{text}"));
            assert_eq!(found, expected.map(|it| vec![it.to_owned()]), "{shared}, {own}");
        }
        let without = SEVERAL.replace("question: w", "question: w, backends: null");
        assert_eq!(names_of(&format!("{single}\n{without}"))[1], [] as [String; 0], "written as none");
        assert!(read(&format!("{single}\n{several}\n{SEVERAL}")).is_err(), "both at the top are two");
    }

    #[test]
    fn a_single_experiment_has_the_name_of_the_file() {
        let text = "question: q\nserver: {command: 'serve {port}'}\nrequest: /\nvariants: {a: {}}\nloads: [{clients: 1, duration: 1s}]\n";
        let found = read(text).unwrap();
        assert_eq!((found.len(), found[0].name.as_str()), (1, "threadcount"));
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        for (from, to, expected, at) in [
            ("question: w", "quesion: w", "an experiment has no key `quesion`", "quesion"),
            ("  read: ", "  'a b': ", "`a b` cannot be the name of an experiment", "'a b'"),
            ("warmup: 1s", "warm: 1s", "an experiment has no key `warm`", "warm"),
        ] {
            let text = SEVERAL.replace(from, to);
            let wrong = read(&text).unwrap_err();
            assert_eq!(wrong.message, expected);
            assert_eq!(&text[wrong.span], at);
        }
        let wrong = read("experiments: [a]\n").unwrap_err();
        assert_eq!(wrong.message, "`experiments` is a map from name to experiment, and this is a list");
        assert_eq!(read("experiments: {}\n").unwrap_err().message, "`experiments` is empty");
    }
}
