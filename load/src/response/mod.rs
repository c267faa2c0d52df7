//! Inspection of responses: a body that must contain a text, values for later requests,
//! cookies.
//!
//! ```text
//! http1, http2 ──> ResponseReader (what the plan reads) ──> ResponseParts (status, fields, body) ──> BodyCheck
//!                                                                                                ├─> VirtualUser (captured values)
//!                                                                                                └─> CookieJar
//! ```
//!
//! Nothing here reads a socket or a clock. A load without checks and captures does not use it: its bodies are counted and
//! not kept.

mod body_check;
mod capture;
mod cookie_date;
mod cookie_jar;
mod json_value;
mod kept;
mod parts;
mod reader;
mod user;

pub use body_check::BodyCheck;
pub use capture::{Capture, CaptureError, CaptureSource};
pub use cookie_jar::CookieJar;
pub use kept::MOST_KEPT_BYTES;
pub(crate) use kept::{Charge, Kept};
pub use parts::ResponseParts;
pub(crate) use reader::{ReadParts, ResponseReader, ResponseSink, Unread};
pub(crate) use user::NO_ROOM;
pub use user::VirtualUser;
