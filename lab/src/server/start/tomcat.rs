//! A Tomcat distribution with a web application, and an executor of ours where the variant wants one.

use super::super::error::LaunchError;
use super::super::server_xml::Connector;
use super::super::tomcat_base::TomcatBase;
use super::super::tomcat_distribution::Distribution;
use super::{Given, LOOPBACK, Start, jvm_flags};
use crate::host::app;
use crate::host::jdk::Jdk;
use crate::host::jdk_finder::choose;
use crate::model::experiment::Threads;
use std::path::PathBuf;

/// Virtual threads are final since Java 21 (JEP 444), and `jvm/executors` is compiled for it.
const FIRST_WITH_VIRTUAL_THREADS: u16 = 21;

/// The module of our Maven reactor with the executors.
const EXECUTORS: &str = "executors";

/// What a Tomcat is made of, found.
pub(super) struct Parts {
    jdk: Jdk,
    war: PathBuf,
    /// Our executors, where the variant runs on one of them.
    library: Option<PathBuf>,
    distribution: Distribution,
}

impl Parts {
    pub(super) fn find(
        given: &Given<'_>,
        version: &str,
        app: &str,
        threads: &Threads,
    ) -> Result<Self, LaunchError> {
        let Given { jdks, variant, .. } = given;
        let jdk = choose(jdks, variant.jdk)?.clone();
        let name = || variant.name.clone();
        let needs = match threads {
            Threads::Platform(_) => None,
            Threads::Virtual => Some("Virtual threads"),
            Threads::Executor(_) => Some("The executors of jvm/executors"),
        };
        if let Some(what) = needs.filter(|_| jdk.feature < FIRST_WITH_VIRTUAL_THREADS) {
            return Err(LaunchError::JdkTooOld { what, variant: name(), feature: jdk.feature });
        }
        let war = app::find(app)?;
        let is_ours = matches!(threads, Threads::Executor(_));
        let library = is_ours.then(|| app::find_jar(EXECUTORS)).transpose()?;
        let distribution = given.distributions.get(version)?;
        if *threads == Threads::Virtual && !distribution.has_virtual_executor() {
            return Err(LaunchError::NoVirtualExecutor { version: distribution.version, variant: name() });
        }
        Ok(Self { jdk, war, library, distribution })
    }

    pub(super) fn start(
        self,
        given: &Given<'_>,
        threads: &Threads,
        accept_count: u32,
        max_connections: Option<u32>,
    ) -> Result<Start, LaunchError> {
        let Given { variant, clients, fill, folder, .. } = given;
        let connector = Connector {
            port: fill.port,
            threads: threads.clone(),
            clients: *clients,
            accept_count,
            max_connections,
        };
        let base = TomcatBase::create(&self.distribution, &connector, &self.war, self.library.as_deref())?;
        let kept = folder.join("server.xml");
        std::fs::write(&kept, connector.server_xml())
            .map_err(|source| LaunchError::Folder { path: kept.display().to_string(), source })?;
        let (jvm, probe) = jvm_flags(given, &self.jdk);
        let mut command = base.command(&self.distribution, &self.jdk, &jvm);
        for (name, value) in &variant.env {
            command.set(name, fill.text(value));
        }
        Ok(Start {
            command,
            url: fill.text(LOOPBACK),
            ready: "/".to_owned(),
            product: Some(self.distribution.product()),
            pool_max_threads: connector.pool_max_threads(),
            jdk: Some(self.jdk),
            base: Some(base),
            probe,
        })
    }
}
