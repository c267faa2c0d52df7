//! A finding: one explained fact about a variant under a load, with the figures that show it. [`findings`](crate::findings) lists all kinds.

pub use crate::findings::{Fact, Rule};

use crate::evidence::variant_runs::VariantRuns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::experiment::Experiment;
use threadcount_model::record::Record;

/// One explained fact about a variant under a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The variant; `None` if the finding is about the whole experiment.
    pub variant: Option<String>,
    /// The load; `None` if the finding is about all loads.
    pub load: Option<String>,
    /// How many of the complete runs show the finding; `None` for a window without runs (`watch`).
    pub runs: Option<RunsShowing>,
    /// The fact, with its figures.
    #[serde(flatten)]
    pub fact: Fact,
}

impl Finding {
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.fact.rule()
    }

    /// Whether requests wait for what the finding names.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        self.rule().limit_place().is_some()
    }
}

/// How many of the complete runs show a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RunsShowing {
    pub showing: u32,
    pub complete: u32,
}

impl RunsShowing {
    pub(crate) const fn new(showing: usize, complete: usize) -> Self {
        Self { showing: showing as u32, complete: complete as u32 }
    }
}

type Find = fn(&VariantRuns<'_>) -> Option<Finding>;
type FindBeside = fn(&Experiment, &VariantRuns<'_>, &[Record]) -> Option<Finding>;
type FindAfter = fn(&VariantRuns<'_>, &[Finding]) -> Option<Finding>;
type FindInWindow = fn(&Record) -> Option<Fact>;
type FindAll = fn(&VariantRuns<'_>, &[Finding]) -> Vec<Finding>;
type FindAllInWindow = fn(&Record) -> Vec<Fact>;

/// The place where requests wait for a limit. A limit at any of these places shows that the clients are not the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitPlace {
    /// Outside the server, at the load generator or in the network, so that a request's time tells nothing about the server's threads.
    Outside,
    /// Before the server accepts their connection.
    Before,
    /// In the server: this keeps its threads from running more requests.
    Inside,
}

/// The ways in which a kind of finding can be found.
#[derive(Clone, Copy)]
pub(crate) struct Finders {
    /// Searches the runs of one variant under one load.
    pub find: Option<Find>,
    /// Searches those runs with the records of the other variants at hand.
    pub find_beside: Option<FindBeside>,
    /// Searches those runs with the findings of the earlier rules at hand.
    pub find_after: Option<FindAfter>,
    /// Searches a window of a running JVM, without figures of requests.
    pub in_window: Option<FindInWindow>,
    /// Finds several kinds at once in those runs, with the findings of the earlier rules at hand.
    pub find_all: Option<FindAll>,
    /// Finds the same kinds in a window of a running JVM.
    pub all_in_window: Option<FindAllInWindow>,
}

impl Finders {
    pub const NONE: Self = Self {
        find: None,
        find_beside: None,
        find_after: None,
        in_window: None,
        find_all: None,
        all_in_window: None,
    };
}

/// Declares [`Rule`] and [`Fact`], and ties each kind of finding to its finders and its words.
macro_rules! findings {
    ($($(#[$doc:meta])* $name:ident($figures:ty) $(is $place:ident)? { $($way:ident: $find:path),* })*) => {
        /// Name of a kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule { $($(#[$doc])* $name,)* }

        /// A finding with its figures.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "rule", content = "figures", rename_all = "kebab-case")]
        pub enum Fact { $($(#[$doc])* $name($figures),)* }

        impl Rule {
            /// The place where requests wait for this limit; `None` for findings that limit nothing.
            pub(crate) const fn limit_place(self) -> Option<LimitPlace> {
                let places: &[LimitPlace] = match self { $(Self::$name => &[$(LimitPlace::$place)?],)* };
                places.first().copied()
            }
        }

        impl Fact {
            #[must_use]
            pub const fn rule(&self) -> Rule {
                match self { $(Self::$name(_) => Rule::$name,)* }
            }

            pub(crate) const fn words(&self) -> &dyn Words {
                match self { $(Self::$name(figures) => figures,)* }
            }
        }

        /// All finders, in the order in which they run and in which findings stand in a result.
        pub(crate) const FINDERS: &[Finders] = &[$(Finders { $($way: Some($find),)* ..Finders::NONE },)*];
    };
}
pub(crate) use findings;
