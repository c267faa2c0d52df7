//! What the variants of all services have in common.

use crate::model::experiment::{Server, Variant};

/// Requests at once of the variant with a limit: as many as Tomcat's own pool has threads.
pub(super) const BOUND: u32 = 200;

pub(super) fn noted(name: &str, note: &str, server: Server) -> Variant {
    Variant { note: Some(note.to_owned()), ..Variant::new(name, server) }
}
