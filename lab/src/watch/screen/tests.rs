use super::*;
use threadcount_machine::probe::line::parse;

fn screen(lines: &str) -> Screen {
    let (lines, skipped) = parse(lines);
    assert_eq!(skipped, 0);
    let mut screen = Screen::new(7);
    lines.into_iter().for_each(|line| screen.read(line));
    screen
}

fn sample(at_s: u64, allocated: u64, cpu_ns: u64) -> String {
    let t_ns = at_s * NANOS_PER_S;
    format!(
        "{{\"type\":\"sample\",\"t_ns\":{t_ns},\"heap_used_bytes\":5000000,\"heap_committed_bytes\":6000000,\
         \"allocated_bytes\":{allocated},\"process_cpu_ns\":{cpu_ns},\"rss_bytes\":7000000,\"os_threads\":40,\
         \"platform_threads\":30}}\n"
    )
}

fn carriers(threads: u32, mounted: u32, queued: u64, running: i32) -> String {
    format!(
        "{{\"type\":\"carriers\",\"t_ns\":1,\"parallelism\":2,\"threads\":{threads},\"mounted\":{mounted},\
         \"queued\":{queued},\"running\":{running},\"source\":\"x\"}}\n"
    )
}

fn pool(at_s: u64, kind: &str, busy: i64, max: i64) -> String {
    let t_ns = at_s * NANOS_PER_S;
    format!(
        "{{\"type\":\"pool\",\"t_ns\":{t_ns},\"kind\":\"{kind}\",\"name\":\"{kind}-8080\",\"busy\":{busy},\
         \"max\":{max},\"size\":{max},\"queued\":-1}}\n"
    )
}

#[test]
fn a_platform_pool_is_told_with_its_busy_threads() {
    let screen = screen(&(sample(1, 0, 0) + &carriers(0, 0, 0, 0) + &pool(1, "tomcat", 7, 200)));
    assert_eq!(
        screen.thread_model(),
        "a pool of platform threads: tomcat-8080, 7 of 200 busy; no virtual thread seen so far"
    );
}

#[test]
fn a_tomcat_on_virtual_threads_says_nothing_of_a_pool() {
    let screen = screen(&(sample(1, 0, 0) + &carriers(2, 2, 40, 2) + &pool(1, "tomcat", -1, -1)));
    assert_eq!(screen.thread_model(), "virtual threads on 2 carriers");
}

#[test]
fn a_connection_pool_is_no_pool_of_threads() {
    let screen = screen(&(sample(1, 0, 0) + &pool(1, "hikari", 10, 10)));
    assert_eq!(screen.thread_model(), "30 platform threads; no virtual thread seen so far");
    assert_eq!(screen.pools.len(), 1);
}

#[test]
fn rates_are_differences_over_the_time_between_two_samples() {
    let screen = screen(&(sample(10, 1_000, 0) + &sample(12, 5_000, NANOS_PER_S)));
    assert_eq!((screen.allocation.last(), screen.cpu.last()), (Some(2_000.0), Some(0.5)));
}

#[test]
fn a_pool_that_was_closed_is_forgotten() {
    let mut lines = sample(1, 0, 0) + &pool(1, "tomcat", 7, 200);
    lines += &sample(9, 0, 0);
    assert!(screen(&lines).pools.is_empty());
}

#[test]
fn carriers_are_held_when_threads_wait_and_carriers_do_not_run() {
    let held =
        |mounted, queued, running| screen(&carriers(2, mounted, queued, running).repeat(3)).carriers_held();
    assert!(held(2, 40, 0));
    assert!(held(0, 40, 0), "as Java 21 reports carriers in Object.wait");
    assert!(!held(1, 1, 1), "one is about to be taken");
    assert!(!held(2, 40, 2), "they work");
    assert!(!held(1, 0, 0), "one is free");
    assert!(!held(2, 40, -1), "it is not known what runs");
}

#[test]
fn one_reading_is_no_warning_and_one_without_it_ends_the_warning() {
    let (held, free) = (carriers(2, 2, 40, 0), carriers(2, 2, 40, 2));
    let warns =
        |lines: &[&String]| screen(&lines.iter().map(|it| it.as_str()).collect::<String>()).carriers_held();
    assert!(!warns(&[&held]));
    assert!(!warns(&[&held, &free, &held, &held, &free, &held, &held]), "never three in a row");
    assert!(warns(&[&free, &held, &held, &held]));
    assert!(!warns(&[&held, &held, &held, &free]), "it is over");
}

#[test]
fn pins_are_added_up_by_the_frame_that_holds_the_monitor() {
    let pin = |holder: &str, ms: u64| {
        format!(
            "{{\"type\":\"pinned\",\"t_ns\":1,\"count\":1,\"total_ns\":{0},\"longest_ns\":{0},\"holder\":\"{holder}\",\
             \"application\":\"A.a:1\",\"top\":null,\"reason\":null}}\n",
            ms * 1_000_000
        )
    };
    let screen = screen(&(pin("S.s:1", 10) + &pin("S.s:1", 30) + &pin("T.t:2", 35)));
    let top: Vec<(&str, Total)> =
        screen.pins.top(5).into_iter().map(|(site, total)| (site.place.as_str(), total)).collect();
    assert_eq!(
        top,
        [
            ("S.s:1", Total { count: 2, total_ms: 40.0, longest_ms: 30.0 }),
            ("T.t:2", Total { count: 1, total_ms: 35.0, longest_ms: 35.0 }),
        ]
    );
}
