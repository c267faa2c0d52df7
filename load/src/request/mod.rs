//! Requests: targets with their weights, rendered once where nothing in them varies.
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
//! request agree. `{csv:FILE:COLUMN}` is a value of a file whose first line names its columns: each request takes the next
//! row, all placeholders of one request the same, and after the last row comes the first. `{capture:NAME}` is a value from
//! an earlier response to the same virtual user ([`Capture`](crate::response::Capture)). Every other brace is text.

mod compiled;
mod csv_file;
mod error;
mod fields;
mod header;
mod library;
mod origin;
mod place;
mod promises;
pub(crate) mod redirect;
mod source;
mod target;
mod template;
pub mod vegeta;
mod writer;

pub use error::RequestError;
pub(crate) use fields::FieldRequest;
pub use header::Header;
pub use origin::Origin;
pub use source::RequestSource;
pub use target::Target;
pub use template::has_placeholder;
pub use writer::{RenderedRequest, RequestWriter};
