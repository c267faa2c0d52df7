//! The pictures of studies as SVG, narrow enough for a phone: one axis for each claim, and the marks of all claims.

use super::StudyResult;
use crate::layout::wrapped;
use quick_xml::escape::escape;
use std::fmt::Write as _;
use threadcount_model::claim_result::ClaimResult;

const WIDTH: f64 = 420.0;
/// The axis of a claim, from its left end to its right end.
const AXIS: (f64, f64) = (14.0, 406.0);
/// Characters in a line of text.
const LINE: usize = 62;
const LINE_HEIGHT: f64 = 15.0;
/// If the largest figure is so many times the smallest, the axis is logarithmic.
const FAR_APART: f64 = 20.0;
/// An axis shows at least this part of the figures to each side, so that figures that are nearly equal stand near each other.
const AROUND: f64 = 0.1;
/// Marks in a row of the overview.
const IN_A_ROW: usize = 20;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#222}.small{font-size:10.5px;fill:#666}.title{font-weight:600}\
.axis{stroke:#bbb}.bound{stroke:#222;stroke-dasharray:3 2}.ci{stroke-width:3}.published{fill:none;stroke:#222;stroke-width:1.5}\
.holds{stroke:#0a7d4b;fill:#0a7d4b}.fails{stroke:#c2410c;fill:#c2410c}.open{stroke:#8a8a8a;fill:#8a8a8a}text.holds,text.fails,text.open{stroke:none}\
@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.small{fill:#a8a8a8}.axis{stroke:#555}.bound,.published{stroke:#e6e6e6}\
.holds{stroke:#3ecf8e;fill:#3ecf8e}.fails{stroke:#fb923c;fill:#fb923c}}";

const LEGEND: &str = "● holds · ✕ does not hold · ◐ ⊗ scaled · ○ open";

fn class(claim: &ClaimResult) -> &'static str {
    match claim.decision() {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    }
}

fn sign(claim: &ClaimResult) -> &'static str {
    match (claim.decision(), claim.is_scaled) {
        (Some(true), false) => "●",
        (Some(true), true) => "◐",
        (Some(false), false) => "✕",
        (Some(false), true) => "⊗",
        (None, _) => "○",
    }
}

fn svg(title: &str, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" role=\"img\"><title>{}</title>\
         <style>{STYLE}</style>\n{body}</svg>\n",
        escape(title)
    )
}

fn text(x: f64, y: f64, class: &str, words: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y:.0}\" class=\"{class}\">{}</text>\n", escape(words))
}

/// The marks of all claims, a row for each study.
pub(super) fn overview(studies: &[StudyResult<'_>]) -> String {
    let mut body = text(AXIS.0, 16.0, "small", LEGEND);
    let mut y = 40.0;
    for study in studies {
        for line in wrapped(&study.title, LINE - 10) {
            body.push_str(&text(AXIS.0, y, "title", &line));
            y += LINE_HEIGHT;
        }
        body.push_str(&text(AXIS.0, y, "small", &study.tally()));
        y += LINE_HEIGHT + 4.0;
        for marks in study.claims.chunks(IN_A_ROW) {
            for (place, outcome) in marks.iter().enumerate() {
                let x = AXIS.0 + 19.0 * place as f64;
                let (class, sign) = (class(outcome.claim), sign(outcome.claim));
                let hover = escape(outcome.statement);
                let _ = writeln!(
                    body,
                    "<text x=\"{x}\" y=\"{y:.0}\" class=\"{class}\">{sign}<title>{hover}</title></text>"
                );
            }
            y += LINE_HEIGHT + 2.0;
        }
        y += LINE_HEIGHT;
    }
    svg("The claims of each study", y, &body)
}

/// Each claim of a study on an axis of its own.
pub(super) fn claims(study: &StudyResult<'_>) -> String {
    let legend = format!("{LEGEND} · ◇ published · ┆ bound");
    let mut body = text(AXIS.0, 16.0, "small", &legend);
    let mut y = 38.0;
    for outcome in &study.claims {
        let statement = format!("{} {}", sign(outcome.claim), outcome.statement);
        for line in wrapped(&statement, LINE) {
            body.push_str(&text(AXIS.0, y, class(outcome.claim), &line));
            y += LINE_HEIGHT;
        }
        if let Some(drawn) = axis(outcome.claim, y).filter(|_| outcome.is_single) {
            body.push_str(&drawn);
            y += LINE_HEIGHT + 4.0;
        }
        let published = outcome.claim.published.map(|_| format!("published {}", outcome.figures.published));
        let measured = format!("measured {}", outcome.figures.measured);
        let facts = published.into_iter().chain([measured, outcome.verdict.clone()]);
        for line in wrapped(&facts.collect::<Vec<_>>().join(" · "), LINE + 10) {
            body.push_str(&text(AXIS.0, y, "small", &line));
            y += LINE_HEIGHT;
        }
        y += 10.0;
    }
    svg(&study.title, y, &body)
}

/// The axis with the bound, the published and the measured figure; `None` if nothing was measured. A figure that was published of a larger
/// load stands on no axis with figures of a smaller one.
fn axis(claim: &ClaimResult, y: f64) -> Option<String> {
    let measured = claim.measured?;
    let published = claim.published.filter(|_| !claim.is_scaled);
    let interval = claim.interval.map_or([measured; 2], |it| [it.low, it.high]);
    let shown = [Some(measured), published, claim.bound, Some(interval[0]), Some(interval[1])];
    let shown: Vec<f64> = shown.into_iter().flatten().filter(|it| it.is_finite()).collect();
    let (least, most) =
        shown.iter().fold((f64::MAX, f64::MIN), |(least, most), &it| (least.min(it), most.max(it)));
    let is_log = least > 0.0 && most / least > FAR_APART;
    let scale = |value: f64| if is_log { value.ln() } else { value };
    let around = AROUND * most.abs().max(least.abs()).max(f64::MIN_POSITIVE);
    let (from, to) = if is_log { (scale(least), scale(most)) } else { (least - around, most + around) };
    let at = |value: f64| AXIS.0 + 8.0 + (scale(value) - from) / (to - from) * (AXIS.1 - AXIS.0 - 16.0);
    let (left, right) = AXIS;
    let mut drawn =
        format!("<line x1=\"{left}\" x2=\"{right}\" y1=\"{y:.0}\" y2=\"{y:.0}\" class=\"axis\"/>\n");
    if let Some(bound) = claim.bound {
        let x = at(bound);
        let (top, bottom) = (y - 8.0, y + 8.0);
        let _ = writeln!(
            drawn,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.0}\" y2=\"{bottom:.0}\" class=\"bound\"/>"
        );
    }
    let class = class(claim);
    let [low, high] = interval.map(at);
    let _ = writeln!(
        drawn,
        "<line x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{y:.0}\" y2=\"{y:.0}\" class=\"ci {class}\"/>"
    );
    let _ = writeln!(drawn, "<circle cx=\"{:.1}\" cy=\"{y:.0}\" r=\"4\" class=\"{class}\"/>", at(measured));
    if let Some(published) = published {
        let x = at(published);
        let points = format!(
            "{x:.1},{:.0} {:.1},{y:.0} {x:.1},{:.0} {:.1},{y:.0}",
            y - 6.0,
            x + 6.0,
            y + 6.0,
            x - 6.0
        );
        let _ = writeln!(drawn, "<polygon points=\"{points}\" class=\"published\"/>");
    }
    Some(drawn)
}
