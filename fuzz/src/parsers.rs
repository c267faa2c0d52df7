//! Every parser of bytes that others write, as a function of bytes that panics where the parser breaks a promise. A new parser is a row of
//! the table and a folder of seeds.

#[path = "../../load/tests/http1/agreement.rs"]
mod agreement;
#[path = "parsers/result.rs"]
mod result;

use std::io::Write;
use std::path::Path;
use threadcount_load::http1::MAX_INTERIM_ANSWERS;
use threadcount_load::merge::{Line, LineError, Merge};
use threadcount_load::request::{RequestSource, Target, vegeta};
use threadcount_load::response::{Capture, CookieJar, ResponseParts};
use threadcount_load::secrets::masked_text;
use threadcount_machine::probe::{line, readings};
use threadcount_machine::{framework::Framework, jvm_log, spring_boot::SpringBootJar};
use threadcount_model::window::Window;
use threadcount_servers::workload::external::{ab, quantiles};
use threadcount_servers::workload::jmh::scores;

/// Takes any bytes.
pub type Parser = fn(&[u8]);

pub const PARSERS: &[(&str, Parser)] = &[
    ("cookies", cookies),
    ("crossover-replies", threadcount_machine::parsers::crossover_replies),
    ("csv", csv),
    ("diagnosis", diagnosis),
    ("experiment", experiment),
    ("hpack", threadcount_load::parsers::header_blocks),
    ("http1", http1),
    ("http2", threadcount_load::parsers::session),
    ("jar", jar),
    ("jcmd", threadcount_machine::parsers::jcmd_tables),
    ("jvm-log", jvm_log),
    ("perf-data", threadcount_machine::parsers::perf_data),
    ("probe-lines", probe_lines),
    ("process-texts", threadcount_machine::parsers::process_texts),
    ("redirect", threadcount_load::parsers::redirect),
    ("result", result::result),
    ("secrets", secrets),
    ("share-lines", share_lines),
    ("tools", tools),
    ("vegeta", vegeta),
];

/// Folders of files that an input must not name, because reading them is no test of the input.
const OTHER_FILES: [&str; 2] = ["/dev", "/proc"];

fn with_file(bytes: &[u8], read: impl FnOnce(&Path)) {
    let mut file = tempfile::Builder::new().tempfile_in("/dev/shm").unwrap();
    file.write_all(bytes).unwrap();
    read(file.path());
}

/// Reads a response after a byte that chooses the method of its request and the size of its pieces.
fn http1(bytes: &[u8]) {
    let Some((&choice, response)) = bytes.split_first() else { return };
    // The reference has no limits.
    if response.split(|&byte| byte == b'\n').count() > usize::from(MAX_INTERIM_ANSWERS)
        || response.len() > 4_096
    {
        return;
    }
    agreement::assert_agrees(response, choice & 1 != 0, response.chunks(1 + usize::from(choice >> 1)));
    let body = response.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    for capture in ["t=header:X-Token", "t=json:/id/0", "t=regex:id=([0-9]+)"] {
        let _ = capture.parse::<Capture>().unwrap().find(&ResponseParts::new(200, response, body));
    }
}

/// Follows the `Set-Cookie` fields of responses, which form feeds separate; a second passes between one and the next.
fn cookies(bytes: &[u8]) {
    let mut jar = CookieJar::default();
    for (now_s, fields) in (1_800_000_000..).zip(bytes.split(|&byte| byte == b'\x0c')) {
        jar.update(&ResponseParts::new(200, fields, b""), now_s);
        let mut value = Vec::new();
        jar.write_value(&mut value, now_s);
        assert!(
            !value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t'),
            "{}",
            value.escape_ascii()
        );
    }
}

fn vegeta(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if OTHER_FILES.iter().any(|name| text.contains(name)) {
        return;
    }
    let targets = vegeta::parse(&text, Path::new("/nowhere"));
    match targets.and_then(RequestSource::new) {
        Ok(source) => {
            let mut writer = source.writer(0, 42, true);
            (0..3).for_each(|number| drop(writer.http1(number).bytes.to_vec()));
        }
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}

fn csv(bytes: &[u8]) {
    with_file(bytes, |file| {
        let target = Target::get(format!("http://localhost/{{csv:{}:id}}", file.display()).as_str());
        if let Ok(source) = target.and_then(|target| RequestSource::new(vec![target])) {
            let text = source.writer(0, 42, true).http1(0).bytes.to_vec();
            let line = text.split(|&byte| byte == b'\n').next().unwrap();
            assert!(line.ends_with(b" HTTP/1.1\r"), "{}", text.escape_ascii());
        }
    });
}

/// Sets the checksum of each line right, which chance does not find. A line that was read is the same after it was written and read again.
fn share_lines(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut merge = Merge::default();
    for line in text.lines() {
        let mut line = line.to_owned();
        if let Some(Err(LineError::Checksum { expected, .. })) = Line::find(&line) {
            let start = line.find("threadcount/share").unwrap();
            let mut words: Vec<&str> = line[start..].splitn(5, ' ').collect();
            let sum = format!("{expected:08x}");
            words[3] = &sum;
            line = words.join(" ");
        }
        if let Some(Ok(read)) = Line::find(&line) {
            let again = Line::find(&read.text().unwrap());
            assert_eq!(again.unwrap().unwrap().text(), read.text());
        }
        let _ = merge.line(&line);
        merge.show_seconds(&mut |_| {});
    }
    let _ = merge.finish(&mut |_| {});
}

/// Masks secrets in a text of another program.
fn secrets(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = masked_text(&text);
}

fn jar(bytes: &[u8]) {
    with_file(bytes, |file| {
        let _ = (SpringBootJar::read(file), Framework::of(file));
    });
}

fn jvm_log(bytes: &[u8]) {
    let first_ns = bytes.split(|&byte| byte == b'\n').find_map(|line| {
        let (t_ns, _) = jvm_log::line::time(std::str::from_utf8(line).ok()?)?;
        Some(t_ns)
    });
    let started_ns = first_ns.unwrap_or_default();
    let window = Window { started_ns, ended_ns: started_ns.saturating_add(20_000_000_000) };
    with_file(bytes, |file| drop(jvm_log::read_with_stops(file, window)));
}

fn probe_lines(bytes: &[u8]) {
    let (lines, _) = line::parse(&String::from_utf8_lossy(bytes));
    let window = Window { started_ns: 10_000_000_000, ended_ns: 20_000_000_000 };
    if let Some(readings) = readings::readings(&lines, window) {
        assert!(serde_json::to_string(&readings).is_ok());
    }
}

fn diagnosis(bytes: &[u8]) {
    let verdicts = threadcount_diagnose::parsers::diagnosis(bytes);
    assert!(!threadcount_report::diagnosis::text(&verdicts, &[]).is_empty());
}

/// Reads an experiment, or prints the mistake as users see it.
fn experiment(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match threadcount_config::parse("x", "x.yaml", &text, false) {
        Ok(experiment) => {
            let json = serde_json::to_string(&experiment).unwrap();
            let again = serde_json::from_str(&json);
            assert_eq!(again.ok(), Some(experiment));
        }
        Err(mistake) => assert!(!format!("{:?}", miette::Report::from(mistake)).is_empty()),
    }
}

/// Reads the output of ApacheBench and of JMH.
fn tools(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let rows = ab::percentiles(text);
    let requests = ab::printed(text).map_or(100, |printed| printed.requests);
    let _ = (quantiles::of_all(&[quantiles::Table { requests, rows }], 99), scores::parse(text).is_ok());
}
