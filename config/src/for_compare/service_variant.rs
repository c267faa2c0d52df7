//! What the variants of all services have in common.

use super::asked::Surroundings;
use std::path::Path;
use threadcount_model::experiment::{JarServer, Server, Variant};

/// Requests at once of the variant with a limit: as many as Tomcat's own pool has threads.
pub(super) const BOUND: u32 = 200;

pub(super) fn service_variant(name: &str, note: &str, server: Server) -> Variant {
    Variant { note: Some(note.to_owned()), ..Variant::new(name, server) }
}

/// `class_path`: jars of ours that the application gets besides its own.
pub(super) fn jar_server(
    jar: &Path,
    ready: &str,
    surroundings: &Surroundings,
    class_path: &[&str],
) -> Server {
    Server::Jar(JarServer {
        jar: jar.display().to_string(),
        args: surroundings.args.clone().unwrap_or_default(),
        ready: ready.to_owned(),
        class_path: class_path.iter().map(|&jar| jar.to_owned()).collect(),
    })
}
