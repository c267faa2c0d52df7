//! A running JVM, live: the probe's lines → [`Screen`] (state) → a terminal (drawing).

pub mod canary;
pub mod draw;
pub mod history;
pub mod json_line;
pub mod last_words;
pub mod limits;
pub mod plain;
pub mod printed_limits;
pub mod problems;
pub mod screen;
pub mod sites;
pub mod terminal;
pub mod time_limit;
pub mod window;
pub mod work;

pub use screen::Screen;
