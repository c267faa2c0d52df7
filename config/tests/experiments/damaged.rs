//! Experiments that are damaged, or written by somebody who tries: each is read, or refused with a mistake that can be printed.

use proptest::collection::vec;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use threadcount_model::damage::{Edit, damaged_text};

static EXPERIMENTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = files.filter(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    texts.map(|file| fs::read_to_string(file).unwrap()).collect()
});

/// Reads it, and prints the mistake as users see it.
fn read(text: &str) -> Option<String> {
    let mistake = threadcount_config::parse("x", "x.yaml", text, false).err()?;
    Some(format!("{:?}", miette::Report::from(mistake)))
}

proptest! {
    #[test]
    fn a_damaged_experiment_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        edits in vec(any::<Edit>(), 1..6),
    ) {
        let _ = read(&damaged_text(&EXPERIMENTS[which.index(EXPERIMENTS.len())], &edits));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read(&text);
    }
}

#[test]
fn a_mistake_far_to_the_right_is_printed_with_its_place() {
    let text = format!("question: \"{}\" x\n", "q".repeat(70_000));
    let printed = read(&text).unwrap();
    assert!(printed.contains("x.yaml:1:70003") || printed.contains("x.yaml:1:70"), "{printed}");
    assert!(printed.len() < 2_000, "{} bytes for one mistake", printed.len());
}
