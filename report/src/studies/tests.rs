use super::{page, picture, studies};
use crate::sample;
use quick_xml::Reader;
use quick_xml::events::Event;
use threadcount_judge::result::ResultDocument;
use threadcount_model::claim_result::ClaimResult;
use threadcount_model::experiment::{Study, Unavailable};
use threadcount_model::interval::Interval;

fn claim(says: Option<&str>, holds: Option<bool>) -> ClaimResult {
    ClaimResult {
        claim: "a.rate >= 95".to_owned(),
        says: says.map(str::to_owned),
        published: Some(200.0),
        measured: Some(100.0),
        interval: Some(Interval { low: 96.0, high: 104.0, confidence: 0.95 }),
        bound: Some(95.0),
        holds,
        decided: holds.is_some(),
        ..ClaimResult::default()
    }
}

fn result(experiment: &str, title: &str, claims: Vec<ClaimResult>) -> ResultDocument {
    let mut document = sample::document("{a: {}}", "[{clients: 4, duration: 1s}]", &[]);
    document.experiment.name = experiment.to_owned();
    document.experiment.study = Some(Study {
        title: title.to_owned(),
        date: Some("2023".to_owned()),
        authors: None,
        url: None,
        machine: Some("8 cores".to_owned()),
    });
    document.claims = claims;
    document
}

#[test]
fn experiments_of_one_study_share_a_page_and_only_the_studys_claims_are_on_it() {
    let first =
        result("avatar", "8 MB", vec![claim(Some("it is fast"), Some(true)), claim(None, Some(true))]);
    let mut second =
        result("avatar-gc", "8 MB (and collectors)", vec![claim(Some("it is slow"), Some(false))]);
    second
        .experiment
        .unavailable
        .push(Unavailable { what: "the jar has 2 KB".to_owned(), why: "a size".to_owned() });
    let other = result("prime", "Primes", vec![claim(Some("nobody knows"), None)]);
    let documents = [first, second, other];
    let studies = studies(&documents);
    let tallies: Vec<String> = studies.iter().map(|it| format!("{}: {}", it.file_name, it.tally())).collect();
    assert_eq!(
        tallies,
        ["8-mb: 2 of 2 decided: 1 hold, 1 do not", "primes: 0 of 1 decided: 0 hold, 0 do not"]
    );
    let page = page::study(&studies[0]);
    assert!(page.contains(r"| it is fast | a.rate &gt;= 95 | 200 | 100 \[96, 104\] | holds |"), "{page}");
    assert!(page.contains("- the jar has 2 KB: a size."), "{page}");
    assert!(page::index(&studies).contains("| [8 MB](8-mb.md) | 2 of 2 decided: 1 hold, 1 do not | 1 |"));
}

#[test]
fn the_interval_lies_to_the_right_of_the_bound_that_it_exceeds_and_the_published_figure_is_the_farthest() {
    let documents = [result("avatar", "8 MB", vec![claim(Some("it is fast"), Some(true))])];
    let drawn = picture::claims(&studies(&documents)[0]);
    let x = |class: &str, before: &str| -> f64 {
        let line = drawn.lines().find(|line| line.contains(class)).expect("it is drawn");
        let (_, rest) = line.split_once(before).expect("its place");
        rest.split(['"', ',']).next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let bound = x("class=\"bound\"", "x1=\"");
    let low = x("class=\"ci holds\"", "x1=\"");
    let (measured, published) = (x("<circle", "cx=\""), x("<polygon", "points=\""));
    assert!(bound < low && low < measured && measured < published, "{drawn}");
}

#[test]
fn a_claim_about_a_scaled_load_has_a_sign_of_its_own_and_no_published_figure_on_its_axis() {
    let scaled = ClaimResult { is_scaled: true, ..claim(Some("it is fast"), Some(true)) };
    let documents = [result("avatar", "8 MB", vec![scaled])];
    let studies = studies(&documents);
    assert_eq!(studies[0].tally(), "1 of 1 decided: 1 hold, 0 do not (1 of them scaled)");
    let drawn = picture::claims(&studies[0]);
    assert!(drawn.contains("◐ it is fast") && !drawn.contains("<polygon"), "{drawn}");
}

#[test]
fn names_of_others_stay_text_in_the_pictures() {
    let hostile = "</text><script>alert(1)</script>&\"'";
    let documents = [result("x", hostile, vec![claim(Some(hostile), Some(false))])];
    let studies = studies(&documents);
    for drawn in [picture::claims(&studies[0]), picture::overview(&studies)] {
        let mut reader = Reader::from_str(&drawn);
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Start(tag) => assert_ne!(tag.name().as_ref(), "script", "{drawn}"),
                Event::Eof => break,
                _ => {}
            }
        }
    }
    assert_eq!(studies[0].file_name, "text-script-alert-1-script");
    let taken = ["index", "prime"].map(str::to_owned);
    let named = |title: &str| super::free_name(title, &taken);
    assert_eq!([named("Prime"), named("Index"), named("日本語")], ["prime-2", "index-2", "study"]);
    assert!(named(&"x".repeat(300)).len() < 100, "a file system allows 255 bytes");
}
