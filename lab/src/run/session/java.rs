//! Checks that all runs of a variant use one Java. A command may be a script that chooses it, and a package manager may replace it
//! meanwhile.

use threadcount_model::record::{Record, RunFailure};

/// The failure of a run whose JVM differs from that of the variant's first run. `None` if it is the same, or one of them is unknown.
pub(super) fn other_java(before: &[Record], record: &Record) -> Option<RunFailure> {
    let now = record.server.java.as_deref()?;
    let of_variant = |it: &&Record| it.variant == record.variant && it.failure.is_none();
    let (first, java) =
        before.iter().filter(of_variant).find_map(|it| Some((it.position, it.server.java.as_deref()?)))?;
    (java != now).then(|| RunFailure {
        why: format!(
            "its Java is {now}, and that of run {first} is {java}; run all of it again with one Java"
        ),
        ..RunFailure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(variant: &str, position: u32, java: &str) -> Record {
        let mut record = Record { variant: variant.to_owned(), position, ..Record::default() };
        record.server.java = Some(java.to_owned()).filter(|it| !it.is_empty());
        record
    }

    #[test]
    fn a_run_on_another_java_than_those_of_its_variant_has_failed() {
        let before = [run("b", 1, "21"), run("a", 2, ""), run("a", 3, "25.0.3")];
        let why = |record: Record| other_java(&before, &record).map(|it| it.why);
        assert_eq!(
            why(run("a", 4, "25.0.4")).unwrap(),
            "its Java is 25.0.4, and that of run 3 is 25.0.3; run all of it again with one Java"
        );
        assert_eq!(why(run("a", 4, "25.0.3")), None);
        assert_eq!(why(run("a", 4, "")), None);
        assert_eq!(why(run("c", 4, "17")), None, "another variant may have another Java");
    }
}
