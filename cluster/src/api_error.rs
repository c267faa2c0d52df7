//! Errors of the API server, each with what to do about it.

/// A request to the API server; each needs a right of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    CreateJob,
    ListPods,
    ReadLog,
    Attach,
    DeleteJob,
}

impl Request {
    /// The verbs of the request's rule, as a Role writes them.
    const fn verbs(self) -> &'static str {
        match self {
            Self::CreateJob => "\"create\"",
            Self::ListPods => "\"list\"",
            Self::ReadLog => "\"get\"",
            // Attaching is a GET, but newer API servers authorise it as the creation of a connection.
            Self::Attach => "\"get\", \"create\"",
            Self::DeleteJob => "\"delete\"",
        }
    }

    /// The rule (API group, resource, verb) of a Role that allows the request.
    #[must_use]
    pub const fn rule(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::CreateJob => ("batch", "jobs", "create"),
            Self::ListPods => ("", "pods", "list"),
            Self::ReadLog => ("", "pods/log", "get"),
            Self::Attach => ("", "pods/attach", "create"),
            Self::DeleteJob => ("batch", "jobs", "delete"),
        }
    }
}

/// Why a cluster did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum ClusterError {
    /// No kubeconfig, no such context, a certificate that cannot be read.
    #[error("the cluster's configuration cannot be used: {0}")]
    #[diagnostic(help("set KUBECONFIG, or name a context of it: --kubernetes=CONTEXT"))]
    Config(String),
    /// The Role lacks a rule.
    #[error("no right to {verb} {resource} in namespace {namespace}: {message}")]
    #[diagnostic(help(
        "a Role needs the rule {{apiGroups: [\"{group}\"], resources: [\"{resource}\"], verbs: [{verbs}]}}; docs/how-to/many-machines.md \
         has all of them"
    ))]
    Forbidden {
        group: &'static str,
        resource: &'static str,
        verb: &'static str,
        verbs: &'static str,
        namespace: String,
        message: String,
    },
    /// The API server refused the request for a reason other than a missing right.
    #[error("the API server refused to {verb} {resource}: {message}")]
    Refused { verb: &'static str, resource: &'static str, message: String },
    /// The API server cannot be reached at the moment.
    #[error("the API server cannot be reached: {0}")]
    Unreachable(String),
    /// The API server could not be reached for so long that the load was given up.
    #[error("the API server has not answered for {seconds} s: {message}")]
    Away { seconds: u64, message: String },
    /// Our own client failed, for example its runtime could not be built.
    #[error("the client of the cluster failed: {0}")]
    Client(String),
}

/// An error in one line, with what to do about it.
#[must_use]
pub fn in_one_line(error: &dyn miette::Diagnostic) -> String {
    let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{error}{help}")
}

impl ClusterError {
    /// The error of a request, classified by the status that the API server returned.
    #[must_use]
    pub fn from_kube(request: Request, namespace: &str, error: &kube::Error) -> Self {
        let (group, resource, verb) = request.rule();
        match error {
            kube::Error::Api(status) if status.code == 403 && status.reason == "Forbidden" => {
                let (namespace, message) = (namespace.to_owned(), status.message.clone());
                // Quotas and admission plugins also say Forbidden; only a missing right names the user.
                if message.contains("cannot ") && message.contains("User ") {
                    let verbs = request.verbs();
                    Self::Forbidden { group, resource, verb, verbs, namespace, message }
                } else {
                    Self::Refused { verb, resource, message }
                }
            }
            // The server is overloaded, or the proxy before it cannot reach it.
            kube::Error::Api(status) if status.code >= 500 || status.code == 429 => {
                Self::Unreachable(status.message.clone())
            }
            kube::Error::Api(status) => Self::Refused { verb, resource, message: status.message.clone() },
            other => Self::Unreachable(other.to_string()),
        }
    }

    /// Whether the request may succeed later. A refusal is final.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}
