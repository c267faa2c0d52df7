//! Questions about a report.

use super::LoadReport;
use crate::failure::FailureCause;
use crate::health::Warning;
use crate::merge::MergeNote;
use crate::setting::SettingName;

impl LoadReport {
    /// The number of responses of any status; for an external load tool that does not count them, the number of successes.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.status.values().sum::<u64>().max(self.requests.ok)
    }

    /// The number of requests that failed for this cause.
    #[must_use]
    pub fn failures_by(&self, cause: FailureCause) -> u64 {
        self.failure_causes.get(&cause).copied().unwrap_or_default()
    }

    /// Whether each connection waited for its response before it sent again.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.plan.mode == "closed"
    }

    /// The warnings about this load in particular, without the one that is true of every closed loop.
    pub fn own_warnings(&self) -> impl Iterator<Item = &str> {
        let ids = self.warning_ids.iter().map(Some).chain(std::iter::repeat(None));
        let is_own = |id: Option<&String>| id.is_none_or(|it| it != Warning::ClosedLoop.id());
        self.warnings.iter().zip(ids).filter(move |(_, id)| is_own(*id)).map(|(text, _)| text.as_str())
    }

    /// Puts the notes about processes before the other warnings.
    pub fn add_notes(&mut self, notes: &[MergeNote], name: SettingName) {
        self.warnings.splice(0..0, notes.iter().map(|it| it.sentence(name)));
        self.warning_ids.splice(0..0, notes.iter().map(|it| it.id().to_owned()));
        let bottleneck = notes.iter().find(|it| matches!(it, MergeNote::Bottleneck { .. }));
        if let Some(note) = bottleneck {
            self.generator.bottleneck = true;
            self.generator.why = Some(note.sentence(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_found_by_its_name_whatever_its_words_are() {
        let text = r#"{"no-port-left": 3, "unexpected-status:503": 4}"#;
        let mut report = LoadReport::default();
        report.failures.insert("in other words".to_owned(), 7);
        report.failure_causes = serde_json::from_str(text).unwrap();
        assert_eq!(report.failures_by(FailureCause::NoPortLeft), 3);
        assert_eq!(report.failures_by(FailureCause::UnexpectedStatus(503)), 4);
        assert_eq!(report.failures_by(FailureCause::UnexpectedStatus(500)), 0);
    }

    #[test]
    fn only_the_warning_of_every_closed_loop_is_not_the_loads_own() {
        let mut report = LoadReport {
            warnings: ["of every closed loop", "late"].map(str::to_owned).to_vec(),
            warning_ids: ["closed-loop", "generator-late"].map(str::to_owned).to_vec(),
            ..LoadReport::default()
        };
        assert_eq!(report.own_warnings().collect::<Vec<_>>(), ["late"]);
        report.add_notes(&[MergeNote::Skew { ms: 70.0 }], |_| "--start-at");
        let own: Vec<_> = report.own_warnings().collect();
        assert!(own.len() == 2 && own[0].contains("a common start (--start-at)"), "{own:?}");
        assert_eq!(report.warning_ids, ["starts-apart", "closed-loop", "generator-late"]);
    }
}
