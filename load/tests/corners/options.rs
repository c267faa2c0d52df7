//! End-to-end tests of the options of a load other than its requests.

use super::rows::{Row, logged, own_path, rows};
use super::transport::over_each_way;
use super::{ms, open, outcome_of, requests};
use crate::reply::Reply;
use crate::server::{REDIRECTED, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use threadcount_load::failure::FailureCause;
use threadcount_load::health::{Warning, judge};
use threadcount_load::plan::{ExpectedStatus, Pacing, Stop};
use threadcount_load::response::BodyCheck;

#[test]
fn the_log_has_a_row_for_each_request_whatever_became_of_it() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match (request.connection, request.nth) {
            (_, 5) => Reply::close().after_ms(400),
            _ => Reply::answer("hi").after_ms(1),
        });
        let rows_of = rows("log", way, way.plan(&server, 2, Pacing::Closed, requests(20)));
        let (ok, failed): (Vec<&Row>, Vec<&Row>) = rows_of.iter().partition(|row| row.outcome == "ok");
        assert_eq!(ok.len() + failed.len(), 20);
        assert!(!failed.is_empty() && ok.len() >= 14, "{way:?}: {} ok", ok.len());
        assert!(ok.iter().all(|row| row.status == "200" && row.failure.is_empty() && row.bytes >= 2));
        for row in &failed {
            assert_eq!((row.outcome.as_str(), row.status.as_str()), ("failed", ""));
            assert_eq!(row.failure, FailureCause::ClosedBeforeAnswer.to_string());
        }
        for row in &rows_of {
            let (sent_s, ended_s) = (row.sent_s.unwrap(), row.ended_s.unwrap());
            assert!(row.due_s <= sent_s && sent_s <= ended_s, "{} {sent_s} {ended_s}", row.due_s);
            assert!(row.connection.unwrap() < 2);
        }
    });
}

#[test]
fn the_log_has_what_did_not_end_and_what_never_began() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::silence());
        let stop = Stop::Duration(Duration::from_secs(2));
        let rows = rows("unfinished", way, way.plan(&server, 2, open(5.0), stop));
        let count = |outcome: &str| rows.iter().filter(|row| row.outcome == outcome).count();
        assert_eq!((count("unfinished"), count("not sent"), rows.len()), (2, 8, 10), "{way:?}");
        assert!(rows.iter().all(|row| row.ended_s.is_none()));
        assert!(rows.iter().filter(|row| row.outcome == "not sent").all(|row| row.sent_s.is_none()));
    });
}

/// The number of groups in which requests left: two requests with a longer gap between them are in different groups.
fn groups(rows: &[Row], gap_s: f64) -> usize {
    let mut sent: Vec<f64> = rows.iter().map(|row| row.sent_s.unwrap()).collect();
    sent.sort_by(f64::total_cmp);
    1 + sent.windows(2).filter(|pair| pair[1] - pair[0] > gap_s).count()
}

#[test]
fn requests_may_leave_in_groups_and_none_of_them_early() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        // A request is due every 50 ms, and windows last 250 ms.
        let plan = way.plan(&server, 60, open(20.0), requests(60));
        let plan = plan.with(|plan| plan.lateness = Duration::from_millis(250));
        let (outcome, rows) = logged("lateness", way, plan);
        assert!(rows.iter().all(|row| row.outcome == "ok"));
        assert!(rows.iter().all(|row| row.sent_s.unwrap() >= row.due_s), "{way:?}: a request left early");
        // Due times are exactly 50 ms apart, whichever group a request left in.
        let mut due: Vec<f64> = rows.iter().map(|row| row.due_s).collect();
        due.sort_by(f64::total_cmp);
        for (number, due_s) in due.iter().enumerate() {
            assert!((due_s - number as f64 / 20.0).abs() < 2e-6, "{number}: {due_s}");
        }
        let groups = groups(&rows, 0.025);
        assert!(groups <= 30, "{way:?}: 60 requests left in {groups} groups");
        // The lateness shows: the first request of a group waits for the window to end.
        assert!(ms(outcome.own_lag.at_quantile(1.0)) >= 249.0, "{:?}", outcome.own_lag.summary());
        assert!(ms(outcome.send_lag.at_quantile(1.0)) >= 249.0);
        assert_eq!(outcome.waited_for_connection, 0);
    });
}

#[test]
fn a_load_that_may_be_late_leaves_out_no_request_at_its_end() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        // Requests are due at 0, 250, 500 and 750 ms. The first three leave at 600 ms, and the window of the last one would end after the
        // load.
        let stop = Stop::Duration(Duration::from_secs(1));
        let plan = way.plan(&server, 20, open(4.0), stop).with(|plan| {
            plan.lateness = Duration::from_millis(600);
            plan.grace = Duration::from_secs(20);
        });
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.not_sent), (4, 0), "{way:?}");
    });
}

