//! What a correct load generator reports about a server with a known behaviour. Pure: no clock, no socket.

pub mod analytic;
pub mod delay;
pub mod stall;

pub use analytic::ResponseTime;
pub use delay::Delay;
pub use stall::Stall;
