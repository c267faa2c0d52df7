//! Servers behind the server.

use super::Server;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the backend that the key `backend` describes.
pub const ONLY: &str = "backend";

/// A server behind the server, a fresh process for each run. Its cost does not count towards the variant's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Backend {
    /// The backend's role, e.g. `database`.
    pub name: String,
    pub server: Server,
    /// The file names the readiness path, rather than leaving it to be derived from the requests.
    pub ready_is_written: bool,
    /// Java feature version, the same for all variants.
    pub jdk: Option<u16>,
    pub jvm: Vec<String>,
    /// Environment variables that are added for the backend.
    pub env: BTreeMap<String, String>,
    /// The most connections that the backend accepts; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_limit: Option<u32>,
    /// Time between SIGTERM and SIGKILL, in seconds; `None`: the default of its kind of server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_within_s: Option<f64>,
    /// Cores to which its processes are pinned; empty: not pinned.
    pub cores: Vec<usize>,
}

impl Backend {
    /// A backend with defaults for the rest.
    #[must_use]
    pub fn new(name: &str, server: Server) -> Self {
        Self {
            name: name.to_owned(),
            server,
            ready_is_written: false,
            jdk: None,
            jvm: Vec::new(),
            env: BTreeMap::new(),
            connection_limit: None,
            stop_within_s: None,
            cores: Vec::new(),
        }
    }
}
