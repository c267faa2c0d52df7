//! One word for how far the figures of a result may be trusted.

use threadcount_model::doubt::{Doubt, DoubtReason, TrustGrade};

/// Poor: a doubt ends the trust, because the figures are not the server's own. Fair: the figures are true, but something limits what
/// follows from them. Good: neither.
#[must_use]
pub fn grade(doubts: &[Doubt]) -> TrustGrade {
    match doubts {
        [] => TrustGrade::Good,
        doubts if doubts.iter().any(|doubt| doubt.reason.is_serious()) => TrustGrade::Poor,
        _ => TrustGrade::Fair,
    }
}

/// The doubt that most limits conclusions from fair figures: first the number of runs, then their differences, then what single runs met.
#[must_use]
pub fn limiting(doubts: &[Doubt]) -> Option<&DoubtReason> {
    let order = |reason: &DoubtReason| match reason {
        DoubtReason::SingleRun => 0,
        DoubtReason::RunInterrupted | DoubtReason::NeverRan => 1,
        DoubtReason::NoOverload | DoubtReason::RateMissed { .. } => 2,
        DoubtReason::WideSpread { .. } => 3,
        DoubtReason::UnequallyWarm { .. } => 4,
        DoubtReason::NotSteady { .. } => 5,
        DoubtReason::CompilerBusy { .. } => 7,
        _ => 6,
    };
    doubts.iter().map(|doubt| &doubt.reason).min_by_key(|reason| order(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::metric::Metric;

    fn doubt(reason: DoubtReason) -> Doubt {
        Doubt { variant: "a".to_owned(), load: "c4".to_owned(), runs: 1, reason }
    }

    #[test]
    fn nothing_doubtful_is_good_a_remark_is_fair_and_what_ends_the_trust_is_poor() {
        let wide = doubt(DoubtReason::WideSpread { metric: Metric::Rate, share: 0.2 });
        let overflow = doubt(DoubtReason::AcceptQueueOverflow { overflows: 3 });
        assert_eq!(grade(&[]), TrustGrade::Good);
        assert_eq!(grade(std::slice::from_ref(&wide)), TrustGrade::Fair);
        assert_eq!(grade(&[wide, overflow]), TrustGrade::Poor);
    }

    #[test]
    fn one_run_limits_more_than_a_spread_elsewhere() {
        let wide = doubt(DoubtReason::WideSpread { metric: Metric::Rate, share: 0.2 });
        assert_eq!(limiting(&[wide.clone(), doubt(DoubtReason::SingleRun)]), Some(&DoubtReason::SingleRun));
        assert_eq!(limiting(std::slice::from_ref(&wide)), Some(&wide.reason));
        assert_eq!(limiting(&[]), None);
    }
}
