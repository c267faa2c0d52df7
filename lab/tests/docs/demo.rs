//! The output in the README: what `./dev demo` prints, in the size that it promises.

const README: &str = include_str!("../../../README.md");

/// Without the command and the lines of the build.
fn demo() -> Vec<&'static str> {
    let block = README.split("<!-- demo: ").nth(1).unwrap().split("<!-- end of demo -->").next().unwrap();
    let code = block.split("```").nth(1).unwrap();
    code.lines().skip_while(|line| *line != "...").skip(1).collect()
}

#[test]
fn the_demo_has_at_most_22_lines_of_100_columns() {
    let lines = demo();
    assert!((10..=22).contains(&lines.len()), "{} lines: {lines:#?}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{lines:#?}");
    let labels = ["Answer ", "Why ", "Trust ", "Study ", "Report "];
    let place = |label: &str| lines.iter().position(|line| line.starts_with(label));
    let places: Vec<usize> = labels.iter().map(|label| place(label).expect(label)).collect();
    assert!(places.is_sorted(), "{lines:#?}");
}
