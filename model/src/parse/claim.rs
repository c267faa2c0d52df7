//! Parses the text of a claim into a [`Claim`], by recursive descent over the bytes, so that each diagnostic has its place.

use crate::experiment::claim::{Claim, Comparison, Expr, Figure, Names, Operator, Test};
use crate::metric::Metric;
use crate::parse::diagnostic::Diagnostic;
use crate::parse::suggest::advice;
use crate::parse::{figure_unit, split_number};

/// The deepest nesting of parentheses and minus signs.
const DEEPEST: u32 = 50;

const OPERATORS_HELP: &str = "compare with >=, <=, >, < or ==, or write `within 5% of`";
const FIGURE_HELP: &str =
    "write a figure like `virtual.rate` or `virtual@c400.p99_ms`, a number, or `( ... )`";

/// Reads a claim.
///
/// # Errors
/// A [`Diagnostic`] with its place in `text`: a name or metric that does not exist, a missing operand or operator.
pub fn parse(text: &str, names: &Names<'_>) -> Result<Claim, Diagnostic> {
    let mut parser = Parser { text, at: 0, depth: 0, names };
    let mut comparisons = vec![parser.comparison()?];
    while parser.word("and") {
        comparisons.push(parser.comparison()?);
    }
    parser.skip_spaces();
    if parser.at < text.len() {
        let message = format!("the claim should end before `{}`", parser.rest());
        return Err(parser.diagnostic(message, "not expected here").help("join two comparisons with `and`"));
    }
    Ok(Claim { comparisons })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    names: &'a Names<'a>,
}

impl<'a> Parser<'a> {
    fn comparison(&mut self) -> Result<Comparison, Diagnostic> {
        let left = self.sum()?;
        let test = self.test()?;
        let right = self.sum()?;
        Ok(Comparison { left, test, right })
    }

    fn test(&mut self) -> Result<Test, Diagnostic> {
        const SYMBOLS: [(&str, Test); 5] = [
            (">=", Test::AtLeast),
            ("<=", Test::AtMost),
            ("==", Test::Equal),
            (">", Test::More),
            ("<", Test::Less),
        ];
        if let Some((_, test)) = SYMBOLS.into_iter().find(|(symbol, _)| self.symbol(symbol)) {
            return Ok(test);
        }
        if self.word("within") {
            return self.within();
        }
        let message = match self.rest() {
            "" => "the claim compares nothing".to_owned(),
            rest => format!("a comparison is expected before `{rest}`"),
        };
        Err(self.diagnostic(message, "a comparison is missing").help(OPERATORS_HELP))
    }

    fn within(&mut self) -> Result<Test, Diagnostic> {
        self.skip_spaces();
        let percent = split_number(self.rest()).map(|(number, after)| {
            self.at = self.text.len() - after.len();
            number
        });
        match percent {
            Some(percent) if self.symbol("%") && self.word("of") => Ok(Test::Within(percent / 100.0)),
            _ => Err(self
                .diagnostic("`within` is not complete", "here")
                .help("write, for example, `within 5% of`")),
        }
    }

    fn sum(&mut self) -> Result<Expr, Diagnostic> {
        let mut left = self.product()?;
        loop {
            let operator = match () {
                () if self.symbol("+") => Operator::Plus,
                () if self.symbol("-") => Operator::Minus,
                () => return Ok(left),
            };
            left = Expr::Binary(Box::new(left), operator, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expr, Diagnostic> {
        let mut left = self.value()?;
        loop {
            let operator = match () {
                () if self.symbol("*") => Operator::Times,
                () if self.symbol("/") => Operator::By,
                () => return Ok(left),
            };
            left = Expr::Binary(Box::new(left), operator, Box::new(self.value()?));
        }
    }

    fn value(&mut self) -> Result<Expr, Diagnostic> {
        if let Some(figure) = self.figure()? {
            return Ok(Expr::Figure(figure));
        }
        if let Some(number) = self.number()? {
            return Ok(Expr::Number(number));
        }
        if self.symbol("-") {
            return self.nested(|parser| Ok(Expr::Negative(Box::new(parser.value()?))));
        }
        if self.symbol("(") {
            return self.nested(|parser| {
                let inner = parser.sum()?;
                if parser.symbol(")") {
                    return Ok(inner);
                }
                Err(parser.diagnostic("a parenthesis is not closed", "`)` is missing"))
            });
        }
        Err(self.no_value())
    }

    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Expr, Diagnostic>,
    ) -> Result<Expr, Diagnostic> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.diagnostic("too many parentheses inside each other", "here"));
        }
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn figure(&mut self) -> Result<Option<Figure>, Diagnostic> {
        self.skip_spaces();
        let Some(variant) = longest(&self.names.variants, self.rest(), &['@', '.']) else { return Ok(None) };
        let variant_span = self.at..self.at + variant.len();
        let after = &self.text[variant_span.end..];
        if split_number(variant).is_some() && !after.starts_with('@') && !letter_follows_the_point(after) {
            return Ok(None);
        }
        self.at = variant_span.end;
        let load = self.load()?;
        let metric = self.metric(variant)?;
        Ok(Some(Figure { variant: variant.to_owned(), variant_span, load, metric }))
    }

