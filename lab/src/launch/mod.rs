//! How a server starts, is found ready, and stops.
