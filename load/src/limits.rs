//! Limits looked at before the start: file descriptors and source ports.