    fn load(&mut self) -> Result<String, Diagnostic> {
        if !self.eat("@") {
            return Ok(self.names.loads.first().copied().unwrap_or_default().to_owned());
        }
        match longest(&self.names.loads, self.rest(), &['.']) {
            Some(load) => {
                self.at += load.len();
                Ok(load.to_owned())
            }
            None => {
                let written = name_at(self.rest()).split('.').next().unwrap_or_default().to_owned();
                let help = advice(&written, "the loads", self.names.loads.iter().copied());
                let message = format!("there is no load `{written}`");
                Err(self.fault_over(written.len(), message, "unknown load").help(help))
            }
        }
    }

    fn metric(&mut self, variant: &str) -> Result<Metric, Diagnostic> {
        if !self.eat(".") {
            let message = format!("which figure of `{variant}`?");
            let help = format!("write, for example, `{variant}.rate`");
            return Err(self.diagnostic(message, "`.` and a metric are missing").help(help));
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let written = &rest[..end];
        let Some(metric) = Metric::from_name(written) else {
            let help = advice(written, "the metrics", Metric::ALL.iter().map(|metric| metric.name()));
            let message = format!("there is no metric `{written}`");
            return Err(self.fault_over(end, message, "unknown metric").help(help));
        };
        self.at += end;
        Ok(metric)
    }

    fn number(&mut self) -> Result<Option<f64>, Diagnostic> {
        self.skip_spaces();
        let Some((number, after)) = split_number(self.rest()) else { return Ok(None) };
        let length = self.rest().len() - after.len();
        if let Some(after) = after.strip_prefix("/s").filter(|after| !begins_a_word(after)) {
            self.at = self.text.len() - after.len();
            return Ok(Some(number));
        }
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let Some(factor) = figure_unit(&after[..end]) else {
            self.at += length;
            let message = format!("there is no unit `{}`", &after[..end]);
            return Err(self.fault_over(end, message, "unknown unit").help(
                "units: ms, s (both count in ms), /s, KB, MB, GB, KiB, MiB, GiB (all count in bytes)",
            ));
        };
        self.at += length + end;
        Ok(Some(number * factor))
    }

    fn no_value(&self) -> Diagnostic {
        let written = name_at(self.rest());
        if written.is_empty() {
            let message = match self.rest() {
                "" => "a value is missing at the end".to_owned(),
                rest => format!("a value is expected before `{rest}`"),
            };
            return self.diagnostic(message, "a value is missing").help(FIGURE_HELP);
        }
        let variant = written.split(['@', '.']).next().unwrap_or(written);
        if self.names.variants.contains(&written) {
            let help = format!("write, for example, `{written}.rate`");
            return self
                .fault_over(written.len(), format!("which figure of `{written}`?"), "a metric is missing")
                .help(help);
        }
        let help = advice(variant, "the variants", self.names.variants.iter().copied());
        self.fault_over(written.len(), format!("`{written}` names no known variant"), "unknown variant")
            .help(help)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        self.skip_spaces();
        self.eat(symbol)
    }

    fn word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().strip_prefix(word).is_some_and(|after| !begins_a_word(after));
        found && self.eat(word)
    }

    /// A diagnostic at the next token.
    fn diagnostic(&self, message: impl Into<String>, label: &str) -> Diagnostic {
        let token = match name_at(self.rest()).len() {
            0 => self.rest().chars().next().map_or(0, char::len_utf8),
            length => length,
        };
        self.fault_over(token, message, label)
    }

    fn fault_over(&self, length: usize, message: impl Into<String>, label: &str) -> Diagnostic {
        Diagnostic::new(self.at..self.at + length, message, label)
    }
}

/// The longest of the names that the text begins with, if one of `ends` follows it.
fn longest<'n>(names: &[&'n str], text: &str, ends: &[char]) -> Option<&'n str> {
    names
        .iter()
        .copied()
        .filter(|name| text.strip_prefix(name).is_some_and(|after| after.starts_with(ends)))
        .max_by_key(|name| name.len())
}

/// The name-like beginning of the text.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && !"._-@".contains(c)).unwrap_or(text.len());
    &text[..end]
}

fn begins_a_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || "._-@".contains(c))
}

