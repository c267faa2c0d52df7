//! Values of the file, each with its place for mistakes. Their syntax: [`crate::parse`].

use super::yaml::{Kind, Node};
use crate::experiment::warm_up::WarmUpTime;
use crate::parse;
use crate::parse::diagnostic::Diagnostic;

impl Node {
    /// The text of a single value.
    pub fn text(&self, key: &str) -> Result<&str, Diagnostic> {
        match &self.kind {
            Kind::Scalar(text) => Ok(text),
            _ => Err(self.wrong(key, "a single value")),
        }
    }

    pub fn items(&self, key: &str) -> Result<&[Self], Diagnostic> {
        match &self.kind {
            Kind::List(items) => Ok(items),
            _ => {
                let help =
                    format!("write `{key}: [a, b]`, or each on a line of its own that begins with `- `");
                Err(self.wrong(key, "a list").help(help))
            }
        }
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, Diagnostic> {
        self.items(key)?.iter().map(|item| item.text(key).map(str::to_owned)).collect()
    }

    /// A value that `parse` reads; `expected` describes it.
    pub fn parsed<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Diagnostic> {
        parse(self.text(key)?).map_err(|help| self.bad(key, expected).help(help))
    }

    /// Like [`Self::parsed`] for a list, whose items are read as if written in one line with commas.
    pub fn parsed_list<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Diagnostic> {
        match &self.kind {
            Kind::List(items) if !items.is_empty() => {
                // A mistake points at its own item.
                for item in items {
                    item.parsed(key, expected, &parse)?;
                }
                let one_line = self.texts(key)?.join(",");
                parse(&one_line).map_err(|help| self.wrong(key, expected).help(help))
            }
            Kind::List(_) => {
                Err(Diagnostic::new(self.span.clone(), format!("`{key}` is an empty list"), "no value")
                    .help("leave the key out, or write what it is"))
            }
            _ => self.parsed(key, expected, parse),
        }
    }

    /// A whole number of at least 1.
    pub fn positive(&self, key: &str) -> Result<u64, Diagnostic> {
        self.parsed(key, "a whole number from 1", |text| parse::positive(text).map(u64::from))
    }

    /// A whole number of at least 1 that fits 32 bits.
    pub fn positive_u32(&self, key: &str) -> Result<u32, Diagnostic> {
        self.parsed(key, "a whole number from 1", |text| parse::positive_u32(text).map(u32::from))
    }

    pub fn truth(&self, key: &str) -> Result<bool, Diagnostic> {
        match self.text(key)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.bad(key, "true or false")),
        }
    }

    /// A whole number, zero too, that fits 32 bits.
    pub fn whole_u32(&self, key: &str) -> Result<u32, Diagnostic> {
        let fits =
            |number: u64| u32::try_from(number).map_err(|_| "it must be below 4_294_967_296".to_owned());
        self.parsed(key, "a whole number", |text| fits(parse::count(text)?))
    }

    pub fn seconds(&self, key: &str) -> Result<f64, Diagnostic> {
        self.parsed(key, "a duration", parse::seconds)
    }

    /// A longest warm-up, or `auto`.
    pub fn warm_up(&self, key: &str) -> Result<WarmUpTime, Diagnostic> {
        self.parsed(key, "a duration", parse::warm_up)
    }

    /// A duration longer than nothing, in seconds.
    pub fn positive_seconds(&self, key: &str) -> Result<f64, Diagnostic> {
        self.parsed(key, "a duration", |text| parse::duration(text).map(|duration| duration.as_secs_f64()))
    }

    pub fn rate(&self, key: &str) -> Result<f64, Diagnostic> {
        self.parsed(key, "a rate", parse::rate)
    }

    /// A share of the whole.
    pub fn share(&self, key: &str) -> Result<f64, Diagnostic> {
        self.parsed(key, "a share", parse::share)
    }

    /// A figure in the unit of its metric.
    pub fn figure(&self, key: &str) -> Result<f64, Diagnostic> {
        self.parsed(key, "a number", parse::figure)
    }

    /// A mistake in a single value.
    pub fn bad(&self, key: &str, expected: &str) -> Diagnostic {
        let written = self.text(key).unwrap_or_default();
        Diagnostic::new(
            self.span.clone(),
            format!("`{key}` must be {expected}, and `{written}` is not"),
            "this value",
        )
    }

    fn wrong(&self, key: &str, expected: &str) -> Diagnostic {
        let message = format!("`{key}` must be {expected}, and this is {}", self.noun());
        Diagnostic::new(self.span.clone(), message, format!("expected {expected}"))
    }
}
