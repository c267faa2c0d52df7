//! `threads:`, for the kinds of servers whose threads are configured from outside.

use crate::model::experiment::{DropIn, PoolSize, Threads};
use crate::parse::diagnostic::Diagnostic;
use crate::parse::fields::Fields;
use crate::parse::yaml::{Kind, Node};

pub(crate) fn threads(node: &Node) -> Result<Threads, Diagnostic> {
    const HELP: &str = "write platform, virtual, cached, {platform: 400}, {platform: clients} (as many as the load \
        has) or {executor: virtual} (ours, for a Tomcat that has none)";
    let helped = |diagnostic: Diagnostic| diagnostic.help(HELP);
    match &node.kind {
        Kind::Scalar(text) => match text.as_str() {
            "platform" => Ok(Threads::Platform(PoolSize::Default)),
            "virtual" => Ok(Threads::Virtual),
            "cached" => Ok(Threads::Executor(DropIn::Cached)),
            _ => Err(helped(node.bad("threads", "a thread model"))),
        },
        _ => {
            let fields = Fields::open(node, "a thread pool", &["platform", "executor"])?;
            if let Some(executor) = fields.get("executor") {
                return match executor.text("executor")? {
                    "virtual" => Ok(Threads::Executor(DropIn::Virtual)),
                    "cached" => Ok(Threads::Executor(DropIn::Cached)),
                    _ => Err(helped(executor.bad("executor", "one of ours"))),
                };
            }
            let size = fields.require("platform", "threads: {platform: 400}")?;
            match size.text("platform")? {
                "clients" => Ok(Threads::Platform(PoolSize::Clients)),
                _ => {
                    size.positive_u32("platform").map(PoolSize::Fixed).map(Threads::Platform).map_err(helped)
                }
            }
        }
    }
}
