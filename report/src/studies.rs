//! Published studies beside what was measured here: a page for each study, and a picture of all.
//!
//! Everything on these pages comes from results, so that a study can be measured again on another machine, and nobody types a figure.

mod page;
mod picture;

use crate::ReportError;
use crate::sentences::distinct;
use crate::view::study::{ClaimFigures, UNAVAILABLE, claim_figures, scaled_words, stated, verdict_line};
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder;
use threadcount_judge::words::finding::words;
use threadcount_model::claim_result::ClaimResult;
use threadcount_model::experiment::Study;
use threadcount_model::experiment::claim::Figure;

/// The page and the picture of all studies, without their endings.
const INDEX: &str = "index";
const OVERVIEW: &str = "overview";

/// A study with the outcome of each of its claims.
struct StudyResult<'a> {
    /// The title without the part in brackets, by which the experiments of a study differ.
    title: String,
    /// The name of its page and picture, without their endings.
    file_name: String,
    about: &'a Study,
    documents: Vec<&'a ResultDocument>,
    claims: Vec<ClaimOutcome<'a>>,
    /// Statements that cannot be tested here, with the reason.
    unavailable: Vec<(&'a str, &'a str)>,
}

/// A claim of a study with its outcome.
struct ClaimOutcome<'a> {
    statement: &'a str,
    claim: &'a ClaimResult,
    figures: ClaimFigures,
    /// The verdict with its basis, or with what it lacks.
    verdict: String,
    /// The limit of the server that the claim is about, if the claim does not hold.
    why: Option<String>,
    /// Whether the claim is a single comparison, so that one axis shows it.
    is_single: bool,
}

impl StudyResult<'_> {
    /// `9 of 17 decided: 5 hold, 4 do not (2 of them scaled)`.
    fn tally(&self) -> String {
        let count = |holds| self.claims.iter().filter(|it| it.claim.decision() == Some(holds)).count();
        let [holds, fails] = [true, false].map(count);
        let scaled = scaled_words(self.claims.iter().map(|it| it.claim));
        format!("{} of {} decided: {holds} hold, {fails} do not{scaled}", holds + fails, self.claims.len())
    }
}

/// The name of a study's files: `tomcat-11-virtual-threads`. The title may be anybody's; a name that is taken gets a number.
fn free_name(title: &str, taken: &[String]) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words.take(5).collect::<Vec<_>>().join("-").chars().take(60).collect();
    let name = if name.is_empty() { "study".to_owned() } else { name };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(name)
}

/// Writes `index.md` with a picture of all studies, and a page with its picture for each study. Returns the path of the first.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn write(documents: &[ResultDocument], folder: &Path) -> Result<PathBuf, ReportError> {
    let failed = |(path, source)| ReportError::Write { path, source };
    std::fs::create_dir_all(folder).map_err(|why| failed((folder.to_owned(), why)))?;
    let put = |name: &str, text: &str| result_folder::write_named(folder, name, text).map_err(failed);
    let studies = studies(documents);
    for study in &studies {
        let name = &study.file_name;
        put(&format!("{name}.svg"), &picture::claims(study))?;
        put(&format!("{name}.md"), &page::study(study))?;
    }
    put(&format!("{OVERVIEW}.svg"), &picture::overview(&studies))?;
    put(&format!("{INDEX}.md"), &page::index(&studies))
}

/// The results by study, in the order in which the studies appear first. Experiments without a study have no page.
fn studies(documents: &[ResultDocument]) -> Vec<StudyResult<'_>> {
    let mut taken = vec![INDEX.to_owned(), OVERVIEW.to_owned()];
    let mut studies = Vec::new();
    for wanted in distinct(documents.iter().filter_map(title)) {
        let file_name = free_name(&wanted, &taken);
        taken.push(file_name.clone());
        let documents = documents.iter().filter(|it| title(it).as_ref() == Some(&wanted)).collect();
        studies.extend(study(wanted, file_name, documents));
    }
    studies
}

fn study(title: String, file_name: String, documents: Vec<&ResultDocument>) -> Option<StudyResult<'_>> {
    let about = documents.first()?.experiment.study.as_ref()?;
    let unavailable = documents.iter().flat_map(|it| &it.experiment.unavailable);
    Some(StudyResult {
        title,
        file_name,
        about,
        claims: documents.iter().flat_map(|it| outcomes(it)).collect(),
        unavailable: unavailable.map(|it| (it.what.as_str(), it.why.as_str())).collect(),
        documents,
    })
}

fn title(document: &ResultDocument) -> Option<String> {
    let title = &document.experiment.study.as_ref()?.title;
    Some(title.split(" (").next().unwrap_or(title).to_owned())
}

/// The outcomes of the claims that are the study's; the others are our own.
fn outcomes(document: &ResultDocument) -> impl Iterator<Item = ClaimOutcome<'_>> {
    document.claims.iter().filter_map(|claim| {
        Some(ClaimOutcome {
            statement: claim.says.as_deref()?,
            claim,
            figures: claim_figures(document, claim),
            verdict: verdict_line(document, claim),
            why: limit(document, claim).filter(|_| claim.decision() == Some(false)),
            is_single: stated(document, claim).is_none_or(|it| it.comparisons.len() == 1),
        })
    })
}

/// The limit of the first variant of the claim that has one.
fn limit(document: &ResultDocument, claim: &ClaimResult) -> Option<String> {
    let limit = |figure: &Figure| {
        let mut findings = document.findings.iter().filter(|it| it.is_limit());
        let found = findings.find(|finding| {
            finding.variant.as_ref() == Some(&figure.variant) && finding.load.as_ref() == Some(&figure.load)
        })?;
        Some(format!("{}: {}", figure.variant, words(found).brief))
    };
    stated(document, claim)?.figures().into_iter().find_map(limit)
}

#[cfg(test)]
mod tests;
