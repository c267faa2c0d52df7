//! Published studies beside what was measured here: a page for each study, and a picture of all.
//!
//! Everything on these pages comes from results, so that a study can be measured again on another machine, and nobody types a figure.

mod page;
mod picture;

use crate::ReportError;
use crate::sentences::distinct;
use crate::view::study::{UNAVAILABLE, claim_figure, claim_unit, measured_words, verdict_line};
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder;
use threadcount_judge::words::finding::words;
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::experiment::Study;
use threadcount_model::experiment::claim::Figure;
use threadcount_model::metric::Metric;

/// A study, and what became of its claims.
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

/// A claim of the study, and what became of it.
struct ClaimOutcome<'a> {
    statement: &'a str,
    claim: &'a ClaimResult,
    /// The metric whose unit the claim's figures have; `None` for ratios.
    unit: Option<Metric>,
    mark: Mark,
    /// The verdict, and what it rests on or lacks.
    verdict: String,
    /// What limited the server that the claim is about, if the claim does not hold.
    why: Option<String>,
}

/// What became of a claim.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Holds,
    DoesNotHold,
    Open,
}

impl ClaimOutcome<'_> {
    fn figure(&self, value: f64) -> String {
        claim_figure(value, self.unit)
    }

    /// Whether the verdict is about a load that was made smaller than the study's.
    fn is_scaled(&self) -> bool {
        self.claim.is_scaled && self.mark != Mark::Open
    }

    const fn sign(&self) -> &'static str {
        match (self.mark, self.claim.is_scaled) {
            (Mark::Holds, false) => "●",
            (Mark::Holds, true) => "◐",
            (Mark::DoesNotHold, false) => "✕",
            (Mark::DoesNotHold, true) => "⊗",
            (Mark::Open, _) => "○",
        }
    }
}

impl StudyResult<'_> {
    fn count(&self, mark: Mark) -> usize {
        self.claims.iter().filter(|claim| claim.mark == mark).count()
    }

    /// `9 of 17 decided: 5 hold, 4 do not (2 of them scaled)`.
    fn tally(&self) -> String {
        let [holds, fails] = [Mark::Holds, Mark::DoesNotHold].map(|mark| self.count(mark));
        let scaled = self.claims.iter().filter(|it| it.is_scaled()).count();
        let scaled = if scaled > 0 { format!(" ({scaled} of them scaled)") } else { String::new() };
        format!("{} of {} decided: {holds} hold, {fails} do not{scaled}", holds + fails, self.claims.len())
    }
}

/// The name of a study's files: `tomcat-11-virtual-threads`. The title may be anybody's; a name that is taken gets a number.
fn free_name(title: &str, taken: &[String]) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words.take(5).collect::<Vec<_>>().join("-").chars().take(60).collect();
    let name = if name.is_empty() { "study".to_owned() } else { name };
    let is_free = |name: &String| !taken.contains(name) && !["index", "overview"].contains(&name.as_str());
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default()
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
    put("overview.svg", &picture::overview(&studies))?;
    put("index.md", &page::index(&studies))
}

/// The results by study, in the order in which the studies appear first. Experiments without a study have no page.
fn studies(documents: &[ResultDocument]) -> Vec<StudyResult<'_>> {
    let with_study = |document: &'_ ResultDocument| document.experiment.study.is_some();
    let titles = documents.iter().filter(|it| with_study(it)).filter_map(title);
    let by_title = |wanted: String| {
        let documents: Vec<&ResultDocument> =
            documents.iter().filter(|it| title(it).as_ref() == Some(&wanted)).collect();
        let about = documents.first()?.experiment.study.as_ref()?;
        let unavailable = documents.iter().flat_map(|it| &it.experiment.unavailable);
        Some(StudyResult {
            file_name: String::new(),
            title: wanted,
            about,
            claims: documents.iter().flat_map(|it| outcomes(it)).collect(),
            unavailable: unavailable.map(|it| (it.what.as_str(), it.why.as_str())).collect(),
            documents,
        })
    };
    let mut studies: Vec<StudyResult<'_>> = distinct(titles).into_iter().filter_map(by_title).collect();
    let mut taken = Vec::new();
    for study in &mut studies {
        study.file_name = free_name(&study.title, &taken);
        taken.push(study.file_name.clone());
    }
    studies
}

fn title(document: &ResultDocument) -> Option<String> {
    let title = &document.experiment.study.as_ref()?.title;
    Some(title.split(" (").next().unwrap_or(title).to_owned())
}

/// The outcomes of the claims that are the study's; the others are our own.
fn outcomes(document: &ResultDocument) -> impl Iterator<Item = ClaimOutcome<'_>> {
    document.claims.iter().filter_map(|claim| {
        let mark = match claim.verdict() {
            _ if claim.doubt.is_some() => Mark::Open,
            ClaimVerdict::Holds => Mark::Holds,
            ClaimVerdict::DoesNotHold => Mark::DoesNotHold,
            ClaimVerdict::Indicative | ClaimVerdict::NotDecided | ClaimVerdict::NotTried => Mark::Open,
        };
        let why = (mark == Mark::DoesNotHold).then(|| limit(document, claim)).flatten();
        let unit = claim_unit(document, claim);
        let verdict = verdict_line(document, claim);
        Some(ClaimOutcome { statement: claim.says.as_deref()?, claim, unit, mark, verdict, why })
    })
}

/// The limit of the first variant of the claim that has one.
fn limit(document: &ResultDocument, claim: &ClaimResult) -> Option<String> {
    let stated = document.experiment.claims.iter().find(|it| it.claim == claim.claim)?;
    let limit = |figure: &Figure| {
        let mut findings = document.findings.iter().filter(|it| it.is_limit());
        let found = findings.find(|it| {
            it.variant.as_ref() == Some(&figure.variant) && it.load.as_ref() == Some(&figure.load)
        })?;
        Some(format!("{}: {}", figure.variant, words(found).brief))
    };
    stated.expression.figures().into_iter().find_map(limit)
}

#[cfg(test)]
mod tests;
