//! Inspection of responses: a body that must contain a text, values for later requests,
//! cookies.
//!
//! ```text
//! bytes of one response ──> RawResponse ──> ResponseParts (status, fields, body) ──> BodyCheck
//!                                                                                ├─> VirtualUser (captured values)
//!                                                                                └─> CookieJar
//! ```
//!
//! Nothing here reads a socket or a clock. A load without checks and captures does not use it: its bodies are counted and
//! not kept.

mod body_check;
mod capture;
mod cookie_date;
mod cookie_jar;
mod parts;
mod raw;
mod user;

pub use body_check::BodyCheck;
pub use capture::{Capture, CaptureError, CaptureSource};
pub use cookie_jar::CookieJar;
pub use parts::ResponseParts;
pub use raw::{MAX_KEPT_BYTES, RawResponse};
pub use user::VirtualUser;
