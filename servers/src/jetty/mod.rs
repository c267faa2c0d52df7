//! A Jetty distribution with a web application, on one of Jetty's own thread pools.

pub mod distribution;
mod start_ini;

use super::base_folder::BaseFolder;
use super::command_line::ServerCommand;
use super::distribution::{Distribution, DistributionStore};
use super::error::LaunchError;
use super::keys::{self, APP, CheckedKey, Keys, Version, WrittenServer, version};
use super::kind::ServerKind;
use super::launch_spec::{LOOPBACK, LaunchContext, LaunchSpec};
use super::threads::{FIRST_WITH_VIRTUAL_THREADS, threads};
use super::tomcat::ACCEPT_COUNT;
use distribution::JETTY;
use start_ini::StartIni;
use std::path::PathBuf;
use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::choose;
use threadcount_model::experiment::{JettyServer, PoolSize, Server, ThreadKind, Threads};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::json_schema;
use threadcount_model::parse::value_kinds::Count;
use threadcount_model::parse::yaml::Node;
use threadcount_model::value_kinds;

/// The key for `maxConcurrentTasks`.
const TASKS: &str = "max_concurrent_tasks";

impl ServerKind for JettyServer {
    fn keys() -> Keys {
        Keys {
            kind: CheckedKey::new::<Version>(
                "jetty",
                "A Jetty distribution: a line (12.1) or a version.",
                |node, key| version(node, key, "12.1", "12.1.12"),
            ),
            plural: "Jetty",
            own: const {
                &[
                    APP,
                    keys::ACCEPT_COUNT,
                    CheckedKey::new::<Tasks>(
                        TASKS,
                        "The most requests at once of a Jetty's VirtualThreadPool.",
                        |node, _| tasks(node).map(drop),
                    ),
                ]
            },
            read,
        }
    }

    fn needs(&self) -> Option<(&'static str, &str)> {
        Some((Self::keys().kind.name(), &self.version))
    }

    fn missing_download(&self, store: &DistributionStore) -> Option<String> {
        store.missing(&JETTY, &self.version).map(|version| format!("Jetty {version}"))
    }

    fn prepare(&self, context: &LaunchContext<'_>) -> Result<(), LaunchError> {
        Parts::find(self, context).map(drop)
    }

    /// Prepares Jetty; its start.ini is kept in the run's folder.
    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError> {
        let Parts { jdk, war, distribution } = Parts::find(self, context)?;
        let ini = StartIni { server: self, port: context.placeholders.port, clients: context.clients };
        let base = BaseFolder::create("Jetty")?;
        for name in ["webapps", "environments", "temp"] {
            base.add(name, |path| std::fs::create_dir(path))?;
        }
        base.add("start.ini", |path| std::fs::write(path, ini.text()))?;
        base.add("webapps/root.war", |path| std::fs::copy(&war, path))?;
        let kept = context.folder.join("start.ini");
        std::fs::write(&kept, ini.text())
            .map_err(|source| LaunchError::Folder { path: kept.display().to_string(), source })?;
        let mut arguments = context.jvm_flags(&jdk);
        let path = |name: &str, path: PathBuf| format!("{name}={}", path.display());
        // Our modules need no second JVM, so the process that we start is the server.
        arguments.extend([
            path("-Djava.io.tmpdir", base.path().join("temp")),
            "-jar".to_owned(),
            distribution.home.join("start.jar").display().to_string(),
            path("jetty.home", distribution.home.clone()),
            path("jetty.base", base.path().to_owned()),
        ]);
        let folder = Some(base.path().to_owned());
        let command = ServerCommand { program: jdk.java(), arguments, folder, ..ServerCommand::default() };
        Ok(LaunchSpec {
            command: context.with_env(command),
            url: context.placeholders.text(LOOPBACK),
            ready: "/".to_owned(),
            product: Some(distribution.product()),
            pool_max_threads: ini.pool_max_threads(),
            jdk: Some(jdk),
            base: Some(base),
        })
    }

    fn thread_kind(&self) -> Option<ThreadKind> {
        Some(match self.threads {
            Threads::Platform(_) => ThreadKind::Platform,
            Threads::Virtual | Threads::Executor(_) => ThreadKind::Virtual,
        })
    }
}

fn read(written: &WrittenServer<'_>) -> Result<Server, Diagnostic> {
    written.refuse("args", "a Jetty", "a jar or a peer")?;
    let threads = written.threads(|node| match threads(node)? {
        Threads::Executor(_) => Err(node
            .bad("threads", "a thread model of Jetty's")
            .help("write platform, virtual or {platform: 400}")),
        threads => Ok(threads),
    })?;
    let threads = threads.unwrap_or(Threads::Platform(PoolSize::Default));
    Ok(Server::Jetty(JettyServer {
        version: written.kind.to_owned(),
        app: written.text("app")?.unwrap_or_else(|| "servlets".to_owned()),
        threads,
        accept_count: written
            .read("accept_count", |node| node.positive_u32("accept_count"))?
            // Jetty uses Java's default of 50, which is fewer than most loads open at once.
            .unwrap_or(ACCEPT_COUNT),
        max_concurrent_tasks: written.read(TASKS, tasks)?,
    }))
}

value_kinds! {
    Tasks = |generator| json_schema!({"anyOf": [{"const": "unlimited"}, generator.subschema_for::<Count>()]});
}

/// The number of tasks; `unlimited` is 0, as in Jetty.
fn tasks(node: &Node) -> Result<u32, Diagnostic> {
    match node.text(TASKS)? {
        "unlimited" => Ok(0),
        _ => node
            .positive_u32(TASKS)
            .map_err(|diagnostic| diagnostic.help("write a number from 1, or unlimited")),
    }
}

/// The parts of a Jetty, as found on this machine.
struct Parts {
    jdk: Jdk,
    war: PathBuf,
    distribution: Distribution,
}

impl Parts {
    fn find(server: &JettyServer, context: &LaunchContext<'_>) -> Result<Self, LaunchError> {
        let LaunchContext { jdks, variant, .. } = context;
        let jdk = choose(jdks, variant.jdk)?.clone();
        if server.threads == Threads::Virtual && jdk.feature < FIRST_WITH_VIRTUAL_THREADS {
            let (what, variant) = ("Virtual threads", variant.name.clone());
            return Err(LaunchError::JdkTooOld { what, variant, feature: jdk.feature });
        }
        let war = app::find(&server.app)?;
        Ok(Self { jdk, war, distribution: context.distributions.get(&JETTY, &server.version)? })
    }
}
