//! One result seen many ways: terminal, HTML, Markdown, CSV, JUnit. Each is made from the result document alone.

pub mod answer;
pub mod figures;
pub mod published;
pub mod summary;
pub mod terminal;
pub mod trust;
