//! Watches a running JVM: the probe's lines change the state of a [`Screen`], which is drawn in a terminal or printed.

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
