//! Readiness paths, which show whether a server is healthy.

use super::{CommandServer, Experiment, JarServer, PeerServer, RequestSpec, Server};

/// The word written instead of a path for servers that do not speak HTTP: ready when a connection is accepted.
pub const TCP: &str = "tcp";

impl Experiment {
    /// The readiness paths in the file that no load requests. Paths that a load requests are checked by the load's own responses.
    #[must_use]
    pub fn health_paths(&self) -> Vec<String> {
        let requested: Vec<String> =
            self.loads.iter().flat_map(|load| load.all_requests()).map(RequestSpec::sample_path).collect();
        let servers = self.variants.iter().flat_map(|variant| {
            let own = variant.server().filter(|_| variant.ready_is_written);
            let backends = variant.backends.iter().filter(|backend| backend.ready_is_written);
            own.into_iter().chain(backends.map(|backend| &backend.server))
        });
        let ready = servers.filter_map(Server::ready);
        let is_of_health = |path: &&str| ![TCP, "/"].contains(path) && !requested.iter().any(|it| it == path);
        ready.filter(is_of_health).map(str::to_owned).collect()
    }
}

impl Server {
    /// The readiness path, if it differs from the default of the kind of server.
    #[must_use]
    pub fn ready(&self) -> Option<&str> {
        match self {
            Self::Jar(JarServer { ready, .. })
            | Self::Peer(PeerServer { ready, .. })
            | Self::Command(CommandServer { ready, .. }) => Some(ready),
            Self::Tomcat(_) | Self::Jetty(_) => None,
        }
    }
}