fn letter_follows_the_point(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|after| after.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> Names<'static> {
        Names {
            variants: vec!["platform", "platform-10.1", "virtual", "virtual@21"],
            loads: vec!["c400", "c1000"],
        }
    }

    fn figure(variant: &str, load: &str, metric: Metric, at: usize) -> Expr {
        let variant_span = at..at + variant.len();
        Expr::Figure(Figure { variant: variant.into(), variant_span, load: load.into(), metric })
    }

    fn left(text: &str) -> Expr {
        parse(text, &names()).expect("a claim").comparisons.remove(0).left
    }

    fn diagnostic(text: &str) -> (String, String) {
        let diagnostic = parse(text, &names()).expect_err("a diagnostic");
        (text.get(diagnostic.span).unwrap_or("outside").to_owned(), diagnostic.message)
    }

    #[test]
    fn the_longest_known_name_is_taken() {
        let ratio = left("virtual.rate / platform-10.1.rate >= 1.9");
        let expected = Expr::Binary(
            Box::new(figure("virtual", "c400", Metric::Rate, 0)),
            Operator::By,
            Box::new(figure("platform-10.1", "c400", Metric::Rate, 15)),
        );
        assert_eq!(ratio, expected);
        assert_eq!(left("virtual@21.p99 < 5"), figure("virtual@21", "c400", Metric::P99, 0));
        assert_eq!(left("virtual@21@c1000.p99 < 5"), figure("virtual@21", "c1000", Metric::P99, 0));
        assert_eq!(left("virtual@c1000.p99_9_ms < 5"), figure("virtual", "c1000", Metric::P99_9, 0));
    }

    #[test]
    fn a_minus_after_a_figure_subtracts() {
        let Expr::Binary(_, Operator::Minus, right) = left("platform.os_threads-virtual.os_threads > 150")
        else {
            panic!("a difference")
        };
        assert_eq!(*right, figure("virtual", "c400", Metric::OsThreads, 20));
    }

    #[test]
    fn products_bind_closer_than_sums_and_equals_group_to_the_left() {
        fn value(expr: &Expr) -> f64 {
            match expr {
                Expr::Number(number) => *number,
                Expr::Negative(inner) => -value(inner),
                Expr::Binary(a, Operator::Plus, b) => value(a) + value(b),
                Expr::Binary(a, Operator::Minus, b) => value(a) - value(b),
                Expr::Binary(a, Operator::Times, b) => value(a) * value(b),
                Expr::Binary(a, Operator::By, b) => value(a) / value(b),
                Expr::Figure(_) => f64::NAN,
            }
        }
        for (text, expected) in [
            ("2 + 3 * 4", 14.0),
            ("(2 + 3) * 4", 20.0),
            ("10 - 3 - 2", 5.0),
            ("16 / 4 / 2", 2.0),
            ("-(1 - 3) * 2", 4.0),
        ] {
            assert_eq!(value(&left(&format!("{text} > 0"))), expected, "{text}");
        }
    }

    #[test]
    fn numbers_take_the_units_of_the_metrics() {
        for (text, number) in [
            ("1_000", 1_000.0),
            ("200ms", 200.0),
            ("0.2s", 200.0),
            ("5000/s", 5_000.0),
            ("2MiB", 2_097_152.0),
        ] {
            assert_eq!(left(&format!("{text} < 1")), Expr::Number(number), "{text}");
        }
    }

    #[test]
    fn comparisons_can_be_joined_and_be_relative() {
        let claim = parse("virtual.rate within 5% of platform.rate and virtual.p99 <= 60ms", &names())
            .expect("a claim");
        let tests: Vec<Test> = claim.comparisons.iter().map(|comparison| comparison.test).collect();
        assert_eq!(tests, [Test::Within(0.05), Test::AtMost]);
        assert_eq!(claim.figures().len(), 3);
    }

    #[test]
    fn a_fault_points_at_its_token() {
        let known = [
            ("virtuel.rate > 1", "virtuel.rate", "`virtuel.rate` names no known variant"),
            ("virtual@c40.rate > 1", "c40", "there is no load `c40`"),
            ("virtual.speed > 1", "speed", "there is no metric `speed`"),
            ("virtual > 1", "virtual", "which figure of `virtual`?"),
            ("virtual.rate >", "", "a value is missing at the end"),
            ("virtual.rate", "", "the claim compares nothing"),
            ("virtual.rate = 3", "=", "a comparison is expected before `= 3`"),
            ("(virtual.rate > 3", ">", "a parenthesis is not closed"),
            ("virtual.p99 > 3 parsecs", "parsecs", "the claim should end before `parsecs`"),
            ("virtual.p99 > 3parsecs", "parsecs", "there is no unit `parsecs`"),
            ("virtual.p99 within 5 of 3", "of", "`within` is not complete"),
            ("1 < 2 < 3", "<", "the claim should end before `< 3`"),
        ];
        for (text, token, message) in known {
            assert_eq!(diagnostic(text), (token.to_owned(), message.to_owned()), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_a_fault_and_not_a_stack_overflow() {
        assert_eq!(diagnostic(&"(".repeat(100_000)).1, "too many parentheses inside each other");
        assert_eq!(diagnostic(&"-".repeat(100_000)).1, "too many parentheses inside each other");
    }

    proptest! {
        #[test]
        fn any_text_is_a_claim_or_a_fault_within_it(text in "[a-z0-9.@ ()<>=+*/%é-]{0,40}") {
            if let Err(diagnostic) = parse(&text, &names()) {
                prop_assert!(diagnostic.span.end <= text.len() && text.get(diagnostic.span.clone()).is_some());
            }
        }
    }
}
