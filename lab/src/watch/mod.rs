//! A running JVM, live: the probe's lines → [`Screen`] (state) → a terminal (drawing).

pub mod draw;
pub mod history;
pub mod screen;
pub mod sites;
pub mod terminal;
pub mod work;

pub use screen::Screen;
