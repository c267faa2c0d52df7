//! Readings of the application or the JVM that failed.

use threadcount_model::record::jvm::VISIT;

/// The largest number kept: a program may register any number of beans that throw.
const MOST: usize = 20;

/// A reading that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    /// The reason given at its first failure.
    pub why: String,
}

/// The failed readings, each once, in the order of their first failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem line; the probe repeats it at each reading.
    pub fn add(&mut self, what: String, why: String) {
        let has_room = self.0.len() < MOST || what == VISIT;
        if has_room && !self.0.iter().any(|known| known.what == what) {
            self.0.push(Problem { what, why });
        }
    }

    #[must_use]
    pub fn all(&self) -> &[Problem] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_kept_once_with_its_first_reason_and_not_without_end() {
        let mut problems = Problems::default();
        problems.add("shop:type=Pool".to_owned(), "closed".to_owned());
        problems.add("shop:type=Pool".to_owned(), "still closed".to_owned());
        assert_eq!(problems.all(), [Problem { what: "shop:type=Pool".to_owned(), why: "closed".to_owned() }]);
        (0..100).for_each(|number| problems.add(number.to_string(), String::new()));
        assert_eq!(problems.all().len(), MOST);
        problems.add(VISIT.to_owned(), "the disk is full".to_owned());
        assert_eq!(problems.all()[MOST].what, VISIT, "it is the last one");
    }
}
