//! Claims as test cases in the JUnit XML that build servers read.
//!
//! A claim that does not hold is a failure. A claim is skipped if it is inconclusive, not tested or not testable here, or if
//! it holds in a single run, which has no interval; so is a study's statement that was not reproduced. A claim on figures
//! that are not trusted is an error, because it has no verdict.

use crate::ReportError;
use crate::view::study::{OPEN, is_open};
use crate::view::{Trust, view};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::figures;

/// The text of `junit.xml`.
///
/// # Errors
/// When the XML cannot be written, which is a bug.
pub fn junit(document: &ResultDocument) -> Result<String, ReportError> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, document).map_err(ReportError::Xml)?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
}

fn write(writer: &mut Writer<Vec<u8>>, document: &ResultDocument) -> io::Result<()> {
    let number = |wanted: fn(&Verdict) -> bool| {
        let verdicts = document.claims.iter().map(Verdict::from_claim);
        verdicts.filter(wanted).count()
    };
    let unavailable = &document.experiment.unavailable;
    let tests = (document.claims.len() + unavailable.len()).to_string();
    let (failures, errors, skipped) = (
        number(|verdict| matches!(verdict, Verdict::Failure(_))).to_string(),
        number(|verdict| matches!(verdict, Verdict::Error(_))).to_string(),
        (number(|verdict| matches!(verdict, Verdict::Skipped(_))) + unavailable.len()).to_string(),
    );
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suite = writer
        .create_element("testsuite")
        .with_attribute(("name", document.experiment.name.as_str()))
        .with_attribute(("tests", tests.as_str()))
        .with_attribute(("failures", failures.as_str()))
        .with_attribute(("errors", errors.as_str()))
        .with_attribute(("skipped", skipped.as_str()))
        .with_attribute(("timestamp", document.created_at.as_str()));
    suite.write_inner_content(|writer| {
        for claim in &document.claims {
            test_case(writer, &claim.claim, &Verdict::from_claim(claim), document)?;
        }
        for statement in unavailable {
            test_case(writer, &statement.what, &Verdict::Skipped(statement.why.clone()), document)?;
        }
        let out = writer.create_element("system-out");
        out.write_text_content(BytesText::new(&trust(&view(document).trust)))?;
        Ok(())
    })?;
    Ok(())
}

/// The outcome of a claim for a build server.
enum Verdict {
    Holds,
    Failure(String),
    Error(String),
    Skipped(String),
}

impl Verdict {
    fn from_claim(claim: &ClaimResult) -> Self {
        if let Some(doubt) = claim.doubt.as_ref().filter(|_| claim.holds.is_some()) {
            return Self::Error(format!("no verdict: {}", reasons::doubt(doubt)));
        }
        match claim.verdict() {
            ClaimVerdict::Holds => Self::Holds,
            // Without an interval the claim may hold by chance, so it must not turn a build green.
            ClaimVerdict::Indicative if !claim.is_denied() => Self::Skipped(measured(claim, "would hold")),
            // A study's statement is reported, not required.
            ClaimVerdict::DoesNotHold if claim.says.is_some() => {
                Self::Skipped(measured(claim, "not reproduced"))
            }
            ClaimVerdict::Indicative if claim.says.is_some() => {
                Self::Skipped(measured(claim, "would not be reproduced"))
            }
            ClaimVerdict::DoesNotHold | ClaimVerdict::Indicative => {
                Self::Failure(measured(claim, "does not hold"))
            }
            ClaimVerdict::NotDecided => Self::Skipped(measured(claim, "inconclusive: too few runs")),
            ClaimVerdict::NotTried => Self::Skipped(
                claim.why.as_ref().map_or_else(|| "could not be tried".to_owned(), reasons::not_tried),
            ),
        }
    }

    const fn element(&self) -> Option<(&'static str, &String)> {
        match self {
            Self::Holds => None,
            Self::Failure(message) => Some(("failure", message)),
            Self::Error(message) => Some(("error", message)),
            Self::Skipped(message) => Some(("skipped", message)),
        }
    }
}

fn measured(claim: &ClaimResult, verdict: &str) -> String {
    let measured = claim.measured.map_or_else(|| "nothing".to_owned(), figures::plain);
    let open = if is_open(claim) { format!(", {OPEN}") } else { String::new() };
    format!("measured {measured}: {verdict}{open}")
}

fn test_case(
    writer: &mut Writer<Vec<u8>>,
    name: &str,
    verdict: &Verdict,
    document: &ResultDocument,
) -> io::Result<()> {
    let case = writer
        .create_element("testcase")
        .with_attribute(("classname", document.experiment.name.as_str()))
        .with_attribute(("name", name));
    match verdict.element() {
        None => case.write_empty()?,
        Some((element, message)) => case.write_inner_content(|writer| {
            writer.create_element(element).with_attribute(("message", message.as_str())).write_empty()?;
            Ok(())
        })?,
    };
    Ok(())
}

fn trust(trust: &Trust) -> String {
    let parts = [&trust.requests].into_iter().chain(&trust.basis).chain(&trust.all_remarks);
    parts.cloned().collect::<Vec<_>>().join("\n")
}
