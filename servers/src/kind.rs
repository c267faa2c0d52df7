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

/// A kind of server; the model's types for servers implement this trait.
pub trait ServerKind {
    /// The keys of this kind in an experiment file.
    fn keys() -> Keys
    where
        Self: Sized;

    /// The requirement of the server: the key of its kind, and a version, a jar or a program.
    fn needs(&self) -> Option<(&'static str, &str)>;

    /// The download that [`prepare`](Self::prepare) would need, in words.
    fn missing_download(&self, _store: &DistributionStore) -> Option<String> {
        None
    }

    /// Finds, fetches or builds everything that the server needs without starting it, so that missing parts are reported
    /// before the first run.
    ///
    /// # Errors
    /// An error that names what is missing and how to get it.
    fn prepare(&self, context: &LaunchContext<'_>) -> Result<(), LaunchError> {
        self.launch_spec(context).map(drop)
    }

    /// Prepares everything for one start.
    ///
    /// # Errors
    /// An error that names what is missing and how to get it.
    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError>;

    /// The reason, from the log, why the application did not start although the server responds; `None` if it started.
    fn deployment_failure(&self, _log: &Path) -> Option<String> {
        None
    }

    /// The kind of thread that must serve requests, if the configuration decides it.
    fn thread_kind(&self) -> Option<ThreadKind> {
        None
    }

    /// The thread that handles a request of the running server; `None` if the server does not report it.
    fn request_thread(&self, url: &BaseUrl) -> Option<RequestThread> {
        request_thread::ask(url)
    }

    /// Whether we pass the variant's JVM flags to the JVM; a command must do so itself.
    fn passes_jvm_flags(&self) -> bool {
        true
    }

    /// Time between SIGTERM and SIGKILL.
    fn stop_within(&self) -> Duration {
        STOP_LIMIT
    }
}
