//! Hangs at queues of a program's own (`tests/hung/Backlogs.java`), and what only looks like one.

use crate::hangs::{KINDS, Service, classes};

/// Java 21 does not show at which object a virtual thread waits.
const JVMS: [(u16, &str); 3] = [(21, "platform"), (25, "platform"), (25, "virtual")];

fn assert_hangs(mode: &str, kind: &str, words: &[&str]) {
    let folder = classes();
    for (java, threads) in JVMS {
        let service = Service::start(java, mode, threads, 12, folder.path());
        let diagnosis = service.diagnose(folder.path());
        let how = format!("{mode} on Java {java}, {threads}:\n{}", diagnosis.text);
        assert_eq!((diagnosis.kind(), diagnosis.code), (kind, Some(1)), "{how}");
        for word in words {
            assert!(diagnosis.text.contains(word), "{word}: {how}");
        }
    }
}

#[test]
fn requests_wait_for_room_whose_consumer_waits_for_room_in_a_queue_without_a_consumer() {
    let words =
        ["12 threads wait for a thread that waits for room in a queue", "which is emptied by thread biller"];
    assert_hangs("own-queue-chain", "dead-end", &words);
}

#[test]
fn two_stages_wait_for_room_in_the_queues_of_each_other() {
    let words =
        ["2 threads wait for each other", "12 threads wait behind them", "thread biller", "thread corrector"];
    assert_hangs("own-queue-circle", "deadlock", &words);
}

#[test]
fn a_task_of_the_only_worker_waits_for_a_task_behind_it() {
    let words =
        ["1 thread waits for what only it can give", "kept in Backlogs$Bounded.elements", "thread worker"];
    assert_hangs("own-queue-worker", "deadlock", &words);
}

/// Look-alikes.
#[test]
fn workers_that_wait_for_an_element_are_idle_and_requests_that_get_room_go_on() {
    let folder = classes();
    for kind in KINDS {
        let idle = Service::start(25, "own-queue-idle", kind, 3, folder.path()).diagnose(folder.path());
        assert_eq!((idle.kind(), idle.code), ("idle", Some(0)), "{kind}: {}", idle.text);
        let slow = Service::start(25, "own-queue-slow", kind, 0, folder.path());
        let _traffic = slow.traffic(12);
        let slow = slow.diagnose(folder.path());
        assert_eq!((slow.kind(), slow.code), ("slow", Some(0)), "{kind}: {}", slow.text);
    }
}
