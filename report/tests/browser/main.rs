//! The HTML report in a real browser: it draws, reacts, requests nothing from the network, and text stays text.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod devtools;
#[path = "../results/documents/mod.rs"]
mod documents;

use devtools::{Page, chromium};
use serde_json::{Value, json};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use threadcount_judge::result::ResultDocument;
use threadcount_model::printable::printable_text;
use threadcount_report::{Format, render};

/// Serialises the tests, because a browser needs two cores for itself.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// An open page with its file and its turn.
struct Opened {
    page: Page,
    _file: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Opened {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl DerefMut for Opened {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.page
    }
}

fn open(document: &ResultDocument) -> Opened {
    let program = chromium();
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let file: PathBuf = dir.path().join("report.html");
    std::fs::write(&file, render(document, Format::Html).unwrap()).unwrap();
    let mut page = Page::start(&program);
    page.open(&file);
    Opened { page, _file: dir, _turn: turn }
}

/// Asserts an empty console, no dialog, and no requested address but the file's own.
fn is_quiet(page: &Page) {
    let complaints = page.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let strangers: Vec<&str> = page
        .requests()
        .into_iter()
        .filter(|url| !url.starts_with("file:") && !url.starts_with("data:") && !url.starts_with("about:"))
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    assert!(page.requests().iter().any(|url| url.starts_with("file:")), "requests are seen at all");
}

/// The names of all pictures except failures, which the demo does not have.
const FIGURES: [&str; 16] = [
    "curve",
    "rate",
    "p99",
    "against",
    "sweep",
    "warmup",
    "memory",
    "heap",
    "stacks",
    "gc",
    "threads",
    "carriers",
    "pinned",
    "pool",
    "connections",
    "cpu",
];

const STROKES: &str =
    "[...document.querySelectorAll('#chart-rate path')].map(path => path.getAttribute('stroke')).join()";

#[test]
fn the_page_draws_its_figures_and_asks_nobody() {
    let mut page = open(&documents::demo());
    assert_eq!(
        page.evaluate("[...document.querySelectorAll('.chart')].map(it => it.id.slice(6))"),
        json!(FIGURES)
    );
    assert_eq!(page.evaluate("document.querySelectorAll('.chart svg').length"), FIGURES.len());
    assert_eq!(page.evaluate("document.querySelectorAll('h1').length"), 1);
    let captions =
        page.text("[...document.querySelectorAll('figcaption strong')].map(it => it.textContent).join('')");
    assert!(
        captions.starts_with("Figure 1. Response time by percentile, 400 clients. Figure 2."),
        "{captions}"
    );
    is_quiet(&page);
}

#[test]
fn a_request_that_the_page_would_send_is_refused() {
    let mut page = open(&documents::demo());
    page.evaluate("new Promise(done => { const it = new Image(); it.onerror = it.onload = done; it.src = 'http://127.0.0.1:9/x.png'; })");
    let complaints = format!("{:?}", page.complaints());
    assert!(complaints.contains("Content Security Policy"), "{complaints}");
}

const PAPER: &str = "getComputedStyle(document.documentElement).backgroundColor";
/// Whether the page is dark, as a screen reader announces it.
const PRESSED: &str = "document.getElementById('theme').getAttribute('aria-pressed')";

#[test]
fn the_theme_can_be_changed_and_stays_after_a_reload() {
    let mut page = open(&documents::demo());
    let (light, light_strokes) = (page.text(PAPER), page.text(STROKES));
    page.evaluate("document.getElementById('theme').click()");
    let (dark, dark_strokes) = (page.text(PAPER), page.text(STROKES));
    assert_ne!(light, dark);
    assert_ne!(light_strokes, dark_strokes, "the pictures change with the page");
    assert_eq!(page.text(PRESSED), "true");
    page.reload();
    assert_eq!(page.text(PAPER), dark);
    page.evaluate("document.getElementById('theme').click()");
    assert_eq!(page.text(PAPER), light);
    is_quiet(&page);
}

#[test]
fn the_page_follows_the_systems_theme_and_prints_light() {
    let mut page = open(&documents::demo());
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    page.call("Emulation.setEmulatedMedia", dark);
    page.until(&format!("{PRESSED} === 'true'"));
    page.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(page.text(PRESSED), "false");
    assert_eq!(page.evaluate("document.querySelector('#chart-rate svg').getBoundingClientRect().width"), 640);
    page.evaluate("dispatchEvent(new Event('afterprint'))");
    assert_eq!(page.text(PRESSED), "true");
    let printed = page.call("Page.printToPDF", json!({}));
    assert!(printed["data"].as_str().unwrap().starts_with("JVBERi"), "a PDF begins with %PDF-");
    is_quiet(&page);
}

#[test]
fn a_page_without_scripts_follows_the_systems_theme_on_screen_and_prints_light() {
    let mut page = open(&documents::demo());
    page.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    page.reload_without_scripts();
    let mut paper_on = |media: &str, theme: &str| {
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        page.call("Emulation.setEmulatedMedia", json!({"media": media, "features": features}));
        page.text(PAPER)
    };
    let (light, dark) = ("rgb(255, 255, 255)", "rgb(20, 23, 28)");
    assert_eq!(paper_on("screen", "light"), light);
    assert_eq!(paper_on("screen", "dark"), dark);
    assert_eq!(paper_on("print", "dark"), light);
    assert!(page.text("document.getElementById('pictures').innerText").contains("need JavaScript"));
    assert_eq!(page.evaluate("document.getElementById('theme').checkVisibility()"), false);
}

#[test]
fn variants_can_be_switched_off_in_all_figures() {
    let mut page = open(&documents::demo());
    let colour = page.text("getComputedStyle(document.documentElement).getPropertyValue('--v3').trim()");
    assert!(page.text(STROKES).contains(&colour));
    page.evaluate("document.querySelectorAll('#controls input')[2].click()");
    for chart in FIGURES {
        let strokes = page.text(&STROKES.replace("chart-rate", &format!("chart-{chart}")));
        assert!(!strokes.contains(&colour), "{chart} still shows the variant");
        assert!(!strokes.is_empty());
    }
    let label = page.text("document.getElementById('chart-rate').getAttribute('aria-label')");
    assert!(label.contains("for platform, platform-sized."), "{label}");
    page.evaluate("document.querySelectorAll('#controls input')[2].click()");
    assert!(page.text(STROKES).contains(&colour));
    is_quiet(&page);
}

#[test]
fn hover_shows_the_figures_of_that_second() {
    let mut page = open(&documents::demo());
    page.hover("#chart-rate", 0.5, 0.5);
    page.until("document.querySelector('#chart-rate .tip') !== null");
    let shown = page.text("document.querySelector('#chart-rate .tip').innerText");
    let second: usize = shown.lines().next().unwrap().trim_start_matches("second ").parse().unwrap();
    let data = page.evaluate("JSON.parse(document.getElementById('data').textContent)");
    for (variant, name) in ["platform", "platform-sized", "virtual"].into_iter().enumerate() {
        let rate = &data["loads"][0]["variants"][variant]["rate_per_s"]["median"][second - 1];
        let text = threadcount_model::figures::number(rate.as_f64().unwrap());
        assert!(shown.contains(name) && shown.contains(&format!("{text}/s")), "{name} {text}: {shown}");
    }
    page.hover("#chart-curve", 0.5, 0.5);
    page.until("document.querySelector('#chart-curve .tip') !== null");
    let shown = page.text("document.querySelector('#chart-curve .tip').innerText");
    assert!(shown.contains("% waited no longer than") && shown.contains(" ms"), "{shown}");
    is_quiet(&page);
}

#[test]
fn another_figure_can_be_chosen_in_a_picture_and_hover_shows_it() {
    let mut page = open(&documents::demo());
    let choose = "(() => { const it = document.querySelector('#chart-memory').closest('.pictures').querySelector('#chart-heap + .tools select');
        it.value = '1'; it.dispatchEvent(new Event('change')); })()";
    page.evaluate(choose);
    page.hover("#chart-heap", 0.5, 0.5);
    page.until("document.querySelector('#chart-heap .tip') !== null");
    let shown = page.text("document.querySelector('#chart-heap .tip').innerText");
    assert!(shown.contains("537 MB") || shown.contains("536.9 MB"), "{shown}");
    is_quiet(&page);
}

