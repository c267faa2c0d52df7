//! The limit of a server: the station whose servers are all taken while other requests queue for it.
//!
//! [`station`] describes the limit, [`rule`] finds it, [`thresholds`] gives each threshold of the rule with its reason, and `words` and
//! `advice` phrase the result. Each other file turns one kind of evidence into a station.

mod advice;
mod alone;
pub(crate) mod clients;
mod connections;
#[cfg(test)]
mod count_tests;
mod counts;
mod flow;
#[cfg(test)]
mod queue_tests;
mod rule;
mod server_pool;
pub mod station;
#[cfg(test)]
mod tests;
mod threads;
pub mod thresholds;
mod unfair;
mod waited;
#[cfg(test)]
mod waited_tests;
mod waits;
mod words;

pub(crate) use rule::{find, in_window};
