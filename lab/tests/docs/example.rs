//! Checks the output in the README: a summary in the promised size, which the tutorial about reports quotes.

use crate::markdown::Page;
use std::path::Path;

const README: &str = include_str!("../../../README.md");

/// The lines of the example, without the command and the build's output.
fn example() -> Vec<&'static str> {
    let block =
        README.split("<!-- example: ").nth(1).unwrap().split("<!-- end of example -->").next().unwrap();
    let code = block.split("```").nth(1).unwrap();
    code.lines().skip_while(|line| *line != "...").skip(1).collect()
}

#[test]
fn the_example_has_at_most_22_lines_of_100_columns() {
    let lines = example();
    assert!((10..=22).contains(&lines.len()), "{} lines: {lines:#?}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{lines:#?}");
    let labels = ["Answer ", "Why ", "Trust ", "Study ", "Report "];
    let place = |label: &str| lines.iter().position(|line| line.starts_with(label));
    let places: Vec<usize> = labels.iter().map(|label| place(label).expect(label)).collect();
    assert!(places.is_sorted(), "{lines:#?}");
}

#[test]
fn the_tutorial_of_a_report_quotes_each_line_of_the_example_in_its_order() {
    let page = Page::read(Path::new("docs/tutorials/read-a-report.md"));
    let quotes = page.blocks.iter().filter(|it| it.language.is_empty());
    let quoted: Vec<&str> = quotes.flat_map(|it| it.text.text.lines()).collect();
    let printed: Vec<&str> = example().into_iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(quoted, printed, "`./dev screenshot` writes both");
}
