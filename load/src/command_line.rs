//! The command line of this process as text, for records.

use std::env;

/// The words of the command line. A word that is not Unicode can only be a path; replacement characters stand for its other bytes.
#[must_use]
pub fn words() -> Vec<String> {
    env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}
