//! What each request says: targets with their weights, rendered once where nothing in them varies.
//!
//! ```
//! use threadcount_load::request::{Header, RequestSource, Target};
//!
//! let target = Target::get("http://localhost:8080/users/{rand:1:1000}")?.with_header(Header::parse("A: b")?);
//! let source = RequestSource::new(vec![target])?;
//! let mut writer = source.writer(0, 42, true);
//! assert!(writer.http1(0).bytes.starts_with(b"GET /users/"));
//! # Ok::<(), threadcount_load::request::RequestError>(())
//! ```
//!
//! Placeholders stand in the path, in header values and in the body. `{rand:1:1000}` is a whole number between the two,
//! both included. `{seq:1}` counts requests: no two requests of a load have the same number, and all `{seq:..}` of one
//! request agree. Every other brace is text.

mod compiled;
mod error;
mod header;
mod library;
mod origin;
mod source;
mod target;
mod template;
pub mod vegeta;
mod writer;

pub use error::RequestError;
pub use header::Header;
pub use origin::Origin;
pub use source::RequestSource;
pub use target::Target;
pub use writer::{RenderedRequest, RequestWriter};
