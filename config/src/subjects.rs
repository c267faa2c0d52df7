//! Everything that a variant can measure, by the key that names it.

use threadcount_model::experiment::{BenchmarkMethod, RemoteTarget, Server, Subject};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_servers::keys::{CheckedKey, Keys, WrittenServer};
use threadcount_servers::workload::jmh;
use threadcount_servers::{kinds, target};

/// A kind of server, a server that runs elsewhere, or the microbenchmarks.
pub(super) enum Kind {
    Server(Keys<Server>),
    Benchmark(Keys<BenchmarkMethod>),
    Target(Keys<RemoteTarget>),
}

/// All kinds, in the order of messages.
pub(super) fn kinds() -> Vec<Kind> {
    let others = [Kind::Benchmark(jmh::keys()), Kind::Target(target::keys())];
    kinds::keys().into_iter().map(Kind::Server).chain(others).collect()
}

/// The kind with this name.
pub(super) fn named(name: &str) -> Option<Kind> {
    kinds().into_iter().find(|kind| kind.name() == name)
}

impl Kind {
    /// The key that names the kind.
    pub(super) const fn key(&self) -> CheckedKey {
        match self {
            Self::Server(keys) => keys.kind,
            Self::Benchmark(keys) => keys.kind,
            Self::Target(keys) => keys.kind,
        }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.key().name()
    }

    /// The plural noun in lists of needs.
    pub(super) const fn plural(&self) -> &'static str {
        match self {
            Self::Server(keys) => keys.plural,
            Self::Benchmark(keys) => keys.plural,
            Self::Target(keys) => keys.plural,
        }
    }

    /// The other keys that the kind understands.
    pub(super) const fn own(&self) -> &'static [CheckedKey] {
        match self {
            Self::Server(keys) => keys.own,
            Self::Benchmark(keys) => keys.own,
            Self::Target(keys) => keys.own,
        }
    }

    pub(super) fn read(&self, written: &WrittenServer<'_>) -> Result<Subject, Diagnostic> {
        Ok(match self {
            Self::Server(keys) => Subject::Server((keys.read)(written)?),
            Self::Benchmark(keys) => Subject::Benchmark { benchmark: (keys.read)(written)? },
            Self::Target(keys) => Subject::Target((keys.read)(written)?),
        })
    }
}
