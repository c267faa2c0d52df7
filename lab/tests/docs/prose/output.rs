//! What the program prints: the sentences in the sources of the product, in the HTML report, and in the experiments.

use super::literals;
use super::pieces::{Kind, Piece};
use super::rules::{self, Breach};
use crate::markdown::ROOT;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use threadcount_model::sample::prose::{IN_OUTPUT, Limits, with_code_as_words};

/// The crates of the product.
const CRATES: [&str; 11] = [
    "cluster", "config", "diagnose", "judge", "lab", "load", "machine", "model", "report", "servers", "stats",
];
/// The template and the scripts of the report.
const ASSETS: &str = "report/assets/report";

/// The breaches of each file.
pub fn found() -> BTreeMap<String, Vec<Breach>> {
    let texts = sources().into_iter().chain(assets()).chain(experiments());
    let limits = Limits { words: IN_OUTPUT, has_dates: true };
    texts.map(|(name, pieces)| (name, rules::breaches(&pieces, limits))).collect()
}

fn sources() -> Vec<(String, Vec<Piece>)> {
    let folders = CRATES.map(|it| Path::new(it).join("src"));
    let read = |file: PathBuf| {
        let source = literals::read(&fs::read_to_string(Path::new(ROOT).join(&file)).unwrap());
        (file, source)
    };
    let files: Vec<_> = folders.iter().flat_map(|it| below(it, "rs")).map(read).collect();
    let modules = files.iter().flat_map(|(file, source)| {
        source.test_modules.iter().map(move |module| literals::place_of_module(file, module))
    });
    let of_tests: BTreeSet<PathBuf> = modules.collect();
    let is_of_tests = |file: &Path| {
        let file = file.with_extension("");
        file.ancestors().any(|it| of_tests.contains(it))
    };
    let kept = files.into_iter().filter(|(file, _)| !is_of_tests(file));
    kept.map(|(file, source)| (file.display().to_string(), of_literals(&source))).collect()
}

fn assets() -> Vec<(String, Vec<Piece>)> {
    let with = |ending: &str, pieces: fn(&str) -> Vec<Piece>| {
        let files = below(Path::new(ASSETS), ending).into_iter();
        let read = move |file: PathBuf| {
            let text = fs::read_to_string(Path::new(ROOT).join(&file)).unwrap();
            (file.display().to_string(), pieces(&text))
        };
        files.map(read).collect::<Vec<_>>()
    };
    let of_script = |text: &str| of_literals(&literals::read(text));
    [with("html", of_template), with("js", of_script)].concat()
}

/// Notes, statements of the study, and what is not testable.
fn experiments() -> Vec<(String, Vec<Piece>)> {
    let read = |file: PathBuf| {
        let experiment = threadcount_config::read(&Path::new(ROOT).join(&file), false).unwrap();
        let notes = experiment.variants.iter().filter_map(|it| it.note.as_ref());
        let statements = experiment.claims.iter().filter_map(|it| it.says.as_ref());
        let unavailable = experiment.unavailable.iter().flat_map(|it| [&it.what, &it.why]);
        let texts = notes.chain(statements).chain(unavailable);
        (file.display().to_string(), texts.filter_map(|it| piece(0, it)).collect())
    };
    below(Path::new("experiments"), "yaml").into_iter().map(read).collect()
}

/// The files below a folder with this ending, relative to the repository.
fn below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        if Path::new(ROOT).join(&path).is_dir() {
            found.extend(below(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
    found
}

/// A piece for each line of a literal, without commands.
fn of_literals(source: &literals::Source) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for literal in &source.literals {
        let text = without_placeholders(&literal.text);
        let mut is_continued = false;
        for line in text.lines() {
            let is_command = is_continued || line.trim_start().starts_with("threadcount ");
            is_continued = is_command && line.ends_with('\\');
            pieces.extend((!is_command).then(|| piece(literal.line, line)).flatten());
        }
    }
    pieces
}

fn piece(line: usize, text: &str) -> Option<Piece> {
    let text = with_code_as_words(text.trim());
    is_for_people(&text).then_some(Piece { line, kind: Kind::Text, text, characters: 0 })
}

/// Two words or more, and no script of a shell.
fn is_for_people(text: &str) -> bool {
    let is_word = |word: &&str| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        !bare.is_empty() && bare.chars().all(|it| it.is_alphabetic() || "-'’".contains(it))
    };
    text.split_whitespace().filter(is_word).count() > 1 && !text.contains("||") && !text.contains("&&")
}

