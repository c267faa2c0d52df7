//! Paths that say whether a server is healthy.

use super::{CommandServer, Experiment, JarServer, PeerServer, RequestSpec, Server};

/// Written instead of a path: ready when a connection is accepted. For servers that speak something else than HTTP.
pub const TCP: &str = "tcp";

impl Experiment {
    /// The readiness paths that somebody wrote and no load requests. What a load requests shows in its responses whether it is right.
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
    /// The path for the check that it is ready, where it is not that of its kind.
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

#[cfg(test)]
mod tests {
    use crate::config::parse;

    #[test]
    fn a_path_that_no_load_requests_says_whether_a_server_is_healthy() {
        let text = "question: q\nserver: {command: 'x {port}', ready: /health}\nrequest: '/orders/{rand:7:7}'\nbackends: \
            {database: {command: 'y {port}', ready: tcp}, neighbour: {command: 'z {port}', ready: /up}}\n\
            variants: {a: {}, b: {server: {ready: /orders/7}}, c: {server: {ready: /}}}\nloads: [{clients: 1, duration: 1s}]\n";
        let mut paths = parse("x", "x.yaml", text, false).expect("an experiment").health_paths();
        paths.sort();
        paths.dedup();
        assert_eq!(paths, ["/health", "/up"]);
        let by_default = "question: q\nserver: {command: 'x {port}'}\nrequest: /orders\nvariants: {a: {}}\n\
            loads: [{clients: 1, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", by_default, false).expect("an experiment");
        assert_eq!(experiment.health_paths(), [] as [String; 0]);
    }

    #[test]
    fn a_path_that_follows_from_a_request_that_each_load_replaces_is_none_of_health() {
        let text = "question: q\nserver: {command: 'x {port}'}\nrequest: {path: /orders, method: POST}\nvariants: {a: {}}\n\
            loads: [{clients: 1, duration: 1s, request: /items}]\n";
        let by_default = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(by_default.health_paths(), [] as [String; 0]);
        let written = text.replace("'x {port}'", "'x {port}', ready: /orders");
        let written = parse("x", "x.yaml", &written, false).expect("an experiment");
        assert_eq!(written.health_paths(), ["/orders"]);
    }
}