#[test]
fn the_time_to_the_first_byte_ends_before_the_body_comes() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match request.nth {
            2 => Reply::answer_in_two(Duration::from_secs(2)),
            _ => Reply::answer("hi"),
        });
        let outcome = outcome_of(&way.plan(&server, 1, Pacing::Closed, requests(3)));
        let (first_byte, service) = (&outcome.first_byte_time, &outcome.service_time);
        assert_eq!((first_byte.count(), service.count()), (3, 3), "{way:?}");
        assert!(ms(service.at_quantile(1.0)) >= 1_999.0);
        assert!(first_byte.at_quantile(1.0) + Duration::from_secs(1) < service.at_quantile(1.0), "{way:?}");
    });
}

#[test]
fn redirects_are_followed_and_their_time_is_part_of_the_response_time() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match request.path.as_str() {
            "/a/" => Reply::redirect(302, "next").after_ms(10),
            "/a/next" => Reply::redirect(307, "/last?x").after_ms(10),
            "/last?x" => Reply::answer("here").after_ms(10),
            _ => Reply::close(),
        });
        let plan = way.plan_of(&server, "/a/", 2, Pacing::Closed, requests(20)).with(|plan| {
            plan.follow_redirects = true;
            plan.expected_status = ExpectedStatus::ranges(vec![(200, 200)]);
            plan.expected_body = Some(BodyCheck::contains("here"));
        });
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.sent), (20, 20), "{way:?}: {:?}", outcome.failures);
        assert_eq!((outcome.status.get(&200), outcome.status.len()), (Some(&20), 1));
        assert_eq!(outcome.first_failing_body, None, "no request ended with a redirect");
        assert_eq!((server.requests(), outcome.connections_opened), (60, 2), "{way:?}");
        assert!(ms(outcome.service_time.at_quantile(0.0)) >= 29.0);
        assert!(ms(outcome.first_byte_time.at_quantile(0.0)) >= 29.0, "that of the last response");
        let not_followed = outcome_of(&plan.with(|plan| {
            plan.follow_redirects = false;
            plan.expected_body = None;
        }));
        assert_eq!((not_followed.status.get(&302), server.requests()), (Some(&20), 80));
        let is_kept = !way.is_http2();
        assert_eq!(not_followed.first_failing_body.as_deref(), is_kept.then_some("moved"));
    });
}

#[test]
fn a_redirect_that_ends_its_connection_is_followed_over_another_one_and_with_its_cookie() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match (request.path.as_str(), &*request.cookie) {
            ("/", _) => Reply::redirect_and_end(303, "/next"),
            ("/next", REDIRECTED) => Reply::answer("hi"),
            _ => Reply::close(),
        });
        let plan = way.plan(&server, 2, Pacing::Closed, requests(20));
        let outcome =
            outcome_of(&plan.with(|plan| (plan.follow_redirects, plan.keep_cookies) = (true, true)));
        assert_eq!(outcome.counts.ok, 20, "{way:?}: {:?}", outcome.failures);
        let connections = if way.is_http2() { 2 } else { 22 };
        assert!(outcome.connections_opened >= connections - 2, "{way:?}: {}", outcome.connections_opened);
    });
}

#[test]
fn a_redirect_that_leads_nowhere_is_a_failure() {
    over_each_way(|way| {
        let failures = |location: &'static str| {
            let server = Server::start(way, move |_| Reply::redirect(302, location));
            let plan = way.plan(&server, 1, Pacing::Closed, requests(3));
            let outcome = outcome_of(&plan.with(|plan| plan.follow_redirects = true));
            assert_eq!((outcome.counts.failed, outcome.status.get(&302)), (3, Some(&3)), "{way:?}");
            let FailureCause::Redirect(why) = outcome.failures.keys().next().unwrap() else {
                panic!("{:?}", outcome.failures)
            };
            (*why, server.requests())
        };
        assert_eq!(failures("/"), ("ten led to another one", 33));
        assert_eq!(failures("http://another.test/").1, 3);
        assert_eq!(failures(""), ("its Location is no URL", 3));
    });
}

#[test]
fn a_stream_of_events_is_complete_with_its_first_byte_where_that_is_asked_for() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::events().after_ms(1));
        let plan = way.plan(&server, 2, Pacing::Closed, requests(20)).with(|plan| plan.first_byte = true);
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.status.get(&200)), (20, Some(&20)), "{way:?}");
        assert_eq!((outcome.service_time.count(), outcome.first_byte_time.count()), (20, 20));
        // Over HTTP/2 only the stream is given up.
        let connections = if way.is_http2() { 2 } else { 20 };
        assert_eq!(outcome.connections_opened, connections, "{way:?}");
        assert_eq!(outcome.begun_unfinished, 0);
    });
}

#[test]
fn a_body_that_ends_is_read_to_its_end_though_the_first_byte_would_do() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        let plan = way.plan(&server, 1, Pacing::Closed, requests(20)).with(|plan| plan.first_byte = true);
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.connections_opened), (20, 1), "{way:?}");
    });
}

