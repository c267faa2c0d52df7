use super::answer::answers;
use super::*;
use crate::sample::crossover as document;
use crate::terminal::crossover::crossover;
use crate::terminal::{MOST_LINES, PLAIN, TerminalStyle};
use crate::view::view;
use threadcount_judge::result::ResultDocument;
use threadcount_model::crossover::{CrossoverPeriod, LostCpu};
use threadcount_model::doubt::TrustGrade;
use threadcount_model::interval::Interval;
use threadcount_model::record::{Cost, Record, ServerFacts};

fn lines(document: &CrossoverDocument, question: &str) -> Vec<String> {
    crossover(document, question, &[], None, PLAIN).lines().map(str::to_owned).collect()
}

const QUESTION: &str = "Do virtual threads help app.jar?";

const VIRTUAL: Treatment = Treatment::Virtual { limit: None };

#[test]
fn it_has_the_form_of_a_summary_with_a_row_for_each_kind_of_thread() {
    let lines = lines(&document(10, 0.01), QUESTION);
    assert_eq!(
        lines[..6],
        [
            QUESTION,
            "Tomcat 11.0.24: 100 clients, 40 periods in 46 seconds",
            "Answer  A trade. virtual has 1.11x the throughput of platform (200), 3.40x [3.400, 3.400] the median",
            "        response time and the same p99 within 1 %.",
            "",
            "                throughput  vs platform (200)       p50     p99  CPU/request",
        ]
    );
    assert_eq!(lines[6], "platform (200)     3,000/s  baseline            10.0 ms  124 ms       400 µs");
    assert!(lines[7].starts_with("virtual            3,330/s  1.11x [1.1"), "{lines:#?}");
    let why = "Why     platform (200): its 200 threads are enough for 100 clients.";
    for line in [why, "Trust   good: 175,130 requests, none failed."] {
        assert!(lines.iter().any(|it| it == line), "{line}\n{lines:#?}");
    }
}

#[test]
fn however_many_kinds_there_are_it_has_at_most_22_lines_of_100_columns() {
    let mut crossover = document(10, 0.01).crossover;
    crossover.own_threads = Some(50);
    let of_virtual: Vec<CrossoverPeriod> =
        crossover.periods.iter().filter(|it| it.treatment == VIRTUAL).cloned().collect();
    for threads in (100..120).map(|it| it * 10) {
        let treatment = Treatment::Platform { threads };
        crossover.treatments.push(treatment);
        let periods = of_virtual.iter().cloned();
        crossover.periods.extend(periods.map(|it| CrossoverPeriod { treatment, ..it }));
    }
    let many = lines(&crossover.into(), QUESTION);
    assert!(many.iter().any(|it| it.ends_with(" more with --json")), "{many:#?}");
    assert!(
        many.iter().any(|it| it.contains("its 50 threads serve 50 of 100 requests at once")),
        "{many:#?}"
    );
    for text in [
        many,
        lines(&document(10, 0.01), QUESTION),
        lines(&document(6, 0.9), QUESTION),
        lines(&document(0, 0.0), QUESTION),
    ] {
        assert!(text.len() <= MOST_LINES, "{} lines: {text:#?}", text.len());
        assert!(text.iter().all(|it| it.chars().count() <= PLAIN.width), "{text:#?}");
    }
}

#[test]
fn a_narrow_terminal_has_fewer_columns_and_no_line_beyond_its_width() {
    let text =
        crossover(&document(10, 0.01), QUESTION, &[], None, TerminalStyle { width: 70, colour: false });
    assert!(text.lines().all(|line| line.chars().count() <= 70) && text.contains("p99"), "{text}");
    assert!(!text.contains("CPU/request") && text.lines().count() <= MOST_LINES, "{text}");
}

/// A crossover inside two JVMs, in the second of which virtual threads have `factor` times the median.
fn in_two_jvms(factor: f64) -> CrossoverDocument {
    let alone = |treatment: Treatment, os_threads_peak| Record {
        variant: treatment.to_string(),
        server: ServerFacts { ready_after_ms: 2_100.0, ..ServerFacts::default() },
        cost: Some(Cost { os_threads_peak, ..Cost::default() }),
        ..Record::default()
    };
    let jvm = |record| Crossover { alone: vec![record], ..document(10, 0.01).crossover };
    let first = jvm(alone(Treatment::Own, 224));
    let mut second = jvm(alone(VIRTUAL, 28));
    let of_virtual = second.periods.iter_mut().filter(|it| it.treatment == VIRTUAL);
    of_virtual.for_each(|it| it.response_times.weighted_ms[0].0 *= factor);
    first.followed_by(second).into()
}

