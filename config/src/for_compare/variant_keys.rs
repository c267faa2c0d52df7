//! The variants of a service as keys of a file.

use super::asked::Surroundings;
use super::flow::{Entry, entry, list, map, scalar};
use std::path::Path;

/// The variants of a comparison and the keys that they share.
pub(super) struct Variants {
    /// Keys of `server` that all variants share.
    pub server: Vec<Entry>,
    /// The variable by which the server gets its port.
    pub port_variable: Option<&'static str>,
    /// The variants; the first is the baseline.
    pub each: Vec<VariantKeys>,
}

/// The keys that a variant adds to the keys at the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VariantKeys {
    pub name: String,
    pub note: Option<String>,
    /// The value of `threads` in YAML.
    pub threads: Option<String>,
    pub compare_with: Option<String>,
    pub server: Vec<Entry>,
    pub jdk: Option<u16>,
    pub env: Vec<Entry>,
    /// The reason why the variant cannot run here. A file does not contain it.
    pub skipped: Option<String>,
}

impl VariantKeys {
    pub fn new(name: &str, note: &str) -> Self {
        Self { name: name.to_owned(), note: Some(note.to_owned()), ..Self::default() }
    }

    /// As many platform threads as clients, if the default pool is smaller: to separate the kind of thread from the number.
    pub fn sized() -> Self {
        Self::new("platform-sized", "as many platform threads as clients")
    }

    /// Virtual threads with a limit, compared with unlimited virtual threads.
    pub fn limited(limit: u32, how: &str) -> Self {
        let note = format!("virtual threads, at most {limit} requests at once ({how})");
        Self { compare_with: Some("virtual".to_owned()), ..Self::new("virtual-bounded", &note) }
    }

    /// The variant's map, line by line.
    pub fn entries(&self) -> Vec<Entry> {
        let text = |key: &str, value: &Option<String>| value.as_ref().map(|value| entry(key, scalar(value)));
        let keys = [
            text("note", &self.note),
            self.threads.as_ref().map(|threads| entry("threads", threads)),
            text("compare_with", &self.compare_with),
            server(&self.server),
            self.jdk.map(|jdk| entry("jdk", jdk.to_string())),
            environment(&self.env),
        ];
        keys.into_iter().flatten().collect()
    }
}

pub(super) fn server(keys: &[Entry]) -> Option<Entry> {
    (!keys.is_empty()).then(|| entry("server", map(keys)))
}

pub(super) fn environment(variables: &[Entry]) -> Option<Entry> {
    let variables: Vec<Entry> = variables.iter().map(|(name, value)| (scalar(name), scalar(value))).collect();
    (!variables.is_empty()).then(|| entry("env", map(&variables)))
}

/// The jar, as a file names it.
pub(super) fn jar(jar: &Path) -> Entry {
    entry("jar", scalar(&jar.display().to_string()))
}

/// The arguments of the jar.
pub(super) fn arguments(surroundings: &Surroundings) -> Option<Entry> {
    surroundings.args.as_ref().filter(|args| !args.is_empty()).map(|args| entry("args", scalar(args)))
}

/// The settings of the JVM and its process besides the server.
pub(super) fn surroundings(around: &Surroundings) -> Vec<Entry> {
    let text = |key: &str, value: &Option<String>| value.as_ref().map(|value| entry(key, scalar(value)));
    let flags = || entry("jvm", list(around.jvm.iter().map(|flag| scalar(flag))));
    let keys = [
        (!around.jvm.is_empty()).then(flags),
        around.workdir.as_ref().map(|folder| entry("workdir", scalar(&folder.display().to_string()))),
        text("before", &around.before),
        text("after", &around.after),
    ];
    keys.into_iter().flatten().collect()
}