#[test]
fn pauses_pins_and_warnings_stand_under_the_throughput_and_answer_to_the_mouse() {
    let mut page = open(&documents::demo());
    let texts = page.text("document.querySelector('#chart-rate').textContent");
    assert!(texts.contains("GC pause") && texts.contains("pinned"), "{texts}");
    let shown = "document.querySelector('#chart-rate .tip')?.innerText ?? ''";
    // The lane of pauses lies some pixels above the axis at the bottom.
    page.hover("#chart-rate", 0.5, 1.0 - 75.0 / 368.0);
    page.until(&format!("({shown}).includes('G1 Young')"));
    assert!(page.text(shown).contains("run "), "{}", page.text(shown));
    is_quiet(&page);
}

#[test]
fn the_pools_limit_is_a_dashed_line() {
    let mut page = open(&documents::demo());
    let dashed = "[...document.querySelectorAll('#chart-pool path')].filter(it => it.getAttribute('stroke-dasharray')).length";
    assert!(page.evaluate(dashed).as_u64().unwrap() >= 2, "one for each size of pool");
    is_quiet(&page);
}

#[test]
fn the_other_load_can_be_chosen_and_seen_as_a_table() {
    let mut page = open(&documents::demo());
    page.evaluate("document.querySelector('#pictures details').open = true");
    page.until("document.querySelector('#pictures details table') !== null");
    let table = "document.querySelector('#pictures details').innerText";
    let first = page.text(table);
    let choose = "(() => { const it = document.getElementById('load'); it.value = '1'; it.dispatchEvent(new Event('change')); })()";
    page.evaluate(choose);
    let second = page.text(table);
    assert!(first.contains("400 clients") && second.contains("1,000 clients"), "{second}");
    assert!(second.contains("99 %") && second.contains("slowest"), "{second}");
    is_quiet(&page);
}

