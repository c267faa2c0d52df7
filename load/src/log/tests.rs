use super::sender::{BATCH_ROWS, BATCHES};
use super::*;
use crate::clock::Nanos;
use crate::failure::FailureCause;
use std::io::Read;
use std::{env, fs, process};

const STARTED_NS: Nanos = 5_000_000_000;

/// A path that no other test has.
fn path(name: &str) -> PathBuf {
    env::temp_dir().join(format!("threadcount-log-{}-{name}", process::id()))
}

fn row(number: u64) -> LogRow {
    LogRow {
        due_ns: STARTED_NS + number * 1_000_000,
        sent_ns: Some(STARTED_NS + number * 1_000_000 + 1_500),
        ended_ns: Some(STARTED_NS + number * 1_000_000 + 2_000_999),
        status: Some(200),
        outcome: RowOutcome::Ok,
        connection: Some(3),
        target: 1,
        bytes: 120,
    }
}

fn logged(file: &Path, rows: &[LogRow]) -> LogCounts {
    let log = RequestLog::create(file).unwrap();
    let mut sender = log.sender();
    sender.start(STARTED_NS);
    rows.iter().for_each(|row| sender.record(*row));
    drop(sender);
    log.finish().unwrap()
}

#[test]
fn a_request_of_the_lead_in_was_due_before_zero() {
    let file = path("lead-in.csv");
    let early = LogRow { due_ns: STARTED_NS - 250_000_000, sent_ns: Some(STARTED_NS - 1_500), ..row(0) };
    logged(&file, &[early]);
    let line = "-0.250000,-0.000001,0.002000,200,ok,,3,1,120\n";
    assert!(fs::read_to_string(&file).unwrap().ends_with(line));
    fs::remove_file(&file).unwrap();
}

#[test]
fn each_request_is_a_line_with_its_times_since_the_start() {
    let file = path("lines.csv");
    fs::write(&file, "an older file, which is longer than what comes now".repeat(100)).unwrap();
    let failed = LogRow {
        status: None,
        outcome: RowOutcome::Failed(FailureCause::Malformed("this, that")),
        bytes: 0,
        ..row(2_500)
    };
    let not_sent = LogRow {
        sent_ns: None,
        ended_ns: None,
        status: None,
        outcome: RowOutcome::NotSent,
        connection: None,
        bytes: 0,
        ..row(3)
    };
    let unfinished = LogRow { ended_ns: None, status: None, outcome: RowOutcome::Unfinished, ..not_sent };
    let counts = logged(&file, &[row(0), failed, not_sent, unfinished]);
    assert_eq!(counts, LogCounts { written: 4, dropped: 0 });
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "due_s,sent_s,ended_s,status,outcome,failure,connection,target,bytes\n\
         0.000000,0.000001,0.002000,200,ok,,3,1,120\n\
         2.500000,2.500001,2.502000,,failed,\"malformed answer: this, that\",3,1,0\n\
         0.003000,,,,not sent,,,1,0\n\
         0.003000,,,,unfinished,,,1,0\n"
    );
    fs::remove_file(&file).unwrap();
}

#[test]
fn every_row_is_written_or_counted_as_dropped() {
    let file = path("many.csv");
    let log = RequestLog::create(&file).unwrap();
    let each = 40 * BATCH_ROWS as u64 + 7;
    thread::scope(|scope| {
        for _ in 0..3 {
            let mut sender = log.sender();
            sender.start(STARTED_NS);
            scope.spawn(move || (0..each).for_each(|number| sender.record(row(number))));
        }
    });
    let counts = log.finish().unwrap();
    let lines = fs::read_to_string(&file).unwrap().lines().count() as u64;
    assert_eq!(counts.written + counts.dropped, 3 * each);
    assert_eq!(lines, counts.written + 1);
    fs::remove_file(&file).unwrap();
}

#[test]
fn rows_are_dropped_and_counted_when_the_writer_does_not_come_back() {
    let (batches, received) = sync_channel(QUEUED_BATCHES);
    let dropped = Arc::new(AtomicU64::new(0));
    let mut sender = LogSender::new(batches, Arc::clone(&dropped));
    sender.start(STARTED_NS);
    let room = (BATCHES * BATCH_ROWS) as u64;
    (0..room + 5).for_each(|number| sender.record(row(number)));
    let held: usize = received.try_iter().map(|batch| batch.rows.len()).sum();
    assert_eq!(held, (BATCHES - 1) * BATCH_ROWS, "the last batch is still with the sender");
    drop(sender);
    assert_eq!(dropped.load(Ordering::Relaxed), 5);
    assert_eq!(received.iter().map(|batch| batch.rows.len()).sum::<usize>(), BATCH_ROWS);
}

#[test]
fn rows_after_a_writer_has_failed_are_counted() {
    let (batches, received) = sync_channel(QUEUED_BATCHES);
    drop(received);
    let dropped = Arc::new(AtomicU64::new(0));
    let mut sender = LogSender::new(batches, Arc::clone(&dropped));
    sender.start(STARTED_NS);
    (0..3_000).for_each(|number| sender.record(row(number)));
    drop(sender);
    assert_eq!(dropped.load(Ordering::Relaxed), 3_000);
}

#[test]
fn a_file_that_ends_with_gz_is_compressed() {
    let file = path("lines.csv.gz");
    logged(&file, &[row(0), row(1)]);
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(text.ends_with("0.001000,0.001001,0.003000,200,ok,,3,1,120\n"), "{text}");
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_log_goes_to_a_regular_file_only() {
    let refused = |file: &Path| RequestLog::create(file).unwrap_err().to_string();
    assert!(refused(Path::new("-")).contains("name a file, e.g. requests.csv"));
    assert!(refused(&env::temp_dir()).contains("is not a regular file"));
    assert!(refused(Path::new("/dev/null")).contains("is not a regular file"));
    assert!(refused(&path("missing").join("x.csv")).contains("cannot be created"));
}
