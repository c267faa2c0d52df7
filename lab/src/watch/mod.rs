//! A running JVM, live: the probe's lines → [`Screen`] (what is known) → a terminal (how it looks).

pub mod draw;
pub mod history;
pub mod screen;
pub mod sites;
pub mod terminal;

pub use screen::Screen;
