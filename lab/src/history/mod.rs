//! Results over time: the differences between two of them, and how their figures changed.
//!
//! Only `result.json` is read.

mod change;
mod differences;
mod find;
mod gate;
mod setting;
pub mod text;
mod timeline;

pub use change::{Change, Changed, Side, change};
pub use differences::{Difference, Differences};
pub use find::{Found, Unreadable, find};
pub use gate::{GateOutcome, GateRemark, gate};
pub use timeline::{Entry, Figures, Series, Timeline, timeline};
