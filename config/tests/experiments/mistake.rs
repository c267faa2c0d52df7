//! A test of how a user sees a mistake.

#[test]
fn a_mistake_far_to_the_right_is_printed_with_its_place() {
    let text = format!("question: \"{}\" x\n", "q".repeat(70_000));
    let mistake = threadcount_config::parse("x", "x.yaml", &text, false).unwrap_err();
    let printed = format!("{:?}", miette::Report::from(mistake));
    assert!(printed.contains("x.yaml:1:70003") || printed.contains("x.yaml:1:70"), "{printed}");
    assert!(printed.len() < 2_000, "{} bytes for one mistake", printed.len());
}