#[test]
fn two_jvms_are_one_summary_with_the_threads_of_each_kind_alone_and_their_start() {
    let text = lines(&in_two_jvms(1.0), QUESTION);
    assert_eq!(
        text[1],
        "Tomcat 11.0.24: 100 clients, 80 periods in 2 JVMs and 92 seconds, ready after 2.10 s and 2.10 s"
    );
    for (kind, threads) in [("platform (200) ", "224"), ("virtual ", "28")] {
        let row = text.iter().find(|it| it.starts_with(kind)).unwrap();
        assert!(row.split_whitespace().any(|it| it == threads), "{row}");
    }
    assert!(text.iter().any(|it| it == "Trust   good: 350,260 requests, none failed."), "{text:#?}");
    assert!(!text.join(" ").contains("JVMs differ"), "{text:#?}");
}

#[test]
fn jvms_that_disagree_are_shown_beside_each_other_and_decide_nothing_that_one_of_them_denies() {
    let text = lines(&in_two_jvms(0.2), QUESTION).join("\n");
    assert!(text.contains("virtual: two JVMs differ, median response time 3.40x and 0.68x."), "{text}");
    assert!(text.contains("Answer  Not known yet. virtual has 1.11x the throughput"), "{text}");
}

#[test]
fn a_stored_result_says_the_same_as_the_one_that_was_measured() {
    let mut crossover = document(10, 0.01).crossover;
    let treatment = Treatment::Platform { threads: 400 };
    let of_virtual = crossover.periods.iter().filter(|it| it.treatment == VIRTUAL).cloned();
    let alike: Vec<CrossoverPeriod> = of_virtual.map(|it| CrossoverPeriod { treatment, ..it }).collect();
    crossover.periods.extend(alike);
    crossover.treatments.push(treatment);
    let measured = CrossoverDocument::from(crossover);
    let stored: CrossoverDocument = serde_json::from_str(&serde_json::to_string(&measured).unwrap()).unwrap();
    assert!(answers(&measured)[0].starts_with("Only the number of threads: "), "{:?}", answers(&measured));
    assert_eq!(answers(&stored), answers(&measured));
}

#[test]
fn a_ratio_that_nobody_should_act_on_is_not_shown() {
    let noisy = document(6, 0.9);
    assert_eq!(
        answers(&noisy)[0],
        "Not known yet. virtual has 3.40x [3.400, 3.400] the median response time of platform (200), the same p99 within 1 % and an inconclusive throughput."
    );
    let text = lines(&noisy, QUESTION).join("\n");
    assert!(text.contains("too few blocks"), "{text}");
    let none = lines(&document(0, 0.0), QUESTION).join("\n");
    assert!(none.contains("No verdict, as no block of periods was completed."), "{none}");
}

#[test]
fn a_cost_is_told_with_its_interval_and_one_that_is_hardly_known_is_not() {
    let with = |low, high| {
        let mut made = document(8, 0.01);
        let interval = Some(Interval { low, high, confidence: 0.95 });
        let cpu = made.comparisons[0].cpu_per_request.as_mut().unwrap();
        *cpu = CrossoverRatio { ratio: 4.2, interval, verdict: Verdict::Higher, ..*cpu };
        why(&made).into_iter().find(|it| it.contains("the CPU per request"))
    };
    assert_eq!(with(3.9, 4.6).as_deref(), Some("virtual: 4.20x [3.90, 4.60] the CPU per request."));
    assert_eq!(with(1.5, 9.0), None);
}

#[test]
fn a_question_about_pools_does_not_name_virtual_threads() {
    let (virtual_threads, pool) = (Treatment::Virtual { limit: None }, Treatment::Platform { threads: 206 });
    assert_eq!(
        question_of_number(&[Treatment::Own, pool]).as_deref(),
        Some("Does another number of threads help?")
    );
    assert_eq!(question_of_number(&[Treatment::Own, pool, virtual_threads]), None);
    assert_eq!(question_of_number(&[]), None, "the default has virtual threads");
}

#[test]
fn the_blocks_so_far_never_become_fewer_because_some_are_left_out() {
    let mut made = document(9, 0.01);
    assert!(so_far(&made).starts_with("9 blocks, throughput against platform (200): "), "{}", so_far(&made));
    let early = made.crossover.periods.iter_mut().filter(|it| it.block < 3);
    early.for_each(|it| it.left_out = Some(LeftOut::WarmingUp));
    let warm = CrossoverDocument::from(made.crossover);
    assert!(
        so_far(&warm).starts_with("9 blocks (3 left out), throughput against platform (200): "),
        "{}",
        so_far(&warm)
    );
}

#[test]
fn of_a_request_that_takes_little_cpu_fresh_jvms_are_to_be_compared() {
    let with = |cpu_us| {
        let mut made = document(10, 0.01).crossover;
        made.periods.iter_mut().for_each(|it| it.cpu_us_per_request = Some(cpu_us));
        cheap_requests(&made.into())
    };
    assert!(with(20.5).is_some_and(|it| it.starts_with("a request takes 20.5 µs of CPU, so fresh JVMs")));
    assert_eq!(with(120.0), None);
}

