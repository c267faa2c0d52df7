//! The pairs of variants that are compared under a load.

use super::{Experiment, LoadSpec, PoolSize, Server, Subject, ThreadKind, Threads, Variant};

/// A variant, and the variant by which its figures are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    pub variant: &'a Variant,
    pub other: &'a Variant,
}

impl Pair<'_> {
    fn has_names_of(&self, other: &Pair<'_>) -> bool {
        (&self.variant.name, &self.other.name) == (&other.variant.name, &other.other.name)
    }
}

impl Experiment {
    /// The first variant that runs under the load.
    #[must_use]
    pub fn baseline(&self, load: &LoadSpec) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.runs_under(load))
    }

    /// Pairs of each variant with the baseline, then with the variant in its `compare_with`, and with itself on the first Java.
    #[must_use]
    pub fn pairs<'a>(&'a self, load: &LoadSpec) -> Vec<Pair<'a>> {
        let Some(baseline) = self.baseline(load) else { return Vec::new() };
        let run = || self.variants.iter().filter(|variant| variant.runs_under(load));
        let with_baseline = run()
            .filter(|variant| variant.name != baseline.name)
            .map(|variant| Pair { variant, other: baseline });
        let with_named = run().filter(|variant| variant.name != baseline.name).filter_map(|variant| {
            let name = variant.compare_with.as_ref().filter(|name| **name != baseline.name)?;
            Some(Pair { variant, other: run().find(|other| other.name == *name)? })
        });
        let with_first_java = run().filter_map(|variant| {
            let other = run().find(|other| variant.differs_in_java(other))?;
            let is_first = self.variants.iter().position(|it| it.name == other.name)
                < self.variants.iter().position(|it| it.name == variant.name);
            let is_new = other.name != baseline.name && variant.compare_with.as_ref() != Some(&other.name);
            (is_first && is_new).then_some(Pair { variant, other })
        });
        with_baseline.chain(with_named).chain(with_first_java).collect()
    }

    /// All pairs that are compared.
    #[must_use]
    pub fn all_pairs<'a>(&'a self, load: &LoadSpec) -> Vec<Pair<'a>> {
        self.pairs(load).into_iter().chain(self.pairs_beside(load)).collect()
    }

    /// Virtual threads with each pool of [`Self::kind_pairs`], unless the experiment asks for this pair itself. A session does not wait until
    /// they are decided.
    #[must_use]
    pub fn pairs_beside<'a>(&'a self, load: &LoadSpec) -> Vec<Pair<'a>> {
        let planned = self.pairs(load);
        let of_kind = self.kind_pairs(load).into_iter();
        let turned = of_kind.map(|pair| Pair { variant: pair.other, other: pair.variant });
        turned.filter(|pair| planned.iter().all(|known| !known.has_names_of(pair))).collect()
    }

    /// The variant on virtual threads that the question is about, if all variants run the same server and the baseline uses platform
    /// threads.
    #[must_use]
    pub fn virtual_variant(&self, load: &LoadSpec) -> Option<&Variant> {
        let baseline = self.baseline(load).filter(|it| !it.is_on_virtual_threads())?;
        let alike = baseline.apart_from_its_threads();
        let mut run = self.variants.iter().filter(|variant| variant.runs_under(load));
        run.find(|it| it.is_on_virtual_threads() && it.apart_from_its_threads() == alike)
    }

    /// Pairs of a platform pool with a written size and the first otherwise equal variant on virtual threads: such a pair separates the kind
    /// of thread from the number, if the pool is large enough.
    #[must_use]
    pub fn kind_pairs<'a>(&'a self, load: &LoadSpec) -> Vec<Pair<'a>> {
        let run = || self.variants.iter().filter(|variant| variant.runs_under(load));
        let Some(on_virtual) = run().find(|variant| variant.is_on_virtual_threads()) else {
            return Vec::new();
        };
        let alike = on_virtual.apart_from_its_threads();
        let pools = run().filter(|variant| variant.written_pool(load).is_some());
        let pools = pools.filter(|variant| variant.apart_from_its_threads() == alike);
        pools.map(|variant| Pair { variant, other: on_virtual }).collect()
    }
}

fn threads(variant: &Variant) -> Option<&Threads> {
    variant.server().and_then(Server::threads)
}

impl Variant {
    /// Whether the other variant is the same except for its Java version.
    #[must_use]
    pub fn differs_in_java(&self, other: &Self) -> bool {
        let alike = |it: &Self| Self {
            name: String::new(),
            label: None,
            note: None,
            compare_with: None,
            jdk: None,
            ..it.clone()
        };
        self.jdk != other.jdk && alike(self) == alike(other)
    }

    /// The size of the variant's pool of platform threads, if the experiment sets it.
    #[must_use]
    pub fn written_pool(&self, load: &LoadSpec) -> Option<u32> {
        match threads(self) {
            Some(Threads::Platform(PoolSize::Clients)) => Some(load.clients()),
            Some(Threads::Platform(PoolSize::Fixed(fixed))) => Some(*fixed),
            Some(_) => None,
            None => self.pool_setting().filter(|_| self.kind_setting() == Some(ThreadKind::Platform)),
        }
    }

    /// Whether each request gets a virtual thread, without a limit that we set.
    #[must_use]
    pub fn is_on_virtual_threads(&self) -> bool {
        threads(self).map_or_else(
            || self.kind_setting() == Some(ThreadKind::Virtual) && self.limit_setting().is_none(),
            |it| *it == Threads::Virtual,
        )
    }

    /// The variant without the settings that choose its threads, which are either keys of the server or settings of the application.
    /// Variants that are then equal differ only in their threads.
    fn apart_from_its_threads(&self) -> Self {
        if threads(self).is_some() { self.apart_from_threads() } else { self.apart_from_thread_settings() }
    }

    /// The variant without name, label, note, `compare_with` and threads. Variants that are then equal differ only in their threads.
    #[must_use]
    pub fn apart_from_threads(&self) -> Self {
        let mut alike =
            Self { name: String::new(), label: None, note: None, compare_with: None, ..self.clone() };
        if let Subject::Server(server) = alike.subject {
            alike.subject = server.on_threads(Threads::Virtual).into();
        }
        alike
    }
}