#[test]
fn pictures_are_saved_as_png_and_svg() {
    let mut page = open(&documents::hostile());
    let click = |label: &str| {
        format!(
            "(() => {{ let saved = ''; const click = HTMLAnchorElement.prototype.click;
              HTMLAnchorElement.prototype.click = function () {{ saved = this.download + ' ' + this.href; }};
              [...document.querySelectorAll('#pictures button')].find(it => it.textContent === '{label}').click();
              HTMLAnchorElement.prototype.click = click; return saved; }})()"
        )
    };
    let png = page.text(&click("PNG"));
    assert!(png.starts_with("threadcount-400-clients"), "{:.80}", png);
    assert!(png.contains("curve.png data:image/png;base64,iVBOR"), "{:.80}", png);
    let svg = page.text(&click("SVG"));
    assert!(svg.contains("curve.svg data:image/svg+xml"), "{:.80}", svg);
    let parse = format!(
        "(() => {{ const text = decodeURIComponent({:?}.split(',').slice(1).join(','));
          const it = new DOMParser().parseFromString(text, 'image/svg+xml');
          return [it.querySelectorAll('parsererror, script, img').length, it.querySelectorAll('path').length > 3, it.querySelector('parsererror')?.textContent ?? '']; }})()",
        svg
    );
    let found = page.evaluate(&parse);
    assert_eq!(found, json!([0, true, ""]), "{svg}");
    is_quiet(&page);
}

#[test]
fn hostile_text_stays_text() {
    let document = documents::hostile();
    let mut page = open(&document);
    let question = printable_text(&document.experiment.question);
    assert_eq!(page.text("document.querySelector('h1').textContent"), question);
    let name = printable_text(&document.experiment.variants[0].name);
    assert_eq!(
        page.text("document.querySelector('#controls fieldset label > span:last-child').textContent"),
        name
    );
    page.hover("#chart-rate", 0.5, 0.5);
    page.until("document.querySelector('#chart-rate .tip') !== null");
    let strangers = "document.querySelectorAll('img, iframe, object, [onerror], a:not(.skip)').length";
    assert_eq!(page.evaluate(strangers), 0, "an element from the data");
    assert_eq!(page.evaluate("document.scripts.length"), 3);
    is_quiet(&page);
}

