//! The reasons why a load cannot be run.

/// The reason why a load could not be started at all. Failures of single requests are a [`FailureCause`](crate::failure::FailureCause).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The host name has no address.
    #[error("cannot find the address of `{host}`: {source}")]
    Resolve {
        /// The host name as it was written.
        host: String,
        /// The resolver's error.
        source: std::io::Error,
    },
    /// A limit of this machine is too low.
    #[error(transparent)]
    Limit(#[from] crate::limits::LimitError),
    /// Two fields of the plan exclude each other.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
    /// A file of the TLS options that cannot be used.
    #[error(transparent)]
    TlsFile(#[from] crate::plan::TlsFileError),
    /// The log of requests cannot be written.
    #[error(transparent)]
    Log(#[from] crate::log::LogError),
    /// The kernel refuses epoll or a timer.
    #[error("epoll cannot be used here: {0}")]
    Epoll(std::io::Error),
    /// The TLS set-up failed.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The common start had passed before this process could begin, so it sent nothing: with a share that begins later than the others, the
    /// load would be a different one.
    #[error(
        "the load began {late_ms} ms before this process had opened its connections: nothing was sent. Start later"
    )]
    StartMissed {
        /// The time from the common start until its connections were open.
        late_ms: u64,
    },
    /// A thread could not be started or died.
    #[error("a generator thread failed: {0}")]
    Thread(String),
}
