//! All kinds of servers. A new kind needs a folder, a type in `model/experiment/server.rs`, and a line in each list here.

use super::keys::Keys;
use super::kind::ServerKind;
use threadcount_model::experiment::{
    CommandServer, JarServer, JettyServer, PeerServer, Server, TomcatServer,
};

#[must_use]
pub fn kind(server: &Server) -> &dyn ServerKind {
    match server {
        Server::Tomcat(tomcat) => tomcat,
        Server::Jetty(jetty) => jetty,
        Server::Jar(jar) => jar,
        Server::Peer(peer) => peer,
        Server::Command(command) => command,
    }
}

/// The keys of all kinds, in the order in which messages list them.
#[must_use]
pub fn keys() -> [Keys; 5] {
    [TomcatServer::keys(), JettyServer::keys(), JarServer::keys(), PeerServer::keys(), CommandServer::keys()]
}