#[test]
fn nothing_is_wider_than_a_phone() {
    for document in [documents::demo(), documents::hostile()] {
        let mut page = open(&document);
        page.resize(375, 812);
        page.reload();
        assert_eq!(page.evaluate("document.scrollingElement.scrollWidth"), 375, "the page scrolls sideways");
        let widths = "Math.max(...[...document.querySelectorAll('.chart svg')].map(it => it.getBoundingClientRect().right))";
        page.until(&format!("{widths} <= 375"));
        is_quiet(&page);
    }
}

#[test]
fn axe_finds_no_serious_issue_in_light_or_dark() {
    let mut page = open(&documents::demo());
    page.evaluate("document.querySelectorAll('#pictures details').forEach(it => { it.open = true; })");
    page.evaluate(concat!(include_str!("vendor/axe.min.js"), "; 0"));
    for theme in ["light", "dark"] {
        assert_eq!(page.text(PRESSED), (theme == "dark").to_string());
        let found = page.evaluate("axe.run().then(result => result.violations.map(it => ({ id: it.id, impact: it.impact, help: it.help, nodes: it.nodes.slice(0, 3).map(node => node.html + node.failureSummary) })))");
        let violations = found.as_array().unwrap();
        let serious =
            |it: &&Value| ["serious", "critical"].contains(&it["impact"].as_str().unwrap_or_default());
        let serious: Vec<&Value> = violations.iter().filter(serious).collect();
        assert!(serious.is_empty(), "{theme}: {serious:#?}");
        println!("{theme}: {} lesser remarks: {violations:#?}", violations.len());
        page.evaluate("document.getElementById('theme').click()");
    }
}

#[test]
fn the_largest_page_draws_what_is_near_the_reader_and_everything_for_a_print() {
    let document = documents::big();
    let mut page = open(&document);
    // With one load only, two pictures over the loads have nothing to draw.
    let all = FIGURES.len() - 2;
    let drawn = "document.querySelectorAll('.chart svg').length";
    assert_eq!(page.evaluate("document.querySelectorAll('.chart').length"), all);
    page.reload_as_a_reader();
    assert!(page.evaluate(drawn).as_u64().unwrap() <= 2, "the first screen is text");
    page.evaluate("document.getElementById('chart-cpu').scrollIntoView({ behavior: 'instant' })");
    page.until("document.querySelector('#chart-cpu svg') !== null");
    assert_eq!(
        page.evaluate("document.querySelector('#chart-memory svg')"),
        Value::Null,
        "passed by, not seen"
    );
    page.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(page.evaluate(drawn), all);
    is_quiet(&page);
}

#[test]
fn no_line_of_the_largest_page_has_more_places_than_a_picture_can_show() {
    let mut page = open(&documents::big());
    let longest = page.evaluate(
        "Math.max(...JSON.parse(document.getElementById('data').textContent).loads.flatMap(load => load.variants)
            .flatMap(variant => Object.values(variant)).filter(lines => lines && lines.median)
            .flatMap(lines => [lines.median, ...lines.runs]).map(line => line.length))",
    );
    assert!((250..=301).contains(&longest.as_u64().unwrap()), "{longest}");
}

#[test]
fn a_figure_that_was_changed_unseen_is_right_when_the_reader_comes_to_it() {
    let mut page = open(&documents::demo());
    let colour = page.text("getComputedStyle(document.documentElement).getPropertyValue('--v3').trim()");
    page.reload_as_a_reader();
    page.evaluate("document.querySelectorAll('#controls input')[2].click()");
    assert_eq!(page.evaluate("document.querySelector('#chart-cpu svg')"), Value::Null);
    page.evaluate("document.getElementById('chart-cpu').scrollIntoView({ behavior: 'instant' })");
    page.until("document.querySelector('#chart-cpu svg') !== null");
    let strokes = page.text(&STROKES.replace("chart-rate", "chart-cpu"));
    assert!(!strokes.is_empty() && !strokes.contains(&colour), "{strokes}");
    is_quiet(&page);
}

