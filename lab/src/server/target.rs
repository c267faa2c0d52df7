//! `server: {target_url: URL}`: a server that runs elsewhere. It is neither started nor observed.

use super::http_get::BaseUrl;
use super::keys::{Keys, WrittenServer};
use crate::model::experiment::RemoteTarget;
use crate::parse::diagnostic::Diagnostic;
use crate::parse::yaml::Node;

/// What configures a server that we start.
const OF_A_START: [&str; 7] = ["threads", "args", "jdk", "jvm", "backend", "backends", "probe"];

/// Its keys.
pub(crate) fn keys() -> Keys<RemoteTarget> {
    Keys { kind: "target_url", plural: "targets", check: url, own: &[], read }
}

fn url(node: &Node, key: &str) -> Result<(), Diagnostic> {
    let help = "write its base URL, like http://10.0.0.7:8080; paths stand in `request`";
    match at(node.text(key)?) {
        Some(_) => Ok(()),
        None => Err(node.bad(key, "the base URL of a server that runs").help(help)),
    }
}

/// The server at a base URL; `None`: it is none.
pub(crate) fn at(url: &str) -> Option<RemoteTarget> {
    let is_base = BaseUrl::parse(url).is_ok_and(|base| base.path.is_empty());
    is_base.then(|| RemoteTarget { target_url: url.trim_end_matches('/').to_owned() })
}

fn read(written: &WrittenServer<'_>) -> Result<RemoteTarget, Diagnostic> {
    for key in OF_A_START {
        written.refuse(key, "one that runs already", "a server that is started")?;
    }
    at(written.kind).ok_or_else(|| written.no_url("write its base URL, like http://10.0.0.7:8080".to_owned()))
}
