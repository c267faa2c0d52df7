//! `claims:` and `unavailable:`: what of a study can be tried here, and what cannot.

use crate::model::experiment::claim::{Claim, Names};
use crate::model::experiment::{Experiment, StatedClaim, Unavailable};
use crate::parse::claim;
use crate::parse::fault::Fault;
use crate::parse::fields::Fields;
use crate::parse::yaml::{Kind, Node};

/// The list of claims: bare texts, or maps with what the study says beside it.
pub(super) fn read(node: &Node, text: &str, experiment: &Experiment) -> Result<Vec<StatedClaim>, Fault> {
    let names = Names::of(experiment);
    node.items("claims")?.iter().map(|item| stated(item, text, &names)).collect()
}

fn stated(item: &Node, text: &str, names: &Names<'_>) -> Result<StatedClaim, Fault> {
    let Kind::Map(_) = item.kind else {
        let (claim, expression) = read_claim(item, text, names)?;
        return Ok(StatedClaim { claim, expression, says: None });
    };
    let fields = Fields::open(item, "a claim", &["claim", "says"])?;
    let written = fields.require("claim", "claim: virtual.rate / platform.rate >= 1.9")?;
    let (claim, expression) = read_claim(written, text, names)?;
    Ok(StatedClaim {
        claim,
        expression,
        says: fields.read("says", |node| node.text("says").map(str::to_owned))?,
    })
}

/// A claim as written, and as an expression.
fn read_claim(item: &Node, text: &str, names: &Names<'_>) -> Result<(String, Claim), Fault> {
    let written = item.text("a claim")?;
    let claim = claim::parse(written, names).map_err(|fault| place_in_file(fault, written, item, text))?;
    Ok((written.to_owned(), claim))
}

/// Moves a fault from the claim to the file; a claim that is not written literally (folded, escaped) is marked whole.
fn place_in_file(fault: Fault, claim: &str, item: &Node, text: &str) -> Fault {
    match text.get(item.span.clone()).and_then(|raw| raw.find(claim)) {
        Some(offset) => fault.moved(item.span.start + offset),
        None => Fault { span: item.span.clone(), ..fault },
    }
}

/// The list of statements that cannot be tried.
pub(super) fn unavailable(node: &Node) -> Result<Vec<Unavailable>, Fault> {
    node.items("unavailable")?.iter().map(statement).collect()
}

fn statement(node: &Node) -> Result<Unavailable, Fault> {
    let fields = Fields::open(node, "a statement that cannot be tried", &["what", "why"])?;
    let text = |key: &str, example: &str| Ok(fields.require(key, example)?.text(key)?.to_owned());
    Ok(Unavailable {
        what: text("what", "what: it holds 100,000 users")?,
        why: text("why", "why: this machine opens 20,000 files at most")?,
    })
}
