//! Requests that wait again and again (`tests/hung/Limiters.java`), and those that wait for a child process (`tests/hung/Children.java`).

use crate::hangs::{KINDS, Service, classes, on_all};

#[test]
fn requests_of_a_limiter_that_grants_nothing_stand_and_are_never_called_idle() {
    for (mode, at, how_they_wait) in [
        ("limiter-sleep", "SleepingLimiter.acquire", "sleeping again and again"),
        ("limiter-park", "ParkingLimiter.acquire", "parked again and again"),
        ("limiter-wait", "WaitingLimiter.acquire", "waiting for a signal again and again"),
    ] {
        on_all(mode, 6, |diagnosis, how| {
            // On Java 21 a virtual thread that waits at an object keeps its carrier.
            if mode == "limiter-wait" && how.contains("Java 21, virtual") {
                return assert_ne!(diagnosis.code, Some(0), "{how}");
            }
            assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
            let stood = format!("6 requests stood at Limiters${at}");
            assert!(diagnosis.text.contains(&stood) && diagnosis.text.contains(how_they_wait), "{how}");
        });
    }
}

/// Java 21 has no field with the time limit of a virtual thread.
#[test]
fn requests_of_a_limiter_that_lets_them_sleep_for_a_day_are_no_long_polls() {
    let folder = classes();
    for (java, threads) in [(21, "platform"), (25, "platform"), (25, "virtual")] {
        let service = Service::start(java, "limiter-for-a-day", threads, 6, folder.path());
        let diagnosis = service.diagnose(folder.path());
        let how = format!("Java {java}, {threads}: {}", diagnosis.text);
        assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
        for words in ["6 requests stood at Limiters$PatientLimiter.acquire", "sleeping, for 86,", " s more"] {
            assert!(diagnosis.text.contains(words), "{words}: {how}");
        }
    }
}

#[test]
fn long_polls_that_wait_a_second_each_time_and_requests_that_sleep_and_answer_do_not_hang() {
    on_all("long-poll-steps", 8, |diagnosis, how| {
        assert_eq!((diagnosis.kind(), diagnosis.code), ("waiting", Some(0)), "{how}");
    });
    let folder = classes();
    for kind in KINDS {
        let service = Service::start(25, "slow", kind, 0, folder.path());
        let _traffic = service.traffic(8);
        let diagnosis = service.diagnose(folder.path());
        assert_eq!((diagnosis.kind(), diagnosis.code), ("slow", Some(0)), "{kind}: {}", diagnosis.text);
    }
}

#[test]
fn requests_that_wait_for_a_child_process_that_works_have_it_as_their_cause() {
    for (mode, clients) in [("busy-child", 12), ("busy-child-output", 2)] {
        on_all(mode, clients, |diagnosis, how| {
            assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
            for words in ["requests stood at Children", "the child process sh (", "busy ("] {
                assert!(diagnosis.text.contains(words), "{words}: {how}");
            }
        });
    }
}

/// Look-alikes: while other requests are answered it is no hang, and a child process that rests is not busy.
#[test]
fn a_child_process_that_works_is_no_hang_while_responses_leave_and_one_that_rests_is_not_busy() {
    let folder = classes();
    for kind in KINDS {
        let service = Service::start(25, "busy-child-of-some", kind, 8, folder.path());
        let _traffic = service.traffic(4);
        let diagnosis = service.diagnose(folder.path());
        assert_eq!((diagnosis.kind(), diagnosis.code), ("slow", Some(0)), "{kind}: {}", diagnosis.text);
        assert!(diagnosis.text.contains("threads wait for a child process: sh ("), "{}", diagnosis.text);
        let rests = Service::start(25, "resting-child", kind, 12, folder.path()).diagnose(folder.path());
        assert_eq!((rests.kind(), rests.code), ("stuck", Some(1)), "{kind}: {}", rests.text);
        assert!(!rests.text.contains("busy"), "{}", rests.text);
    }
}
