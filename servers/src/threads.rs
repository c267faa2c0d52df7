//! The key `threads:` of servers whose threads are configured from outside.

use threadcount_model::experiment::{DropIn, PoolSize, RequestLimit, Threads};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, json_schema, map};
use threadcount_model::parse::value_kinds::{AnyDuration, Count, Whole};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};

const POOL: &[KeySpec] = keys! {
    platform: PoolThreads,
    /// Virtual threads with at most this many concurrent requests; the others wait or get 503.
    virtual: LimitKeys,
    executor: Executor,
};

const LIMIT: &[KeySpec] = keys! {
    bound: Count,
    queue: Whole,
    queue_timeout: AnyDuration,
};

value_kinds! {
    /// The threads on which requests run.
    pub ThreadsKeys = |generator| json_schema!({
        "anyOf": [
            {"enum": ["platform", "virtual", "cached"]},
            map(generator, POOL, json_schema!({"minProperties": 1, "maxProperties": 1})),
        ],
    });

    PoolThreads = |generator| json_schema!({"anyOf": [{"const": "clients"}, generator.subschema_for::<Count>()]});

    LimitKeys = |generator| map(generator, LIMIT, json_schema!({"required": ["bound"]}));

    Executor = |_| json_schema!({"enum": ["virtual", "cached"]});
}

pub fn threads(node: &Node) -> Result<Threads, Diagnostic> {
    const HELP: &str = "write platform, virtual, cached or {platform: 400}. {platform: clients} has as many threads as \
        the load has clients. {virtual: {bound: 200}} is ours and serves at most 200 requests at once. {executor: virtual} is \
        ours, for a Tomcat that has none";
    let helped = |diagnostic: Diagnostic| diagnostic.help(HELP);
    match &node.kind {
        Kind::Scalar(text) => match text.as_str() {
            "platform" => Ok(Threads::Platform(PoolSize::Default)),
            "virtual" => Ok(Threads::Virtual),
            "cached" => Ok(Threads::Executor(DropIn::Cached)),
            _ => Err(helped(node.bad("threads", "a thread model"))),
        },
        _ => {
            let fields = Fields::open(node, "a thread pool", POOL)?;
            if let Some(executor) = fields.get("executor") {
                return match executor.text("executor")? {
                    "virtual" => Ok(Threads::Executor(DropIn::Virtual)),
                    "cached" => Ok(Threads::Executor(DropIn::Cached)),
                    _ => Err(helped(executor.bad("executor", "one of ours"))),
                };
            }
            if let Some(limit) = fields.read("virtual", request_limit)? {
                return Ok(Threads::Executor(DropIn::BoundedVirtual(limit)));
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

/// The first Java with virtual threads (JEP 444).
pub const FIRST_WITH_VIRTUAL_THREADS: u16 = 21;
/// Defaults of `BoundedVirtualThreadExecutor`, written out so that a run's record contains them.
pub const DEFAULT_QUEUE: u32 = 1_000;
pub const DEFAULT_QUEUE_TIMEOUT_MS: u32 = 1_000;

fn request_limit(node: &Node) -> Result<RequestLimit, Diagnostic> {
    let fields = Fields::open(node, "a limit on virtual threads", LIMIT)?;
    let bound =
        fields.require("bound", "threads: {virtual: {bound: 200, queue: 1000, queue_timeout: 1s}}")?;
    let queue_timeout_ms = fields.read("queue_timeout", |node| milliseconds(node, "queue_timeout"))?;
    Ok(RequestLimit {
        max_concurrent: bound.positive_u32("bound")?,
        max_queue: fields.read("queue", |node| node.whole_u32("queue"))?.unwrap_or(DEFAULT_QUEUE),
        queue_timeout_ms: queue_timeout_ms.unwrap_or(DEFAULT_QUEUE_TIMEOUT_MS),
    })
}

/// Reads a time as whole milliseconds, up to seven weeks.
fn milliseconds(node: &Node, key: &str) -> Result<u32, Diagnostic> {
    let milliseconds = (node.seconds(key)? * 1e3).round();
    if milliseconds > f64::from(u32::MAX) {
        return Err(node.bad(key, "shorter than seven weeks"));
    }
    Ok(milliseconds as u32)
}
