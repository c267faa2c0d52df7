//! Hangs at queues that a program implements itself (`tests/hung/Backlogs.java`), and look-alikes.

use crate::hangs::{KINDS, Service, classes};

/// Java 21 does not show at which object a virtual thread waits.
const JVMS: [(u16, &str); 3] = [(21, "platform"), (25, "platform"), (25, "virtual")];

fn assert_on_all(mode: &str, (kind, code): (&str, i32), words: &[&str]) {
    let folder = classes();
    for (java, threads) in JVMS {
        let service = Service::start(java, mode, threads, 12, folder.path());
        let diagnosis = service.diagnose(folder.path());
        let how = format!("{mode} on Java {java}, {threads}:\n{}", diagnosis.text);
        assert_eq!((diagnosis.kind(), diagnosis.code), (kind, Some(code)), "{how}");
        for word in words {
            assert!(diagnosis.text.contains(word), "{word}: {how}");
        }
    }
}

/// The JVM does not show that a wait is for room in such a queue, nor who takes from it.
#[test]
fn requests_that_wait_at_a_queue_stand_with_the_stages_behind_it_and_who_ends_that_is_not_visible() {
    for (mode, stages) in
        [("own-queue-chain", &["biller"][..]), ("own-queue-circle", &["biller", "corrector"])]
    {
        let stages = stages.iter().map(|it| format!("stands as well: thread {it} (#"));
        let stood = "12 requests stood at Backlogs$Bounded.put".to_owned();
        let words: Vec<String> = stages.chain([stood, "who ends that is not visible".to_owned()]).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_on_all(mode, ("requests-stand", 3), &words);
    }
}

#[test]
fn a_task_of_the_only_worker_waits_for_a_task_behind_it() {
    let words =
        ["1 thread waits for what only it can give", "kept in Backlogs$Bounded.elements", "thread worker"];
    assert_on_all("own-queue-worker", ("deadlock", 1), &words);
}

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
