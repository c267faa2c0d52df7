//! The first word of an answer.

use threadcount_stats::decision::Decision;

/// The decision without a full stop: as the answer to a question that asks for yes or no, otherwise about the variant.
#[must_use]
pub const fn word(decision: Decision, is_yes_or_no: bool) -> &'static str {
    match decision {
        Decision::Yes if is_yes_or_no => "Yes",
        Decision::Yes => "Better",
        Decision::No if is_yes_or_no => "No",
        Decision::No => "Worse",
        Decision::Trade => "A trade",
        Decision::NoDifference => "No difference",
        Decision::TooSmall => "Less than 5 %",
        Decision::OnlyTheNumber(_) => "Only the number of threads",
        Decision::NotKnownYet => "Not known yet",
    }
}

/// Whether a question asks for yes or no: `Do virtual threads help?` does, `What do they change?` does not.
#[must_use]
pub fn is_yes_or_no(question: &str) -> bool {
    const VERBS: [&str; 10] = ["Do", "Does", "Did", "Is", "Are", "Can", "Will", "Would", "Has", "Have"];
    question.split_whitespace().next().is_some_and(|first| VERBS.contains(&first))
}
