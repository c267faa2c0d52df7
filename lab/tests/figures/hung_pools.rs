//! Hangs at pools, throttles and locks that a program wrote itself (`tests/hung/Pools.java`), and what only looks like one.

use crate::hangs::{Service, assert_hangs, classes, on_all};

#[test]
fn requests_hold_a_connection_of_a_pool_of_their_own_and_wait_for_a_second_one() {
    let words = [
        "4 threads hold a Connection of Pools$Pool.connection",
        "they took the first one in Pools$OwnNestedPool.run",
        "Pools$OwnNestedPool.audit",
    ];
    assert_hangs("own-nested-pool", 12, "pool-waits-for-itself", &words);
}

#[test]
fn connections_of_a_pool_of_their_own_that_failed_requests_did_not_close() {
    let words = ["10 threads wait for a Connection of Pools$Pool.connection", "Not given back"];
    assert_hangs("own-leaky-pool", 12, "leaked-permits", &words);
}

#[test]
fn a_request_in_one_branch_of_a_method_has_no_connection_of_another_branch() {
    assert_hangs("two-branches", 12, "leaked-permits", &["10 threads wait for a Connection"]);
}

#[test]
fn turns_of_a_throttle_by_wait_that_failed_requests_did_not_give_back() {
    let words = ["10 threads wait for a permit of Pools$LeakyThrottle.enter"];
    assert_hangs("leaky-throttle", 12, "leaked-permits", &words);
}

#[test]
fn requests_hold_a_connection_and_want_a_lock_whose_owner_wants_a_connection() {
    let words = ["Pools$PoolAndLock.refresh", "Pools$PoolAndLock.report", "a Connection of", "a lock"];
    assert_hangs("pool-and-lock", 12, "deadlock", &words);
}

#[test]
fn a_thread_that_has_a_read_stamp_wants_to_write() {
    for clients in [1, 6] {
        assert_hangs("read-stamp", clients, "deadlock", &["StampedLock", "Pools$ReadStamp.update"]);
    }
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

/// Look-alikes.
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

/// A full queue that moves, though some of it do not; and the same requests in a queue that nobody serves.
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
