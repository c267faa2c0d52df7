//! Requests spend their time waiting for something that others hold, by samples of their threads.

mod rule;
mod words;

pub(crate) use rule::{AT_ONE_PLACE, find_after, in_window};

use crate::evidence::connection_pools::FullPool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::wait_profile::ThreadActivity;
use threadcount_model::request_time::TimeShare;

/// The place where requests wait longest, by samples of their threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RequestWaits {
    pub part: WaitingPart,
    /// `None`: no load was sent (`watch`).
    pub service_time_ms: Option<f64>,
    /// Mean number of threads with a request; `None` if a load was sent, because its service time is the whole then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_threads: Option<f64>,
    /// The pool whose connections they wait for; `None` if there is none, it was not read, or there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<FullPool>,
}

/// One place where requests wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingPart {
    /// The threads' wait and its place.
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// Mean number of threads that wait there.
    pub threads: f64,
    /// Time per request; `None` if no load was sent (`watch`).
    #[serde(flatten)]
    pub time: Option<TimeShare>,
}
