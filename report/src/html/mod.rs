//! The report as one self-contained page: no network, no build step, one template, one style sheet, two scripts.

mod board;
mod colour;
mod method;
mod pictures;
mod request_bars;
mod run_bars;
mod stack_flames;
mod tables;

use crate::ReportError;
use crate::view::{View, view};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use board::Board;
use method::Method;
use minijinja::Environment;
use minijinja::value::Serde;
use request_bars::RequestBars;
use run_bars::RunBars;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use stack_flames::{ALLOCATIONS, CPU, StackFlames};
use tables::Table;
use tables::ratios::RatioTable;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::Study;
use threadcount_model::figures;
use threadcount_model::printable::printable_text;

/// The name and text of the template; the `.html` in the name switches escaping on.
const TEMPLATE: (&str, &str) = ("report.html", include_str!("../../assets/report/page.html"));
const STYLE: &str = include_str!("../../assets/report/page.css");
const CHARTS: &str = include_str!("../../assets/vendor/echarts.min.js");
/// The page's own script, wrapped in one function so that its names do not clash with others.
const SCRIPT: &str = concat!(
    "(function () {\n",
    include_str!("../../assets/report/page.js"),
    include_str!("../../assets/report/figures.js"),
    include_str!("../../assets/report/lines.js"),
    include_str!("../../assets/report/axes.js"),
    include_str!("../../assets/report/save.js"),
    include_str!("../../assets/report/table.js"),
    include_str!("../../assets/report/build.js"),
    include_str!("../../assets/report/start.js"),
    "})();\n"
);

/// The page as text.
///
/// # Errors
/// When the data cannot be written as JSON or the template fails, which is a bug and not a problem of the document.
pub fn html(document: &ResultDocument) -> Result<String, ReportError> {
    let mut data = serde_json::to_value(pictures::pictures(document)).map_err(ReportError::Data)?;
    make_printable(&mut data);
    let data = data.to_string();
    let mut environment = Environment::new();
    environment.add_filter("marked", marked);
    environment.add_template(TEMPLATE.0, TEMPLATE.1).map_err(ReportError::Template)?;
    let template = environment.get_template(TEMPLATE.0).map_err(ReportError::Template)?;
    template.render(Serde(Page::from_document(document, &data))).map_err(ReportError::Template)
}

/// The data that the template renders.
#[derive(Serialize)]
struct Page<'a> {
    view: View,
    boards: Vec<Board>,
    has_findings: bool,
    made_at: String,
    made_by: &'a str,
    study: Option<&'a Study>,
    ratios: Vec<RatioTable>,
    crossover: Table,
    published: Table,
    variants: Table,
    pins: Table,
    files: Table,
    run_delays: Table,
    pauses: Table,
    native: Table,
    claims: Table,
    request_bars: Vec<RequestBars>,
    cpu_flames: Vec<StackFlames>,
    allocation_flames: Vec<StackFlames>,
    run_bars: Vec<RunBars>,
    runs: Table,
    method: Method,
    data: String,
    style: &'static str,
    charts: &'static str,
    script: &'static str,
    allowed_scripts: String,
}

impl<'a> Page<'a> {
    fn from_document(document: &'a ResultDocument, data: &str) -> Self {
        let of_runs = document.experiment.loads.iter().map(|load| board::board(document, load));
        let boards = match &document.crossover {
            Some(found) => vec![board::crossover_board(found)],
            None => of_runs.collect(),
        };
        Self {
            view: view(document),
            boards: boards.into_iter().filter(|board| !board.rows.is_empty()).collect(),
            has_findings: !document.findings.is_empty(),
            made_at: figures::moment(&document.created_at).replace('T', " ").replace('Z', " UTC"),
            made_by: &document.threadcount,
            study: document.experiment.study.as_ref(),
            ratios: tables::ratios::ratios(document),
            crossover: tables::crossover(document),
            published: tables::published(document),
            variants: tables::variants::variants(document),
            pins: tables::sites::pins(document),
            files: tables::sites::files(document),
            run_delays: tables::run_delays::run_delays(document),
            pauses: tables::pauses::pauses(document),
            native: tables::native_memory(document),
            claims: tables::claims(document),
            request_bars: request_bars::request_bars(document),
            cpu_flames: CPU.flames(document),
            allocation_flames: ALLOCATIONS.flames(document),
            run_bars: run_bars::run_bars(document),
            runs: tables::runs(document),
            method: method::method(document),
            data: data_block(data),
            style: STYLE,
            charts: CHARTS,
            script: SCRIPT,
            allowed_scripts: [CHARTS, SCRIPT].map(script_hash).join(" "),
        }
    }
}

/// A sentence as HTML: what stands between backticks is code, and everything else is text.
#[expect(clippy::needless_pass_by_value, reason = "a filter gets its own text")]
fn marked(text: String) -> minijinja::Value {
    let escaped = minijinja::HtmlEscape(&text).to_string();
    let mut parts: Vec<&str> = escaped.split('`').collect();
    // A backtick without its partner is a character.
    let rest = if parts.len().is_multiple_of(2) { parts.pop() } else { None };
    let mut html = String::new();
    for (place, part) in parts.iter().enumerate() {
        html += &if place % 2 == 1 { format!("<code>{part}</code>") } else { (*part).to_owned() };
    }
    html += &rest.map_or_else(String::new, |rest| format!("`{rest}"));
    minijinja::Value::from_safe_string(html)
}

/// Escapes the texts, which scripts put into the page as they are.
fn make_printable(value: &mut Value) {
    match value {
        Value::String(text) => *text = printable_text(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(make_printable),
        Value::Object(fields) => fields.values_mut().for_each(make_printable),
        _ => {}
    }
}

/// JSON that cannot end or change the `<script>` element it stands in.
fn data_block(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            c => safe.push(c),
        }
    }
    safe
}

/// A script source for the Content-Security-Policy, so that only our own scripts run even if a text contains markup.
fn script_hash(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_backticks_are_code_and_mark_up_in_them_is_text() {
        let html = |text: &str| marked(text.to_owned()).to_string();
        assert_eq!(html("set `a<b` to 1"), "set <code>a&lt;b</code> to 1");
        assert_eq!(html("one ` alone"), "one ` alone");
        assert_eq!(html("`a` and ` alone"), "<code>a</code> and ` alone");
    }

    #[test]
    fn data_cannot_end_its_script_element() {
        let hostile = "</script><!--&";
        let block = data_block(&serde_json::to_string(hostile).unwrap());
        assert!(!block.contains(['<', '>', '&']), "{block}");
        assert_eq!(serde_json::from_str::<String>(&block).unwrap(), hostile);
    }

    #[test]
    fn the_vendored_library_is_the_one_that_is_written_down() {
        let hash: String =
            Sha256::digest(CHARTS.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(include_str!("../../assets/vendor/VENDORED.md").contains(&hash), "{hash}");
    }

    #[test]
    fn a_script_is_allowed_by_its_hash() {
        assert_eq!(script_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
