//! Threads that wait for seconds while later ones go first, in a window without a load.

use crate::finding::{Fact, RunsShowing};
use crate::findings::unfair_waits::{ENOUGH_TURNS, OVERTAKING, TURNS, fairness, who_overtakes};
use crate::words::activity::what;
use crate::words::figure::known;
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::Record;
use threadcount_model::record::turns::Turns;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};

/// The resource that the longest-waiting overtaken thread waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OvertakenWaits {
    /// The turns at that resource.
    pub turns: Turns,
}

/// Least share of the turns at a resource that overtake a waiting thread.
const MOST_TURNS: f64 = 0.5;

/// Finds, without times of requests, a resource where most turns overtake and many of the overtaken threads had waited for over a second.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    // In a queue that is always long, some threads wait for seconds and a few are overtaken.
    let is_the_rule = |it: &Turns| it.overtaking as f64 >= MOST_TURNS * it.turns as f64;
    // If the JVM only gives a monitor's class, there may be several monitors, and nobody overtakes a thread at another one.
    let is_known = |it: &Turns| it.state != ThreadState::Monitor || it.resource.is_some();
    let starves = |it: &&Turns| {
        it.role == ThreadRole::Request
            && is_known(it)
            && is_the_rule(it)
            && it.overtaking_after_1s >= ENOUGH_TURNS
    };
    let all = record.jvm.as_ref()?.turns.iter().filter(starves);
    let worst = all.max_by(|one, other| one.longest_ms.total_cmp(&other.longest_ms))?;
    Some(Fact::OvertakenWaits(OvertakenWaits { turns: worst.clone() }))
}

impl Words for OvertakenWaits {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (state, resource) = (self.turns.state, self.turns.resource.clone());
        let activity = ThreadActivity { state, resource, ..ThreadActivity::default() };
        format!("some starve {}{}", what(&activity), who_overtakes(&self.turns).unwrap_or_default())
    }

    fn advice(&self) -> Option<String> {
        Some(fairness(self.turns.state).to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            (TURNS, Some(self.turns.turns as f64), "turns"),
            (OVERTAKING, Some(self.turns.overtaking as f64), "turns"),
            (
                "of them after one that had waited for a second or longer",
                Some(self.turns.overtaking_after_1s as f64),
                "turns",
            ),
            ("longest wait of one that was overtaken, until then", Some(self.turns.longest_ms), "ms"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, sentence};
    use crate::finding::Finding;
    use threadcount_model::record::jvm::JvmReadings;

    fn overtaking() -> Turns {
        Turns {
            state: ThreadState::Monitor,
            resource: Some("java.lang.Object".to_owned()),
            turns: 40,
            overtaking: 31,
            overtaking_after_1s: 31,
            role: ThreadRole::Request,
            overtaker: Some("shop.Orders.list:31".to_owned()),
            overtaken: Some("shop.Orders.find:42".to_owned()),
            longest_ms: 2_100.0,
        }
    }

    #[test]
    fn in_a_window_those_who_are_overtaken_for_seconds_are_named_and_look_alikes_are_not() {
        type Change = fn(&mut Turns);
        let found = |change: Change| {
            let mut turns = overtaking();
            change(&mut turns);
            let jvm = JvmReadings { turns: vec![turns], ..JvmReadings::default() };
            in_window(&Record { jvm: Some(jvm), ..Record::default() })
        };
        let Some(fact) = found(|_| ()) else { panic!("a finding") };
        let finding = Finding { variant: None, load: None, runs: None, fact };
        assert_eq!(
            sentence(&finding),
            "some starve waiting for the monitor of Object. 31 of 40 turns went to requests that came after one that still \
             waited, for up to 2.10 s. Those at shop.Orders.list:31 overtake those at shop.Orders.find:42"
        );
        assert!(advice(&finding).contains("fair lock"), "{}", advice(&finding));
        let silent: [(&str, Change); 4] = [
            ("they waited for less than a second", |it| it.overtaking_after_1s = 9),
            ("idle workers, of which the last to come is the next to work", |it| {
                it.role = ThreadRole::Application
            }),
            ("a long queue in which some are overtaken", |it| it.overtaking = 19),
            ("monitors of which it is not known which they are", |it| {
                (it.state, it.resource) = (ThreadState::Monitor, None);
            }),
        ];
        for (what, change) in silent {
            assert_eq!(found(change), None, "{what}");
        }
    }
}
