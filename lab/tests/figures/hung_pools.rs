//! Hangs at pools, throttles and locks that a program implements itself (`tests/hung/Pools.java`), and look-alikes.

use crate::hangs::{Service, assert_hangs, assert_stands, classes, on_all};

/// The JVM does not show who has a connection of such a pool.
#[test]
fn requests_that_wait_for_a_connection_of_a_pool_of_their_own_stand_at_its_line() {
    for (mode, requests) in [("own-nested-pool", 12), ("own-leaky-pool", 10), ("two-branches", 10)] {
        let stood = format!("{requests} requests stood at Pools$Pool.connection");
        assert_stands(mode, 12, &[&stood, "waiting for an element of a queue"]);
    }
}

#[test]
fn requests_that_wait_for_a_turn_of_a_throttle_by_wait_stand_at_its_line() {
    let words = ["10 requests stood at Pools$LeakyThrottle.enter", "waiting for a signal"];
    assert_stands("leaky-throttle", 12, &words);
}

#[test]
fn requests_want_a_lock_whose_owner_waits_for_a_connection_that_no_thread_is_known_to_give() {
    let words = [
        "11 threads wait for a thread that waits for an element of a queue that no thread is known to give",
        "a lock (java.util.concurrent.locks.ReentrantLock$NonfairSync@",
        "held by",
        "at Pools$Pool.connection",
    ];
    assert_hangs("pool-and-lock", 12, "dead-end", &words);
}

/// The JVM does not record who reads under a `StampedLock`. If another request waits for a read stamp behind a writer, its line shows which
/// threads are past it.
#[test]
fn a_thread_that_has_a_read_stamp_wants_to_write() {
    let words = ["StampedLock", "Pools$ReadStamp.update", "a lock that no thread is known to give"];
    assert_hangs("read-stamp", 1, "dead-end", &words);
    on_all("read-stamp", 6, |diagnosis, how| {
        let is_one_to_read = diagnosis.text.contains("Pools$ReadStamp.run");
        let kind = if is_one_to_read { "deadlock" } else { "dead-end" };
        assert_eq!((diagnosis.kind(), diagnosis.code), (kind, Some(1)), "{how}");
        assert!(diagnosis.text.contains(words[0]) && diagnosis.text.contains(words[1]), "{how}");
    });
}

#[test]
fn a_result_of_a_method_that_wants_the_monitor_of_the_request_that_waits_for_it() {
    let words = ["Pools$MethodReference.run", "Pools$MethodReference.load", "a result", "a monitor"];
    assert_hangs("method-reference", 6, "deadlock", &words);
}

#[test]
fn tasks_wait_for_results_over_a_queue_of_tasks_behind_them_in_their_own_pool() {
    let words = ["queued in java.util.concurrent.ThreadPoolExecutor", "Pools$CompletionService.report"];
    assert_hangs("completion-service", 8, "deadlock", &words);
}

#[test]
fn requests_that_wait_for_a_message_wait_for_nothing_that_is_given_back() {
    on_all("mailbox", 4, |diagnosis, how| {
        assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
    });
}

#[test]
fn a_load_on_a_small_pool_of_their_own_that_moves_does_not_hang() {
    let folder = classes();
    for kind in ["platform", "virtual"] {
        let busy = Service::start(25, "busy-pool", kind, 0, folder.path());
        let (succeeded, text) = busy.told_by("compare", &["-c", "12", "-d", "6s"]);
        assert!(succeeded && !text.contains("hangs"), "{text}");
    }
}

/// A full queue that moves although some requests in it do not; and the same requests in a queue that nobody serves.
#[test]
fn requests_that_others_of_their_queue_overtake_do_not_hang_and_those_in_another_queue_stand() {
    let folder = classes();
    for kind in ["platform", "virtual"] {
        for (mode, expected) in [("overtaken", ("slow", Some(0))), ("lost-turn", ("requests-stand", Some(3)))]
        {
            let service = Service::start(25, mode, kind, 4, folder.path());
            let _traffic = service.traffic(40);
            let diagnosis = service.diagnose(folder.path());
            assert_eq!((diagnosis.kind(), diagnosis.code), expected, "{mode}, {kind}:\n{}", diagnosis.text);
        }
    }
}
