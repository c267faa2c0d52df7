//! One word for how far the figures of a result may be trusted, and the doubt that lowers it.

use crate::result::ResultDocument;
use threadcount_model::doubt::{Doubt, DoubtReason, TrustGrade};

impl ResultDocument {
    /// Poor: a doubt ends the trust, because the figures are not the server's own. Fair: the figures are true, but something limits
    /// what follows from them. Good: neither.
    #[must_use]
    pub fn grade(&self) -> TrustGrade {
        match self.why_not.as_slice() {
            doubts if !self.trusted || doubts.iter().any(|doubt| doubt.reason.is_serious()) => {
                TrustGrade::Poor
            }
            [] => TrustGrade::Good,
            _ => TrustGrade::Fair,
        }
    }

    /// The doubt that lowers the grade: the most serious, or for fair figures the one that most limits what follows from them.
    #[must_use]
    pub fn lowered_by(&self) -> Option<&Doubt> {
        match self.grade() {
            TrustGrade::Poor => self.why_not.first(),
            _ => self.why_not.iter().min_by_key(|doubt| limit(&doubt.reason)),
        }
    }
}

/// The rank of a reason among those that make figures only fair: the number of runs, differences between runs, incidents in single runs.
const fn limit(reason: &DoubtReason) -> u8 {
    match reason {
        DoubtReason::SingleRun => 0,
        DoubtReason::RunInterrupted | DoubtReason::NeverRan => 1,
        DoubtReason::NoOverload | DoubtReason::RateMissed { .. } => 2,
        DoubtReason::WideSpread { .. } => 3,
        DoubtReason::UnequallyWarm { .. } => 4,
        DoubtReason::NotSteady { .. } => 5,
        DoubtReason::CompilerBusy { .. } => 7,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclude::{Origin, conclude};
    use threadcount_model::experiment::Experiment;
    use threadcount_model::metric::Metric;

    fn result(reasons: &[&DoubtReason]) -> ResultDocument {
        let doubt = |reason: &&DoubtReason| {
            let (variant, load) = ("a".to_owned(), "c4".to_owned());
            Doubt { variant, load, runs: 1, reason: (*reason).clone() }
        };
        let document = conclude(
            &Experiment::unplanned("x", Vec::new(), Vec::new()),
            Vec::new(),
            Vec::new(),
            Origin::default(),
        );
        ResultDocument { trusted: true, why_not: reasons.iter().map(doubt).collect(), ..document }
    }

    #[test]
    fn nothing_doubtful_is_good_a_remark_is_fair_and_what_ends_the_trust_is_poor() {
        let wide = &DoubtReason::WideSpread { metric: Metric::Rate, share: 0.2 };
        let overflow = &DoubtReason::AcceptQueueOverflow { overflows: 3 };
        let grade = |reasons: &[&DoubtReason]| result(reasons).grade();
        assert_eq!(grade(&[]), TrustGrade::Good);
        assert_eq!(grade(&[wide]), TrustGrade::Fair);
        assert_eq!(grade(&[overflow, wide]), TrustGrade::Poor);
        assert_eq!(ResultDocument { trusted: false, ..result(&[]) }.grade(), TrustGrade::Poor);
    }

    #[test]
    fn one_run_limits_more_than_a_spread_elsewhere_and_the_gravest_doubt_more_than_both() {
        let wide = &DoubtReason::WideSpread { metric: Metric::Rate, share: 0.2 };
        let overflow = &DoubtReason::AcceptQueueOverflow { overflows: 3 };
        let lowered_by = |reasons: &[&DoubtReason]| result(reasons).lowered_by().map(|it| it.reason.clone());
        assert_eq!(lowered_by(&[wide, &DoubtReason::SingleRun]), Some(DoubtReason::SingleRun));
        assert_eq!(lowered_by(&[overflow, &DoubtReason::SingleRun]), Some(overflow.clone()));
        assert_eq!(lowered_by(&[]), None);
    }
}
