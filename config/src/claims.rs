//! `claims:` and `unavailable:`: statements of a study that are tested here, and statements that cannot be.

use threadcount_model::experiment::claim::{Claim, Names};
use threadcount_model::experiment::{Experiment, StatedClaim, Unavailable};
use threadcount_model::parse::claim;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, json_schema, map};
use threadcount_model::parse::value_kinds::Text;
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};

const CLAIM: &[KeySpec] = keys! {
    claim: String,
    /// What the study says, in your own words.
    says: Text,
};

const UNAVAILABLE: &[KeySpec] = keys! {
    what: Text,
    why: Text,
};

value_kinds! {
    /// A statement over figures: virtual.rate / platform.rate >= 1.9.
    pub(super) ClaimOrText = |generator| json_schema!({
        "anyOf": [{"type": "string"}, map(generator, CLAIM, json_schema!({"required": ["claim"]}))],
    });

    pub(super) UnavailableKeys = |generator| map(generator, UNAVAILABLE, json_schema!({"required": ["what", "why"]}));
}

/// The list of claims: bare texts, or maps with the study's statement beside it.
pub(super) fn read(node: &Node, text: &str, experiment: &Experiment) -> Result<Vec<StatedClaim>, Diagnostic> {
    let names = Names::of(experiment);
    node.items("claims")?.iter().map(|item| stated(item, text, &names)).collect()
}

fn stated(item: &Node, text: &str, names: &Names<'_>) -> Result<StatedClaim, Diagnostic> {
    let Kind::Map(_) = item.kind else {
        let (claim, expression) = read_claim(item, text, names)?;
        return Ok(StatedClaim { claim, expression, says: None });
    };
    let fields = Fields::open(item, "a claim", CLAIM)?;
    let written = fields.require("claim", "claim: virtual.rate / platform.rate >= 1.9")?;
    let (claim, expression) = read_claim(written, text, names)?;
    Ok(StatedClaim {
        claim,
        expression,
        says: fields.read("says", |node| node.text("says").map(str::to_owned))?,
    })
}

/// A claim as written, and as an expression.
fn read_claim(item: &Node, text: &str, names: &Names<'_>) -> Result<(String, Claim), Diagnostic> {
    let written = item.text("a claim")?;
    let claim =
        claim::parse(written, names).map_err(|diagnostic| place_in_file(diagnostic, written, item, text))?;
    Ok((written.to_owned(), claim))
}

/// Moves a diagnostic from the claim to the file; a claim that is not written literally (folded, escaped) is marked whole.
fn place_in_file(diagnostic: Diagnostic, claim: &str, item: &Node, text: &str) -> Diagnostic {
    match text.get(item.span.clone()).and_then(|raw| raw.find(claim)) {
        Some(offset) => diagnostic.moved(item.span.start + offset),
        None => Diagnostic { span: item.span.clone(), ..diagnostic },
    }
}

/// The list of statements that cannot be tested.
pub(super) fn unavailable(node: &Node) -> Result<Vec<Unavailable>, Diagnostic> {
    node.items("unavailable")?.iter().map(statement).collect()
}

fn statement(node: &Node) -> Result<Unavailable, Diagnostic> {
    let fields = Fields::open(node, "a statement that cannot be tried", UNAVAILABLE)?;
    let text = |key: &str, example: &str| Ok(fields.require(key, example)?.text(key)?.to_owned());
    Ok(Unavailable {
        what: text("what", "what: it holds 100,000 users")?,
        why: text("why", "why: this machine opens 20,000 files at most")?,
    })
}