#[test]
fn the_first_screen_shows_what_each_variant_did_as_bars_from_zero() {
    let document = documents::demo();
    let mut page = open(&document);
    assert_eq!(page.evaluate("document.querySelectorAll('#first .board tbody tr').length"), 6);
    let widths = page.evaluate(
        "[...document.querySelectorAll('.board')].flatMap(board => [...board.querySelectorAll('tbody tr')]
            .map(row => row.querySelector('.fill').getBoundingClientRect().width))",
    );
    let rate = |load: &str, variant: &str| {
        document.mean(variant, load, threadcount_model::metric::Metric::Rate).unwrap()
    };
    let expected = rate("c400", "platform") / rate("c1000", "virtual");
    let drawn = widths[0].as_f64().unwrap() / widths[5].as_f64().unwrap();
    assert!((drawn - expected).abs() < 0.01, "one scale for both loads: {drawn} {expected}");
    let figure = page.text("document.querySelector('.board tbody .figure').textContent");
    let metric = threadcount_model::metric::Metric::Rate;
    assert_eq!(figure, threadcount_model::figures::figure(metric, rate("c400", "platform")));
    let bars = page.evaluate(
        "[...document.querySelectorAll('.board tbody tr')].map(row => row.querySelectorAll('.track').length)",
    );
    assert_eq!(bars, json!([1, 1, 1, 1, 1, 1]), "the throughput only");
    let intervals = page.evaluate(
        "[...document.querySelectorAll('.board tbody tr')].map(row => row.querySelectorAll('.ratio').length)",
    );
    assert_eq!(intervals, json!([0, 3, 3, 0, 3, 3]), "throughput, median and p99 against the baseline");
    let trust = page.text("document.querySelector('.trust').innerText");
    assert!(trust.contains("3 of at most 10 rounds, each planned comparison is decided"), "{trust}");
    let study = page.text("[...document.querySelectorAll('.study')].map(it => it.innerText).join(' ')");
    assert!(study.contains("claims: 1 holds, 1 indicative (one run), 1 not tested"), "{study}");
}

/// A laptop's window and a phone's, in CSS pixels.
const SCREENS: [(u32, u32); 2] = [(1280, 800), (390, 844)];

#[test]
fn which_by_how_much_at_what_price_and_whether_to_believe_it_need_no_scrolling() {
    let mut page = open(&documents::demo());
    for (width, height) in SCREENS {
        page.resize(width, height);
        page.reload();
        let bottom = |page: &mut Page, what: &str| {
            let script = format!(
                "Math.max(...[...document.querySelectorAll('{what}')].filter(it => it.offsetParent).map(it => it.getBoundingClientRect().bottom))"
            );
            page.evaluate(&script).as_f64().expect(what)
        };
        // On a phone the cards need scrolling, but the badge tells whether to believe the result.
        let below: &[&str] = if width > 1_000 { &["#first .card", ".confidence"] } else { &[] };
        for what in ["h1", ".badge", ".verdict", ".board .to"].iter().chain(below) {
            let bottom = bottom(&mut page, what);
            assert!(
                bottom > 0.0 && bottom <= f64::from(height),
                "{what} ends at {bottom} of {width} x {height}"
            );
        }
        let verdict = page.text("document.querySelector('.verdict').innerText");
        assert!(
            verdict.starts_with("Yes. virtual has 1.98x the throughput of platform with 400 clients"),
            "{verdict}"
        );
        assert!(verdict.ends_with("with 423 OS threads; virtual has 27."), "{verdict}");
        let weight = page.text("getComputedStyle(document.querySelector('.verdict')).fontWeight");
        assert_eq!(weight, "400");
        let items = page.evaluate(
            "[...document.querySelectorAll('#first .card')].map(it => it.querySelectorAll('li').length)",
        );
        assert!(
            items.as_array().is_some_and(|all| all.len() == 2 && all.iter().all(|it| it.as_u64() <= Some(3)))
        );
        let trust = page.text("document.querySelector('.confidence').innerText");
        assert_eq!(trust, "Trust is good: 2,141,197 requests, none failed.");
        let answer_is_first = page.evaluate(
            "document.querySelector('.verdict').getBoundingClientRect().bottom <= document.querySelector('.board').getBoundingClientRect().top",
        );
        assert_eq!(answer_is_first, true);
    }
    is_quiet(&page);
}
