//! "Did you mean": the nearest of the known words.

/// The known word nearest to what was written, if one is close enough to be a typing mistake.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let close_enough = (written.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&written.to_lowercase(), &word.to_lowercase()), word))
        .filter(|&(distance, word)| distance <= close_enough || is_part_of(written, word))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

fn is_part_of(written: &str, word: &str) -> bool {
    written.len() >= 3 && word.contains(written)
}

/// `did you mean `x`? ` followed by all that may be written.
#[must_use]
pub fn advice<'a>(written: &str, what: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let all = known.clone().into_iter().collect::<Vec<_>>().join(", ");
    match nearest(written, known) {
        Some(word) => format!("did you mean `{word}`? {what}: {all}"),
        None => format!("{what}: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        assert_eq!(nearest("varaints", ["variants", "loads"]), Some("variants"));
        assert_eq!(nearest("run", ["runs", "request"]), Some("runs"));
        assert_eq!(nearest("blocking", ["tomcat-blocking", "tomcat-hello"]), Some("tomcat-blocking"));
    }

    #[test]
    fn a_word_that_is_far_from_all_finds_nothing() {
        assert_eq!(nearest("colour", ["variants", "loads", "jvm"]), None);
    }

    #[test]
    fn the_advice_lists_all_that_may_be_written() {
        assert_eq!(advice("jdkk", "keys", ["jdk", "jvm"]), "did you mean `jdk`? keys: jdk, jvm");
        assert_eq!(advice("colour", "keys", ["jdk", "jvm"]), "keys: jdk, jvm");
    }
}
