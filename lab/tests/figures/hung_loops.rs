//! Hangs at a thread of the program itself that serves a queue or a pipe (`tests/hung/Loops.java`).

use crate::hangs::{KINDS, Service, assert_hangs, classes, on_all};

#[test]
fn a_loop_has_taken_the_order_of_a_request_that_has_the_lock_which_the_loop_wants() {
    let words =
        ["2 threads wait for each other", "Loops$OrderLoop.serve", "Loops$OrderLoop.place", "11 threads"];
    assert_hangs("order-loop", 12, "deadlock", &words);
}

/// A look-alike: the threads that fill the queue do not serve it.
#[test]
fn requests_whose_loop_has_ended_wait_for_a_result_that_no_thread_gives() {
    let words = ["12 threads wait", "a result that no thread gives", "in the queue Loops$EndedLoop.orders"];
    assert_hangs("ended-loop", 12, "dead-end", &words);
}

#[test]
fn a_task_of_a_dispatcher_waits_for_a_task_that_lies_in_the_queue_of_the_same_dispatcher() {
    let words = [
        "1 thread waits for what only it can give",
        "kept in Loops$Dispatcher.inbox",
        "12 threads wait behind it",
    ];
    assert_hangs("dispatcher", 12, "deadlock", &words);
}

#[test]
fn an_event_loop_waits_for_a_response_that_only_it_reads() {
    for (mode, field) in [
        ("callback-loop", "kept in Callbacks$NumberedClient.pending"),
        ("selector-loop", "kept in Callbacks$Connection.sent"),
    ] {
        let words =
            ["1 thread waits for what only it can give", field, "-loop (#", "Callbacks$CalledBack.orders"];
        assert_hangs(mode, 12, "deadlock", &words);
    }
}

/// A look-alike: another loop reads the response.
#[test]
fn an_event_loop_that_waits_for_a_response_of_another_one_does_not_hang() {
    let folder = classes();
    for kind in KINDS {
        let service = Service::start(25, "callback-of-other-loop", kind, 0, folder.path());
        let _traffic = service.traffic(8);
        let diagnosis = service.diagnose(folder.path());
        assert_eq!((diagnosis.kind(), diagnosis.code), ("slow", Some(0)), "{kind}: {}", diagnosis.text);
    }
}

/// Java 21 does not show the object that a thread waits at.
#[test]
fn a_writer_waits_for_room_in_a_pipe_whose_reader_wants_the_monitor_of_the_writer() {
    let folder = classes();
    let service = Service::start(25, "pipe-and-monitor", "platform", 12, folder.path());
    let diagnosis = service.diagnose(folder.path());
    assert_eq!((diagnosis.kind(), diagnosis.code), ("deadlock", Some(1)), "{}", diagnosis.text);
    for words in ["room in a pipe", "a monitor", "Loops$PipeAndMonitor.count", "11 threads wait behind them"]
    {
        assert!(diagnosis.text.contains(words), "{words}: {}", diagnosis.text);
    }
}

#[test]
fn requests_that_try_a_full_queue_again_and_again_stand_and_those_that_sleep_once_wait() {
    for (mode, kind, code) in [("retry", "requests-stand", 3), ("sleep-once", "waiting", 0)] {
        on_all(mode, 6, |diagnosis, how| {
            assert_eq!((diagnosis.kind(), diagnosis.code), (kind, Some(code)), "{how}");
        });
    }
}
