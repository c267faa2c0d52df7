//! The settings of a plan that sentences for users name.

/// A setting that a sentence advises the user to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// The number of threads that send.
    Threads,
    /// The cores that these threads may use.
    Cores,
    /// The rate of an open load.
    Rate,
    /// The largest number of connections.
    Connections,
    /// How long connecting may take.
    ConnectTimeout,
    /// How long the load goes on before it is counted.
    LeadIn,
    /// The file of all requests.
    Log,
    /// The common start of several processes.
    StartAt,
    /// Accept any certificate.
    Insecure,
    /// Follow redirects.
    Follow,
    /// A response is complete with the first byte of its body.
    FirstByte,
    /// HTTP/1.1 instead of HTTP/2, with its verb.
    Http1,
    /// HTTP/2 instead of HTTP/1.1, with its verb.
    Http2,
    /// The number of concurrent requests on a connection.
    Streams,
    /// The number of requests that ends the load.
    Requests,
    /// How much later than due a request may be sent.
    Lateness,
    /// A new connection for each request.
    CloseAfterResponse,
    /// Values of responses that later requests send.
    Captures,
    /// Send the cookies that the server sets.
    KeepCookies,
    /// The Unix socket to connect to.
    UnixSocket,
    /// Other addresses than those of the host.
    Resolve,
    /// The name in the TLS handshake.
    Sni,
    /// The authorities to trust.
    CaFiles,
    /// The certificate of the client.
    Identity,
    /// Do not resume TLS sessions.
    NoResumption,
}

/// Names a setting in a sentence: [`Setting::field`], or a function that names a program's flags.
pub type SettingName = fn(Setting) -> &'static str;

impl Setting {
    /// The name of the field in [`LoadPlan`](crate::plan::LoadPlan), with the advised value if there is one.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Threads => "`threads`",
            Self::Cores => "`cores`",
            Self::Rate => "`rate`",
            Self::Connections => "`connections`",
            Self::ConnectTimeout => "`connect_timeout`",
            Self::LeadIn => "`lead_in`",
            Self::Log => "`log`",
            Self::StartAt => "`start_at`",
            Self::Insecure => "`insecure`",
            Self::Follow => "`follow_redirects`",
            Self::FirstByte => "`first_byte`",
            Self::Http1 => "set `protocol` to HTTP/1.1",
            Self::Http2 => "set `protocol` to HTTP/2",
            Self::Streams => "`streams_per_connection`",
            Self::Requests => "`stop` by requests",
            Self::Lateness => "`lateness`",
            Self::CloseAfterResponse => "`keep_alive: false`",
            Self::Captures => "`captures`",
            Self::KeepCookies => "`keep_cookies`",
            Self::UnixSocket => "`unix_socket`",
            Self::Resolve => "`resolve`",
            Self::Sni => "`sni`",
            Self::CaFiles => "`tls.ca_files`",
            Self::Identity => "`tls.identity`",
            Self::NoResumption => "`tls.resumption: false`",
        }
    }
}