#[test]
fn a_scheduling_group_that_is_shared_is_told_where_the_server_fills_half_of_the_cores() {
    let with = |group, cpu_us| {
        let mut made = document(10, 0.01).crossover;
        made.shared_group = group;
        for period in &mut made.periods {
            period.cpu_us_per_request = Some(cpu_us);
            period.lost_cpu = Some(LostCpu { of_cores: 2, ..LostCpu::default() });
        }
        shared_group(&made.into())
    };
    let says = "the load generator and the server share a scheduling group, so many threads gain; ";
    // 3,330/s on virtual threads.
    assert_eq!(
        with(Some(SharedGroup::Session), 400.0),
        Some(format!("{says}start the server with `setsid`."))
    );
    assert_eq!(
        with(Some(SharedGroup::ControlGroup), 400.0),
        Some(format!("{says}give the server a control group."))
    );
    assert_eq!(with(Some(SharedGroup::Session), 100.0), None, "there is room for all");
    assert_eq!(with(None, 400.0), None);
}

#[test]
fn what_was_left_out_and_why_it_ended_early_is_in_the_trust() {
    let mut document = document(8, 0.01);
    document.crossover.periods[3].left_out = Some(LeftOut::OtherThreads);
    document.crossover.requests.failed = 3;
    for why in ["the server stopped", "the server stopped."] {
        document.crossover.ended_early = Some(why.to_owned());
        let text = lines(&document, QUESTION).join("\n");
        assert!(
            text.replace("\n       ", "").lines().any(|it| it.ends_with(
                "1 period in which requests ran on another kind of thread. Ended early: the server stopped."
            )),
            "{text}"
        );
    }
}

#[test]
fn blocks_that_lost_cpu_are_in_the_trust_with_what_took_it_and_whether_they_count() {
    let trusted = |blocks: u32, marked: bool, stolen_cores: f64, other_processes_cores: f64| {
        let mut made = document(blocks, 0.01).crossover;
        for (at, period) in made.periods.iter_mut().enumerate() {
            let is_hit = period.block < 3 && at % 4 == 1;
            let hit = LostCpu { stolen_cores, other_processes_cores, of_cores: 2 };
            period.lost_cpu = Some(if is_hit { hit } else { LostCpu { of_cores: 2, ..LostCpu::default() } });
            period.left_out = (marked && period.block < 3).then_some(LeftOut::LostCpu);
        }
        trust(&made).split_once(". ").map_or_else(String::new, |(_, rest)| rest.to_owned())
    };
    assert_eq!(
        trusted(14, true, 0.1, 0.64),
        "3 of 14 blocks left out: other processes used up to 0.6 cores."
    );
    assert_eq!(trusted(14, true, 0.42, 0.1), "3 of 14 blocks left out: the hypervisor took up to 0.4 cores.");
    assert_eq!(
        trusted(8, false, 0.0, 0.64),
        "No block left out, although other processes used up to 0.6 cores in 3 of 8: too few would remain."
    );
    assert_eq!(trusted(14, false, 0.0, 0.0), "");
}

#[test]
fn cores_that_others_used_in_all_periods_are_in_the_trust_as_interference() {
    let trusted = |stolen_cores, other_processes_cores| {
        let mut made = document(8, 0.01).crossover;
        let lost = LostCpu { stolen_cores, other_processes_cores, of_cores: 2 };
        made.periods.iter_mut().for_each(|it| it.lost_cpu = Some(lost));
        trust(&made).split_once(". ").map_or_else(String::new, |(_, rest)| rest.to_owned())
    };
    assert_eq!(trusted(0.0, 1.25), "Other processes used 1.25 of 2 cores; stop them and measure again.");
    assert_eq!(trusted(0.25, 0.0), "CPU steal: 0.25 of 2 cores; measure again when the host is quieter.");
    assert_eq!(trusted(0.15, 0.25), "");
}

#[test]
fn a_crossover_is_a_result_with_its_own_page_and_no_word_of_runs_that_were_never_planned() {
    let variants = "{platform: {}, virtual: {threads: virtual}}";
    let made = crate::sample::document(variants, "[{clients: 100, duration: 1s}]", &[]);
    let result = ResultDocument { trusted: false, crossover: Some(document(10, 0.01)), ..made };
    let shown = view(&result);
    assert_eq!((shown.no_verdict, shown.trust.grade), (None, TrustGrade::Good));
    assert_eq!(shown.trust.requests, "175,130 requests, none failed");
    let terminal = crate::terminal::terminal(&result, None, crate::terminal::PLAIN);
    assert!(terminal.contains("virtual has 1.11x the throughput of platform (200)"), "{terminal}");
    assert!(!terminal.contains("No verdict") && !terminal.contains("never ran"), "{terminal}");
    assert!(terminal.contains("periods in") && !terminal.contains("0 runs"), "{terminal}");
    let page = crate::html::html(&result).expect("a page");
    assert!(!page.contains("0 runs") && !page.contains("No complete run"), "{page}");
    let mut without_verdict = result;
    let figures = without_verdict.crossover.iter_mut().flat_map(|it| &mut it.figures);
    figures.for_each(|it| it.failed = it.ok);
    assert_eq!(view(&without_verdict).trust.grade, TrustGrade::Poor);
}