#[test]
fn responses_that_begin_and_do_not_end_are_counted_and_a_silent_server_has_none() {
    over_each_way(|way| {
        let warnings = |reply: fn() -> Reply| {
            let server = Server::start(way, move |_| reply());
            let stop = Stop::Duration(Duration::from_secs(3));
            let plan = way.plan(&server, 2, Pacing::Closed, stop);
            let outcome = outcome_of(&plan);
            assert_eq!((outcome.counts.ok, outcome.counts.unfinished), (0, 2), "{way:?}");
            judge(&outcome, &plan).warnings
        };
        let endless = Warning::EndlessBodies { count: 2 };
        assert!(warnings(Reply::events).contains(&endless), "{way:?}");
        assert!(!warnings(Reply::silence).contains(&endless), "{way:?}");
    });
}

#[test]
fn a_body_without_the_expected_text_is_a_failure_of_its_own_kind() {
    over_each_way(|way| {
        let server = Server::start(way, |request| {
            let body = if request.nth % 3 == 0 { "all is lost" } else { "all is well" };
            Reply::answer(body)
        });
        let checks = [BodyCheck::contains("well"), BodyCheck::matches("^all .. w").unwrap()];
        for check in checks {
            let plan = way.plan(&server, 1, Pacing::Closed, requests(30));
            let outcome = outcome_of(&plan.with(|plan| plan.expected_body = Some(check)));
            assert_eq!((outcome.counts.ok, outcome.counts.failed), (20, 10), "{way:?}");
            assert_eq!(outcome.failures.get(&FailureCause::UnexpectedBody), Some(&10));
            assert_eq!(outcome.status.get(&200), Some(&30));
            assert_eq!(outcome.connections_opened, 1, "the connection is as good as before");
        }
    });
}

#[test]
fn an_unexpected_body_that_is_compressed_is_named() {
    over_each_way(|way| {
        let server = Server::start(way, |_| {
            Reply::answer("squeezed").with_field("content-encoding", "gzip".to_owned())
        });
        let plan = way.plan(&server, 1, Pacing::Closed, requests(2));
        let outcome = outcome_of(&plan.with(|plan| plan.expected_body = Some(BodyCheck::contains("well"))));
        assert_eq!(outcome.failures.get(&FailureCause::EncodedBody), Some(&2), "{way:?}");
    });
}

#[test]
fn values_and_cookies_of_a_response_are_sent_with_the_next_request_of_the_same_connection() {
    over_each_way(|way| {
        let (wrong, right) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let counts = (Arc::clone(&wrong), Arc::clone(&right));
        let server = Server::start(way, move |request| {
            let token = |nth: u32| format!("c{}n{nth}", request.connection);
            let is_right = match request.nth {
                1 => request.path == "/next?id=&token=" && request.cookie.is_empty(),
                nth => {
                    let last = token(nth - 1);
                    request.path == format!("/next?id={last}&token={last}")
                        && request.cookie == format!("session={last}")
                }
            };
            if is_right { &counts.1 } else { &counts.0 }.fetch_add(1, Ordering::SeqCst);
            let token = token(request.nth);
            Reply::answer(&format!("{{\"id\": \"{token}\"}}"))
                .with_field("X-Token", token.clone())
                .with_field("Set-Cookie", format!("session={token}; Path=/; HttpOnly"))
        });
        let path = "/next?id={capture:id}&token={capture:token}";
        let plan = way.plan_of(&server, path, 3, Pacing::Closed, requests(60)).with(|plan| {
            plan.captures = vec!["token=header:X-Token".parse().unwrap(), "id=json:/id".parse().unwrap()];
            plan.keep_cookies = true;
        });
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.counts.ok, 60, "{:?}", outcome.failures);
        assert_eq!((right.load(Ordering::SeqCst), wrong.load(Ordering::SeqCst)), (60, 0), "{way:?}");
        assert_eq!(server.connections(), 3);
    });
}

#[test]
fn a_unix_socket_carries_what_tcp_does() {
    over_each_way(|way| {
        let server = Server::start_unix(way, own_path("socket", way), |_| Reply::answer("hi").after_ms(1));
        for pacing in [Pacing::Closed, open(400.0)] {
            let outcome = outcome_of(&way.plan(&server, 4, pacing, requests(80)));
            assert_eq!(
                (outcome.counts.ok, outcome.connections_opened),
                (80, 4),
                "{way:?}: {:?}",
                outcome.failures
            );
            assert!(ms(outcome.service_time.at_quantile(0.0)) >= 0.9);
            assert_eq!(outcome.stamped, 0, "the kernel stamps nothing that comes over a Unix socket");
        }
        assert_eq!(server.requests(), 160);
    });
}

#[test]
fn a_large_body_comes_over_a_unix_socket_too() {
    over_each_way(|way| {
        let body = "x".repeat(300_000);
        let server = Server::start_unix(way, own_path("large", way), move |_| Reply::answer(&body));
        for pacing in [Pacing::Closed, open(200.0)] {
            let outcome = outcome_of(&way.plan(&server, 2, pacing, requests(20)));
            assert_eq!(outcome.counts.ok, 20, "{way:?}: {:?}", outcome.failures);
        }
    });
}
