//! Every report format, made from documents whose figures are known.

use crate::documents;

use quick_xml::events::Event;
use threadcount_judge::result::ResultDocument;
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::metric::Metric;
use threadcount_model::printable::printable_text;
use threadcount_model::record::RunFailure;
use threadcount_report::terminal::details::details;
use threadcount_report::terminal::{TerminalStyle, paragraph, terminal};
use threadcount_report::{Format, render, write};

/// A doubt that makes a result untrusted.
fn generator_doubt() -> Doubt {
    let why = Some("it used 99 % of its core".to_owned());
    let reason = DoubtReason::GeneratorBottleneck { why };
    Doubt { variant: "virtual".into(), load: "c400".into(), runs: 3, reason }
}

#[test]
fn the_terminal_summary_reads_well_at_132_columns() {
    let text = terminal(
        &documents::demo(),
        Some("out/tomcat-blocking/report.html"),
        TerminalStyle { width: 132, colour: false },
    );
    assert!(text.lines().all(|line| line.chars().count() <= 132), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_details_are_in_lines_of_132_columns_and_on_a_narrow_terminal_a_ratio_is_a_line_without_its_figures() {
    let text = details(&documents::demo(), TerminalStyle { width: 132, colour: false });
    assert!(text.lines().all(|line| line.chars().count() <= 132), "{text}");
    insta::assert_snapshot!(text);
    let narrow = details(&documents::demo(), TerminalStyle { width: 80, colour: false });
    assert!(
        narrow.contains("    median response time             0.50  [0.49, 0.51]    lower\n"),
        "{narrow}"
    );
}

#[test]
fn the_terminal_summary_is_broken_at_80_columns() {
    let text = terminal(&documents::demo(), None, TerminalStyle { width: 80, colour: false });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_terminal_summary_says_first_that_figures_cannot_be_trusted() {
    let mut document = documents::demo();
    document.trusted = false;
    let of_all = |load: &str| Doubt { variant: "platform".into(), load: load.into(), ..generator_doubt() };
    document.why_not = document.experiment.loads.iter().map(|load| of_all(&load.name)).collect();
    let text = terminal(&document, None, TerminalStyle { width: 100, colour: false });
    let verdict = text.find("No verdict").unwrap();
    assert!(verdict < text.find("400 clients").unwrap(), "{text}");
    assert!(paragraph(&document).contains("No verdict"), "{}", paragraph(&document));
}

#[test]
fn no_format_keeps_a_character_that_moves_a_cursor_hides_or_turns_the_direction() {
    let document = documents::hostile();
    let formats = [Format::Html, Format::Markdown, Format::Csv, Format::Junit];
    let formats = formats.into_iter().chain([Format::Text, Format::Terminal]);
    let style = TerminalStyle { width: 100, colour: false };
    let texts = formats.map(|format| render(&document, format).unwrap());
    for text in texts.chain([details(&document, style), terminal(&document, Some("x"), style)]) {
        let found = text.find(|c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2028}".contains(c));
        assert_eq!(found.map(|at| &text[at.saturating_sub(20)..at]), None);
    }
    let own = threadcount_report::html::html(&documents::demo()).unwrap();
    assert_eq!(printable_text(&own), own, "our own scripts stay as they are, so that their hashes hold");
}

#[test]
fn a_hostile_name_opens_no_cell_no_code_and_no_formula() {
    let markdown = render(&documents::hostile(), Format::Markdown).unwrap();
    let bare = markdown.replace("\\\\", "").replace("\\|", "").replace("\\`", "");
    assert!(!bare.contains('`'), "{bare}");
    let mut columns = None;
    for line in bare.lines() {
        let found = line.starts_with('|').then(|| line.matches('|').count());
        assert!(columns.is_none() || found.is_none() || columns == found, "{line}");
        columns = found;
    }
    for table in
        [render(&documents::hostile(), Format::Csv), threadcount_report::csv::series(&documents::hostile())]
    {
        let table = table.unwrap();
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let cells: Vec<String> = reader
            .records()
            .flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert!(cells.iter().any(|cell| cell.starts_with("'=cmd()")), "{table}");
        assert!(!cells.iter().any(|cell| cell.starts_with(['=', '+', '@'])), "{table}");
    }
}

#[test]
fn colours_do_not_change_the_text() {
    let plain = terminal(&documents::demo(), None, TerminalStyle { width: 100, colour: false });
    let coloured = terminal(&documents::demo(), None, TerminalStyle { width: 100, colour: true });
    assert!(coloured.contains('\u{1b}'));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn the_paragraph_says_the_same_in_one_line() {
    insta::assert_snapshot!(paragraph(&documents::demo()));
}

#[test]
#[ignore = "writes pages to look at: PAGES=dir cargo test -p threadcount-report --test results -- --ignored"]
fn pages_to_look_at() {
    let dir = std::path::PathBuf::from(std::env::var("PAGES").unwrap());
    for (name, document) in
        [("demo", documents::demo()), ("big", documents::big()), ("hostile", documents::hostile())]
    {
        std::fs::write(dir.join(format!("{name}.html")), threadcount_report::html::html(&document).unwrap())
            .unwrap();
    }
}

#[test]
fn the_markdown_says_the_same() {
    insta::assert_snapshot!(render(&documents::demo(), Format::Markdown).unwrap());
}

#[test]
fn what_could_not_run_or_be_tried_stands_in_every_report_with_its_reason() {
    let document = documents::demo();
    let style = TerminalStyle { width: 200, colour: false };
    let mut texts = vec![details(&document, style)];
    texts.extend([Format::Html, Format::Markdown].map(|format| render(&document, format).unwrap()));
    for text in &texts {
        assert!(text.contains("there is no nginx on this machine"), "{text}");
        assert!(text.contains("this machine has no fan"), "{text}");
        assert!(text.contains("the study says so of virtual"), "{text}");
    }
    let cases = render(&document, Format::Junit).unwrap();
    assert!(cases.contains(r#"tests="4""#) && cases.contains(r#"skipped="3""#), "{cases}");
    assert!(cases.contains(r#"message="this machine has no fan""#), "{cases}");
}

#[test]
fn hostile_names_stay_text_in_markdown() {
    let text = render(&documents::hostile(), Format::Markdown).unwrap();
    assert!(!text.contains("<script"), "{text}");
    assert!(!text.contains("<img"), "{text}");
}

#[test]
fn runs_csv_has_one_row_for_each_run_and_every_metric() {
    let document = documents::demo();
    let text = render(&document, Format::Csv).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|column| column == name).expect(name);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), document.records.len());
    for (row, record) in rows.iter().zip(&document.records) {
        for metric in Metric::ALL {
            let cell: Option<f64> = row[column(metric.name())].parse().ok();
            assert_eq!(cell, metric.of(record), "{}", metric.name());
        }
        assert_eq!(row[column("ok")], record.measured.as_ref().unwrap().requests.ok.to_string());
    }
}

#[test]
fn hostile_names_come_back_from_csv_as_printable_text() {
    let document = documents::hostile();
    let text = render(&document, Format::Csv).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let row = reader.records().next().unwrap().unwrap();
    assert_eq!(row[2], format!("'{}", printable_text(&document.records[0].variant)));
}

#[test]
fn a_run_without_figures_has_empty_cells_and_its_reason() {
    let mut document = documents::demo();
    document.records[0].measured = None;
    document.records[0].cost = None;
    document.records[0].native_memory = None;
    document.records[0].failure = Some(RunFailure {
        why: "port in use".into(),
        log_tail: vec!["BindException".into()],
        ..RunFailure::default()
    });
    let text = render(&document, Format::Csv).unwrap();
    assert!(text.lines().nth(1).unwrap().contains("port in use,,,,"), "{text}");
    let page = render(&document, Format::Html).unwrap();
    assert!(page.contains("port in use") && page.contains("BindException"));
    render(&document, Format::Markdown).unwrap();
}

#[test]
fn series_csv_has_every_reading_of_every_source_in_the_order_of_time() {
    let document = documents::demo();
    let text = threadcount_report::csv::series(&document).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|column| column == name).expect(name);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let rows_from = |source: &str| rows.iter().filter(|row| &row[column("source")] == source).count();
    let records = || document.records.iter();
    let jvm = || records().filter_map(|record| record.jvm.as_ref());
    assert_eq!(rows_from("load"), records().map(|record| record.load_series.len()).sum::<usize>());
    assert_eq!(rows_from("process"), records().map(|record| record.process_series.len()).sum::<usize>());
    assert_eq!(rows_from("jvm"), jvm().map(|jvm| jvm.samples.len()).sum::<usize>());
    assert_eq!(rows_from("carriers"), jvm().map(|jvm| jvm.carriers.len()).sum::<usize>());
    assert_eq!(rows_from("gc-pause"), jvm().map(|jvm| jvm.pauses.len()).sum::<usize>());
    assert_eq!(rows_from("pins"), jvm().map(|jvm| jvm.pins_series.len()).sum::<usize>());
    let run = |row: &csv::StringRecord| (row[0].to_owned(), row[1].to_owned(), row[2].to_owned());
    let t_s = |row: &csv::StringRecord| row[column("t_s")].parse::<f64>().unwrap();
    assert!(rows.windows(2).all(|pair| run(&pair[0]) != run(&pair[1]) || t_s(&pair[0]) <= t_s(&pair[1])));
}

#[test]
fn several_results_are_one_table_of_claims() {
    let demo = documents::demo();
    let mut doubted = documents::demo();
    doubted.experiment.name = "tomcat-hello".into();
    doubted.experiment.published.clear();
    doubted.trusted = false;
    doubted.why_not = vec![generator_doubt()];
    doubted.claims[0].doubt = Some(generator_doubt());
    let text = threadcount_report::claims_table::text(&[&demo, &doubted]);
    insta::assert_snapshot!(text);
    let markdown = threadcount_report::claims_table::markdown(&[&demo]);
    assert!(markdown.starts_with("| study | claim | published | measured | verdict |\n"), "{markdown}");
    assert!(
        markdown.contains("| tomcat-blocking | the study says so of virtual | 1.99 | 1.98 | holds |"),
        "{markdown}"
    );
    let hostile = threadcount_report::claims_table::markdown(&[&documents::hostile()]);
    assert!(!hostile.contains("<script"), "{hostile}");
}

#[test]
fn claims_are_test_cases() {
    insta::assert_snapshot!(render(&documents::demo(), Format::Junit).unwrap());
}

#[test]
fn a_claim_of_ones_own_that_does_not_hold_is_a_failure_and_one_that_is_not_decided_is_skipped() {
    let mut document = documents::demo();
    document.claims[1].says = None;
    let text = render(&document, Format::Junit).unwrap();
    assert!(
        text.contains(r#"<failure message="measured 27: does not hold, one run: indicative only"/>"#),
        "{text}"
    );
    document.claims[1].undecided = true;
    let text = render(&document, Format::Junit).unwrap();
    assert!(text.contains(r#"<skipped message="measured 27: inconclusive: too few runs"/>"#), "{text}");
}

#[test]
fn a_claim_that_holds_in_a_single_run_is_skipped() {
    let mut document = documents::demo();
    let passed = |document: &ResultDocument| {
        let text = render(document, Format::Junit).unwrap();
        !text.contains(r#"<skipped message="measured 1.98: would hold, one run: indicative only"/>"#)
    };
    assert!(passed(&document), "the intervals say so too");
    document.claims[0].decided = false;
    assert!(!passed(&document));
}

#[test]
fn a_variant_keeps_its_colour_whichever_variants_ran() {
    let rows = |document: &ResultDocument| -> Vec<String> {
        let page = render(document, Format::Html).unwrap();
        let rows = page.lines().filter(|line| line.contains("<th scope=\"row\">virtual <small>"));
        rows.filter_map(|row| row.split_once("<tr class=\"")?.1.split_once('"'))
            .map(|(k, _)| k.to_owned())
            .collect()
    };
    let all = documents::demo();
    let mut some = all.clone();
    some.records.retain(|record| record.variant != "platform-sized");
    assert_eq!(rows(&all), ["k3", "k3"]);
    assert_eq!(rows(&some), rows(&all));
    let places = |document: &ResultDocument, places: &str| {
        render(document, Format::Html).unwrap().contains(&format!("\"places\":{places}"))
    };
    assert!(places(&all, "[0,1,2]") && places(&some, "[0,2]"), "the pictures too");
}

#[test]
fn claims_are_errors_when_the_figures_cannot_be_trusted() {
    let mut document = documents::demo();
    document.trusted = false;
    document.why_not = vec![generator_doubt()];
    for claim in &mut document.claims {
        claim.doubt = Some(generator_doubt());
    }
    let text = render(&document, Format::Junit).unwrap();
    assert!(text.contains(r#"failures="0" errors="2""#), "{text}");
    assert!(text.contains("no verdict: virtual under c400: the load generator was the bottleneck"), "{text}");
}

#[test]
fn hostile_claims_are_well_formed_xml_and_come_back_as_printable_text() {
    let document = documents::hostile();
    let text = render(&document, Format::Junit).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "testcase" => {
                let name = tag.attributes().map(Result::unwrap).find(|it| it.key.as_ref() == "name").unwrap();
                names.push(quick_xml::escape::unescape(&name.value).unwrap().into_owned());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let claims = document.claims.iter().map(|claim| &claim.claim);
    let all = claims.chain(document.experiment.unavailable.iter().map(|it| &it.what));
    let expected: Vec<String> = all.map(|claim| printable_text(claim).into_owned()).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_report_is_written_into_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("not/yet/there");
    for (format, file) in [
        (Format::Html, "report.html"),
        (Format::Markdown, "report.md"),
        (Format::Csv, "runs.csv"),
        (Format::Junit, "junit.xml"),
        (Format::Text, "report.txt"),
        (Format::Terminal, "terminal.txt"),
    ] {
        let path = write(&documents::demo(), format, &inner).unwrap();
        assert_eq!(path, inner.join(file));
        assert!(path.is_file());
    }
    assert!(inner.join("series.csv").is_file());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = write(&documents::demo(), Format::Text, &file.join("sub")).unwrap_err().to_string();
    assert!(error.contains("file/sub"), "{error}");
}

#[test]
fn a_result_without_runs_still_makes_every_report() {
    let mut document = documents::demo();
    document.records.clear();
    document.comparisons.clear();
    document.findings.clear();
    document.claims.clear();
    for format in [Format::Html, Format::Markdown, Format::Csv, Format::Junit, Format::Text, Format::Terminal]
    {
        assert!(!render(&document, format).unwrap().is_empty());
    }
    assert!(
        terminal(&document, None, TerminalStyle { width: 80, colour: false }).contains("no complete run")
    );
}

#[test]
fn a_variant_that_did_not_run_is_in_no_picture() {
    let mut document = documents::demo();
    document.records.retain(|record| record.variant != "platform-sized");
    let page = render(&document, Format::Html).unwrap();
    assert!(page.contains(r#"{"variants":["platform","virtual"]"#));
}

#[test]
fn a_round_that_the_protocol_drops_is_in_no_picture_but_in_the_table_of_runs() {
    let mut document = documents::demo();
    document.records[0].load_series.iter_mut().for_each(|second| second.rate_per_s = 123_500.0);
    assert!(render(&document, Format::Html).unwrap().contains("123500"));
    document.records[0].dropped = true;
    let page = render(&document, Format::Html).unwrap();
    assert!(!page.contains("123500") && page.contains("the protocol drops this round"));
}

#[test]
fn the_big_page_is_under_five_megabytes_and_asks_for_nothing() {
    let page = render(&documents::big(), Format::Html).unwrap();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn hostile_text_is_escaped_in_the_page() {
    let page = render(&documents::hostile(), Format::Html).unwrap();
    let (markup, scripts) = page.split_once(r#"<script type="application/json""#).unwrap();
    assert!(
        !markup.contains("<script") && !markup.contains("<img"),
        "an element from the data stands in the page"
    );
    let data = &scripts[..scripts.find("</script>").unwrap()];
    assert!(!data[data.find('{').unwrap()..].contains('<'), "the data could end its element");
}
