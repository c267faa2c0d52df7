//! What a true load generator must say about a server whose behaviour is known. Pure: no clock, no socket.

pub mod analytic;
pub mod delay;
pub mod stall;

pub use analytic::ResponseTime;
pub use delay::Delay;
pub use stall::Stall;
