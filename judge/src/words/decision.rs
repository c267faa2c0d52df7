//! The decision on a variant as the first word of an answer.

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
        Decision::TooSmall => "No difference that matters",
        Decision::OnlyTheNumber(_) => "Only the number of threads",
        Decision::NotKnownYet => "Not known yet",
    }
}

/// Whether yes answers the question where the variant is better: `Do virtual threads help?`, but not `Are they slower?` or `What changes?`.
#[must_use]
pub fn is_yes_or_no(question: &str) -> bool {
    let mut words = question.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let is_asked = words
        .next()
        .is_some_and(|first| ["do", "does", "is", "are", "can", "will"].contains(&first.as_str()));
    is_asked && words.any(|word| ["help", "helps", "faster", "better"].contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_yes_or_no;

    #[test]
    fn yes_answers_a_question_for_help_and_no_question_for_harm() {
        assert!(
            is_yes_or_no("Do virtual threads help app.jar?") && is_yes_or_no("Are virtual threads faster?")
        );
        assert!(!is_yes_or_no("Are virtual threads slower than the pool?"));
        assert!(!is_yes_or_no("What does help?"));
    }
}
