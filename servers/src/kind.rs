//! The trait that each kind of server implements. Each kind is a folder beside this file; `kinds` lists them.

use super::distribution::DistributionStore;
use super::error::LaunchError;
use super::http_get::BaseUrl;
use super::keys::Keys;
use super::launch_spec::{LaunchContext, LaunchSpec};
use super::request_thread;
use std::path::Path;
use std::time::Duration;
use threadcount_model::experiment::ThreadKind;
use threadcount_model::record::RequestThread;

/// Default time between SIGTERM and SIGKILL.
pub const STOP_LIMIT: Duration = Duration::from_secs(10);

/// A kind of server; implemented by its data in the model.
pub trait ServerKind {
    /// Its keys in an experiment's file.
    fn keys() -> Keys
    where
        Self: Sized;

    /// Requirements: the key of its kind, and a version, a jar or a program.
    fn needs(&self) -> Option<(&'static str, &str)>;

    /// What [`prepare`](Self::prepare) would download, in words.
    fn missing_download(&self, _store: &DistributionStore) -> Option<String> {
        None
    }

    /// Finds, fetches or builds everything it needs and starts nothing, so that missing parts are reported before the
    /// first run.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    fn prepare(&self, context: &LaunchContext<'_>) -> Result<(), LaunchError> {
        self.launch_spec(context).map(drop)
    }

    /// Makes everything ready for one start.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError>;

    /// Why its application did not start although the server responds, by its log; `None`: it did.
    fn deployment_failure(&self, _log: &Path) -> Option<String> {
        None
    }

    /// The kind of thread that has to serve requests, where the configuration decides it.
    fn thread_kind(&self) -> Option<ThreadKind> {
        None
    }

    /// The thread that handles a request of the running server; `None`: not reported.
    fn request_thread(&self, url: &BaseUrl) -> Option<RequestThread> {
        request_thread::ask(url)
    }

    /// Whether the variant's JVM flags reach the JVM. A command has to pass them on itself.
    fn passes_jvm_flags(&self) -> bool {
        true
    }

    /// Time between SIGTERM and SIGKILL.
    fn stop_within(&self) -> Duration {
        STOP_LIMIT
    }
}
