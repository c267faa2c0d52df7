//! Settings of a plan, as sentences name them.

/// A setting that a sentence tells the reader to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Threads that send.
    Threads,
    /// The cores that they may use.
    Cores,
    /// The rate of an open load.
    Rate,
    /// How many connections there are at most.
    Connections,
    /// How long a connect may take.
    ConnectTimeout,
    /// How long the load goes on before it is counted.
    LeadIn,
    /// The file of all requests.
    Log,
    /// The common start of several processes.
    StartAt,
    /// Accept any certificate.
    Insecure,
    /// Redirects are followed.
    Follow,
    /// The first byte of its body completes a response.
    FirstByte,
    /// HTTP/1.1 instead of HTTP/2, with the verb.
    Http1,
    /// HTTP/2 instead of HTTP/1.1, with the verb.
    Http2,
    /// Requests at once on a connection.
    Streams,
    /// How many requests end the load.
    Requests,
    /// How much later than due a request may be sent.
    Lateness,
    /// A connection for each request.
    CloseAfterResponse,
    /// Values of responses that later requests send.
    Captures,
    /// Cookies that the server sets are sent.
    KeepCookies,
    /// The socket that is connected to.
    UnixSocket,
    /// Other addresses than those of the host.
    Resolve,
    /// The name in the TLS handshake.
    Sni,
    /// The authorities to trust.
    CaFiles,
    /// The certificate of the client.
    Identity,
    /// TLS sessions are not resumed.
    NoResumption,
}

/// How a sentence names a setting: as [`Setting::field`], or as the flags of a program.
pub type SettingName = fn(Setting) -> &'static str;

impl Setting {
    /// The field of [`LoadPlan`](crate::plan::LoadPlan) and its value, where it has one.
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
