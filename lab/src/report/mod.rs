//! One result seen many ways: terminal, HTML, Markdown, CSV, JUnit.
