//! Every report, made from documents whose figures are known.

mod common;

use threadcount::report::terminal::{TerminalStyle, paragraph, terminal};

#[test]
fn the_terminal_summary_reads_well_at_132_columns() {
    let text = terminal(
        &common::demo(),
        Some("out/tomcat-blocking/report.html"),
        TerminalStyle { width: 132, colour: false },
    );
    assert!(text.lines().all(|line| line.chars().count() <= 132), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_terminal_summary_is_broken_at_80_columns() {
    let text = terminal(&common::demo(), None, TerminalStyle { width: 80, colour: false });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_terminal_summary_says_first_that_figures_cannot_be_trusted() {
    let mut document = common::demo();
    document.trusted = false;
    document.why_not = vec!["the generator used 99 % of its core".to_owned()];
    let text = terminal(&document, None, TerminalStyle { width: 100, colour: false });
    let verdict = text.find("No verdict").unwrap();
    assert!(verdict < text.find("answers").unwrap(), "{text}");
    assert!(paragraph(&document).contains("No verdict"), "{}", paragraph(&document));
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let mut document = common::hostile();
    document.experiment.question.push_str("\u{1b}]0;owned\u{7}\u{202e}");
    let text = terminal(&document, Some("x"), TerminalStyle { width: 100, colour: false });
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}

#[test]
fn colours_do_not_change_the_text() {
    let plain = terminal(&common::demo(), None, TerminalStyle { width: 100, colour: false });
    let coloured = terminal(&common::demo(), None, TerminalStyle { width: 100, colour: true });
    assert!(coloured.contains('\u{1b}'));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn the_paragraph_says_the_same_in_one_line() {
    insta::assert_snapshot!(paragraph(&common::demo()));
}

#[test]
#[ignore = "writes pages to look at: PAGES=dir cargo test -p threadcount --test report -- --ignored"]
fn pages_to_look_at() {
    let dir = std::path::PathBuf::from(std::env::var("PAGES").unwrap());
    for (name, document) in [("demo", common::demo()), ("big", common::big()), ("hostile", common::hostile())]
    {
        std::fs::write(dir.join(format!("{name}.html")), threadcount::report::html::html(&document).unwrap())
            .unwrap();
    }
}
