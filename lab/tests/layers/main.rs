//! The shape of `lab/` and `load/`: a layer imports only layers below it, and no files import each other in a circle.
//!
//! docs/architecture.md has the rules and a picture. A file may use what the `mod.rs` of its own folder, or of a folder
//! above it, defines itself; a name that such a `mod.rs` only passes on belongs to the file that defines it. Tests may
//! import what they like.

#![allow(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod code;
mod house;
mod paths;

use house::House;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// Read once: there are many files.
static LAB_HOUSE: LazyLock<House> = LazyLock::new(|| House::new(&sources("src")));

/// The folders of `lab/src`, from the top to the bottom.
const LAB: [&str; 16] = [
    "cli", "watch", "history", "report", "diagnose", "run", "findings", "stats", "config", "workload",
    "server", "probe", "cluster", "host", "parse", "model",
];

/// The modules of `load/src`, from the top to the bottom.
const LOAD: [&str; 32] = [
    "export", "merge", "report", "run", "collect", "engine", "secure", "http2", "health", "schedule",
    "features", "driver", "resolve", "error", "limits", "endpoint", "outcome", "pods", "recorder", "plan",
    "request", "response", "http1", "log", "counts", "slowest", "times", "random", "share", "failure",
    "priority", "clock",
];

#[test]
fn a_layer_of_lab_imports_only_layers_below_it() {
    let lab = &LAB_HOUSE;
    assert_eq!(lab.inline_modules(), [] as [&str; 0], "a module is a file");
    assert_eq!(lab.upward(&LAB), [] as [&str; 0]);
}

#[test]
fn a_layer_of_load_imports_only_layers_below_it() {
    let load = House::new(&sources("../load/src"));
    assert_eq!(load.inline_modules(), [] as [&str; 0], "a module is a file");
    assert_eq!(load.upward(&LOAD), [] as [&str; 0]);
}

#[test]
fn no_files_of_lab_import_each_other_in_a_circle() {
    assert_eq!(LAB_HOUSE.circles(), [] as [&str; 0]);
}

#[test]
fn no_files_of_load_import_each_other_in_a_circle() {
    assert_eq!(House::new(&sources("../load/src")).circles(), [] as [&str; 0]);
}

#[test]
fn a_planted_import_of_a_layer_above_is_found_however_it_is_written() {
    for import in [
        "use crate::report::reasons;",
        "use crate::{model::metric::Metric, report::{csv, reasons}};",
        "fn planted() { let _ = crate::report::reasons::plain(1.0); }",
        "use super::super::report::reasons::plain as _;",
        "pub(crate) use crate::report::reasons::*;",
    ] {
        let found = lab_with("stats/planted.rs", import).upward(&LAB);
        assert!(
            found.contains(&"stats/planted.rs imports report/reasons.rs".to_owned()),
            "{import}: {found:?}"
        );
    }
    let passed_on = lab_with("model/planted.rs", "use crate::report::figures;").upward(&LAB);
    assert_eq!(passed_on, ["model/planted.rs imports report/mod.rs"], "although model defines it");
    assert_eq!(lab_with("attic/planted.rs", "").upward(&LAB), ["attic/planted.rs is in no layer"]);
}

#[test]
fn a_planted_import_in_a_test_a_comment_or_a_text_is_none() {
    for text in [
        "#[cfg(test)]\nmod tests {\n    use crate::report::reasons;\n    fn f() { let _ = '}'; }\n}",
        "#[cfg(test)]\npub(crate) fn sample() -> crate::report::Format { todo!() }",
        "//! [`crate::report::reasons`]\n/* use crate::report::reasons; */",
        "const A: &str = \"use crate::report::reasons; \\\" crate::report::csv::x\";",
        "const A: &str = r#\"\" crate::report::csv::x\"#;",
    ] {
        assert_eq!(lab_with("stats/planted.rs", text).upward(&LAB), [] as [&str; 0], "{text}");
    }
    let after = "#[cfg(test)]\nmod tests { fn f() { let _ = \"}\"; } }\nuse crate::report::reasons;";
    assert_eq!(lab_with("stats/planted.rs", after).upward(&LAB).len(), 1, "what follows a test counts");
}

#[test]
fn a_planted_circle_is_found_also_through_a_name_that_a_mod_passes_on() {
    let circle = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
        House::new(&files).circles()
    };
    assert_eq!(
        circle(&[
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "fn c(_: crate::a::A) {}")
        ]),
        ["a.rs -> b.rs -> c.rs -> a.rs"]
    );
    let passed_on = "mod left;\nmod right;\npub use left::Left;\nuse right::Right;";
    assert_eq!(
        circle(&[
            ("x/mod.rs", passed_on),
            ("x/left.rs", "use super::right::R;"),
            ("x/right.rs", "use super::Left;")
        ]),
        ["x/left.rs -> x/right.rs -> x/left.rs"]
    );
    let of_its_own = "mod left;\nmod right;\nuse left::Left;\nstruct Shared;";
    assert_eq!(
        circle(&[
            ("x/mod.rs", of_its_own),
            ("x/left.rs", "use super::Shared;"),
            ("x/right.rs", "use super::left::L;")
        ]),
        [] as [&str; 0]
    );
    let runs = sources("src").into_iter().find(|(name, _)| name == "stats/runs.rs").unwrap().1;
    let lab = lab_with("stats/runs.rs", &format!("{runs}\nuse super::trust::doubt_about;\n"));
    let circles = lab.circles();
    let has_both = |it: &String| it.contains("stats/runs.rs -> stats/trust.rs");
    assert!(circles.len() == 1 && circles.iter().all(has_both), "{circles:?}");
}

/// The files of lab, and one more.
fn lab_with(name: &str, text: &str) -> House {
    let mut lab = LAB_HOUSE.clone();
    lab.add(name, text);
    lab
}

/// All Rust files below a folder of this crate, by their names in it.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut folders, mut sources) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                sources.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(sources.len() > 20, "{} has no sources", root.display());
    sources.sort();
    sources
}
