//! Requests that spend their time waiting for something that others hold, by samples of their threads.

mod rule;
mod words;

pub(crate) use rule::{find_after, in_window};

use crate::evidence::connection_pools::FullPool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::wait_profile::ThreadActivity;
use threadcount_model::request_time::TimeShare;

/// Where requests wait longest, by samples of their threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RequestWaits {
    pub part: WaitingPart,
    /// `None`: no load was sent (`watch`).
    pub service_time_ms: Option<f64>,
    /// Threads with a request, on average; `None`: a load was sent, and its service time is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_threads: Option<f64>,
    /// The pool for whose connections they wait; `None`: none, not read, or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<FullPool>,
}

/// One place where requests wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingPart {
    /// What and where.
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// Threads that wait there, on average.
    pub threads: f64,
    /// The time per request; `None`: no load was sent (`watch`).
    #[serde(flatten)]
    pub time: Option<TimeShare>,
}
