//! A Tomcat distribution with a web application, and one of our executors if the variant asks for it.

pub mod base;
mod deployment;
pub mod distribution;
pub mod server_xml;

use super::distribution::{Distribution, DistributionStore};
use super::error::LaunchError;
use super::keys::{self, APP, CheckedKey, Keys, Version, WrittenServer, positive, version};
use super::kind::ServerKind;
use super::launch_spec::{LOOPBACK, LaunchContext, LaunchSpec};
use super::threads::{FIRST_WITH_VIRTUAL_THREADS, threads};
use base::TomcatBase;
use distribution::{TOMCAT, has_virtual_executor};
use server_xml::Connector;
use std::path::{Path, PathBuf};
use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::choose;
use threadcount_model::experiment::{DropIn, PoolSize, Server, ThreadKind, Threads, TomcatServer};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::json_schema;
use threadcount_model::parse::value_kinds::Count;
use threadcount_model::parse::yaml::Node;
use threadcount_model::value_kinds;

/// Our default of `acceptCount`. Tomcat's default of 100 is smaller than the burst with which a load of 400 clients
/// connects; the overflow would cost a second (SYN retransmission) and be blamed on the thread model. Linux limits the
/// backlog to `somaxconn`, 4096 by default.
pub const ACCEPT_COUNT: u32 = 4_096;

/// The key of `processorCache`.
const CACHE: &str = "processor_cache";

/// The module of our Maven reactor with the executors.
const EXECUTORS: &str = "executors";

impl ServerKind for TomcatServer {
    fn keys() -> Keys {
        Keys {
            kind: CheckedKey::new::<Version>(
                "tomcat",
                "A Tomcat distribution: a line (11.0) or a version (11.0.24).",
                |node, key| version(node, key, "11.0", "11.0.24"),
            ),
            plural: "Tomcat",
            own: const {
                &[
                    APP,
                    keys::ACCEPT_COUNT,
                    CheckedKey::new::<Count>("max_connections", "The Connector's maxConnections.", positive),
                    CheckedKey::new::<Processors>(CACHE, "The Connector's processorCache.", |node, _| {
                        processors(node).map(drop)
                    }),
                ]
            },
            read,
        }
    }

    fn needs(&self) -> Option<(&'static str, &str)> {
        Some((Self::keys().kind.name(), &self.version))
    }

    fn missing_download(&self, store: &DistributionStore) -> Option<String> {
        store.missing(&TOMCAT, &self.version).map(|version| format!("Tomcat {version}"))
    }

    fn prepare(&self, context: &LaunchContext<'_>) -> Result<(), LaunchError> {
        Parts::find(self, context).map(drop)
    }

    /// Prepares Tomcat; its server.xml is kept in the run's folder.
    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError> {
        let parts = Parts::find(self, context)?;
        let connector = Connector {
            port: context.placeholders.port,
            threads: self.threads.clone(),
            clients: context.clients,
            accept_count: self.accept_count,
            max_connections: self.max_connections,
            processor_cache: self.processor_cache,
        };
        let base = TomcatBase::create(&parts.distribution, &connector, &parts.war, parts.library.as_deref())?;
        let kept = context.folder.join("server.xml");
        std::fs::write(&kept, connector.server_xml())
            .map_err(|source| LaunchError::Folder { path: kept.display().to_string(), source })?;
        let jvm = context.jvm_flags(&parts.jdk);
        let command = base.command(&parts.distribution, &parts.jdk, &jvm);
        Ok(LaunchSpec {
            command: context.with_env(command),
            url: context.placeholders.text(LOOPBACK),
            ready: "/".to_owned(),
            product: Some(parts.distribution.product()),
            pool_max_threads: connector.pool_max_threads(),
            jdk: Some(parts.jdk),
            base: Some(base.into_folder()),
        })
    }

    fn deployment_failure(&self, log: &Path) -> Option<String> {
        deployment::failure(log)
    }

    fn thread_kind(&self) -> Option<ThreadKind> {
        Some(match self.threads {
            Threads::Platform(_) | Threads::Executor(DropIn::Cached) => ThreadKind::Platform,
            Threads::Virtual | Threads::Executor(DropIn::Virtual | DropIn::BoundedVirtual(_)) => {
                ThreadKind::Virtual
            }
        })
    }
}

fn read(written: &WrittenServer<'_>) -> Result<Server, Diagnostic> {
    written.refuse("args", "a Tomcat", "a jar or a peer")?;
    let threads = written.threads(threads)?;
    let number = |key: &str| written.read(key, |node| node.positive_u32(key));
    Ok(Server::Tomcat(TomcatServer {
        version: written.kind.to_owned(),
        app: written.text("app")?.unwrap_or_else(|| "servlets".to_owned()),
        threads: threads.unwrap_or(Threads::Platform(PoolSize::Default)),
        accept_count: number("accept_count")?.unwrap_or(ACCEPT_COUNT),
        max_connections: number("max_connections")?,
        processor_cache: written.read(CACHE, processors)?,
    }))
}

value_kinds! {
    Processors = |generator| json_schema!({
        "anyOf": [{"enum": ["unlimited", -1]}, generator.subschema_for::<Count>()],
    });
}

/// The number of processors; `unlimited` is -1, as in Tomcat.
fn processors(node: &Node) -> Result<i32, Diagnostic> {
    let help = "write a number from 1, or unlimited";
    match node.text(CACHE)? {
        "unlimited" | "-1" => Ok(-1),
        _ => i32::try_from(node.positive_u32(CACHE).map_err(|diagnostic| diagnostic.help(help))?)
            .map_err(|_| node.bad(CACHE, "a number below 2_147_483_648").help(help)),
    }
}

/// The parts of a Tomcat, as found on this machine.
struct Parts {
    jdk: Jdk,
    war: PathBuf,
    /// The jar of our executors, if the variant runs on one of them.
    library: Option<PathBuf>,
    distribution: Distribution,
}

impl Parts {
    fn find(server: &TomcatServer, context: &LaunchContext<'_>) -> Result<Self, LaunchError> {
        let LaunchContext { jdks, variant, .. } = context;
        let jdk = choose(jdks, variant.jdk)?.clone();
        let name = || variant.name.clone();
        let needs = match server.threads {
            Threads::Platform(_) => None,
            Threads::Virtual => Some("Virtual threads"),
            Threads::Executor(_) => Some("The executors of jvm/executors"),
        };
        if let Some(what) = needs.filter(|_| jdk.feature < FIRST_WITH_VIRTUAL_THREADS) {
            return Err(LaunchError::JdkTooOld { what, variant: name(), feature: jdk.feature });
        }
        let war = app::find(&server.app)?;
        let is_ours = matches!(server.threads, Threads::Executor(_));
        let library = is_ours.then(|| app::find_jar(EXECUTORS)).transpose()?;
        let distribution = context.distributions.get(&TOMCAT, &server.version)?;
        if server.threads == Threads::Virtual && !has_virtual_executor(&distribution) {
            return Err(LaunchError::NoVirtualExecutor { version: distribution.version, variant: name() });
        }
        Ok(Self { jdk, war, library, distribution })
    }
}
