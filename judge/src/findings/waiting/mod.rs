//! Requests spend their time waiting for a connection of a pool, a lock, or another service.

mod rule;
mod words;

pub(crate) use rule::{AT_ONE_PLACE, find, in_window};

use crate::evidence::connection_pools::FullPool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::jvm::SiteTotal;

/// The place where requests wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "place", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum WaitingPlace {
    /// A pool of connections.
    Pool(FullPool),
    /// A place in the code.
    Code { site: SiteTotal, waiting_threads: f64, requests_in_flight: f64 },
}
