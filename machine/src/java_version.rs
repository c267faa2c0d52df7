//! The version of a Java runtime, and who built it.

use crate::process_file::printable_name;

/// The longest plausible version or vendor, in bytes.
const LONGEST: usize = 100;

/// A Java runtime's version and vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaVersion {
    /// The feature version: 21, 25.
    pub feature: u16,
    /// The full version, e.g. `25.0.3+9`.
    pub version: String,
    /// The maker of the build, e.g. `Eclipse Adoptium`.
    pub vendor: Option<String>,
}

impl JavaVersion {
    /// Version and vendor in the form used in records: `25.0.3+9 (Eclipse Adoptium)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let vendor = self.vendor.as_ref().map(|vendor| format!(" ({vendor})"));
        format!("{}{}", self.version, vendor.unwrap_or_default())
    }
}

/// The version properties that a runtime reports.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RuntimeProperties {
    /// `java.version`: `25.0.3`.
    pub version: Option<String>,
    /// `java.runtime.version`: `25.0.3+9-LTS`.
    pub runtime_version: Option<String>,
    pub vendor: Option<String>,
}

impl RuntimeProperties {
    /// Parses lines of `NAME="value"` in a JDK's file `release` (JEP 223, JEP 322).
    pub fn in_release_file(text: &str) -> Self {
        let value = |name| value(text, "=", name).map(|it| it.trim_matches('"').to_owned());
        Self {
            version: value("JAVA_VERSION"),
            runtime_version: value("JAVA_RUNTIME_VERSION"),
            vendor: value("IMPLEMENTOR"),
        }
    }

    /// Parses system properties, one per line: `    java.vendor = Somebody`, or `java.vendor=Somebody`.
    pub fn in_lines(text: &str, separator: &str) -> Self {
        let value = |name| value(text, separator, name);
        Self {
            version: value("java.version"),
            runtime_version: value("java.runtime.version"),
            vendor: value("java.vendor"),
        }
    }

    pub const fn is_complete(&self) -> bool {
        self.runtime_version.is_some() && self.vendor.is_some()
    }

    /// Fills in missing properties from another source.
    pub fn or(self, other: Self) -> Self {
        Self {
            version: self.version.or(other.version),
            runtime_version: self.runtime_version.or(other.runtime_version),
            vendor: self.vendor.or(other.vendor),
        }
    }

    /// The version; `None` if the properties contain none.
    pub fn java_version(self) -> Option<JavaVersion> {
        let version = self.runtime_version.or(self.version)?;
        let version = version.strip_suffix("-LTS").unwrap_or(&version).to_owned();
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "+-._~".contains(it);
        let is_version = version.len() <= LONGEST && version.chars().all(is_plain);
        let vendor = self.vendor.filter(|it| it != "N/A" && !it.is_empty() && it.len() <= LONGEST);
        is_version.then_some(())?;
        Some(JavaVersion {
            feature: feature_of(&version)?,
            version,
            vendor: vendor.map(|vendor| printable_name(&vendor)),
        })
    }
}

fn value(text: &str, separator: &str, name: &str) -> Option<String> {
    let mut values = text.lines().filter_map(|line| line.trim().split_once(separator));
    let (_, value) = values.find(|(key, _)| *key == name)?;
    Some(value.trim().to_owned()).filter(|it| !it.is_empty())
}

/// The feature version: the first number of `25.0.3+9` and `26-ea`, the second one before Java 9 (`1.8.0_402`).
fn feature_of(version: &str) -> Option<u16> {
    let mut numbers = version.split(|it: char| !it.is_ascii_digit());
    let first = numbers.next()?.parse().ok()?;
    if first == 1 { numbers.next()?.parse().ok() } else { Some(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_versions_of_all_times_are_understood() {
        let feature = |version| feature_of(version).unwrap();
        assert_eq!(
            [feature("1.8.0_402"), feature("17.0.15+6"), feature("26-ea+3"), feature("25")],
            [8, 17, 26, 25]
        );
        assert_eq!(feature_of("unknown"), None);
    }

    #[test]
    fn a_version_that_could_change_a_terminal_is_none() {
        let named = |version: &str, vendor: &str| {
            RuntimeProperties::in_lines(&format!("java.version={version}\njava.vendor={vendor}\n"), "=")
                .java_version()
                .map(|it| it.describe())
        };
        assert_eq!(named("25.0.3", "Somebody").as_deref(), Some("25.0.3 (Somebody)"));
        assert_eq!(named("25\u{1b}[31m", "Somebody"), None);
        assert_eq!(named("25", "a\u{1b}[31m").as_deref(), Some("25 (a\\u001b[31m)"));
        assert_eq!(named(&"2".repeat(LONGEST + 1), "Somebody"), None);
    }
}
