//! Chooses the addresses to which, and from which, connections are made.

use std::net::IpAddr;

/// Endpoints and source addresses, used in turn. Each thread takes every `step`-th turn.
pub(super) struct Peers<'a> {
    pub(super) endpoints: usize,
    pub(super) sources: &'a [IpAddr],
    pub(super) next: u32,
    pub(super) step: u32,
}

impl Peers<'_> {
    /// The endpoint and the source address of the next connection.
    pub(super) fn next(&mut self) -> (usize, Option<IpAddr>) {
        let turn = self.next as usize;
        self.next = self.next.wrapping_add(self.step);
        (turn % self.endpoints.max(1), self.sources.get(turn % self.sources.len().max(1)).copied())
    }
}
