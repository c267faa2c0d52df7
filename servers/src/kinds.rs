//! All kinds of servers. A new kind is a folder, its data in `model/experiment/server.rs`, and one line in each list here.

use super::keys::Keys;
use super::kind::ServerKind;
use threadcount_model::experiment::{
    CommandServer, JarServer, JettyServer, PeerServer, Server, TomcatServer,
};

/// The kind that a server is of.
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

/// Their keys, in the order of messages.
#[must_use]
pub fn keys() -> [Keys; 5] {
    [TomcatServer::keys(), JettyServer::keys(), JarServer::keys(), PeerServer::keys(), CommandServer::keys()]
}