/// `{name}` becomes one word, and so does what stands in braces within braces. A text with unequal braces stays.
fn without_placeholders(text: &str) -> String {
    if text.matches('{').count() != text.matches('}').count() {
        return text.to_owned();
    }
    let (mut kept, mut depth) = (String::with_capacity(text.len()), 0_usize);
    for sign in text.chars() {
        match sign {
            '{' => {
                if depth == 0 {
                    kept.push('0');
                }
                depth += 1;
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(sign),
            _ => {}
        }
    }
    kept
}

/// Tags that stand within a sentence.
const WITHIN_SENTENCES: [&str; 5] = ["strong", "small", "sup", "em", "i"];

/// The sentences of an HTML template: text between tags, and what is read aloud or shown beside the pointer.
fn of_template(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (before, line) in template.lines().enumerate() {
        let line = without(&without(line, "{%", "%}", ""), "{{", "}}", "0");
        let line = line.replace("<code>", "`").replace("</code>", "`");
        let mut text = String::new();
        let mut texts = Vec::new();
        let mut parts = line.split('<');
        text += parts.next().unwrap_or_default();
        for part in parts {
            let (tag, behind) = part.split_once('>').unwrap_or((part, ""));
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            if !WITHIN_SENTENCES.contains(&name) {
                texts.push(std::mem::take(&mut text));
            }
            for attribute in ["aria-label=\"", "title=\""] {
                let value = tag.split_once(attribute).and_then(|(_, it)| it.split_once('"'));
                texts.extend(value.map(|(value, _)| value.to_owned()));
            }
            text += behind;
        }
        texts.push(text);
        pieces.extend(texts.iter().filter_map(|it| piece(before + 1, it)));
    }
    pieces
}

/// With another text for what stands between two marks on this line.
fn without(line: &str, from: &str, to: &str, instead: &str) -> String {
    let mut parts = line.split(from);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += instead;
        kept += part.split_once(to).map_or("", |(_, behind)| behind);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: Vec<Piece>) -> Vec<(usize, String)> {
        pieces.into_iter().map(|it| (it.line, it.text)).collect()
    }

    #[test]
    fn what_a_source_prints_is_read_line_by_line_and_a_placeholder_is_one_word() {
        let source = r#"fn f() {
    print!("{name} {n:>4} of {} runs; write `threads: {{virtual: {{bound: 200}}}}`\nand go on", f("key"));
    let _ = ["Content-Type: text/html", "read -r group || exit 0; kill -s KILL", "a_key and_another", "{ \"unequal: it"];
    const EXAMPLES: &str = "Example:\n  One of them: it is short:\n    threadcount run x: y: \\\n      --quick as told";
}"#;
        let found = texts(of_literals(&literals::read(source)));
        let expected = [
            (2, "0 0 of 0 runs; write `threads:_0`"),
            (2, "and go on"),
            (3, "{ \"unequal: it"),
            (4, "One of them: it is short:"),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_template_is_read_without_its_tags() {
        let template = "<p class=\"reading\">{% if a %}Two of {{ load.words }}, <strong>in</strong> <code>a b</code>.{% endif %}</p><i></i>\n\
            <svg aria-label=\"{{ name }} of each run\"><title>One more text</title>{{- flame(rows) }}\n<td>word</td>";
        let expected = [(1, "Two of 0, in `a_b`."), (2, "0 of each run"), (2, "One more text")];
        let expected = expected.map(|(line, text)| (line, text.to_owned()));
        assert_eq!(texts(of_template(template)), expected);
    }

    #[test]
    fn each_kind_of_output_is_read() {
        let [sources, assets, experiments] = [sources(), assets(), experiments()].map(BTreeMap::from_iter);
        for (texts, name, part) in [
            (&sources, "servers/src/server_process.rs", "Its log is 0"),
            (&sources, "judge/src/words/reasons.rs", "no overload on this machine"),
            (&assets, "report/assets/report/page.html", "Skip to the figures"),
            (&assets, "report/assets/report/figures.js", "The highest reading of each second."),
            (&experiments, "experiments/tomcat-blocking.yaml", "Tomcat's default, 200 platform threads"),
        ] {
            assert!(texts[name].iter().any(|it| it.text.contains(part)), "{name}: {part}");
        }
        for name in ["lab/src/cli/summary/tests.rs", "model/src/sample/prose.rs", "report/src/sample.rs"] {
            assert!(Path::new(ROOT).join(name).is_file() && !sources.contains_key(name), "{name}");
        }
    }
}
