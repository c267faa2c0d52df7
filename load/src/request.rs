//! What each request says. (Being built: request/ will hold target, template, vegeta's format and the source.)

/// What to ask: targets with their weights, rendered once, shared by all threads.
#[derive(Debug)]
pub struct RequestSource;
